//! Kernel features: optional operations of kernels, and whether the size of subgroups is known.

use super::features::VulkanFeatures;
use super::physical_device::{VulkanPhysicalDevice, has_subgroup_operations};
use crate::KernelFeature;
use ash::vk;
use ash::vk::SubgroupFeatureFlags as Subgroup;

/// How the size of subgroups is determined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SubgroupSizeChoice {
    /// All subgroups have the size of the device.
    Fixed,
    /// Pipelines demand the size of the device.
    Demanded,
    /// The driver chooses it for each pipeline.
    #[default]
    Unknown,
}

/// How the size of subgroups of a device is determined.
pub fn find_size_choice(
    features: &VulkanFeatures,
    size: u32,
    control: &vk::PhysicalDeviceSubgroupSizeControlProperties<'_>,
) -> SubgroupSizeChoice {
    let is_demandable = features.subgroup_size.subgroup_size_control == vk::TRUE
        && control
            .required_subgroup_size_stages
            .contains(vk::ShaderStageFlags::COMPUTE);
    let [least, most] = [control.min_subgroup_size, control.max_subgroup_size];
    // A device without the extension, whose properties stay 0, has subgroups of one size.
    if least == most && (most == 0 || most == size) {
        SubgroupSizeChoice::Fixed
    } else if is_demandable && (least..=most).contains(&size) {
        SubgroupSizeChoice::Demanded
    } else {
        SubgroupSizeChoice::Unknown
    }
}

/// The optional operations of a device's kernels.
pub fn find_kernel_features(
    device: &VulkanPhysicalDevice,
    features: &VulkanFeatures,
) -> Vec<KernelFeature> {
    let mut found = KernelFeature::ALL.to_vec();
    found.retain(|feature| has_kernel_feature(device, features, *feature));
    found
}

fn has_kernel_feature(
    device: &VulkanPhysicalDevice,
    features: &VulkanFeatures,
    feature: KernelFeature,
) -> bool {
    let core = &features.core;
    let all = |flags: &[vk::Bool32]| flags.iter().all(|flag| *flag == vk::TRUE);
    let has_operations = |wanted| has_subgroup_operations(&device.subgroup, wanted);
    let has_subgroups = || has_kernel_feature(device, features, KernelFeature::Subgroups);
    match feature {
        KernelFeature::Subgroups => {
            let wanted = Subgroup::BASIC
                | Subgroup::VOTE
                | Subgroup::ARITHMETIC
                | Subgroup::BALLOT
                | Subgroup::SHUFFLE;
            device.size_choice != SubgroupSizeChoice::Unknown
                && has_operations(wanted)
                && all(&[
                    core.shader_int64,
                    features.subgroup_types.shader_subgroup_extended_types,
                ])
        }
        KernelFeature::SubgroupTypes => {
            has_subgroups() && all(&[core.shader_int16, features.small.shader_int8])
        }
        KernelFeature::RelativeShuffles => {
            has_subgroups() && has_operations(Subgroup::SHUFFLE_RELATIVE)
        }
        KernelFeature::SubgroupClusters => has_subgroups() && has_operations(Subgroup::CLUSTERED),
        KernelFeature::LongAtomics => all(&[
            core.shader_int64,
            features.atomics_64.shader_buffer_int64_atomics,
            features.atomics_64.shader_shared_int64_atomics,
        ]),
        // Vulkan allows two roundings. Those of lavapipe are known; graphics cards have an instruction with one.
        KernelFeature::FusedProducts => device.driver_id != vk::DriverId::MESA_LLVMPIPE,
    }
}
