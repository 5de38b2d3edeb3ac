//! Choice of a device by a name, or by a part of one.

use crate::failure::CallFailure;
use spirula_runtime::{ComputeDevice, DeviceInfo, list_devices};

/// The variable of the environment that names the device.
const VARIABLE: &str = "SPIRULA_DEVICE";

/// Finds a device: the one of a name, the one of a number (`#2`), or the first whose names contain the text. Without a text
/// it is the one that the environment names, or the CPU device.
pub(crate) fn choose_device(wanted: Option<&str>) -> Result<DeviceInfo, CallFailure> {
    let named = std::env::var(VARIABLE).ok();
    let wanted = wanted.or(named.as_deref()).filter(|text| !text.is_empty());
    let wanted = wanted.unwrap_or("cpu");
    if let Ok(found) = ComputeDevice::find_info(wanted) {
        return Ok(found);
    }
    let devices = list_devices();
    let ids: Vec<String> = devices.iter().map(|device| device.id.clone()).collect();
    let found = match wanted.strip_prefix('#').and_then(|n| n.parse().ok()) {
        Some(number) => devices.into_iter().nth(number),
        None => devices
            .into_iter()
            .find(|device| device.name.contains(wanted) || device.id.contains(wanted)),
    };
    found.ok_or_else(|| {
        let known = ids.join(", ");
        CallFailure::from_message(format!("no device {wanted}; there are: {known}"))
    })
}
