//! Pipelines: entry points compiled for a device.

use super::descriptors::DescriptorLayouts;
use super::device::{OwnedHandle, VulkanDevice};
use super::error::unsupported_error;
use super::kernel_features::SubgroupSizeChoice;
use super::pipeline_cache::PipelineDiskCache;
use super::specialisation::ShaderSpecialisation;
use crate::{DeviceError, IndexSpace};
use ash::vk;
use spirula_spirv::grammar::enumerants::Capability;
use spirula_spirv::ir::{ModuleSection, SpirvModule};
use spirula_spirv::reflect::EntryInterface;
use std::ffi::CString;
use std::sync::Arc;

/// A compute pipeline with its layouts.
pub struct ComputePipeline {
    /// Name of the entry point.
    pub name: String,
    /// Bytes of push constants, a multiple of 4.
    pub push: usize,
    /// Layouts of its descriptor sets.
    pub sets: DescriptorLayouts,
    /// Whether it came from the driver's cache; `None` where the driver does not say.
    pub was_cached: Option<bool>,
    workgroup_size: [u32; 3],
    layout: OwnedHandle<vk::PipelineLayout>,
    raw: OwnedHandle<vk::Pipeline>,
}

impl ComputePipeline {
    /// Compiles an entry point of a module whose requirements the device meets.
    pub fn new(
        device: &Arc<VulkanDevice>,
        cache: &mut PipelineDiskCache,
        module: &SpirvModule,
        interface: &EntryInterface,
        spec: &[(u32, u64)],
    ) -> Result<ComputePipeline, DeviceError> {
        let specialisation = ShaderSpecialisation::new(module, interface, spec);
        check_size(device, interface, specialisation.workgroup.size)?;
        check_memory(device, interface, specialisation.workgroup.memory_bytes)?;
        let push = interface.push_constant_bytes.next_multiple_of(4);
        let most = device.physical.limits.max_push_constants_size;
        if push > most {
            let text = format!(
                "{} takes {push} bytes of push constants: {} has {most}",
                interface.name, device.physical.info.id
            );
            return Err(unsupported_error(text));
        }
        let sets = DescriptorLayouts::new(device, module, interface)?;
        let layout = create_pipeline_layout(device, &sets, push)?;
        let words = module.to_words();
        let raw = compile_pipeline(
            device,
            cache,
            &words,
            &interface.name,
            &specialisation,
            choose_subgroup_size(device, module, specialisation.workgroup.size),
            *layout,
        )?;
        let (raw, was_cached) = raw;
        device.name_object(*raw, &interface.name);
        Ok(ComputePipeline {
            name: interface.name.clone(),
            push: push as usize,
            sets,
            was_cached,
            workgroup_size: specialisation.workgroup.size,
            layout,
            raw,
        })
    }

    /// Its handle.
    pub fn raw(&self) -> vk::Pipeline {
        *self.raw
    }

    /// Its layout.
    pub fn layout(&self) -> vk::PipelineLayout {
        *self.layout
    }

    /// The workgroups of a launch.
    pub fn count_workgroups(&self, size: &IndexSpace) -> Result<[u32; 3], DeviceError> {
        let bad = |text: &str| Err(DeviceError::Launch(format!("{}: {text}", self.name)));
        let (global, local, offset) = match *size {
            IndexSpace::Groups(groups) => return Ok(groups),
            IndexSpace::Items {
                global,
                local,
                offset,
                ..
            } => (global, local, offset),
        };
        if offset != [0; 3] {
            return bad("a shader takes no offset of its global ids");
        }
        if local.is_some_and(|l| l != self.workgroup_size) {
            let [x, y, z] = self.workgroup_size;
            return bad(&format!("the size of its workgroups is {x}x{y}x{z}"));
        }
        let mut groups = [0; 3];
        for axis in 0..3 {
            let size = u64::from(self.workgroup_size[axis]);
            let exact = (global[axis] % size == 0).then_some(global[axis] / size);
            match exact.and_then(|n| u32::try_from(n).ok()) {
                Some(n) => groups[axis] = n,
                None => {
                    return bad(&format!(
                        "the global size {} in dimension {axis} is no multiple of the workgroup's {size}",
                        global[axis]
                    ));
                }
            }
        }
        Ok(groups)
    }
}

fn check_memory(
    device: &VulkanDevice,
    interface: &EntryInterface,
    bytes: u64,
) -> Result<(), DeviceError> {
    let info = &device.physical.info;
    let most = info.limits.workgroup_memory;
    if bytes > most {
        let name = &interface.name;
        let text = format!(
            "{name} takes {bytes} bytes of workgroup memory: {} has {most}",
            info.id
        );
        return Err(unsupported_error(text));
    }
    Ok(())
}

fn check_size(
    device: &VulkanDevice,
    interface: &EntryInterface,
    size: [u32; 3],
) -> Result<(), DeviceError> {
    let limits = &device.physical.limits;
    let most = limits.max_compute_work_group_invocations;
    let each = limits.max_compute_work_group_size;
    let count = size.iter().map(|n| u128::from(*n)).product::<u128>();
    let fits = size.iter().zip(each).all(|(n, most)| *n <= most);
    if fits && (1..=u128::from(most)).contains(&count) {
        return Ok(());
    }
    let [x, y, z] = size;
    let text = format!(
        "{} has workgroups of {x}x{y}x{z}: {} takes 1 to {most} invocations, at most {}x{}x{}",
        interface.name, device.physical.info.id, each[0], each[1], each[2]
    );
    Err(unsupported_error(text))
}

