//! Which modules a device may be given.
//!
//! A driver need not check a module, and may do anything with one that needs what it lacks, so
//! capabilities and execution modes are compared with the device's features beforehand. The rows
//! are the table of capabilities in Vulkan's appendix "Vulkan Environment for SPIR-V", as far as
//! compute shaders over buffers go.

use super::features::VulkanFeatures;
use super::physical::VulkanPhysicalDevice;
use crate::DeviceError;
use ash::vk::{self, SubgroupFeatureFlags as Subgroup};
use ash::{ext, khr};
use spirula_diagnostics::{SourceDiagnostic, SourceLocation};
use spirula_spirv::grammar::enumerants::{Capability, ExecutionMode, ExecutionModel};
use spirula_spirv::ir::{ModuleSection, SpirvModule};
use spirula_spirv::reflect::EntryInterface;

/// What a row may ask.
struct CapabilityContext<'a> {
    device: &'a VulkanPhysicalDevice,
    features: &'a VulkanFeatures,
}

impl CapabilityContext<'_> {
    fn subgroups(&self, operations: Subgroup) -> bool {
        super::physical::can(&self.device.subgroup, operations)
    }
}

/// One capability or execution mode, what Vulkan calls what it needs, and whether a device has it.
struct CapabilityRequirement<T> {
    what: T,
    needs: &'static str,
    has: fn(&CapabilityContext<'_>) -> bool,
}

const fn row<T>(
    what: T,
    needs: &'static str,
    has: fn(&CapabilityContext<'_>) -> bool,
) -> CapabilityRequirement<T> {
    CapabilityRequirement { what, needs, has }
}

/// A row for what every device of Vulkan 1.2 has.
const fn always<T>(what: T) -> CapabilityRequirement<T> {
    row(what, "Vulkan 1.2", |_| true)
}

fn any(flags: &[vk::Bool32]) -> bool {
    flags.iter().any(|f| *f != vk::FALSE)
}

#[rustfmt::skip]
const CAPABILITIES: &[CapabilityRequirement<Capability>] = &[
    always(Capability::Matrix),
    always(Capability::Shader),
    always(Capability::DeviceGroup),
    always(Capability::ShaderNonUniform),
    always(Capability::ImageQuery),
    always(Capability::Sampled1D),
    always(Capability::Image1D),
    always(Capability::SampledBuffer),
    always(Capability::ImageBuffer),
    row(Capability::Int8, "shaderInt8", |f| any(&[f.features.small.shader_int8])),
    row(Capability::Int16, "shaderInt16", |f| any(&[f.features.core.shader_int16])),
    row(Capability::Int64, "shaderInt64", |f| any(&[f.features.core.shader_int64])),
    row(Capability::Float16, "shaderFloat16", |f| any(&[f.features.small.shader_float16])),
    row(Capability::Float64, "shaderFloat64", |f| any(&[f.features.core.shader_float64])),
    row(Capability::StorageBuffer8BitAccess, "storageBuffer8BitAccess", |f| any(&[f.features.storage_8.storage_buffer8_bit_access])),
    row(Capability::UniformAndStorageBuffer8BitAccess, "uniformAndStorageBuffer8BitAccess", |f| any(&[f.features.storage_8.uniform_and_storage_buffer8_bit_access])),
    row(Capability::StoragePushConstant8, "storagePushConstant8", |f| any(&[f.features.storage_8.storage_push_constant8])),
    row(Capability::StorageBuffer16BitAccess, "storageBuffer16BitAccess", |f| any(&[f.features.storage_16.storage_buffer16_bit_access])),
    row(Capability::UniformAndStorageBuffer16BitAccess, "uniformAndStorageBuffer16BitAccess", |f| any(&[f.features.storage_16.uniform_and_storage_buffer16_bit_access])),
    row(Capability::StoragePushConstant16, "storagePushConstant16", |f| any(&[f.features.storage_16.storage_push_constant16])),
    row(Capability::VariablePointersStorageBuffer, "variablePointersStorageBuffer", |f| any(&[f.features.pointers.variable_pointers_storage_buffer])),
    row(Capability::VariablePointers, "variablePointers", |f| any(&[f.features.pointers.variable_pointers])),
    row(Capability::PhysicalStorageBufferAddresses, "bufferDeviceAddress", |f| any(&[f.features.addresses.buffer_device_address])),
    row(Capability::VulkanMemoryModel, "vulkanMemoryModel", |f| any(&[f.features.memory_model.vulkan_memory_model])),
    row(Capability::VulkanMemoryModelDeviceScope, "vulkanMemoryModelDeviceScope", |f| any(&[f.features.memory_model.vulkan_memory_model_device_scope])),
    row(Capability::Int64Atomics, "shaderBufferInt64Atomics or shaderSharedInt64Atomics", |f| any(&[f.features.atomics_64.shader_buffer_int64_atomics, f.features.atomics_64.shader_shared_int64_atomics])),
    row(Capability::AtomicFloat16AddEXT, "shaderBufferFloat16AtomicAdd or shaderSharedFloat16AtomicAdd", |f| any(&[f.features.float_atomics_2.shader_buffer_float16_atomic_add, f.features.float_atomics_2.shader_shared_float16_atomic_add])),
    row(Capability::AtomicFloat32AddEXT, "shaderBufferFloat32AtomicAdd or shaderSharedFloat32AtomicAdd", |f| any(&[f.features.float_atomics.shader_buffer_float32_atomic_add, f.features.float_atomics.shader_shared_float32_atomic_add])),
    row(Capability::AtomicFloat64AddEXT, "shaderBufferFloat64AtomicAdd or shaderSharedFloat64AtomicAdd", |f| any(&[f.features.float_atomics.shader_buffer_float64_atomic_add, f.features.float_atomics.shader_shared_float64_atomic_add])),
    row(Capability::AtomicFloat16MinMaxEXT, "shaderBufferFloat16AtomicMinMax or shaderSharedFloat16AtomicMinMax", |f| any(&[f.features.float_atomics_2.shader_buffer_float16_atomic_min_max, f.features.float_atomics_2.shader_shared_float16_atomic_min_max])),
    row(Capability::AtomicFloat32MinMaxEXT, "shaderBufferFloat32AtomicMinMax or shaderSharedFloat32AtomicMinMax", |f| any(&[f.features.float_atomics_2.shader_buffer_float32_atomic_min_max, f.features.float_atomics_2.shader_shared_float32_atomic_min_max])),
    row(Capability::AtomicFloat64MinMaxEXT, "shaderBufferFloat64AtomicMinMax or shaderSharedFloat64AtomicMinMax", |f| any(&[f.features.float_atomics_2.shader_buffer_float64_atomic_min_max, f.features.float_atomics_2.shader_shared_float64_atomic_min_max])),
    row(Capability::WorkgroupMemoryExplicitLayoutKHR, "workgroupMemoryExplicitLayout", |f| any(&[f.features.workgroup_layout.workgroup_memory_explicit_layout])),
    row(Capability::WorkgroupMemoryExplicitLayout8BitAccessKHR, "workgroupMemoryExplicitLayout8BitAccess", |f| any(&[f.features.workgroup_layout.workgroup_memory_explicit_layout8_bit_access])),
    row(Capability::WorkgroupMemoryExplicitLayout16BitAccessKHR, "workgroupMemoryExplicitLayout16BitAccess", |f| any(&[f.features.workgroup_layout.workgroup_memory_explicit_layout16_bit_access])),
    row(Capability::DotProduct, "shaderIntegerDotProduct", |f| any(&[f.features.dot_product.shader_integer_dot_product])),
    row(Capability::DotProductInputAll, "shaderIntegerDotProduct", |f| any(&[f.features.dot_product.shader_integer_dot_product])),
    row(Capability::DotProductInput4x8Bit, "shaderIntegerDotProduct", |f| any(&[f.features.dot_product.shader_integer_dot_product])),
    row(Capability::DotProductInput4x8BitPacked, "shaderIntegerDotProduct", |f| any(&[f.features.dot_product.shader_integer_dot_product])),
    row(Capability::UniformBufferArrayDynamicIndexing, "shaderUniformBufferArrayDynamicIndexing", |f| any(&[f.features.core.shader_uniform_buffer_array_dynamic_indexing])),
    row(Capability::StorageBufferArrayDynamicIndexing, "shaderStorageBufferArrayDynamicIndexing", |f| any(&[f.features.core.shader_storage_buffer_array_dynamic_indexing])),
    row(Capability::UniformBufferArrayNonUniformIndexing, "shaderUniformBufferArrayNonUniformIndexing", |f| any(&[f.features.indexing.shader_uniform_buffer_array_non_uniform_indexing])),
    row(Capability::StorageBufferArrayNonUniformIndexing, "shaderStorageBufferArrayNonUniformIndexing", |f| any(&[f.features.indexing.shader_storage_buffer_array_non_uniform_indexing])),
    row(Capability::SampledImageArrayDynamicIndexing, "shaderSampledImageArrayDynamicIndexing", |f| any(&[f.features.core.shader_sampled_image_array_dynamic_indexing])),
    row(Capability::StorageImageArrayDynamicIndexing, "shaderStorageImageArrayDynamicIndexing", |f| any(&[f.features.core.shader_storage_image_array_dynamic_indexing])),
    row(Capability::SampledImageArrayNonUniformIndexing, "shaderSampledImageArrayNonUniformIndexing", |f| any(&[f.features.indexing.shader_sampled_image_array_non_uniform_indexing])),
    row(Capability::StorageImageArrayNonUniformIndexing, "shaderStorageImageArrayNonUniformIndexing", |f| any(&[f.features.indexing.shader_storage_image_array_non_uniform_indexing])),
    row(Capability::UniformTexelBufferArrayDynamicIndexing, "shaderUniformTexelBufferArrayDynamicIndexing", |f| any(&[f.features.indexing.shader_uniform_texel_buffer_array_dynamic_indexing])),
    row(Capability::StorageTexelBufferArrayDynamicIndexing, "shaderStorageTexelBufferArrayDynamicIndexing", |f| any(&[f.features.indexing.shader_storage_texel_buffer_array_dynamic_indexing])),
    row(Capability::StorageImageExtendedFormats, "shaderStorageImageExtendedFormats", |f| any(&[f.features.core.shader_storage_image_extended_formats])),
    row(Capability::StorageImageReadWithoutFormat, "shaderStorageImageReadWithoutFormat", |f| any(&[f.features.core.shader_storage_image_read_without_format])),
    row(Capability::StorageImageWriteWithoutFormat, "shaderStorageImageWriteWithoutFormat", |f| any(&[f.features.core.shader_storage_image_write_without_format])),
    row(Capability::ImageGatherExtended, "shaderImageGatherExtended", |f| any(&[f.features.core.shader_image_gather_extended])),
    row(Capability::ImageCubeArray, "imageCubeArray", |f| any(&[f.features.core.image_cube_array])),
    row(Capability::SampledCubeArray, "imageCubeArray", |f| any(&[f.features.core.image_cube_array])),
    row(Capability::Int64ImageEXT, "shaderImageInt64Atomics", |f| any(&[f.features.image_atomics.shader_image_int64_atomics])),
    row(Capability::RuntimeDescriptorArray, "runtimeDescriptorArray", |f| any(&[f.features.indexing.runtime_descriptor_array])),
    row(Capability::GroupNonUniform, "VK_SUBGROUP_FEATURE_BASIC_BIT", |f| f.subgroups(Subgroup::BASIC)),
    row(Capability::GroupNonUniformVote, "VK_SUBGROUP_FEATURE_VOTE_BIT", |f| f.subgroups(Subgroup::VOTE)),
    row(Capability::GroupNonUniformArithmetic, "VK_SUBGROUP_FEATURE_ARITHMETIC_BIT", |f| f.subgroups(Subgroup::ARITHMETIC)),
    row(Capability::GroupNonUniformBallot, "VK_SUBGROUP_FEATURE_BALLOT_BIT", |f| f.subgroups(Subgroup::BALLOT)),
    row(Capability::GroupNonUniformShuffle, "VK_SUBGROUP_FEATURE_SHUFFLE_BIT", |f| f.subgroups(Subgroup::SHUFFLE)),
    row(Capability::GroupNonUniformShuffleRelative, "VK_SUBGROUP_FEATURE_SHUFFLE_RELATIVE_BIT", |f| f.subgroups(Subgroup::SHUFFLE_RELATIVE)),
    row(Capability::GroupNonUniformClustered, "VK_SUBGROUP_FEATURE_CLUSTERED_BIT", |f| f.subgroups(Subgroup::CLUSTERED)),
    row(Capability::GroupNonUniformQuad, "VK_SUBGROUP_FEATURE_QUAD_BIT", |f| f.subgroups(Subgroup::QUAD)),
    row(Capability::GroupNonUniformRotateKHR, "shaderSubgroupRotate", |f| any(&[f.features.rotate.shader_subgroup_rotate])),
    row(Capability::SubgroupBallotKHR, "VK_EXT_shader_subgroup_ballot", |f| f.device.has(ext::shader_subgroup_ballot::NAME)),
    row(Capability::SubgroupVoteKHR, "VK_EXT_shader_subgroup_vote", |f| f.device.has(ext::shader_subgroup_vote::NAME)),
    row(Capability::DenormPreserve, "shaderDenormPreserve", |f| any(&widths(f, ExecutionMode::DenormPreserve))),
    row(Capability::DenormFlushToZero, "shaderDenormFlushToZero", |f| any(&widths(f, ExecutionMode::DenormFlushToZero))),
    row(Capability::SignedZeroInfNanPreserve, "shaderSignedZeroInfNanPreserve", |f| any(&widths(f, ExecutionMode::SignedZeroInfNanPreserve))),
    row(Capability::RoundingModeRTE, "shaderRoundingModeRTE", |f| any(&widths(f, ExecutionMode::RoundingModeRTE))),
    row(Capability::RoundingModeRTZ, "shaderRoundingModeRTZ", |f| any(&widths(f, ExecutionMode::RoundingModeRTZ))),
    row(Capability::FloatControls2, "shaderFloatControls2", |f| any(&[f.features.float_controls_2.shader_float_controls2])),
    row(Capability::ExpectAssumeKHR, "shaderExpectAssume", |f| any(&[f.features.expect.shader_expect_assume])),
    row(Capability::ShaderClockKHR, "shaderSubgroupClock", |f| f.device.has(khr::shader_clock::NAME) && any(&[f.features.clock.shader_subgroup_clock])),
    row(Capability::BFloat16TypeKHR, "shaderBFloat16Type", |f| any(&[f.features.bfloat.shader_b_float16_type])),
    row(Capability::BFloat16CooperativeMatrixKHR, "shaderBFloat16CooperativeMatrix", |f| any(&[f.features.bfloat.shader_b_float16_cooperative_matrix])),
    row(Capability::CooperativeMatrixKHR, "cooperativeMatrix", |f| any(&[f.features.matrix.cooperative_matrix])),
];

/// Execution modes without a capability of their own.
#[rustfmt::skip]
const MODES: &[CapabilityRequirement<ExecutionMode>] = &[
    row(ExecutionMode::LocalSizeId, "maintenance4", |f| any(&[f.features.maintenance_4.maintenance4])),
    row(ExecutionMode::SubgroupUniformControlFlowKHR, "shaderSubgroupUniformControlFlow", |f| any(&[f.features.uniform_flow.shader_subgroup_uniform_control_flow])),
    row(ExecutionMode::MaximallyReconvergesKHR, "shaderMaximalReconvergence", |f| any(&[f.features.reconvergence.shader_maximal_reconvergence])),
];

/// Modes of floating-point arithmetic, each for one of the widths of [`WIDTHS`].
const FLOAT_MODES: &[ExecutionMode] = &[
    ExecutionMode::DenormPreserve,
    ExecutionMode::DenormFlushToZero,
    ExecutionMode::SignedZeroInfNanPreserve,
    ExecutionMode::RoundingModeRTE,
    ExecutionMode::RoundingModeRTZ,
];

const WIDTHS: [u32; 3] = [16, 32, 64];

/// Whether a mode is there for each of [`WIDTHS`].
fn widths(facts: &CapabilityContext<'_>, mode: ExecutionMode) -> [vk::Bool32; 3] {
    let f = &facts.device.floats;
    match mode {
        ExecutionMode::DenormPreserve => [
            f.shader_denorm_preserve_float16,
            f.shader_denorm_preserve_float32,
            f.shader_denorm_preserve_float64,
        ],
        ExecutionMode::DenormFlushToZero => [
            f.shader_denorm_flush_to_zero_float16,
            f.shader_denorm_flush_to_zero_float32,
            f.shader_denorm_flush_to_zero_float64,
        ],
        ExecutionMode::SignedZeroInfNanPreserve => [
            f.shader_signed_zero_inf_nan_preserve_float16,
            f.shader_signed_zero_inf_nan_preserve_float32,
            f.shader_signed_zero_inf_nan_preserve_float64,
        ],
        ExecutionMode::RoundingModeRTE => [
            f.shader_rounding_mode_rte_float16,
            f.shader_rounding_mode_rte_float32,
            f.shader_rounding_mode_rte_float64,
        ],
        ExecutionMode::RoundingModeRTZ => [
            f.shader_rounding_mode_rtz_float16,
            f.shader_rounding_mode_rtz_float32,
            f.shader_rounding_mode_rtz_float64,
        ],
        _ => [vk::FALSE; 3],
    }
}

/// Refuses a module that needs something which a device lacks.
pub fn check(
    device: &VulkanPhysicalDevice,
    features: &VulkanFeatures,
    module: &SpirvModule,
    interface: &EntryInterface,
) -> Result<(), DeviceError> {
    let facts = CapabilityContext { device, features };
    if interface.model != ExecutionModel::GLCompute {
        return Err(wrong_model(device, interface));
    }
    if let Some(newest) = device.info.newest_module
        && module.version > newest
    {
        let text = format!(
            "the module is SPIR-V {}: {} takes {newest} at most",
            module.version,
            name(device)
        );
        return Err(DeviceError::Unsupported(vec![lacks(
            SourceLocation::Unknown,
            text,
            None,
        )]));
    }
    let mut faults = capabilities(&facts, module);
    faults.extend(modes(&facts, module, interface));
    match faults.is_empty() {
        true => Ok(()),
        false => Err(DeviceError::Unsupported(faults)),
    }
}

/// Whether a device has a capability.
pub fn has(
    device: &VulkanPhysicalDevice,
    features: &VulkanFeatures,
    capability: Capability,
) -> bool {
    let facts = CapabilityContext { device, features };
    let row = CAPABILITIES.iter().find(|r| r.what == capability);
    row.is_some_and(|r| (r.has)(&facts))
}

/// The capabilities that a device lacks.
fn capabilities(facts: &CapabilityContext<'_>, module: &SpirvModule) -> Vec<SourceDiagnostic> {
    let mut faults = Vec::new();
    let device = name(facts.device);
    for inst in module.section(ModuleSection::Capabilities) {
        let capability = Capability(inst.word(0));
        let row = CAPABILITIES.iter().find(|r| r.what == capability);
        if row.is_none_or(|r| !(r.has)(facts)) {
            let text = format!("{device} does not support the capability {capability}");
            faults.push(lacks(inst.place(), text, row.map(|r| r.needs)));
        } else if facts.device.wrong.contains(&capability) {
            let text = format!("{device} gets the capability {capability} wrong, as a probe found");
            faults.push(lacks(inst.place(), text, None));
        }
    }
    faults
}

/// The execution modes of an entry point that a device lacks.
fn modes(
    facts: &CapabilityContext<'_>,
    module: &SpirvModule,
    interface: &EntryInterface,
) -> Vec<SourceDiagnostic> {
    let mut faults = Vec::new();
    let device = name(facts.device);
    let modes = module.section(ModuleSection::ExecutionModes);
    for inst in modes.filter(|m| m.id(0) == interface.function) {
        let mode = ExecutionMode(inst.word(1));
        if let Some(row) = MODES.iter().find(|r| r.what == mode && !(r.has)(facts)) {
            let text = format!("{device} does not support the execution mode {mode}");
            faults.push(lacks(inst.place(), text, Some(row.needs)));
        }
        let width = inst.operands().get(2).copied().unwrap_or(0);
        let mut there = WIDTHS.iter().zip(widths(facts, mode));
        let is_there = there.any(|(w, has)| *w == width && any(&[has]));
        if FLOAT_MODES.contains(&mode) && !is_there {
            let text =
                format!("{device} does not support the execution mode {mode} for {width} bits");
            faults.push(lacks(inst.place(), text, None));
        }
    }
    faults
}

fn wrong_model(device: &VulkanPhysicalDevice, interface: &EntryInterface) -> DeviceError {
    let entry = &interface.name;
    let text = format!(
        "{entry} is a {} shader: {} runs compute shaders only",
        interface.model,
        name(device)
    );
    DeviceError::Unsupported(vec![SourceDiagnostic::error(SourceLocation::Unknown, text)])
}

fn lacks(place: SourceLocation, text: String, needs: Option<&str>) -> SourceDiagnostic {
    let diagnostic = SourceDiagnostic::error(place, text);
    match needs {
        Some(needs) => diagnostic.with_note(format!("Vulkan calls what it needs {needs}")),
        None => diagnostic,
    }
}

fn name(device: &VulkanPhysicalDevice) -> String {
    format!("{} ({})", device.info.id, device.info.name)
}
