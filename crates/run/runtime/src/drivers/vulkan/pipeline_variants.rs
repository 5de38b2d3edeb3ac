//! Kernels with the pipelines that their launches need.
//!
//! Most launches run the shader as it was compiled first. A launch over more workgroups than a dimension allows, or with a
//! buffer that is larger than a descriptor's range, runs a variant of the shader ([`spirula_legalize::device`]). A variant is
//! compiled when a launch first needs it.

use super::capabilities;
use super::device::VulkanDevice;
use super::features::VulkanFeatures;
use super::pipeline::ComputePipeline;
use super::pipeline_cache::PipelineDiskCache;
use super::resources::DispatchResource;
use crate::{DeviceError, DeviceKind, IndexSpace, LaunchBinding};
use ash::vk;
use spirula_legalize::device::{
    AddressSource, DescriptorLocation, DeviceFacts, DeviceShader, LaunchRequirements,
};
use spirula_spirv::grammar::enumerants::Capability;
use spirula_spirv::reflect::{BindingKind, EntryInterface, InterfaceBinding};
use std::sync::Arc;

/// A pipeline, and how a launch of it differs from a launch of the original shader.
pub struct PipelineVariant {
    /// The pipeline.
    pub pipeline: Arc<ComputePipeline>,
    /// The storage buffer that holds the push constants, where they are not pushed.
    pub push_buffer: Option<DescriptorLocation>,
    /// Source of the addresses of storage buffers, and the descriptors that they replace, in order.
    pub addressed: Option<(AddressSource, Vec<DescriptorLocation>)>,
    /// The grid of the launch, where it is not that of the original shader.
    pub grid: Option<[u32; 3]>,
    /// Descriptors that the shader does not write.
    pub read_only: Vec<DescriptorLocation>,
}

/// A kernel and the pipelines that were compiled for its launches.
pub struct KernelPipelines {
    shader: DeviceShader,
    /// Whether all launches access storage buffers by address.
    pub by_address: bool,
    variants: Vec<(LaunchRequirements, Arc<PipelineVariant>)>,
}

impl KernelPipelines {
    /// A kernel with its first pipeline. On processors, the buffers of a shader that `stays` within them are accessed
    /// by address. The compilers of drivers there check each access of each invocation to a descriptor's buffer
    /// separately.
    ///
    /// # Errors
    /// When the device lacks something that the shader needs, or its driver cannot compile it.
    pub fn new(
        device: &Arc<VulkanDevice>,
        features: &VulkanFeatures,
        cache: &mut PipelineDiskCache,
        shader: DeviceShader,
        stays: bool,
    ) -> Result<KernelPipelines, DeviceError> {
        let (module, interface) = (shader.module(), shader.interface());
        capabilities::check_module(&device.physical, features, module, interface)?;
        let mut kernel = KernelPipelines {
            shader,
            by_address: false,
            variants: Vec::new(),
        };
        let mut needs = LaunchRequirements {
            addresses: stays && device.physical.info.kind == DeviceKind::Cpu,
            folded: None,
        };
        let first = match kernel.build_variant(device, features, cache, needs) {
            Err(_) if needs.addresses => {
                needs.addresses = false;
                kernel.build_variant(device, features, cache, needs)?
            }
            first => first?,
        };
        kernel.by_address = needs.addresses;
        kernel.variants.push((needs, Arc::new(first)));
        Ok(kernel)
    }

    /// Unit of the sizes of bound buffers, in bytes: emulated types are accessed as whole words.
    pub fn buffer_unit(&self) -> u64 {
        if self.shader.is_emulated() { 4 } else { 1 }
    }

    /// Whether the driver had compiled the first pipeline before; `None` where it does not say.
    pub fn was_cached(&self) -> Option<bool> {
        let (_, first) = self.variants.first()?;
        first.pipeline.was_cached
    }

