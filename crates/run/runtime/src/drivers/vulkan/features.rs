//! Features: the features that a device is opened with, all that compute shaders can use.
//!
//! Modules come after the device was opened, so all features of the device are enabled. `capabilities` checks whether a module may
//! run on it.

use super::bfloat16_features;
use super::instance::VulkanInstance;
use super::physical_device::VulkanPhysicalDevice;
use ash::{ext, khr, vk};
use std::ffi::CStr;

/// A version that no device has, for features that are only extensions.
const NEVER: u32 = u32::MAX;

/// Structures of features: those of the bindings, and those that the bindings lack.
mod structures {
    pub use crate::drivers::vulkan::bfloat16_features::PhysicalDeviceShaderBfloat16FeaturesKHR;
    pub use ash::vk::*;
}

/// Declares [`VulkanFeatures`] from rows of: field, structure, version of Vulkan that includes it,
/// extension that brings it to older ones.
macro_rules! features {
    ($($field:ident: $structure:ident, $since:expr, $extension:expr;)*) => {
        /// Features of a device. All features of structures that it does not know are false.
        #[derive(Clone, Default)]
        pub struct VulkanFeatures {
            /// Features of Vulkan 1.0.
            pub core: vk::PhysicalDeviceFeatures,
            $(
                #[doc = concat!("`Vk", stringify!($structure), "`.")]
                pub $field: structures::$structure<'static>,
            )*
        }

        impl VulkanFeatures {
            /// A chain of the structures that the device knows.
            pub fn chain(&mut self, device: &VulkanPhysicalDevice) -> vk::PhysicalDeviceFeatures2<'_> {
                let mut chain = vk::PhysicalDeviceFeatures2::default().features(self.core);
                $(
                    // Left by an earlier chain.
                    self.$field.p_next = std::ptr::null_mut();
                    if device.version >= $since || device.has_extension($extension) {
                        chain = chain.push_next(&mut self.$field);
                    }
                )*
                chain
            }
        }

        /// Extensions that bring features which the device's version of Vulkan does not include.
        const EXTENSIONS: &[(u32, &CStr)] = &[$(($since, $extension)),*];
    };
}

features! {
    storage_16: PhysicalDevice16BitStorageFeatures, vk::API_VERSION_1_1, khr::_16bit_storage::NAME;
    storage_8: PhysicalDevice8BitStorageFeatures, vk::API_VERSION_1_2, khr::_8bit_storage::NAME;
    small: PhysicalDeviceShaderFloat16Int8Features, vk::API_VERSION_1_2, khr::shader_float16_int8::NAME;
    pointers: PhysicalDeviceVariablePointersFeatures, vk::API_VERSION_1_1, khr::variable_pointers::NAME;
    addresses: PhysicalDeviceBufferDeviceAddressFeatures, vk::API_VERSION_1_2, khr::buffer_device_address::NAME;
    memory_model: PhysicalDeviceVulkanMemoryModelFeatures, vk::API_VERSION_1_2, khr::vulkan_memory_model::NAME;
    atomics_64: PhysicalDeviceShaderAtomicInt64Features, vk::API_VERSION_1_2, khr::shader_atomic_int64::NAME;
    scalar_layout: PhysicalDeviceScalarBlockLayoutFeatures, vk::API_VERSION_1_2, ext::scalar_block_layout::NAME;
    uniform_layout: PhysicalDeviceUniformBufferStandardLayoutFeatures, vk::API_VERSION_1_2, khr::uniform_buffer_standard_layout::NAME;
    subgroup_types: PhysicalDeviceShaderSubgroupExtendedTypesFeatures, vk::API_VERSION_1_2, khr::shader_subgroup_extended_types::NAME;
    timeline: PhysicalDeviceTimelineSemaphoreFeatures, vk::API_VERSION_1_2, khr::timeline_semaphore::NAME;
    indexing: PhysicalDeviceDescriptorIndexingFeatures, vk::API_VERSION_1_2, ext::descriptor_indexing::NAME;
    dot_product: PhysicalDeviceShaderIntegerDotProductFeatures, vk::API_VERSION_1_3, khr::shader_integer_dot_product::NAME;
    zeroed: PhysicalDeviceZeroInitializeWorkgroupMemoryFeatures, vk::API_VERSION_1_3, khr::zero_initialize_workgroup_memory::NAME;
    subgroup_size: PhysicalDeviceSubgroupSizeControlFeatures, vk::API_VERSION_1_3, ext::subgroup_size_control::NAME;
    maintenance_4: PhysicalDeviceMaintenance4Features, vk::API_VERSION_1_3, khr::maintenance4::NAME;
    float_atomics: PhysicalDeviceShaderAtomicFloatFeaturesEXT, NEVER, ext::shader_atomic_float::NAME;
    float_atomics_2: PhysicalDeviceShaderAtomicFloat2FeaturesEXT, NEVER, ext::shader_atomic_float2::NAME;
    workgroup_layout: PhysicalDeviceWorkgroupMemoryExplicitLayoutFeaturesKHR, NEVER, khr::workgroup_memory_explicit_layout::NAME;
    uniform_flow: PhysicalDeviceShaderSubgroupUniformControlFlowFeaturesKHR, NEVER, khr::shader_subgroup_uniform_control_flow::NAME;
    reconvergence: PhysicalDeviceShaderMaximalReconvergenceFeaturesKHR, NEVER, khr::shader_maximal_reconvergence::NAME;
    rotate: PhysicalDeviceShaderSubgroupRotateFeaturesKHR, NEVER, khr::shader_subgroup_rotate::NAME;
    float_controls_2: PhysicalDeviceShaderFloatControls2FeaturesKHR, NEVER, khr::shader_float_controls2::NAME;
    expect: PhysicalDeviceShaderExpectAssumeFeaturesKHR, NEVER, khr::shader_expect_assume::NAME;
    clock: PhysicalDeviceShaderClockFeaturesKHR, NEVER, khr::shader_clock::NAME;
    matrix: PhysicalDeviceCooperativeMatrixFeaturesKHR, NEVER, khr::cooperative_matrix::NAME;
    image_atomics: PhysicalDeviceShaderImageAtomicInt64FeaturesEXT, NEVER, ext::shader_image_atomic_int64::NAME;
    bfloat: PhysicalDeviceShaderBfloat16FeaturesKHR, NEVER, bfloat16_features::NAME;
}

