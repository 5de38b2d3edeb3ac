//! Extensions and features of OpenCL C that devices claim.

use crate::device::ClDevice;
use spirula_runtime::KernelFeature;

/// Extensions of the platform.
pub const PLATFORM_EXTENSIONS: &[&str] = &["cl_khr_icd", "cl_khr_extended_versioning"];

/// Extensions that every device has.
const EXTENSIONS: &[&str] = &[
    "cl_khr_icd",
    "cl_khr_extended_versioning",
    "cl_khr_il_program",
    "cl_khr_3d_image_writes",
    "cl_khr_byte_addressable_store",
    "cl_khr_global_int32_base_atomics",
    "cl_khr_global_int32_extended_atomics",
    "cl_khr_local_int32_base_atomics",
    "cl_khr_local_int32_extended_atomics",
    "cl_khr_create_command_queue",
    "cl_khr_command_buffer",
    "cl_khr_suggested_local_work_size",
    "cl_khr_extended_bit_ops",
    "cl_khr_integer_dot_product",
    "cl_khr_expect_assume",
    "cl_khr_spirv_no_integer_wrap_decoration",
    "cl_khr_spirv_linkonce_odr",
];

/// Extensions of the processor only.
const PROCESSOR_EXTENSIONS: &[&str] = &[
    "cl_khr_image2d_from_buffer",
    "cl_khr_depth_images",
    "cl_intel_unified_shared_memory",
    "cl_intel_required_subgroup_size",
];

/// Extensions that need a feature of the runtime's device.
const FEATURE_EXTENSIONS: &[(KernelFeature, &[&str])] = &[
    (
        KernelFeature::Subgroups,
        &[
            "cl_khr_subgroup_non_uniform_vote",
            "cl_khr_subgroup_ballot",
            "cl_khr_subgroup_non_uniform_arithmetic",
            "cl_khr_subgroup_shuffle",
            "cl_khr_subgroup_rotate",
        ],
    ),
    (
        KernelFeature::SubgroupTypes,
        &["cl_khr_subgroup_extended_types"],
    ),
    (
        KernelFeature::RelativeShuffles,
        &["cl_khr_subgroup_shuffle_relative"],
    ),
    (
        KernelFeature::SubgroupClusters,
        &["cl_khr_subgroup_clustered_reduce"],
    ),
    (
        KernelFeature::LongAtomics,
        &["cl_khr_int64_base_atomics", "cl_khr_int64_extended_atomics"],
    ),
];

/// Features of OpenCL C 3.0 that every device has.
const FEATURES: &[&str] = &[
    "__opencl_c_3d_image_writes",
    "__opencl_c_atomic_order_acq_rel",
    "__opencl_c_atomic_scope_device",
    "__opencl_c_generic_address_space",
    "__opencl_c_images",
    "__opencl_c_int64",
    "__opencl_c_integer_dot_product_input_4x8bit",
    "__opencl_c_integer_dot_product_input_4x8bit_packed",
    "__opencl_c_program_scope_global_variables",
    "__opencl_c_read_write_images",
    "__opencl_c_work_group_collective_functions",
];

/// Features of the processor only.
const PROCESSOR_FEATURES: &[&str] = &[
    "__opencl_c_atomic_order_seq_cst",
    "__opencl_c_atomic_scope_all_devices",
    "__opencl_c_device_enqueue",
    "__opencl_c_pipes",
];

impl ClDevice {
    /// Whether its kernels may use an optional operation.
    pub fn has_kernel_feature(&self, feature: KernelFeature) -> bool {
        self.info.features.contains(&feature)
    }

    /// Whether it claims sub-groups.
    pub fn has_subgroups(&self) -> bool {
        self.has_kernel_feature(KernelFeature::Subgroups)
    }

    /// The extensions of the device.
    pub fn extensions(&self) -> Vec<&'static str> {
        let mut names = EXTENSIONS.to_vec();
        if self.is_processor() {
            names.extend(PROCESSOR_EXTENSIONS);
        }
        let rows = FEATURE_EXTENSIONS.iter();
        let rows = rows.filter(|(feature, _)| self.has_kernel_feature(*feature));
        names.extend(rows.flat_map(|(_, extensions)| *extensions));
        if self.has_doubles() {
            names.push("cl_khr_fp64");
        }
        if self.has_halves() {
            names.push("cl_khr_fp16");
        }
        names
    }

    /// The features of OpenCL C 3.0 of the device.
    pub fn features(&self) -> Vec<&'static str> {
        let mut names = FEATURES.to_vec();
        if self.is_processor() {
            names.extend(PROCESSOR_FEATURES);
        }
        if self.has_subgroups() {
            names.push("__opencl_c_subgroups");
        }
        if self.has_doubles() {
            names.push("__opencl_c_fp64");
        }
        names
    }

    /// Extensions and features of OpenCL C of the device.
    pub fn list_language_extensions(&self) -> Vec<&'static str> {
        let mut names = self.extensions();
        names.extend(self.features());
        names
    }
}