    /// The form of the shader that a launch needs. It has addresses for buffers beyond the range of a descriptor, and
    /// workgroups that are folded into other dimensions.
    pub fn find_requirements(
        &self,
        limits: &vk::PhysicalDeviceLimits,
        groups: [u32; 3],
        bound: &[(&LaunchBinding, DispatchResource)],
    ) -> LaunchRequirements {
        let range = u64::from(limits.max_storage_buffer_range);
        let exceeds_range = |(binding, given): &(&LaunchBinding, DispatchResource)| match given {
            DispatchResource::Buffer(buffer) => {
                buffer.size > range && self.has_storage_buffer(binding)
            }
            _ => false,
        };
        let most = limits.max_compute_work_group_count;
        let is_folded = groups.iter().zip(most).any(|(n, most)| *n > most);
        LaunchRequirements {
            addresses: bound.iter().any(exceeds_range),
            folded: is_folded.then_some(groups),
        }
    }

    /// Whether the descriptor of a binding is a storage buffer of the shader.
    fn has_storage_buffer(&self, bound: &LaunchBinding) -> bool {
        let mut bindings = self.shader.interface().bindings.iter();
        bindings.any(|b| {
            let is_storage = matches!(b.kind, BindingKind::Storage(_));
            is_storage && (b.set, b.binding) == (bound.set, bound.binding)
        })
    }

    /// The workgroups of a launch.
    ///
    /// # Errors
    /// When the size of the launch does not fit the shader.
    pub fn count_workgroups(&self, size: &IndexSpace) -> Result<[u32; 3], DeviceError> {
        let (_, first) = self
            .variants
            .first()
            .ok_or(DeviceError::Handle("a kernel"))?;
        first.pipeline.count_workgroups(size)
    }

    /// The variant for a launch, compiled if there is none yet.
    ///
    /// # Errors
    /// When the shader cannot be changed so, or the driver cannot compile it.
    pub fn find_or_build(
        &mut self,
        device: &Arc<VulkanDevice>,
        features: &VulkanFeatures,
        cache: &mut PipelineDiskCache,
        mut needs: LaunchRequirements,
    ) -> Result<Arc<PipelineVariant>, DeviceError> {
        needs.addresses |= self.by_address;
        if let Some((_, known)) = self.variants.iter().find(|(known, _)| *known == needs) {
            return Ok(Arc::clone(known));
        }
        let variant = Arc::new(self.build_variant(device, features, cache, needs)?);
        self.variants.push((needs, Arc::clone(&variant)));
        Ok(variant)
    }

    fn build_variant(
        &self,
        device: &Arc<VulkanDevice>,
        features: &VulkanFeatures,
        cache: &mut PipelineDiskCache,
        needs: LaunchRequirements,
    ) -> Result<PipelineVariant, DeviceError> {
        let fitted = self
            .shader
            .fit_device(&collect_facts(device, features), needs)?;
        let (module, interface) = (&fitted.module, &fitted.interface);
        let pipeline = ComputePipeline::new(device, cache, module, interface, self.shader.spec())?;
        Ok(PipelineVariant {
            pipeline: Arc::new(pipeline),
            push_buffer: fitted.push_buffer,
            addressed: fitted.addressed,
            grid: fitted.grid,
            read_only: list_read_only(self.shader.interface()),
        })
    }
}

/// The facts of a device that decide how shaders are changed for it.
fn collect_facts(device: &VulkanDevice, features: &VulkanFeatures) -> DeviceFacts {
    let physical = &device.physical;
    let addresses = Capability::PhysicalStorageBufferAddresses;
    DeviceFacts {
        name: physical.info.id.clone(),
        is_processor: physical.info.kind == DeviceKind::Cpu,
        has_buffer_addresses: capabilities::has_capability(physical, features, addresses),
        push_constant_bytes: physical.limits.max_push_constants_size,
        storage_buffer_bytes: physical.limits.max_storage_buffer_range,
        workgroup_memory_bytes: physical.info.limits.workgroup_memory,
        workgroups: physical.limits.max_compute_work_group_count,
    }
}

/// The descriptors that no variable writes; several variables may have the same descriptor.
fn list_read_only(interface: &EntryInterface) -> Vec<DescriptorLocation> {
    let locate = |b: &InterfaceBinding| DescriptorLocation {
        set: b.set,
        binding: b.binding,
    };
    let (read, written): (Vec<_>, Vec<_>) = interface.bindings.iter().partition(|b| b.read_only);
    let written: Vec<_> = written.into_iter().map(locate).collect();
    let read = read.into_iter().map(locate);
    read.filter(|location| !written.contains(location))
        .collect()
}
