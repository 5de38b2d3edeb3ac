//! The driver of Vulkan devices: the implementation of [`DeviceDriver`].

mod transfers;

#[cfg(test)]
mod tests;

use super::capabilities;
use super::device::VulkanDevice;
use super::dispatch::DispatchPlan;
use super::features::VulkanFeatures;
use super::image::VulkanImage;
use super::instance::{ValidationLevel, VulkanInstance};
use super::memory::{self, VulkanMemory};
use super::physical_device::VulkanPhysicalDevice;
use super::pipeline_cache::PipelineDiskCache;
use super::pipeline_variants::KernelPipelines;
use super::queue::FEW_BUFFERS;
use super::queue::{QueueSettings, RepeatableCommand, VulkanQueue};
use super::resources::{DispatchResource, MirroredImage, VulkanResource};
use super::samplers::create_sampler;
use super::staging::StagingBuffers;
use crate::driver::{
    BufferCopy, DeviceDriver, DeviceInfo, DeviceOptions, KernelSource, PatternFill, ReachedMemory,
};
use crate::numbered_objects::NumberedObjects;
use crate::profile::LaunchTime;
use crate::{
    BufferHandle, DeviceError, ImageHandle, ImageShape, ImportedMemory, KernelHandle, KernelLaunch,
    LaunchInputs, ResourceHandle, SamplerHandle, SamplerState,
};
use smallvec::SmallVec;
use spirula_diagnostics::{SourceDiagnostic, SourceLocation};
use spirula_legalize::device::{DeviceShader, replace_inexact_remainders};
use spirula_legalize::emulate::{self, MissingNumericTypes};
use spirula_spirv::grammar::enumerants::Capability;
use spirula_spirv::ir::{ModuleSection, SpirvModule};
use spirula_spirv::reflect::EntryInterface;
use std::borrow::Cow;
use std::ptr::NonNull;
use std::sync::Arc;

/// Environment variable that turns Vulkan's validation layer on.
const VALIDATION: &str = "SPIRULA_VULKAN_VALIDATION";

/// The driver of a Vulkan device.
pub struct VulkanDriver {
    // First, so that the device is idle when the others are dropped.
    queue: VulkanQueue,
    transfer: StagingBuffers,
    buffers: NumberedObjects<VulkanResource>,
    kernels: NumberedObjects<KernelPipelines>,
    // Before the device, which saving it needs.
    cache: PipelineDiskCache,
    memory: Arc<VulkanMemory>,
    features: VulkanFeatures,
    /// Warnings about kernels whose missing types are emulated.
    notes: Vec<String>,
    device: Arc<VulkanDevice>,
}

/// All Vulkan devices; none where Vulkan is not installed.
pub fn list_devices() -> Vec<DeviceInfo> {
    let all = VulkanInstance::open_shared()
        .and_then(|instance| VulkanPhysicalDevice::enumerate_devices(&instance));
    let all = all.unwrap_or_default();
    all.into_iter().map(|device| device.info).collect()
}

/// Finds a device by name without opening it.
pub fn find_device_info(name: &str) -> Result<DeviceInfo, DeviceError> {
    let instance = VulkanInstance::open_shared()?;
    Ok(VulkanPhysicalDevice::find_named(&instance, name)?.info)
}

impl VulkanDriver {
    /// Opens a device by name: `vulkan`, `vulkan:` with a number or a part of its name.
    ///
    /// # Errors
    /// When Vulkan or the device is missing, or the device cannot be opened.
    pub fn open(name: &str, options: &DeviceOptions) -> Result<Self, DeviceError> {
        Self::open_with(name, options, true, |device| device)
    }

