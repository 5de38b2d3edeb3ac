//! The platform and its devices.

use crate::boundary::log_message;
use crate::device::ClDevice;
use crate::error::{CallResult, require};
use crate::handle::{HandleHead, create_object};
use opencl_sys::{CL_INVALID_PLATFORM, cl_platform_id};
use spirula_runtime::{ComputeDevice, DeviceInfo};
use std::sync::{Arc, LazyLock};

/// The only platform, as callers see it.
static PLATFORM: LazyLock<HandleHead> = LazyLock::new(HandleHead::with_table);

/// The version of the interface, and of this library.
pub const PLATFORM_VERSION: &str = concat!("OpenCL 3.0 Spirula ", env!("CARGO_PKG_VERSION"));

/// Most Vulkan devices that are listed.
const MOST_VULKAN_DEVICES: usize = 16;

/// The handle of the platform.
pub fn platform_handle() -> cl_platform_id {
    std::ptr::from_ref(&*PLATFORM).cast_mut().cast()
}

/// Refuses other platforms. Null is this one where `allow_null` holds.
///
/// # Errors
/// `CL_INVALID_PLATFORM`.
pub fn require_platform(platform: cl_platform_id, allow_null: bool) -> CallResult<()> {
    let fits = platform == platform_handle() || (allow_null && platform.is_null());
    require(fits, CL_INVALID_PLATFORM, "this is no platform of Spirula")
}

/// The devices of the platform: those that `SPIRULA_OPENCL_DEVICES` names, or else the processor and all Vulkan devices.
///
/// The runtime's own OpenCL devices are never among them: they would list this platform again.
pub fn list_platform_devices() -> &'static [Arc<ClDevice>] {
    static DEVICES: LazyLock<Vec<Arc<ClDevice>>> = LazyLock::new(|| {
        let infos = match std::env::var("SPIRULA_OPENCL_DEVICES") {
            Ok(names) => find_named_devices(&names),
            Err(_) => find_all_devices(),
        };
        let device = |info| create_object(|handle| ClDevice::new(handle, info));
        infos.into_iter().map(device).collect()
    });
    &DEVICES
}

/// The name of the processor: with the sanitizer where `SPIRULA_OPENCL_CHECK` asks for it.
fn processor_name() -> &'static str {
    if std::env::var_os("SPIRULA_OPENCL_CHECK").is_some_and(|value| value != "0") {
        "cpu+san"
    } else {
        "cpu"
    }
}

fn find_all_devices() -> Vec<DeviceInfo> {
    let mut found: Vec<_> = ComputeDevice::find_info(processor_name())
        .into_iter()
        .collect();
    // A number that no device has is a part of a name.
    let vulkan = (0..MOST_VULKAN_DEVICES).map(|n| format!("vulkan:{n}"));
    let numbered = vulkan.map_while(|id| ComputeDevice::find_info(&id).ok().filter(|d| d.id == id));
    found.extend(numbered);
    found
}

fn find_named_devices(names: &str) -> Vec<DeviceInfo> {
    let names = names.split(',').map(str::trim).filter(|n| !n.is_empty());
    let named = names.map(|name| {
        if name == "cpu" {
            processor_name()
        } else {
            name
        }
    });
    let allowed = named.filter(|name| !name.starts_with("opencl"));
    let found = allowed.filter_map(|name| {
        let found = ComputeDevice::find_info(name);
        let missing = |error: &_| log_message(|| format!("SPIRULA_OPENCL_DEVICES: {error}"));
        found.inspect_err(missing).ok()
    });
    found.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_are_listed_once() {
        let mut ids: Vec<String> = find_all_devices().into_iter().map(|d| d.id).collect();
        let count = ids.len();
        ids.sort();
        ids.dedup();
        assert_eq!(ids.len(), count, "{ids:?}");
    }
}
