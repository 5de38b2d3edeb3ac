//! Drivers: a folder and a row of [`DRIVERS`] for each.

pub mod cpu;
mod device_names;
#[cfg(feature = "opencl")]
#[allow(unsafe_code, reason = "OpenCL is a C interface")]
mod opencl;
#[cfg(feature = "vulkan")]
#[allow(unsafe_code, reason = "Vulkan is a C interface")]
mod vulkan;

pub use cpu::HostMemory;

use crate::driver::{DeviceDriver, DeviceInfo, DeviceOptions};
use crate::error::DeviceError;

/// The name of the OpenCL platform by which other programs use devices of this library.
pub const OPENCL_PLATFORM_NAME: &str = "Spirula";

/// Opens a device by name.
type DeviceOpener = fn(&str, &DeviceOptions) -> Result<Box<dyn DeviceDriver>, DeviceError>;

/// A driver: how its devices are named, listed and opened.
pub struct DriverFactory {
    /// Whether a name of a device is one of this driver's.
    accepts_name: fn(&str) -> bool,
    /// Lists its devices; none where the driver is not installed.
    list_devices: fn() -> Vec<DeviceInfo>,
    /// Finds a device by name without opening it.
    find_info: fn(&str) -> Result<DeviceInfo, DeviceError>,
    /// Opens a device by name.
    open_device: DeviceOpener,
}

/// All drivers. The first device of the first driver is the default.
const DRIVERS: &[DriverFactory] = &[
    cpu::FACTORY,
    #[cfg(feature = "vulkan")]
    vulkan::FACTORY,
    #[cfg(feature = "opencl")]
    opencl::FACTORY,
];

/// Lists all devices, the default first.
pub fn list_devices() -> Vec<DeviceInfo> {
    let drivers = DRIVERS.iter();
    drivers.flat_map(|driver| (driver.list_devices)()).collect()
}

/// Finds a device by name without opening it.
///
/// # Errors
/// When there is none.
pub fn find_device_info(name: &str) -> Result<DeviceInfo, DeviceError> {
    (find_driver(name)?.find_info)(name)
}

/// Opens a device by name.
///
/// # Errors
/// When there is none, or it cannot be opened.
pub fn open_device(
    name: &str,
    options: &DeviceOptions,
) -> Result<Box<dyn DeviceDriver>, DeviceError> {
    (find_driver(name)?.open_device)(name, options)
}

/// The driver whose devices have names like this one.
fn find_driver(name: &str) -> Result<&'static DriverFactory, DeviceError> {
    let mut drivers = DRIVERS.iter();
    let found = drivers.find(|driver| (driver.accepts_name)(name));
    found.ok_or_else(|| {
        let ids: Vec<_> = list_devices().into_iter().map(|d| d.id).collect();
        DeviceError::NoDevice {
            name: name.to_owned(),
            available: ids.join(", "),
        }
    })
}
