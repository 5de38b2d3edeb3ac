//! The plugin: its attributes, its platforms, and the choice of a device.

use crate::boundary::PluginCall;
use crate::error::{PluginError, PluginResult};
use crate::generated::{PjrtPluginAttributesArgs, PjrtPluginInitializeArgs};
use crate::named_value::{NamedValue, NamedValueList, OptionValue};
use spirula_runtime::{ComputeDevice, DeviceInfo};
use std::sync::LazyLock;
use std::time::Duration;

/// Name and version of the plugin.
pub const VERSION: &str = concat!("spirula ", env!("CARGO_PKG_VERSION"));

/// The platform of the device that is the processor.
const PROCESSOR_PLATFORM: &str = "spirula";
/// The platform of devices with a driver of the system.
const DRIVER_PLATFORM: &str = "spirula_vulkan";

/// The variable of the environment that names the device.
const DEVICE_VARIABLE: &str = "SPIRULA_DEVICE";

/// The newest and the oldest version of StableHLO's portable artifacts that are read.
const STABLEHLO_VERSIONS: [[i64; 3]; 2] = [[1, 17, 0], [0, 9, 0]];

/// Attributes of the plugin.
static ATTRIBUTES: LazyLock<NamedValueList> = LazyLock::new(|| {
    let [newest, oldest] = STABLEHLO_VERSIONS.map(|version| version.to_vec());
    NamedValueList::new(vec![
        NamedValue::new("stablehlo_current_version", OptionValue::Integers(newest)),
        NamedValue::new("stablehlo_minimum_version", OptionValue::Integers(oldest)),
        NamedValue::new("plugin_version", OptionValue::Text(VERSION.to_owned())),
    ])
});

/// Whether a device is the processor, without a driver of the system. Its memory is that of the process.
pub fn is_processor(info: &DeviceInfo) -> bool {
    info.id == "cpu" || info.id.starts_with("cpu+")
}

/// The platform of a device. All devices of a client are of one platform.
pub fn platform_of_device(info: &DeviceInfo) -> &'static str {
    if is_processor(info) {
        PROCESSOR_PLATFORM
    } else {
        DRIVER_PLATFORM
    }
}

/// The device that the option `device` or the environment names; by default the processor.
///
/// # Errors
/// When there is no such device, or an option has another type.
pub fn choose_device(options: &[NamedValue]) -> PluginResult<DeviceInfo> {
    let asked = options.iter().find(|option| option.name == "device");
    let name = match asked.map(|option| &option.value) {
        Some(OptionValue::Text(name)) => Some(name.clone()),
        Some(_) => return Err(PluginError::invalid("the option device is no text")),
        None => std::env::var(DEVICE_VARIABLE).ok(),
    };
    let name = name.filter(|name| !name.is_empty());
    Ok(ComputeDevice::find_info(name.as_deref().unwrap_or("cpu"))?)
}

/// The option of a client that has the number of logical devices.
pub const DEVICE_COUNT_OPTION: &str = "logical_devices";

/// The variable of the environment that has it, where the option is missing.
const DEVICE_COUNT_VARIABLE: &str = "SPIRULA_LOGICAL_DEVICES";

/// Most logical devices of a client.
pub const MOST_DEVICES: i64 = 1024;

/// The number of logical devices that the options or the environment ask for; by default one.
///
/// # Errors
/// When it is no number, or too large.
pub fn choose_device_count(options: &[NamedValue]) -> PluginResult<i32> {
    let asked = options
        .iter()
        .find(|option| option.name == DEVICE_COUNT_OPTION);
    let count = match asked.map(|option| &option.value) {
        Some(OptionValue::Integer(count)) => Some(*count),
        Some(_) => None,
        None => match std::env::var(DEVICE_COUNT_VARIABLE) {
            Ok(text) if !text.is_empty() => text.parse().ok(),
            _ => Some(1),
        },
    };
    let count = count.filter(|count| (1..=MOST_DEVICES).contains(count));
    count.map(|count| count as i32).ok_or_else(|| {
        let message = format!("the number of logical devices is not between 1 and {MOST_DEVICES}");
        PluginError::invalid(message)
    })
}

/// The variable of the environment that has the seconds which a launch of a kernel may take.
const TIMEOUT_VARIABLE: &str = "SPIRULA_TIMEOUT";

/// The longest time of a launch, by the option `timeout` or the environment, in seconds; by default there is none.
///
/// # Errors
/// When it is no positive number.
pub fn choose_timeout(options: &[NamedValue]) -> PluginResult<Option<Duration>> {
    let asked = options.iter().find(|option| option.name == "timeout");
    let seconds = match asked.map(|option| &option.value) {
        Some(OptionValue::Integer(seconds)) => u64::try_from(*seconds).ok(),
        Some(_) => None,
        None => match std::env::var(TIMEOUT_VARIABLE) {
            Ok(text) if !text.is_empty() => text.parse().ok(),
            _ => return Ok(None),
        },
    };
    let seconds = seconds.filter(|seconds| *seconds > 0);
    let message = "the timeout is no positive number of seconds";
    let seconds = seconds.ok_or_else(|| PluginError::invalid(message))?;
    Ok(Some(Duration::from_secs(seconds)))
}

impl PluginCall for PjrtPluginInitializeArgs {
    unsafe fn answer(&mut self) -> PluginResult<()> {
        Ok(())
    }
}

impl PluginCall for PjrtPluginAttributesArgs {
    unsafe fn answer(&mut self) -> PluginResult<()> {
        self.attributes = ATTRIBUTES.as_ptr();
        self.num_attributes = ATTRIBUTES.len();
        Ok(())
    }
}