    /// Opens a device by name. If not `direct`, buffers are only accessed by copies. `change` is that of `VulkanDevice::open`.
    pub fn open_with(
        name: &str,
        options: &DeviceOptions,
        direct: bool,
        change: fn(ash::Device) -> ash::Device,
    ) -> Result<Self, DeviceError> {
        let asked = std::env::var_os(VALIDATION).is_some_and(|v| !v.is_empty() && v != "0");
        let instance = if options.gpu_checks {
            VulkanInstance::with_validation(ValidationLevel::Shaders)?
        } else if options.validation || asked {
            VulkanInstance::with_validation(ValidationLevel::Calls)?
        } else {
            VulkanInstance::open_shared()?
        };
        let mut physical = VulkanPhysicalDevice::find_named(&instance, name)?;
        let wrong = options.cache.as_deref();
        let wrong = wrong.and_then(|folder| crate::probe::load_findings(folder, &physical.info));
        physical.wrong = wrong.into_iter().flatten().filter_map(|(c, _)| c).collect();
        let features = VulkanFeatures::query_device(&instance, &physical);
        let device = VulkanDevice::open(instance, physical, features.clone(), change)?;
        let memory = VulkanMemory::new(&device, direct)?;
        let settings = QueueSettings {
            timeout: options.timeout,
            times: options.times,
        };
        Ok(VulkanDriver {
            queue: VulkanQueue::new(&device, settings)?,
            transfer: StagingBuffers::new(&memory),
            buffers: NumberedObjects::default(),
            kernels: NumberedObjects::default(),
            cache: PipelineDiskCache::open(&device, options.cache.as_deref())?,
            memory,
            features,
            notes: Vec::new(),
            device,
        })
    }

    fn new_buffer(
        &self,
        number: BufferHandle,
        size: u64,
    ) -> Result<Arc<memory::VulkanBuffer>, DeviceError> {
        let buffer = Arc::new(self.memory.create_for_kernels(size)?);
        self.device
            .name_object(buffer.raw(), &format!("buffer {}", number.index()));
        Ok(buffer)
    }

    fn find_buffer(&self, buffer: BufferHandle) -> Result<Arc<memory::VulkanBuffer>, DeviceError> {
        match self.buffers.get(buffer.index()) {
            Some(VulkanResource::Buffer(found)) => Ok(Arc::clone(found)),
            _ => Err(DeviceError::Handle("a buffer")),
        }
    }

    /// The bytes of a buffer or an image. `writes` is the number of bytes that are about to change.
    fn find_byte_buffer(
        &mut self,
        resource: ResourceHandle,
        writes: Option<u64>,
    ) -> Result<Arc<memory::VulkanBuffer>, DeviceError> {
        match self.buffers.get_mut(resource.index()) {
            Some(VulkanResource::Buffer(found)) => Ok(Arc::clone(found)),
            Some(VulkanResource::Picture(picture)) => {
                picture.update_bytes(&mut self.queue, &self.memory, writes)
            }
            _ => Err(DeviceError::Handle("a buffer")),
        }
    }

    /// The resource of a handle, for a launch.
    fn resolve_resource(
        &mut self,
        resource: ResourceHandle,
    ) -> Result<DispatchResource, DeviceError> {
        Ok(match self.buffers.get_mut(resource.index()) {
            Some(VulkanResource::Buffer(found)) => DispatchResource::Buffer(Arc::clone(found)),
            Some(VulkanResource::Picture(picture)) => {
                DispatchResource::Image(picture.update_image(&mut self.queue)?)
            }
            Some(VulkanResource::Sampler(found)) => DispatchResource::Sampler(Arc::clone(found)),
            _ => return Err(DeviceError::Handle("a buffer")),
        })
    }

    /// Replays a command from a recorded batch, if possible.
    fn replay_command(&mut self, asked: &RepeatableCommand<'_>) -> Result<bool, DeviceError> {
        let buffers = &self.buffers;
        let repeated = self.queue.replay_command(asked, |at, used, value| {
            if let Some(VulkanResource::Buffer(buffer)) =
                buffers.get(asked.bindings[at].resource.index())
            {
                buffer.mark_used(value, used.is_written);
            }
        });
        self.check_validation(repeated)
    }

    /// The types that a module needs and the device lacks, with a warning about them.
    fn find_missing_types(
        &self,
        module: &SpirvModule,
        name: &str,
    ) -> (MissingNumericTypes, Option<String>) {
        let (physical, features) = (&self.device.physical, &self.features);
        let has = |c| capabilities::has_capability(physical, features, c);
        let lacked = emulate::list_missing_capabilities(module, has);
        let lacked: Vec<String> = lacked.iter().map(ToString::to_string).collect();
        let (id, lacked) = (&physical.info.id, lacked.join(", "));
        let note = format!("{name}: {id} lacks {lacked}, which is emulated");
        let lacking = MissingNumericTypes::from_module(module, has);
        (
            lacking,
            (lacking != MissingNumericTypes::default()).then_some(note),
        )
    }

