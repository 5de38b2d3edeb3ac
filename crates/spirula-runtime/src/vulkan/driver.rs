//! The implementation of [`Driver`].

use super::batch::Batch;
use super::cache::Cache;
use super::descriptors::Part;
use super::device::Device;
use super::features::Features;
use super::instance::{Instance, Validation};
use super::memory::{self, Memory};
use super::physical::Physical;
use super::queue::{Queue, Settings};
use super::transfer::Transfer;
use super::variant::{Needs, Variant, Variants};
use crate::driver::{DeviceInfo, DeviceOptions, Driver};
use crate::rewrite::Descriptor;
use crate::{Bound, Buffer, Error, Inputs, Kernel, Launch};
use ash::vk;
use gpu_allocator::MemoryLocation;
use spirula_source::{Diagnostic, Place};
use spirula_spirv::ir::Module;
use spirula_spirv::reflect::Interface;
use std::sync::Arc;
use std::time::Duration;

/// Environment variable that turns Vulkan's validation layer on.
const VALIDATION: &str = "SPIRULA_VULKAN_VALIDATION";

/// The driver of a Vulkan device.
pub struct VulkanDriver {
    // First, so that the device is idle when the others go.
    queue: Queue,
    transfer: Transfer,
    buffers: Vec<Option<Arc<memory::Buffer>>>,
    kernels: Vec<Variants>,
    // Before the device, with which it is saved.
    cache: Cache,
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
            _ if options.gpu_checks => Instance::create(Validation::Shaders)?,
            true => Instance::create(Validation::Calls)?,
            false => Instance::shared()?,
        };
        let mut physical = Physical::named(&instance, name)?;
        let wrong = options.cache.as_deref();
        let wrong = wrong.and_then(|folder| crate::probe::known(folder, &physical.info));
        physical.wrong = wrong.into_iter().flatten().filter_map(|(c, _)| c).collect();
        let features = Features::query(&instance, &physical);
        let device = Device::open(instance, physical, features.clone())?;
        let memory = Memory::new(&device, direct)?;
        let settings = Settings {
            timeout: options.timeout,
            times: options.times,
        };
        Ok(VulkanDriver {
            queue: Queue::new(&device, settings)?,
            transfer: Transfer::new(&memory),
            buffers: Vec::new(),
            kernels: Vec::new(),
            cache: Cache::open(&device, options.cache.as_deref())?,
            memory,
            features,
            device,
        })
    }

    fn new_buffer(&self, number: Buffer, size: u64) -> Result<Arc<memory::Buffer>, Error> {
        let buffer = Arc::new(self.memory.create(size, MemoryLocation::GpuOnly)?);
        self.device
            .name(buffer.raw(), &format!("buffer {}", number.index()));
        Ok(buffer)
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

    fn create_buffer(&mut self, number: Buffer, size: u64) -> Result<(), Error> {
        let buffer = self.new_buffer(number, size)?;
        let cleared = self.transfer.clear(&mut self.queue, &buffer);
        self.validated(cleared)?;
        self.buffers.push(Some(buffer));
        Ok(())
    }

    fn create_scratch(&mut self, number: Buffer, size: u64) -> Result<(), Error> {
        let buffer = self.new_buffer(number, size)?;
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

    fn read_all(&mut self, parts: &mut [(Buffer, u64, &mut [u8])]) -> Result<(), Error> {
        let buffers = parts.iter().map(|(buffer, ..)| self.buffer(*buffer));
        let buffers = buffers.collect::<Result<Vec<_>, _>>()?;
        let parts = parts.iter_mut().zip(&buffers);
        let mut parts: Vec<_> = parts
            .map(|((_, at, out), buffer)| (buffer, *at, &mut **out))
            .collect();
        let read = self.transfer.read_all(&mut self.queue, &mut parts);
        self.validated(read)
    }

    fn address(&mut self, buffer: Buffer) -> Result<u64, Error> {
        self.buffer(buffer)?.mark_known();
        self.argument_address(buffer)
    }

    fn argument_address(&mut self, buffer: Buffer) -> Result<u64, Error> {
        self.buffer(buffer)?.address.ok_or_else(|| {
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
        let (device, cache) = (&self.device, &mut self.cache);
        let made = Variants::new(device, &self.features, cache, (module, interface), spec);
        let made = self.validated(made)?;
        self.kernels.push(made);
        Ok(())
    }

    fn launch(&mut self, launch: &Launch, reached: &[Buffer]) -> Result<(), Error> {
        let mut bound = Vec::new();
        let Inputs::Resources { bindings, push } = &launch.inputs else {
            let text = "a shader takes buffers by set and binding".to_owned();
            return Err(Error::Launch(text));
        };
        for binding in bindings {
            bound.push((binding, self.buffer(binding.buffer)?));
        }
        let reached = reached.iter().map(|b| self.buffer(*b));
        let reached = reached.collect::<Result<Vec<_>, _>>()?;
        let limits = &self.device.physical.limits;
        let kernel = self.kernels.get_mut(launch.kernel.index());
        let kernel = kernel.ok_or(Error::Handle("a kernel"))?;
        let groups = kernel.groups(&launch.size)?;
        let most = limits.max_compute_work_group_count;
        let is_folded = groups.iter().zip(most).any(|(n, most)| *n > most);
        let range = u64::from(limits.max_storage_buffer_range);
        let needs = Needs {
            addresses: bound
                .iter()
                .any(|(b, buffer)| buffer.size > range && kernel.stores(b)),
            folded: is_folded.then_some(groups),
        };
        let (device, cache) = (&self.device, &mut self.cache);
        let variant = kernel.get(device, &self.features, cache, needs)?;
        let mut push = push.clone();
        push.resize(push.len().next_multiple_of(4).max(variant.pipeline.push), 0);
        let dispatch = Dispatch {
            kernel: launch.kernel,
            variant: &variant,
            bound: &bound,
            push,
            groups,
            memory: &self.memory,
        };
        let recorded = self.queue.record(|device, batch| {
            dispatch.record(device, batch)?;
            reached.iter().for_each(|buffer| batch.writes(buffer));
            Ok(())
        });
        self.validated(recorded)
    }

    fn wait(&mut self) -> Result<(), Error> {
        let finished = self.queue.finish();
        self.validated(finished)
    }

    fn was_cached(&self, kernel: Kernel) -> Option<bool> {
        self.kernels.get(kernel.index())?.was_cached()
    }

    fn take_warnings(&mut self) -> Vec<String> {
        self.cache.save();
        let mut warnings = std::mem::take(&mut self.cache.warnings);
        warnings.extend(self.device.instance().take_warnings());
        warnings
    }

    fn take_times(&mut self) -> Vec<(Kernel, Duration)> {
        self.queue.take_times()
    }
}

impl Drop for VulkanDriver {
    fn drop(&mut self) {
        if self.queue.is_abandoned() {
            // Work that nobody waits for may still use them.
            std::mem::forget(std::mem::take(&mut self.buffers));
            std::mem::forget(std::mem::take(&mut self.kernels));
        } else {
            self.cache.save();
        }
    }
}

/// A launch with what it was found to need.
struct Dispatch<'a> {
    kernel: Kernel,
    variant: &'a Variant,
    bound: &'a [(&'a Bound, Arc<memory::Buffer>)],
    push: Vec<u8>,
    groups: [u32; 3],
    memory: &'a Arc<Memory>,
}

