//! The implementation of [`Driver`].

use super::capabilities;
use super::device::Device;
use super::features::Features;
use super::instance::Instance;
use super::memory::{self, Memory};
use super::physical::Physical;
use super::pipeline::Pipeline;
use super::queue::{Batch, Queue};
use super::transfer::Transfer;
use crate::driver::{DeviceInfo, DeviceOptions, Driver};
use crate::{Bound, Buffer, Error, Inputs, Kernel, Launch};
use ash::vk;
use gpu_allocator::MemoryLocation;
use spirula_source::{Diagnostic, Place};
use spirula_spirv::ir::Module;
use spirula_spirv::reflect::Interface;
use std::sync::Arc;

/// Environment variable that turns Vulkan's validation layer on.
const VALIDATION: &str = "SPIRULA_VULKAN_VALIDATION";

/// The driver of a Vulkan device.
pub struct VulkanDriver {
    // First, so that the device is idle when the others go.
    queue: Queue,
    transfer: Transfer,
    buffers: Vec<Option<Arc<memory::Buffer>>>,
    pipelines: Vec<Arc<Pipeline>>,
    memory: Arc<Memory>,
    features: Features,
    device: Arc<Device>,
}

/// All Vulkan devices; none where Vulkan is not installed.
pub fn devices() -> Vec<DeviceInfo> {
    let all = Instance::shared().and_then(|instance| Physical::all(&instance));
    let all = all.unwrap_or_default();
    all.into_iter().map(|device| device.info).collect()
}

/// The device that a name means, without opening it.
pub fn find(name: &str) -> Result<DeviceInfo, Error> {
    let instance = Instance::shared()?;
    Ok(Physical::named(&instance, name)?.info)
}

impl VulkanDriver {
    /// Opens a device by name: `vulkan`, `vulkan:` with a number or a part of its name.
    ///
    /// # Errors
    /// When Vulkan or the device is missing, or the device cannot be opened.
    pub fn open(name: &str, options: &DeviceOptions) -> Result<Self, Error> {
        Self::open_with(name, options, true)
    }

    fn open_with(name: &str, options: &DeviceOptions, direct: bool) -> Result<Self, Error> {
        let asked = std::env::var_os(VALIDATION).is_some_and(|v| !v.is_empty() && v != "0");
        let instance = match options.validation || asked {
            true => Instance::create(true)?,
            false => Instance::shared()?,
        };
        let physical = Physical::named(&instance, name)?;
        let features = Features::query(&instance, &physical);
        let device = Device::open(instance, physical, features.clone())?;
        let memory = Memory::new(&device, direct)?;
        Ok(VulkanDriver {
            queue: Queue::new(&device)?,
            transfer: Transfer::new(&memory),
            buffers: Vec::new(),
            pipelines: Vec::new(),
            memory,
            features,
            device,
        })
    }

    fn buffer(&self, buffer: Buffer) -> Result<Arc<memory::Buffer>, Error> {
        let found = self.buffers.get(buffer.index()).and_then(Option::as_ref);
        found.cloned().ok_or(Error::Handle("a buffer"))
    }

    /// The outcome of calls, or what the validation layer says of them.
    fn validated<T>(&self, outcome: Result<T, Error>) -> Result<T, Error> {
        self.device.instance().validated()?;
        outcome
    }
}

impl Driver for VulkanDriver {
    fn info(&self) -> &DeviceInfo {
        &self.device.physical.info
    }

    fn runs_kernels(&self) -> bool {
        false
    }

    fn create_buffer(&mut self, _: Buffer, size: u64) -> Result<(), Error> {
        let buffer = Arc::new(self.memory.create(size, MemoryLocation::GpuOnly)?);
        let cleared = self.transfer.clear(&mut self.queue, &buffer);
        self.validated(cleared)?;
        self.buffers.push(Some(buffer));
        Ok(())
    }

    fn destroy_buffer(&mut self, buffer: Buffer) {
        let slot = self.buffers.get_mut(buffer.index());
        if let Some(buffer) = slot.and_then(Option::take) {
            // Launches may reach it by its address, which no binding tells.
            self.queue.keep(buffer);
        }
    }

    fn write(&mut self, buffer: Buffer, offset: u64, data: &[u8]) -> Result<(), Error> {
        let buffer = self.buffer(buffer)?;
        let written = self.transfer.write(&mut self.queue, &buffer, offset, data);
        self.validated(written)
    }

    fn read(&mut self, buffer: Buffer, offset: u64, out: &mut [u8]) -> Result<(), Error> {
        let buffer = self.buffer(buffer)?;
        let read = self.transfer.read(&mut self.queue, &buffer, offset, out);
        self.validated(read)
    }

    fn address(&mut self, buffer: Buffer) -> Result<u64, Error> {
        let address = self.buffer(buffer)?.address;
        address.ok_or_else(|| {
            let text = format!("{} has no buffer addresses", self.info().id);
            let diagnostic = Diagnostic::error(Place::Unknown, text);
            let note = "it lacks the feature bufferDeviceAddress";
            Error::Unsupported(vec![diagnostic.with_note(note)])
        })
    }

