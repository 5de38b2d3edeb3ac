//! Device names: choosing a device by number or by a part of its name.

use crate::driver::DeviceInfo;

/// The position of the device whose id is `whole`, else of the first with `part` in its name or driver, ignoring case.
pub fn find_position<'a>(
    devices: impl Iterator<Item = &'a DeviceInfo> + Clone,
    whole: &str,
    part: &str,
) -> Option<usize> {
    let part = part.to_lowercase();
    let has = |text: &str| !part.is_empty() && text.to_lowercase().contains(&part);
    let numbered = devices.clone().position(|d| d.id == whole);
    let named = || devices.clone().position(|d| has(&d.name));
    let driven = || devices.clone().position(|d| has(&d.driver));
    numbered.or_else(named).or_else(driven)
}

/// Lists ids with names, for messages.
pub fn format_devices<'a>(devices: impl Iterator<Item = &'a DeviceInfo>) -> String {
    let all: Vec<_> = devices.map(|d| format!("{} ({})", d.id, d.name)).collect();
    all.join(", ")
}

/// Whether a name means a device of a driver. It is the driver's name, alone or followed by a colon and a number or a
/// part of the device's name.
pub fn is_of_driver(name: &str, driver: &str) -> bool {
    let rest = name.strip_prefix(driver);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(':'))
}