impl Dispatch<'_> {
    fn record(&self, device: &Device, batch: &mut Batch) -> Result<(), Error> {
        let pipeline = &self.variant.pipeline;
        let extra = self.extra(device, batch)?;
        let addressed = self.variant.addressed.as_ref();
        let is_addressed = |b: &Bound| {
            addressed.is_some_and(|(_, all)| {
                all.contains(&Descriptor {
                    set: b.set,
                    binding: b.binding,
                })
            })
        };
        let own = self.bound.iter().filter(|(b, _)| !is_addressed(b));
        let own = own.map(|(bound, buffer)| Part {
            bound: **bound,
            buffer,
            range: (0, buffer.size),
        });
        let extra = extra.iter().map(|(bound, buffer, range)| Part {
            bound: *bound,
            buffer,
            range: *range,
        });
        let sets = batch.pools.bind(&pipeline.sets, own.chain(extra))?;
        batch.runs(pipeline);
        for (bound, buffer) in self.bound {
            let (set, binding) = (bound.set, bound.binding);
            let is_read = self
                .variant
                .read_only
                .contains(&Descriptor { set, binding });
            match is_read && !is_addressed(bound) {
                true => batch.reads(buffer),
                false => batch.writes(buffer),
            }
        }
        batch.stamp(device, self.kernel, false);
        let functions = device.raw();
        let (commands, layout) = (batch.commands, pipeline.layout());
        let point = vk::PipelineBindPoint::COMPUTE;
        let groups = self.variant.grid.unwrap_or(self.groups);
        // SAFETY: the commands are being recorded; pipeline, sets and buffers are kept by the batch;
        // sets and push constants are of the pipeline's layout; the number of workgroups is within the
        // device's limits.
        unsafe {
            functions.cmd_bind_pipeline(commands, point, pipeline.raw());
            if !sets.is_empty() {
                functions.cmd_bind_descriptor_sets(commands, point, layout, 0, &sets, &[]);
            }
            if pipeline.push > 0 {
                let stage = vk::ShaderStageFlags::COMPUTE;
                functions.cmd_push_constants(commands, layout, stage, 0, &self.push);
            }
            functions.cmd_dispatch(commands, groups[0], groups[1], groups[2]);
        }
        batch.stamp(device, self.kernel, true);
        Ok(())
    }

    /// What is bound besides: push constants and addresses that come from a buffer.
    fn extra(&self, device: &Device, batch: &mut Batch) -> Result<Vec<Extra>, Error> {
        let mut extra = Vec::new();
        let mut add = |place: Descriptor, data: &[u8]| {
            let (buffer, at) = batch.scratch(device, self.memory, data)?;
            let bound = Bound {
                set: place.set,
                binding: place.binding,
                index: 0,
                buffer: Buffer(u32::MAX),
            };
            extra.push((bound, buffer, (at, data.len() as u64)));
            Ok::<(), Error>(())
        };
        if let Some(place) = self.variant.pushed {
            add(place, &self.push)?;
        }
        if let Some((place, buffers)) = &self.variant.addressed {
            let address = |wanted: &Descriptor| {
                let mut bound = self.bound.iter();
                let found = bound.find(|(b, _)| (b.set, b.binding) == (wanted.set, wanted.binding));
                found.and_then(|(_, buffer)| buffer.address).unwrap_or(0)
            };
            let rows: Vec<u8> = buffers
                .iter()
                .flat_map(|b| address(b).to_le_bytes())
                .collect();
            add(*place, &rows)?;
        }
        Ok(extra)
    }
}

/// A descriptor with a part of a buffer of the batch.
type Extra = (Bound, Arc<memory::Buffer>, (u64, u64));

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
            let buffer = device.upload(&vec![9_u8; size]).unwrap();
            device.destroy_buffer(buffer).unwrap();
            let again = device.create_buffer(size as u64).unwrap();
            assert_eq!(device.download(again).unwrap(), vec![0; size]);
        }
    }
}
