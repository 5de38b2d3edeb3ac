//! A kernel with the pipelines that its launches need.
//!
//! Most launches run the shader as it is. One over more workgroups than a dimension takes, or with a buffer
//! that is larger than a descriptor reaches, runs one that was rewritten ([`crate::rewrite`]), compiled when
//! it is first needed.

use super::cache::PipelineDiskCache;
use super::capabilities;
use super::device::VulkanDevice;
use super::error::unsupported_error;
use super::features::VulkanFeatures;
use super::pipeline::ComputePipeline;
use super::specialise::ShaderSpecialisation;
use crate::rewrite::{self, AddressSource, DescriptorLocation};
use crate::specialised::specialise_constants;
use crate::{DeviceError, DeviceKind, IndexSpace, LaunchBinding};
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::Capability;
use spirula_spirv::ir::SpirvModule;
use spirula_spirv::reflect::{BindingKind, EntryInterface, InterfaceBinding};
use std::sync::Arc;

/// What a launch needs that the shader as it is does not give.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VariantRequirements {
    /// Storage buffers come by address.
    pub addresses: bool,
    /// The launch is over these workgroups, which are too many for a dimension.
    pub folded: Option<[u32; 3]>,
}

/// A pipeline and how a launch of it differs from one of the shader as it is.
pub struct PipelineVariant {
    /// What is run.
    pub pipeline: Arc<ComputePipeline>,
    /// Where the push constants are bound, if they are none.
    pub pushed: Option<DescriptorLocation>,
    /// Where addresses come from, and the descriptors that they stand for.
    pub addressed: Option<(AddressSource, Vec<DescriptorLocation>)>,
    /// The grid that is run, if not that of the launch.
    pub grid: Option<[u32; 3]>,
    /// Descriptors that are not written.
    pub read_only: Vec<DescriptorLocation>,
}

/// A kernel.
pub struct KernelPipelines {
    module: SpirvModule,
    interface: EntryInterface,
    spec: Vec<(u32, u64)>,
    /// Storage buffers come by address in all launches.
    pub by_address: bool,
    /// Whether it was lowered for this run: as exact as it is elsewhere, and made faster for graphics cards.
    is_own: bool,
    made: Vec<(VariantRequirements, Arc<PipelineVariant>)>,
    /// Bytes that what is bound is seen in multiples of.
    pub unit: u64,
}

impl KernelPipelines {
    /// A kernel with its first pipeline. Where it `stays` within its buffers, these come by address on processors:
    /// compilers of drivers there test every access of every invocation to a descriptor's buffer by itself.
    pub fn new(
        device: &Arc<VulkanDevice>,
        features: &VulkanFeatures,
        cache: &mut PipelineDiskCache,
        (module, interface): (&SpirvModule, &EntryInterface),
        spec: &[(u32, u64)],
        stays: bool,
    ) -> Result<KernelPipelines, DeviceError> {
        capabilities::check_module(&device.physical, features, module, interface)?;
        let mut variants = KernelPipelines {
            module: module.clone(),
            interface: interface.clone(),
            spec: spec.to_vec(),
            by_address: false,
            is_own: stays,
            made: Vec::new(),
            unit: 1,
        };
        let mut needs = VariantRequirements {
            addresses: stays && device.physical.info.kind == DeviceKind::Cpu,
            folded: None,
        };
        let first = match variants.build_variant(device, features, cache, needs) {
            Err(_) if needs.addresses => {
                needs.addresses = false;
                variants.build_variant(device, features, cache, needs)?
            }
            first => first?,
        };
        variants.by_address = needs.addresses;
        variants.made.push((needs, Arc::new(first)));
        Ok(variants)
    }

    /// Whether the driver had the first pipeline compiled already; `None` where it does not tell.
    pub fn was_cached(&self) -> Option<bool> {
        self.made
            .first()
            .and_then(|(_, first)| first.pipeline.was_cached)
    }

    /// Whether what is bound is a storage buffer of the shader.
    pub fn has_storage_buffer(&self, bound: &LaunchBinding) -> bool {
        let mut bindings = self.interface.bindings.iter();
        bindings.any(|b| {
            let is_storage = matches!(b.kind, BindingKind::Storage(_));
            is_storage && (b.set, b.binding) == (bound.set, bound.binding)
        })
    }

    /// The workgroups of a launch.
    pub fn count_workgroups(&self, size: &IndexSpace) -> Result<[u32; 3], DeviceError> {
        let (_, first) = self.made.first().ok_or(DeviceError::Handle("a kernel"))?;
        first.pipeline.count_workgroups(size)
    }

    /// What a launch needs.
    pub fn find_or_build(
        &mut self,
        device: &Arc<VulkanDevice>,
        features: &VulkanFeatures,
        cache: &mut PipelineDiskCache,
        mut needs: VariantRequirements,
    ) -> Result<Arc<PipelineVariant>, DeviceError> {
        needs.addresses |= self.by_address;
        if let Some((_, known)) = self.made.iter().find(|(known, _)| *known == needs) {
            return Ok(Arc::clone(known));
        }
        let made = Arc::new(self.build_variant(device, features, cache, needs)?);
        self.made.push((needs, Arc::clone(&made)));
        Ok(made)
    }

