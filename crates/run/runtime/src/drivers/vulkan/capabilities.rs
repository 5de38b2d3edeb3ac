//! Capabilities: the modules that a device can run.
//!
//! A driver need not check a module, and its behaviour is undefined for one that needs missing features. Capabilities and
//! execution modes are therefore compared with the device's features beforehand. The rows are the table of capabilities in
//! Vulkan's appendix "Vulkan Environment for SPIR-V", as far as compute shaders need it.

use super::features::VulkanFeatures;
use super::physical_device::VulkanPhysicalDevice;
use crate::DeviceError;
use ash::vk::{self, SubgroupFeatureFlags as Subgroup};
use ash::{ext, khr};
use spirula_diagnostics::{SourceDiagnostic, SourceLocation};
use spirula_spirv::grammar::enumerants::{Capability, ExecutionMode, ExecutionModel};
use spirula_spirv::ir::{ModuleSection, SpirvModule};
use spirula_spirv::reflect::EntryInterface;

/// The facts that a row can query.
struct CapabilityContext<'a> {
    device: &'a VulkanPhysicalDevice,
    features: &'a VulkanFeatures,
}

impl CapabilityContext<'_> {
    fn has_subgroup_operations(&self, operations: Subgroup) -> bool {
        super::physical_device::has_subgroup_operations(&self.device.subgroup, operations)
    }
}

