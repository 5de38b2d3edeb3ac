//! bfloat16 features: the structure of `VK_KHR_shader_bfloat16`, which is newer than the bindings.

use ash::vk;
use std::ffi::{CStr, c_void};
use std::marker::PhantomData;

/// Name of the extension.
pub const NAME: &CStr = c"VK_KHR_shader_bfloat16";

/// `VkPhysicalDeviceShaderBfloat16FeaturesKHR`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct PhysicalDeviceShaderBfloat16FeaturesKHR<'a> {
    s_type: vk::StructureType,
    /// The next structure of a chain.
    pub p_next: *mut c_void,
    /// Whether shaders may use the type.
    pub shader_b_float16_type: vk::Bool32,
    /// Whether dot products of vectors are supported.
    pub shader_b_float16_dot_product: vk::Bool32,
    /// Whether cooperative matrices are supported.
    pub shader_b_float16_cooperative_matrix: vk::Bool32,
    marker: PhantomData<&'a ()>,
}

impl Default for PhysicalDeviceShaderBfloat16FeaturesKHR<'_> {
    fn default() -> Self {
        PhysicalDeviceShaderBfloat16FeaturesKHR {
            s_type: vk::StructureType::from_raw(1_000_141_000),
            p_next: std::ptr::null_mut(),
            shader_b_float16_type: vk::FALSE,
            shader_b_float16_dot_product: vk::FALSE,
            shader_b_float16_cooperative_matrix: vk::FALSE,
            marker: PhantomData,
        }
    }
}

// SAFETY: the registry of Vulkan lists both structures as what this one extends; it begins with type
// and pointer as all of a chain do.
unsafe impl vk::ExtendsPhysicalDeviceFeatures2 for PhysicalDeviceShaderBfloat16FeaturesKHR<'_> {}
// SAFETY: as above.
unsafe impl vk::ExtendsDeviceCreateInfo for PhysicalDeviceShaderBfloat16FeaturesKHR<'_> {}
// SAFETY: the pointer is only followed while a chain is built and used by one thread, as in the structures
// of the bindings.
unsafe impl Send for PhysicalDeviceShaderBfloat16FeaturesKHR<'_> {}
// SAFETY: as above.
unsafe impl Sync for PhysicalDeviceShaderBfloat16FeaturesKHR<'_> {}