    fn build_variant(
        &self,
        device: &Arc<VulkanDevice>,
        features: &VulkanFeatures,
        cache: &mut PipelineDiskCache,
        needs: VariantRequirements,
    ) -> Result<PipelineVariant, DeviceError> {
        let mut shader = ShaderRewrite {
            module: self.module.clone(),
            interface: self.interface.clone(),
        };
        let limits = &device.physical.limits;
        let mut pushed = None;
        let bytes = self.interface.push_constant_bytes;
        if bytes.next_multiple_of(4) > limits.max_push_constants_size {
            let name = shader.refusal_prefix(device);
            let made = rewrite::from_buffer(&shader.module);
            let (module, place) = made.ok_or_else(|| {
                unsupported_error(format!(
                    "{name} {bytes} bytes of push constants, {} at most, and the shader cannot take them otherwise",
                    limits.max_push_constants_size
                ))
            })?;
            shader.replace_module(module)?;
            pushed = Some(place);
        }
        let mut addressed = None;
        if needs.addresses {
            addressed = Some(shader.by_address(device, features)?);
        }
        let mut grid = None;
        if let Some(total) = needs.folded {
            grid = Some(shader.fold_grid(device, total, &self.spec)?);
        }
        let read_only = read_only(&self.interface);
        for mend in [
            rewrite::without_shared,
            rewrite::with_parities_chosen,
            rewrite::with_divisions_guarded,
        ] {
            if let Some(mended) = mend(&shader.module) {
                shader.module = mended;
            }
        }
        if self.is_own {
            if let Some(exact) = rewrite::with_exact_functions(&shader.module) {
                shader.module = exact;
            }
            if device.physical.info.kind != DeviceKind::Cpu {
                shader.optimise_memory_access(device, &self.spec);
            }
        }
        let (module, interface) = (&shader.module, &shader.interface);
        let pipeline = ComputePipeline::new(device, cache, module, interface, &self.spec)?;
        Ok(PipelineVariant {
            pipeline: Arc::new(pipeline),
            pushed,
            addressed,
            grid,
            read_only,
        })
    }
}

/// The descriptors that no variable writes: several may see the same one.
fn read_only(interface: &EntryInterface) -> Vec<DescriptorLocation> {
    let place = |b: &InterfaceBinding| DescriptorLocation {
        set: b.set,
        binding: b.binding,
    };
    let written = interface.bindings.iter().filter(|b| !b.read_only);
    let written: Vec<_> = written.map(place).collect();
    let read = interface.bindings.iter().filter(|b| b.read_only).map(place);
    read.filter(|place| !written.contains(place)).collect()
}

/// A shader under change.
struct ShaderRewrite {
    module: SpirvModule,
    interface: EntryInterface,
}

impl ShaderRewrite {
    /// The beginning of a refusal.
    fn refusal_prefix(&self, device: &VulkanDevice) -> String {
        format!("{} on {}:", self.interface.name, device.physical.info.id)
    }

    fn replace_module(&mut self, module: SpirvModule) -> Result<(), DeviceError> {
        let interface = EntryInterface::from_module(&module, &self.interface.name);
        self.interface = interface.map_err(|d| DeviceError::Module(Box::new(d)))?;
        self.module = module;
        Ok(())
    }

    fn by_address(
        &mut self,
        device: &VulkanDevice,
        features: &VulkanFeatures,
    ) -> Result<(AddressSource, Vec<DescriptorLocation>), DeviceError> {
        let name = self.refusal_prefix(device);
        let most = device.physical.limits.max_storage_buffer_range;
        let pushed = device.physical.limits.max_push_constants_size;
        let refused = |why: &str| {
            let text =
                format!("{name} {most} bytes of a storage buffer are bound at most, and {why}");
            unsupported_error(text)
        };
        let capability = Capability::PhysicalStorageBufferAddresses;
        if !capabilities::has_capability(&device.physical, features, capability) {
            return Err(refused("the device has no buffer addresses"));
        }
        let made = rewrite::by_address(&self.module, &self.interface, pushed);
        let made = made.ok_or_else(|| refused("the shader cannot take them by address"))?;
        self.replace_module(made.module)?;
        Ok((made.table, made.buffers))
    }

    /// Has a shader that waits for its workgroup read ahead, and lays the workgroup's memory out for its banks where there is
    /// room for it.
    fn optimise_memory_access(&mut self, device: &VulkanDevice, spec: &[(u32, u64)]) {
        let waits = |module: &SpirvModule| {
            let mut insts = module.all_insts();
            insts.any(|inst| inst.op() == Op::ControlBarrier)
        };
        if !waits(&self.module) {
            return;
        }
        if let Some(ahead) = rewrite::with_reads_ahead(&self.module) {
            self.module = ahead;
        }
        let mut module = self.module.clone();
        specialise_constants(&mut module, spec);
        let used = ShaderSpecialisation::new(&module, &self.interface, spec).workgroup_memory;
        let most = device.physical.info.limits.workgroup_memory;
        if let Some(spread) = rewrite::with_banks_spread(&module, most.saturating_sub(used)) {
            self.module = spread;
        }
    }

    fn fold_grid(
        &mut self,
        device: &VulkanDevice,
        total: [u32; 3],
        spec: &[(u32, u64)],
    ) -> Result<[u32; 3], DeviceError> {
        let name = self.refusal_prefix(device);
        let limits = device.physical.limits.max_compute_work_group_count;
        let refused = |why: &str| {
            let text = format!("{name} {total:?} workgroups, {limits:?} at most, and {why}");
            DeviceError::Launch(text)
        };
        let grid = rewrite::choose_grid(total, limits);
        let grid = grid.ok_or_else(|| refused("they are too many altogether"))?;
        let specialised = ShaderSpecialisation::new(&self.module, &self.interface, spec);
        let local = specialised.workgroup_size;
        let module =
            rewrite::fold_workgroups(&self.module, &self.interface.name, total, grid, local);
        let module = module.ok_or_else(|| refused("the shader passes its ids around"))?;
        self.replace_module(module)?;
        Ok(grid)
    }
}