    fn create_kernel(
        &mut self,
        _: Kernel,
        module: &Module,
        interface: &Interface,
        spec: &[(u32, u64)],
    ) -> Result<(), Error> {
        capabilities::check(&self.device.physical, &self.features, module, interface)?;
        let pipeline = Pipeline::new(&self.device, module, interface, spec);
        let pipeline = self.validated(pipeline)?;
        self.pipelines.push(Arc::new(pipeline));
        Ok(())
    }

    fn launch(&mut self, launch: &Launch) -> Result<(), Error> {
        let pipeline = self.pipelines.get(launch.kernel.index());
        let pipeline = Arc::clone(pipeline.ok_or(Error::Handle("a kernel"))?);
        let Inputs::Resources { bindings, push } = &launch.inputs else {
            let text = format!("{} is a shader: it takes buffers", pipeline.name);
            return Err(Error::Launch(text));
        };
        let groups = pipeline.groups(&launch.size)?;
        let mut bound = Vec::with_capacity(bindings.len());
        for binding in bindings {
            bound.push((binding, self.buffer(binding.buffer)?));
        }
        let mut constants = push.clone();
        constants.resize(pipeline.push, 0);
        let recorded = self
            .queue
            .record(|device, batch| dispatch(device, batch, &pipeline, &bound, &constants, groups));
        self.validated(recorded)
    }

    fn wait(&mut self) -> Result<(), Error> {
        let finished = self.queue.finish();
        self.validated(finished)
    }
}

fn dispatch(
    device: &Device,
    batch: &mut Batch,
    pipeline: &Arc<Pipeline>,
    bound: &[(&Bound, Arc<memory::Buffer>)],
    push: &[u8],
    groups: [u32; 3],
) -> Result<(), Error> {
    let buffers = bound.iter().map(|(b, buffer)| (*b, &**buffer));
    let sets = batch.pools.bind(&pipeline.sets, buffers)?;
    batch.runs(pipeline);
    for (_, buffer) in bound {
        batch.uses(buffer);
    }
    let functions = device.raw();
    let (commands, layout) = (batch.commands, pipeline.layout());
    let point = vk::PipelineBindPoint::COMPUTE;
    // SAFETY: the commands are being recorded; pipeline, sets and buffers are kept by the batch;
    // sets and push constants are of the pipeline's layout; the number of workgroups is within the
    // device's limits, which the caller has checked.
    unsafe {
        functions.cmd_bind_pipeline(commands, point, pipeline.raw());
        if !sets.is_empty() {
            functions.cmd_bind_descriptor_sets(commands, point, layout, 0, &sets, &[]);
        }
        if !push.is_empty() {
            let stage = vk::ShaderStageFlags::COMPUTE;
            functions.cmd_push_constants(commands, layout, stage, 0, push);
        }
        functions.cmd_dispatch(commands, groups[0], groups[1], groups[2]);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Device, devices};

    /// A device whose memory the host is taken not to see, as that of most graphics cards.
    fn remote() -> Option<Device> {
        if devices().iter().all(|d| d.id != "vulkan:0") {
            let required = std::env::var_os("SPIRULA_REQUIRE_VULKAN").is_some();
            assert!(!required, "no Vulkan device, and one is required");
            eprintln!("NOT TESTED: this machine has no Vulkan device");
            return None;
        }
        let driver = VulkanDriver::open_with("vulkan", &DeviceOptions::default(), false);
        Some(Device::with_driver(Box::new(driver.unwrap())))
    }

    #[test]
    fn memory_that_the_host_does_not_see_is_copied_in_pieces() {
        let Some(mut device) = remote() else { return };
        // Three pieces, the last of them short; nothing on a whole word.
        let data: Vec<u8> = (0..36_000_001_u32).map(|i| (i * 7 / 8) as u8).collect();
        let buffer = device.create_buffer(36_000_011).unwrap();
        assert!(device.download(buffer).unwrap().iter().all(|b| *b == 0));
        device.write(buffer, 7, &data).unwrap();
        let got = device.download(buffer).unwrap();
        assert_eq!(got[..7], [0; 7]);
        assert!(got[7..36_000_008] == data);
        assert_eq!(got[36_000_008..], [0; 3]);
        let mut some = [1; 5];
        device.read(buffer, 36_000_005, &mut some).unwrap();
        assert_eq!(some[..3], data[35_999_998..]);
        assert_eq!(some[3..], [0; 2]);
    }

    #[test]
    fn memory_that_was_used_is_cleared() {
        let Some(mut device) = remote() else { return };
        for size in [0, 1, 5, 4096] {
            let buffer = device.upload(&vec![9; size]).unwrap();
            device.destroy_buffer(buffer).unwrap();
            let again = device.create_buffer(size as u64).unwrap();
            assert_eq!(device.download(again).unwrap(), vec![0; size]);
        }
    }
}
