//! Compute units of a graphics processor, which vendors tell by extensions of their own.

use super::instance::VulkanInstance;
use ash::{amd, arm, nv, vk};
use std::ffi::CStr;

/// The number of compute units of a device: those that an extension tells, or the threads of a driver that computes on the
/// processor. 0 where nobody tells.
pub fn count_compute_units(
    instance: &VulkanInstance,
    raw: vk::PhysicalDevice,
    kind: vk::PhysicalDeviceType,
    has_extension: impl Fn(&CStr) -> bool,
) -> u32 {
    if kind == vk::PhysicalDeviceType::CPU {
        return std::thread::available_parallelism().map_or(1, |n| n.get() as u32);
    }
    let mut nvidia = vk::PhysicalDeviceShaderSMBuiltinsPropertiesNV::default();
    let mut amd = vk::PhysicalDeviceShaderCorePropertiesAMD::default();
    let mut arm = vk::PhysicalDeviceShaderCoreBuiltinsPropertiesARM::default();
    let mut asked = vk::PhysicalDeviceProperties2::default();
    if has_extension(nv::shader_sm_builtins::NAME) {
        asked = asked.push_next(&mut nvidia);
    }
    if has_extension(amd::shader_core_properties::NAME) {
        asked = asked.push_next(&mut amd);
    }
    if has_extension(arm::shader_core_builtins::NAME) {
        asked = asked.push_next(&mut arm);
    }
    // SAFETY: the handle is of this instance; the structures chained are of extensions that the device has.
    unsafe {
        instance
            .raw()
            .get_physical_device_properties2(raw, &mut asked);
    }
    let arrays = amd.shader_engine_count * amd.shader_arrays_per_engine_count;
    let counts = [
        nvidia.shader_sm_count,
        arrays * amd.compute_units_per_shader_array,
        arm.shader_core_count,
    ];
    counts.into_iter().max().unwrap_or(0)
}
