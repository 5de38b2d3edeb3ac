//! Facts about extensions that Khronos' grammar lacks.

use super::SpirvVersion;

/// Extensions that are written against a later version than the first (their specifications, "Version").
const SINCE: &[(&str, SpirvVersion)] = &[
    ("SPV_KHR_vulkan_memory_model", SpirvVersion::new(1, 3)),
    (
        "SPV_QCOM_cooperative_matrix_conversion",
        SpirvVersion::new(1, 3),
    ),
    ("SPV_EXT_mesh_shader", SpirvVersion::new(1, 4)),
    ("SPV_EXT_shader_invocation_reorder", SpirvVersion::new(1, 4)),
    ("SPV_KHR_opacity_micromap", SpirvVersion::new(1, 4)),
    (
        "SPV_KHR_workgroup_memory_explicit_layout",
        SpirvVersion::new(1, 4),
    ),
    (
        "SPV_NV_cluster_acceleration_structure",
        SpirvVersion::new(1, 4),
    ),
    ("SPV_NV_linear_swept_spheres", SpirvVersion::new(1, 4)),
    ("SPV_NV_shader_invocation_reorder", SpirvVersion::new(1, 4)),
    ("SPV_QCOM_image_processing", SpirvVersion::new(1, 4)),
    ("SPV_QCOM_image_processing2", SpirvVersion::new(1, 4)),
];

/// The first version of SPIR-V that an extension supports.
pub fn extension_version(name: &str) -> SpirvVersion {
    let found = SINCE.iter().find(|row| row.0 == name);
    found.map_or(SpirvVersion::V1_0, |row| row.1)
}