    /// Adds a kernel. `stays` says that it is known to stay within its buffers. Remainders of such a kernel are exact.
    fn add_kernel(
        &mut self,
        module: &SpirvModule,
        interface: &EntryInterface,
        spec: &[(u32, u64)],
        stays: bool,
    ) -> Result<(), DeviceError> {
        // The device is idle meanwhile, so that batches end where they would not in a later run.
        self.queue.mark_unrepeatable();
        let exact = stays.then(|| replace_inexact_remainders(module)).flatten();
        let module = exact.as_ref().unwrap_or(module);
        let (lacking, note) = self.find_missing_types(module, &interface.name);
        let made = match self.compile_pipelines(module, interface, spec, lacking, stays) {
            // NVIDIA's compiler fails on divisions of 64-bit integers in some kernels.
            Err(DeviceError::Compiler(why)) if !lacking.wide && is_wide(module) => {
                let without = MissingNumericTypes {
                    wide: true,
                    ..lacking
                };
                let again = self.compile_pipelines(module, interface, spec, without, stays);
                let made = again.map_err(|_| DeviceError::Compiler(why))?;
                let (name, id) = (&interface.name, &self.device.physical.info.id);
                self.notes.push(format!(
                    "{name}: the compiler of {id} fails on it; its integers of 64 bits are emulated"
                ));
                made
            }
            made => made?,
        };
        self.notes.extend(note);
        self.kernels.insert(made);
        Ok(())
    }

    /// Compiles the pipelines of a kernel whose missing types are emulated.
    fn compile_pipelines(
        &mut self,
        module: &SpirvModule,
        interface: &EntryInterface,
        spec: &[(u32, u64)],
        lacking: MissingNumericTypes,
        stays: bool,
    ) -> Result<KernelPipelines, DeviceError> {
        let shader = DeviceShader::new(module, interface, spec, lacking, stays)?;
        let (device, cache) = (&self.device, &mut self.cache);
        let made = KernelPipelines::new(device, &self.features, cache, shader, stays);
        self.check_validation(made)
    }

    /// The outcome of calls, or the errors of the validation layer about them.
    fn check_validation<T>(&self, outcome: Result<T, DeviceError>) -> Result<T, DeviceError> {
        self.device.instance().check_validation()?;
        outcome
    }
}

impl DeviceDriver for VulkanDriver {
    fn info(&self) -> &DeviceInfo {
        &self.device.physical.info
    }

    fn runs_kernels(&self) -> bool {
        false
    }

    fn create_buffer(&mut self, number: BufferHandle, size: u64) -> Result<(), DeviceError> {
        let buffer = self.new_buffer(number, size)?;
        let cleared = self.transfer.clear_buffer(&mut self.queue, &buffer);
        self.check_validation(cleared)?;
        self.buffers.insert(VulkanResource::Buffer(buffer));
        Ok(())
    }

    fn create_image(
        &mut self,
        _: ImageHandle,
        shape: &ImageShape,
        sampler: &SamplerState,
    ) -> Result<(), DeviceError> {
        let (device, memory) = (&self.device, &self.memory);
        let image = VulkanImage::new(device, memory, &mut self.queue, shape, sampler);
        let image = self.check_validation(image)?;
        self.buffers
            .insert(VulkanResource::Picture(MirroredImage::new(image)));
        Ok(())
    }

    fn create_sampler(
        &mut self,
        _: SamplerHandle,
        wanted: &SamplerState,
    ) -> Result<(), DeviceError> {
        let made = self.check_validation(create_sampler(&self.device, wanted, false))?;
        self.buffers.insert(VulkanResource::Sampler(Arc::new(made)));
        Ok(())
    }

    fn create_scratch(&mut self, number: BufferHandle, size: u64) -> Result<(), DeviceError> {
        let buffer = self.new_buffer(number, size)?;
        self.buffers.insert(VulkanResource::Buffer(buffer));
        Ok(())
    }