/// The capabilities of modules whose results may depend on the size of subgroups.
const SUBGROUP_CAPABILITIES: &[Capability] = &[
    Capability::GroupNonUniform,
    Capability::GroupNonUniformVote,
    Capability::GroupNonUniformArithmetic,
    Capability::GroupNonUniformBallot,
    Capability::GroupNonUniformShuffle,
    Capability::GroupNonUniformShuffleRelative,
    Capability::GroupNonUniformClustered,
    Capability::GroupNonUniformQuad,
];

/// The size of subgroups that a pipeline must demand, so that it is that of the device.
fn choose_subgroup_size(
    device: &VulkanDevice,
    module: &SpirvModule,
    workgroup: [u32; 3],
) -> Option<u32> {
    let mut capabilities = module.section_insts(ModuleSection::Capabilities);
    let uses_subgroups =
        capabilities.any(|inst| SUBGROUP_CAPABILITIES.contains(&Capability(inst.operand_word(0))));
    let physical = &device.physical;
    let is_chosen = uses_subgroups && physical.size_choice == SubgroupSizeChoice::Demanded;
    let size = physical.info.subgroup_size;
    let count = workgroup.iter().map(|n| u64::from(*n)).product::<u64>();
    let fits = count <= u64::from(size) * u64::from(physical.most_subgroups);
    (is_chosen && fits).then_some(size)
}

fn create_pipeline_layout(
    device: &Arc<VulkanDevice>,
    sets: &DescriptorLayouts,
    push: u32,
) -> Result<OwnedHandle<vk::PipelineLayout>, DeviceError> {
    let raw = sets.raw();
    let range = vk::PushConstantRange::default()
        .stage_flags(vk::ShaderStageFlags::COMPUTE)
        .size(push);
    let mut info = vk::PipelineLayoutCreateInfo::default().set_layouts(raw);
    if push > 0 {
        info = info.push_constant_ranges(std::slice::from_ref(&range));
    }
    // SAFETY: the device and the layouts of the sets are alive; the range is within the limit.
    let made = unsafe { device.raw().create_pipeline_layout(&info, None) };
    OwnedHandle::new(device, "vkCreatePipelineLayout", made)
}

/// Results of drivers whose compiler fails.
const COMPILER: &[vk::Result] = &[
    vk::Result::ERROR_UNKNOWN,
    vk::Result::ERROR_INITIALIZATION_FAILED,
    vk::Result::ERROR_INVALID_SHADER_NV,
];

/// Compiles the pipeline of an entry point; returns whether it came from the driver's cache.
fn compile_pipeline(
    device: &Arc<VulkanDevice>,
    cache: &mut PipelineDiskCache,
    words: &[u32],
    name: &str,
    specialisation: &ShaderSpecialisation,
    subgroup_size: Option<u32>,
    layout: vk::PipelineLayout,
) -> Result<(OwnedHandle<vk::Pipeline>, Option<bool>), DeviceError> {
    let info = vk::ShaderModuleCreateInfo::default().code(words);
    // SAFETY: the words are a module that was read, and what it needs the device has; whether it
    // is valid beyond that is the caller's to know.
    let shader = unsafe { device.raw().create_shader_module(&info, None) };
    let shader = OwnedHandle::new(device, "vkCreateShaderModule", shader)?;
    let name = CString::new(name)
        .map_err(|_| DeviceError::Failed("the entry point's name has a zero in it".to_owned()))?;
    let constants = specialisation.to_vk_info();
    let mut demand = vk::PipelineShaderStageRequiredSubgroupSizeCreateInfo::default()
        .required_subgroup_size(subgroup_size.unwrap_or(0));
    let mut stage = vk::PipelineShaderStageCreateInfo::default()
        .stage(vk::ShaderStageFlags::COMPUTE)
        .module(*shader)
        .name(&name)
        .specialization_info(&constants);
    if subgroup_size.is_some() {
        stage = stage.push_next(&mut demand);
    }
    let mut told = vk::PipelineCreationFeedback::default();
    let mut stages = [vk::PipelineCreationFeedback::default()];
    let mut feedback = vk::PipelineCreationFeedbackCreateInfo::default()
        .pipeline_creation_feedback(&mut told)
        .pipeline_stage_creation_feedbacks(&mut stages);
    let mut info = vk::ComputePipelineCreateInfo::default()
        .stage(stage)
        .layout(layout);
    if device.physical.version >= vk::API_VERSION_1_3 {
        info = info.push_next(&mut feedback);
    }
    // SAFETY: the shader, the layout and the cache are alive; the entry point is in the module, and the
    // layout was made from its interface.
    let made = unsafe {
        device
            .raw()
            .create_compute_pipelines(cache.handle_for_pipeline(), &[info], None)
    };
    let made = made.map_err(|(_, result)| result);
    let first = made.and_then(|all| {
        let first = all.first().copied();
        first.ok_or(vk::Result::ERROR_UNKNOWN)
    });
    let is_refused = matches!(first, Err(result) if COMPILER.contains(&result));
    let pipeline = OwnedHandle::new(device, "vkCreateComputePipelines", first);
    let pipeline = pipeline.map_err(|error| match error {
        DeviceError::Failed(text) if is_refused => DeviceError::Compiler(text),
        error => error,
    })?;
    let flags = told.flags;
    let hit = vk::PipelineCreationFeedbackFlags::APPLICATION_PIPELINE_CACHE_HIT;
    let is_told = flags.contains(vk::PipelineCreationFeedbackFlags::VALID);
    Ok((pipeline, is_told.then(|| flags.contains(hit))))
}