/// A capability or execution mode, the name of the Vulkan feature that it needs, and whether a device has that feature.
struct CapabilityRequirement<T> {
    what: T,
    needs: &'static str,
    has: fn(&CapabilityContext<'_>) -> bool,
}

const fn build_requirement<T>(
    what: T,
    needs: &'static str,
    has: fn(&CapabilityContext<'_>) -> bool,
) -> CapabilityRequirement<T> {
    CapabilityRequirement { what, needs, has }
}

/// A row for a capability that every device of Vulkan 1.2 has.
const fn require_nothing<T>(what: T) -> CapabilityRequirement<T> {
    build_requirement(what, "Vulkan 1.2", |_| true)
}

fn is_any_enabled(flags: &[vk::Bool32]) -> bool {
    flags.iter().any(|f| *f != vk::FALSE)
}

#[rustfmt::skip]
const CAPABILITIES: &[CapabilityRequirement<Capability>] = &[
    require_nothing(Capability::Matrix),
    require_nothing(Capability::Shader),
    require_nothing(Capability::DeviceGroup),
    require_nothing(Capability::ShaderNonUniform),
    require_nothing(Capability::ImageQuery),
    require_nothing(Capability::Sampled1D),
    require_nothing(Capability::Image1D),
    require_nothing(Capability::SampledBuffer),
    require_nothing(Capability::ImageBuffer),
    build_requirement(Capability::Int8, "shaderInt8", |f| is_any_enabled(&[f.features.small.shader_int8])),
    build_requirement(Capability::Int16, "shaderInt16", |f| is_any_enabled(&[f.features.core.shader_int16])),
    build_requirement(Capability::Int64, "shaderInt64", |f| is_any_enabled(&[f.features.core.shader_int64])),
    build_requirement(Capability::Float16, "shaderFloat16", |f| is_any_enabled(&[f.features.small.shader_float16])),
    build_requirement(Capability::Float64, "shaderFloat64", |f| is_any_enabled(&[f.features.core.shader_float64])),
    build_requirement(Capability::StorageBuffer8BitAccess, "storageBuffer8BitAccess", |f| is_any_enabled(&[f.features.storage_8.storage_buffer8_bit_access])),
    build_requirement(Capability::UniformAndStorageBuffer8BitAccess, "uniformAndStorageBuffer8BitAccess", |f| is_any_enabled(&[f.features.storage_8.uniform_and_storage_buffer8_bit_access])),
    build_requirement(Capability::StoragePushConstant8, "storagePushConstant8", |f| is_any_enabled(&[f.features.storage_8.storage_push_constant8])),
    build_requirement(Capability::StorageBuffer16BitAccess, "storageBuffer16BitAccess", |f| is_any_enabled(&[f.features.storage_16.storage_buffer16_bit_access])),
    build_requirement(Capability::UniformAndStorageBuffer16BitAccess, "uniformAndStorageBuffer16BitAccess", |f| is_any_enabled(&[f.features.storage_16.uniform_and_storage_buffer16_bit_access])),
    build_requirement(Capability::StoragePushConstant16, "storagePushConstant16", |f| is_any_enabled(&[f.features.storage_16.storage_push_constant16])),
    build_requirement(Capability::VariablePointersStorageBuffer, "variablePointersStorageBuffer", |f| is_any_enabled(&[f.features.pointers.variable_pointers_storage_buffer])),
    build_requirement(Capability::VariablePointers, "variablePointers", |f| is_any_enabled(&[f.features.pointers.variable_pointers])),
    build_requirement(Capability::PhysicalStorageBufferAddresses, "bufferDeviceAddress", |f| is_any_enabled(&[f.features.addresses.buffer_device_address])),
    build_requirement(Capability::VulkanMemoryModel, "vulkanMemoryModel", |f| is_any_enabled(&[f.features.memory_model.vulkan_memory_model])),
    build_requirement(Capability::VulkanMemoryModelDeviceScope, "vulkanMemoryModelDeviceScope", |f| is_any_enabled(&[f.features.memory_model.vulkan_memory_model_device_scope])),
    build_requirement(Capability::Int64Atomics, "shaderBufferInt64Atomics or shaderSharedInt64Atomics", |f| is_any_enabled(&[f.features.atomics_64.shader_buffer_int64_atomics, f.features.atomics_64.shader_shared_int64_atomics])),
    build_requirement(Capability::AtomicFloat16AddEXT, "shaderBufferFloat16AtomicAdd or shaderSharedFloat16AtomicAdd", |f| is_any_enabled(&[f.features.float_atomics_2.shader_buffer_float16_atomic_add, f.features.float_atomics_2.shader_shared_float16_atomic_add])),
    build_requirement(Capability::AtomicFloat32AddEXT, "shaderBufferFloat32AtomicAdd or shaderSharedFloat32AtomicAdd", |f| is_any_enabled(&[f.features.float_atomics.shader_buffer_float32_atomic_add, f.features.float_atomics.shader_shared_float32_atomic_add])),
    build_requirement(Capability::AtomicFloat64AddEXT, "shaderBufferFloat64AtomicAdd or shaderSharedFloat64AtomicAdd", |f| is_any_enabled(&[f.features.float_atomics.shader_buffer_float64_atomic_add, f.features.float_atomics.shader_shared_float64_atomic_add])),
    build_requirement(Capability::AtomicFloat16MinMaxEXT, "shaderBufferFloat16AtomicMinMax or shaderSharedFloat16AtomicMinMax", |f| is_any_enabled(&[f.features.float_atomics_2.shader_buffer_float16_atomic_min_max, f.features.float_atomics_2.shader_shared_float16_atomic_min_max])),
    build_requirement(Capability::AtomicFloat32MinMaxEXT, "shaderBufferFloat32AtomicMinMax or shaderSharedFloat32AtomicMinMax", |f| is_any_enabled(&[f.features.float_atomics_2.shader_buffer_float32_atomic_min_max, f.features.float_atomics_2.shader_shared_float32_atomic_min_max])),
    build_requirement(Capability::AtomicFloat64MinMaxEXT, "shaderBufferFloat64AtomicMinMax or shaderSharedFloat64AtomicMinMax", |f| is_any_enabled(&[f.features.float_atomics_2.shader_buffer_float64_atomic_min_max, f.features.float_atomics_2.shader_shared_float64_atomic_min_max])),
    build_requirement(Capability::WorkgroupMemoryExplicitLayoutKHR, "workgroupMemoryExplicitLayout", |f| is_any_enabled(&[f.features.workgroup_layout.workgroup_memory_explicit_layout])),
    build_requirement(Capability::WorkgroupMemoryExplicitLayout8BitAccessKHR, "workgroupMemoryExplicitLayout8BitAccess", |f| is_any_enabled(&[f.features.workgroup_layout.workgroup_memory_explicit_layout8_bit_access])),
    build_requirement(Capability::WorkgroupMemoryExplicitLayout16BitAccessKHR, "workgroupMemoryExplicitLayout16BitAccess", |f| is_any_enabled(&[f.features.workgroup_layout.workgroup_memory_explicit_layout16_bit_access])),
    build_requirement(Capability::DotProduct, "shaderIntegerDotProduct", |f| is_any_enabled(&[f.features.dot_product.shader_integer_dot_product])),
    build_requirement(Capability::DotProductInputAll, "shaderIntegerDotProduct", |f| is_any_enabled(&[f.features.dot_product.shader_integer_dot_product])),
    build_requirement(Capability::DotProductInput4x8Bit, "shaderIntegerDotProduct", |f| is_any_enabled(&[f.features.dot_product.shader_integer_dot_product])),
    build_requirement(Capability::DotProductInput4x8BitPacked, "shaderIntegerDotProduct", |f| is_any_enabled(&[f.features.dot_product.shader_integer_dot_product])),
    build_requirement(Capability::UniformBufferArrayDynamicIndexing, "shaderUniformBufferArrayDynamicIndexing", |f| is_any_enabled(&[f.features.core.shader_uniform_buffer_array_dynamic_indexing])),
    build_requirement(Capability::StorageBufferArrayDynamicIndexing, "shaderStorageBufferArrayDynamicIndexing", |f| is_any_enabled(&[f.features.core.shader_storage_buffer_array_dynamic_indexing])),
    build_requirement(Capability::UniformBufferArrayNonUniformIndexing, "shaderUniformBufferArrayNonUniformIndexing", |f| is_any_enabled(&[f.features.indexing.shader_uniform_buffer_array_non_uniform_indexing])),
    build_requirement(Capability::StorageBufferArrayNonUniformIndexing, "shaderStorageBufferArrayNonUniformIndexing", |f| is_any_enabled(&[f.features.indexing.shader_storage_buffer_array_non_uniform_indexing])),
    build_requirement(Capability::SampledImageArrayDynamicIndexing, "shaderSampledImageArrayDynamicIndexing", |f| is_any_enabled(&[f.features.core.shader_sampled_image_array_dynamic_indexing])),
    build_requirement(Capability::StorageImageArrayDynamicIndexing, "shaderStorageImageArrayDynamicIndexing", |f| is_any_enabled(&[f.features.core.shader_storage_image_array_dynamic_indexing])),
    build_requirement(Capability::SampledImageArrayNonUniformIndexing, "shaderSampledImageArrayNonUniformIndexing", |f| is_any_enabled(&[f.features.indexing.shader_sampled_image_array_non_uniform_indexing])),
    build_requirement(Capability::StorageImageArrayNonUniformIndexing, "shaderStorageImageArrayNonUniformIndexing", |f| is_any_enabled(&[f.features.indexing.shader_storage_image_array_non_uniform_indexing])),
    build_requirement(Capability::UniformTexelBufferArrayDynamicIndexing, "shaderUniformTexelBufferArrayDynamicIndexing", |f| is_any_enabled(&[f.features.indexing.shader_uniform_texel_buffer_array_dynamic_indexing])),
    build_requirement(Capability::StorageTexelBufferArrayDynamicIndexing, "shaderStorageTexelBufferArrayDynamicIndexing", |f| is_any_enabled(&[f.features.indexing.shader_storage_texel_buffer_array_dynamic_indexing])),
    build_requirement(Capability::StorageImageExtendedFormats, "shaderStorageImageExtendedFormats", |f| is_any_enabled(&[f.features.core.shader_storage_image_extended_formats])),
    build_requirement(Capability::StorageImageReadWithoutFormat, "shaderStorageImageReadWithoutFormat", |f| is_any_enabled(&[f.features.core.shader_storage_image_read_without_format])),
    build_requirement(Capability::StorageImageWriteWithoutFormat, "shaderStorageImageWriteWithoutFormat", |f| is_any_enabled(&[f.features.core.shader_storage_image_write_without_format])),
    build_requirement(Capability::ImageGatherExtended, "shaderImageGatherExtended", |f| is_any_enabled(&[f.features.core.shader_image_gather_extended])),
    build_requirement(Capability::ImageCubeArray, "imageCubeArray", |f| is_any_enabled(&[f.features.core.image_cube_array])),
    build_requirement(Capability::SampledCubeArray, "imageCubeArray", |f| is_any_enabled(&[f.features.core.image_cube_array])),
    build_requirement(Capability::Int64ImageEXT, "shaderImageInt64Atomics", |f| is_any_enabled(&[f.features.image_atomics.shader_image_int64_atomics])),
    build_requirement(Capability::RuntimeDescriptorArray, "runtimeDescriptorArray", |f| is_any_enabled(&[f.features.indexing.runtime_descriptor_array])),
    build_requirement(Capability::GroupNonUniform, "VK_SUBGROUP_FEATURE_BASIC_BIT", |f| f.has_subgroup_operations(Subgroup::BASIC)),
    build_requirement(Capability::GroupNonUniformVote, "VK_SUBGROUP_FEATURE_VOTE_BIT", |f| f.has_subgroup_operations(Subgroup::VOTE)),
    build_requirement(Capability::GroupNonUniformArithmetic, "VK_SUBGROUP_FEATURE_ARITHMETIC_BIT", |f| f.has_subgroup_operations(Subgroup::ARITHMETIC)),
    build_requirement(Capability::GroupNonUniformBallot, "VK_SUBGROUP_FEATURE_BALLOT_BIT", |f| f.has_subgroup_operations(Subgroup::BALLOT)),
    build_requirement(Capability::GroupNonUniformShuffle, "VK_SUBGROUP_FEATURE_SHUFFLE_BIT", |f| f.has_subgroup_operations(Subgroup::SHUFFLE)),
    build_requirement(Capability::GroupNonUniformShuffleRelative, "VK_SUBGROUP_FEATURE_SHUFFLE_RELATIVE_BIT", |f| f.has_subgroup_operations(Subgroup::SHUFFLE_RELATIVE)),
    build_requirement(Capability::GroupNonUniformClustered, "VK_SUBGROUP_FEATURE_CLUSTERED_BIT", |f| f.has_subgroup_operations(Subgroup::CLUSTERED)),
    build_requirement(Capability::GroupNonUniformQuad, "VK_SUBGROUP_FEATURE_QUAD_BIT", |f| f.has_subgroup_operations(Subgroup::QUAD)),
    build_requirement(Capability::GroupNonUniformRotateKHR, "shaderSubgroupRotate", |f| is_any_enabled(&[f.features.rotate.shader_subgroup_rotate])),
    build_requirement(Capability::SubgroupBallotKHR, "VK_EXT_shader_subgroup_ballot", |f| f.device.has_extension(ext::shader_subgroup_ballot::NAME)),
    build_requirement(Capability::SubgroupVoteKHR, "VK_EXT_shader_subgroup_vote", |f| f.device.has_extension(ext::shader_subgroup_vote::NAME)),
    build_requirement(Capability::DenormPreserve, "shaderDenormPreserve", |f| is_any_enabled(&query_float_widths(f, ExecutionMode::DenormPreserve))),
    build_requirement(Capability::DenormFlushToZero, "shaderDenormFlushToZero", |f| is_any_enabled(&query_float_widths(f, ExecutionMode::DenormFlushToZero))),
    build_requirement(Capability::SignedZeroInfNanPreserve, "shaderSignedZeroInfNanPreserve", |f| is_any_enabled(&query_float_widths(f, ExecutionMode::SignedZeroInfNanPreserve))),
    build_requirement(Capability::RoundingModeRTE, "shaderRoundingModeRTE", |f| is_any_enabled(&query_float_widths(f, ExecutionMode::RoundingModeRTE))),
    build_requirement(Capability::RoundingModeRTZ, "shaderRoundingModeRTZ", |f| is_any_enabled(&query_float_widths(f, ExecutionMode::RoundingModeRTZ))),
    build_requirement(Capability::FloatControls2, "shaderFloatControls2", |f| is_any_enabled(&[f.features.float_controls_2.shader_float_controls2])),
    build_requirement(Capability::ExpectAssumeKHR, "shaderExpectAssume", |f| is_any_enabled(&[f.features.expect.shader_expect_assume])),
    build_requirement(Capability::ShaderClockKHR, "shaderSubgroupClock", |f| f.device.has_extension(khr::shader_clock::NAME) && is_any_enabled(&[f.features.clock.shader_subgroup_clock])),
    build_requirement(Capability::BFloat16TypeKHR, "shaderBFloat16Type", |f| is_any_enabled(&[f.features.bfloat.shader_b_float16_type])),
    build_requirement(Capability::BFloat16CooperativeMatrixKHR, "shaderBFloat16CooperativeMatrix", |f| is_any_enabled(&[f.features.bfloat.shader_b_float16_cooperative_matrix])),
    build_requirement(Capability::CooperativeMatrixKHR, "cooperativeMatrix", |f| is_any_enabled(&[f.features.matrix.cooperative_matrix])),
];

/// Execution modes without a capability of their own.
#[rustfmt::skip]
const MODES: &[CapabilityRequirement<ExecutionMode>] = &[
    build_requirement(ExecutionMode::LocalSizeId, "maintenance4", |f| is_any_enabled(&[f.features.maintenance_4.maintenance4])),
    build_requirement(ExecutionMode::SubgroupUniformControlFlowKHR, "shaderSubgroupUniformControlFlow", |f| is_any_enabled(&[f.features.uniform_flow.shader_subgroup_uniform_control_flow])),
    build_requirement(ExecutionMode::MaximallyReconvergesKHR, "shaderMaximalReconvergence", |f| is_any_enabled(&[f.features.reconvergence.shader_maximal_reconvergence])),
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

/// Whether a mode is supported for each of [`WIDTHS`].
fn query_float_widths(facts: &CapabilityContext<'_>, mode: ExecutionMode) -> [vk::Bool32; 3] {
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
pub fn check_module(
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
            format_device_name(device)
        );
        return Err(DeviceError::Unsupported(vec![report_missing(
            SourceLocation::Unknown,
            text,
            None,
        )]));
    }
    let mut faults = find_missing_capabilities(&facts, module);
    faults.extend(find_missing_modes(&facts, module, interface));
    if faults.is_empty() {
        Ok(())
    } else {
        Err(DeviceError::Unsupported(faults))
    }
}

/// Whether a device has a capability.
pub fn has_capability(
    device: &VulkanPhysicalDevice,
    features: &VulkanFeatures,
    capability: Capability,
) -> bool {
    let facts = CapabilityContext { device, features };
    let row = CAPABILITIES.iter().find(|r| r.what == capability);
    row.is_some_and(|r| (r.has)(&facts))
}

/// The capabilities that a device lacks.
fn find_missing_capabilities(
    facts: &CapabilityContext<'_>,
    module: &SpirvModule,
) -> Vec<SourceDiagnostic> {
    let mut faults = Vec::new();
    let device = format_device_name(facts.device);
    for inst in module.section_insts(ModuleSection::Capabilities) {
        let capability = Capability(inst.operand_word(0));
        let row = CAPABILITIES.iter().find(|r| r.what == capability);
        if row.is_none_or(|r| !(r.has)(facts)) {
            let text = format!("{device} does not support the capability {capability}");
            faults.push(report_missing(inst.place(), text, row.map(|r| r.needs)));
        } else if facts.device.wrong.contains(&capability) {
            let text = format!("{device} gets the capability {capability} wrong, as a probe found");
            faults.push(report_missing(inst.place(), text, None));
        }
    }
    faults
}

/// The execution modes of an entry point that a device lacks.
fn find_missing_modes(
    facts: &CapabilityContext<'_>,
    module: &SpirvModule,
    interface: &EntryInterface,
) -> Vec<SourceDiagnostic> {
    let mut faults = Vec::new();
    let device = format_device_name(facts.device);
    let modes = module.section_insts(ModuleSection::ExecutionModes);
    for inst in modes.filter(|m| m.id_operand(0) == interface.function) {
        let mode = ExecutionMode(inst.operand_word(1));
        if let Some(row) = MODES.iter().find(|r| r.what == mode && !(r.has)(facts)) {
            let text = format!("{device} does not support the execution mode {mode}");
            faults.push(report_missing(inst.place(), text, Some(row.needs)));
        }
        let width = inst.operands().get(2).copied().unwrap_or(0);
        let mut there = WIDTHS.iter().zip(query_float_widths(facts, mode));
        let is_there = there.any(|(w, has)| *w == width && is_any_enabled(&[has]));
        if FLOAT_MODES.contains(&mode) && !is_there {
            let text =
                format!("{device} does not support the execution mode {mode} for {width} bits");
            faults.push(report_missing(inst.place(), text, None));
        }
    }
    faults
}

fn wrong_model(device: &VulkanPhysicalDevice, interface: &EntryInterface) -> DeviceError {
    let entry = &interface.name;
    let text = format!(
        "{entry} is a {} shader: {} runs compute shaders only",
        interface.model,
        format_device_name(device)
    );
    DeviceError::Unsupported(vec![SourceDiagnostic::error(SourceLocation::Unknown, text)])
}

fn report_missing(place: SourceLocation, text: String, needs: Option<&str>) -> SourceDiagnostic {
    let diagnostic = SourceDiagnostic::error(place, text);
    match needs {
        Some(needs) => diagnostic.with_note(format!("Vulkan calls what it needs {needs}")),
        None => diagnostic,
    }
}

fn format_device_name(device: &VulkanPhysicalDevice) -> String {
    format!("{} ({})", device.info.id, device.info.name)
}