    fn import_buffer(
        &mut self,
        number: BufferHandle,
        memory: ImportedMemory,
    ) -> Result<(), DeviceError> {
        let imported = self.check_validation(self.memory.import_buffer(memory));
        let buffer = Arc::new(imported?);
        self.device
            .name_object(buffer.raw(), &format!("buffer {}", number.index()));
        self.buffers.insert(VulkanResource::Buffer(buffer));
        Ok(())
    }

    /// Images have none: their texels lie in the order of the device.
    fn host_address(
        &mut self,
        resource: ResourceHandle,
    ) -> Result<Option<NonNull<u8>>, DeviceError> {
        let ResourceHandle::Buffer(buffer) = resource else {
            return Ok(None);
        };
        let buffer = self.find_buffer(buffer)?;
        Ok(buffer.host_address().filter(|_| self.memory.direct))
    }

    fn destroy_resource(&mut self, resource: ResourceHandle) {
        let removed = self.buffers.remove(resource.index());
        match removed {
            // Launches may access it by address, without a binding.
            Some(VulkanResource::Buffer(buffer)) => self.queue.keep_buffer(buffer),
            // Launches that use them keep them alive.
            Some(VulkanResource::Picture(_) | VulkanResource::Sampler(_)) | None => {}
        }
    }

    fn write_resource(
        &mut self,
        resource: ResourceHandle,
        offset: u64,
        data: &[u8],
    ) -> Result<(), DeviceError> {
        let buffer = self.find_byte_buffer(resource, Some(data.len() as u64))?;
        let written = self
            .transfer
            .write_buffer(&mut self.queue, &buffer, offset, data);
        self.check_validation(written)
    }

    fn read_resource(
        &mut self,
        resource: ResourceHandle,
        offset: u64,
        out: &mut [u8],
    ) -> Result<(), DeviceError> {
        if out.is_empty() {
            return Ok(());
        }
        let buffer = self.find_byte_buffer(resource, None)?;
        let read = self
            .transfer
            .read_buffer(&mut self.queue, &buffer, offset, out);
        self.check_validation(read)
    }

    fn read_all(
        &mut self,
        parts: &mut [(BufferHandle, u64, &mut [u8])],
    ) -> Result<(), DeviceError> {
        let buffers = parts
            .iter()
            .map(|(buffer, ..)| self.find_byte_buffer((*buffer).into(), None));
        let buffers = buffers.collect::<Result<Vec<_>, _>>()?;
        let parts = parts.iter_mut().zip(&buffers);
        let mut parts: Vec<_> = parts
            .map(|((_, at, out), buffer)| (buffer, *at, &mut **out))
            .collect();
        let read = self.transfer.read_all(&mut self.queue, &mut parts);
        self.check_validation(read)
    }

    fn copy_buffer(&mut self, copy: &BufferCopy) -> Result<(), DeviceError> {
        self.copy_range(copy)
    }

    fn fill_buffer(&mut self, fill: &PatternFill<'_>) -> Result<(), DeviceError> {
        self.fill_range(fill)
    }

    fn buffer_address(&mut self, buffer: BufferHandle) -> Result<u64, DeviceError> {
        self.find_buffer(buffer)?.mark_known();
        self.queue.order_all();
        self.argument_address(buffer)
    }

    fn argument_address(&mut self, buffer: BufferHandle) -> Result<u64, DeviceError> {
        self.find_buffer(buffer)?.address.ok_or_else(|| {
            let text = format!("{} has no buffer addresses", self.info().id);
            let diagnostic = SourceDiagnostic::error(SourceLocation::Unknown, text);
            let note = "it lacks the feature bufferDeviceAddress";
            DeviceError::Unsupported(vec![diagnostic.with_note(note)])
        })
    }

    fn create_kernel(
        &mut self,
        _: KernelHandle,
        source: KernelSource<'_>,
    ) -> Result<(), DeviceError> {
        self.add_kernel(source.module, source.interface, source.spec, false)
    }

    fn create_own_kernel(
        &mut self,
        _: KernelHandle,
        source: KernelSource<'_>,
    ) -> Result<(), DeviceError> {
        self.add_kernel(source.module, source.interface, source.spec, true)
    }