/// Extensions without features of their own.
const PLAIN: &[(u32, &CStr)] = &[
    (NEVER, khr::portability_subset::NAME),
    (vk::API_VERSION_1_3, khr::shader_non_semantic_info::NAME),
    (NEVER, ext::shader_subgroup_ballot::NAME),
    (NEVER, ext::shader_subgroup_vote::NAME),
    (NEVER, ext::external_memory_host::NAME),
];

impl VulkanFeatures {
    /// Queries the features of a device that compute shaders can use.
    pub fn query_device(
        instance: &VulkanInstance,
        device: &VulkanPhysicalDevice,
    ) -> VulkanFeatures {
        let mut features = VulkanFeatures::default();
        let mut chain = features.chain(device);
        // SAFETY: the device is of this instance, and knows the structures of the chain.
        unsafe {
            instance
                .raw()
                .get_physical_device_features2(device.raw, &mut chain);
        }
        features.core = select_core_features(&chain.features);
        // The other features are for debuggers and groups of devices, and have a cost.
        features.indexing = select_indexing_features(&features.indexing);
        features.image_atomics.sparse_image_int64_atomics = vk::FALSE;
        features.addresses.buffer_device_address_capture_replay = vk::FALSE;
        features.addresses.buffer_device_address_multi_device = vk::FALSE;
        features
    }
}

/// The features of Vulkan 1.0 that compute shaders can use.
fn select_core_features(has: &vk::PhysicalDeviceFeatures) -> vk::PhysicalDeviceFeatures {
    vk::PhysicalDeviceFeatures {
        robust_buffer_access: has.robust_buffer_access,
        shader_int16: has.shader_int16,
        shader_int64: has.shader_int64,
        shader_float64: has.shader_float64,
        shader_storage_buffer_array_dynamic_indexing: has
            .shader_storage_buffer_array_dynamic_indexing,
        shader_uniform_buffer_array_dynamic_indexing: has
            .shader_uniform_buffer_array_dynamic_indexing,
        shader_sampled_image_array_dynamic_indexing: has
            .shader_sampled_image_array_dynamic_indexing,
        shader_storage_image_array_dynamic_indexing: has
            .shader_storage_image_array_dynamic_indexing,
        shader_storage_image_extended_formats: has.shader_storage_image_extended_formats,
        shader_storage_image_read_without_format: has.shader_storage_image_read_without_format,
        shader_storage_image_write_without_format: has.shader_storage_image_write_without_format,
        shader_image_gather_extended: has.shader_image_gather_extended,
        image_cube_array: has.image_cube_array,
        ..vk::PhysicalDeviceFeatures::default()
    }
}

/// The features of descriptor indexing that are needed.
fn select_indexing_features(
    has: &vk::PhysicalDeviceDescriptorIndexingFeatures<'_>,
) -> vk::PhysicalDeviceDescriptorIndexingFeatures<'static> {
    vk::PhysicalDeviceDescriptorIndexingFeatures {
        shader_uniform_buffer_array_non_uniform_indexing: has
            .shader_uniform_buffer_array_non_uniform_indexing,
        shader_storage_buffer_array_non_uniform_indexing: has
            .shader_storage_buffer_array_non_uniform_indexing,
        shader_sampled_image_array_non_uniform_indexing: has
            .shader_sampled_image_array_non_uniform_indexing,
        shader_storage_image_array_non_uniform_indexing: has
            .shader_storage_image_array_non_uniform_indexing,
        shader_uniform_texel_buffer_array_dynamic_indexing: has
            .shader_uniform_texel_buffer_array_dynamic_indexing,
        shader_storage_texel_buffer_array_dynamic_indexing: has
            .shader_storage_texel_buffer_array_dynamic_indexing,
        descriptor_binding_partially_bound: has.descriptor_binding_partially_bound,
        runtime_descriptor_array: has.runtime_descriptor_array,
        ..vk::PhysicalDeviceDescriptorIndexingFeatures::default()
    }
}

/// The extensions to enable on a device.
pub fn select_extensions(device: &VulkanPhysicalDevice) -> Vec<&'static CStr> {
    let all = EXTENSIONS.iter().chain(PLAIN);
    all.filter(|(since, name)| device.version < *since && device.has_extension(name))
        .map(|(_, name)| *name)
        .collect()
}
