//! What Khronos' grammar does not say of extensions.

use super::Version;

/// Extensions that are written against a later version than the first (their specifications, "Version").
const SINCE: &[(&str, Version)] = &[
    ("SPV_KHR_vulkan_memory_model", Version::new(1, 3)),
    ("SPV_QCOM_cooperative_matrix_conversion", Version::new(1, 3)),
    ("SPV_EXT_mesh_shader", Version::new(1, 4)),
    ("SPV_EXT_shader_invocation_reorder", Version::new(1, 4)),
    ("SPV_KHR_opacity_micromap", Version::new(1, 4)),
    (
        "SPV_KHR_workgroup_memory_explicit_layout",
        Version::new(1, 4),
    ),
    ("SPV_NV_cluster_acceleration_structure", Version::new(1, 4)),
    ("SPV_NV_linear_swept_spheres", Version::new(1, 4)),
    ("SPV_NV_shader_invocation_reorder", Version::new(1, 4)),
    ("SPV_QCOM_image_processing", Version::new(1, 4)),
    ("SPV_QCOM_image_processing2", Version::new(1, 4)),
];

/// The first version of SPIR-V that an extension is for.
pub fn extension_version(name: &str) -> Version {
    let found = SINCE.iter().find(|row| row.0 == name);
    found.map_or(Version::V1_0, |row| row.1)
}