    fn launch_kernel(
        &mut self,
        launch: &KernelLaunch,
        reached: ReachedMemory<'_>,
    ) -> Result<(), DeviceError> {
        let is_bound = reached == ReachedMemory::default();
        let asked = RepeatableCommand::from_launch(launch).filter(|_| is_bound);
        if let Some(asked) = &asked
            && self.replay_command(asked)?
        {
            return Ok(());
        }
        let mut bound: SmallVec<[_; FEW_BUFFERS]> = SmallVec::new();
        let LaunchInputs::Resources { bindings, push } = &launch.inputs else {
            let text = "a shader takes buffers by set and binding".to_owned();
            return Err(DeviceError::Launch(text));
        };
        for binding in bindings {
            bound.push((binding, self.resolve_resource(binding.resource)?));
        }
        let buffers = reached.buffers.iter().map(|b| self.find_buffer(*b));
        let buffers = buffers.collect::<Result<Vec<_>, _>>()?;
        let kernel = self.kernels.get_mut(launch.kernel.index());
        let kernel = kernel.ok_or(DeviceError::Handle("a kernel"))?;
        let groups = kernel.count_workgroups(&launch.size)?;
        let limits = &self.device.physical.limits;
        let needs = kernel.find_requirements(limits, groups, &bound);
        let (device, cache) = (&self.device, &mut self.cache);
        let variant = kernel.find_or_build(device, &self.features, cache, needs)?;
        let mut push = Cow::Borrowed(push.as_slice());
        let bytes = push.len().next_multiple_of(4).max(variant.pipeline.push);
        if push.len() < bytes {
            push.to_mut().resize(bytes, 0);
        }
        let dispatch = DispatchPlan {
            kernel: launch.kernel,
            variant: &variant,
            bound: &bound,
            push,
            groups,
            unit: kernel.buffer_unit(),
            memory: &self.memory,
        };
        if !is_bound {
            // A kernel may store addresses for another one.
            self.queue.order_all();
        }
        let uses = dispatch.gather_accesses();
        let added = self
            .queue
            .add_command(asked.as_ref(), uses.as_ref(), |device, batch| {
                buffers
                    .iter()
                    .for_each(|buffer| batch.note_buffer_write(buffer));
                dispatch.build_command(device, batch)
            });
        self.check_validation(added)?;
        if reached.is_unbounded {
            self.queue.note_unbounded_access();
        }
        for (binding, _) in &bound {
            let slot = self.buffers.get_mut(binding.resource.index());
            if let Some(VulkanResource::Picture(picture)) = slot
                && variant.pipeline.sets.has_stored_image(binding)
            {
                picture.is_written();
            }
        }
        Ok(())
    }

    /// Batches keep the pipelines that they use.
    fn destroy_kernel(&mut self, kernel: KernelHandle) {
        self.kernels.remove(kernel.index());
    }

    fn wait_idle(&mut self) -> Result<(), DeviceError> {
        let finished = self.queue.finish_all();
        self.check_validation(finished)
    }

    fn was_cached(&self, kernel: KernelHandle) -> Option<bool> {
        self.kernels.get(kernel.index())?.was_cached()
    }

    fn take_warnings(&mut self) -> Vec<String> {
        self.cache.save_file();
        let mut warnings = std::mem::take(&mut self.cache.warnings);
        warnings.append(&mut self.notes);
        warnings.extend(self.device.instance().take_warnings());
        warnings
    }

    fn measure_times(&mut self, is_on: bool) {
        self.queue.measure_times(is_on);
    }

    fn take_times(&mut self) -> Vec<LaunchTime> {
        self.queue.take_times()
    }

    fn is_lost(&self) -> bool {
        self.queue.is_lost()
    }
}

impl Drop for VulkanDriver {
    fn drop(&mut self) {
        if self.queue.is_abandoned() {
            // Work that nobody waits for may still use them.
            std::mem::forget(std::mem::take(&mut self.buffers));
            std::mem::forget(std::mem::take(&mut self.kernels));
        } else {
            self.cache.save_file();
        }
    }
}

/// Whether a module has integers of 64 bits.
fn is_wide(module: &SpirvModule) -> bool {
    let mut declared = module.section_insts(ModuleSection::Capabilities);
    declared.any(|capability| capability.operand_word(0) == Capability::Int64.0)
}
