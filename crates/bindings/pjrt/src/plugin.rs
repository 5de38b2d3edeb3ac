//! The plugin: its attributes, its platforms, and the choice of a device.

use crate::boundary::PluginCall;
use crate::error::{PluginError, PluginResult};
use crate::generated::{PjrtPluginAttributesArgs, PjrtPluginInitializeArgs};
use crate::named_value::{NamedValue, NamedValueList, OptionValue};
use spirula_runtime::{ComputeDevice, DeviceInfo, list_devices};
use std::sync::LazyLock;
use std::time::Duration;

/// Name and version of the plugin.
pub const VERSION: &str = concat!("spirula ", env!("CARGO_PKG_VERSION"));

/// The platform of the device that is the processor.
const PROCESSOR_PLATFORM: &str = "spirula";
/// The platform of devices with a driver of the system.
const DRIVER_PLATFORM: &str = "spirula_vulkan";

/// The options of a client that this module reads.
pub const CHOICE_OPTIONS: [&str; 5] = [
    DEVICE_OPTION,
    DEVICE_KIND_OPTION,
    DEVICE_COUNT_OPTION,
    PARTITION_OPTION,
    TIMEOUT_OPTION,
];

/// The option of a client that names the device, or several.
const DEVICE_OPTION: &str = "device";

/// The ending of a name that stands for all devices of a kind.
const ALL_OF_KIND: &str = ":all";

/// The option of a client that has the kind of the device, where the first is missing.
const DEVICE_KIND_OPTION: &str = "device_kind";

/// The variable of the environment that names the device, or several.
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

/// The devices that the option `device` names. Without it, those that the environment names, if they are of the kind of
/// the option `device_kind`. By default the first of the kind, or the processor.
///
/// # Errors
/// When there is no such device, devices are not alike, or an option has another type.
pub fn choose_devices(options: &[NamedValue]) -> PluginResult<Vec<DeviceInfo>> {
    let asked = read_text(options, DEVICE_OPTION)?.filter(|name| !name.is_empty());
    let kind = read_text(options, DEVICE_KIND_OPTION)?;
    let named = std::env::var(DEVICE_VARIABLE).ok();
    let default = choose_device_name(kind, named.as_deref().unwrap_or_default());
    find_devices(asked.unwrap_or(default))
}

/// The devices of a list of names between commas. `vulkan:all` names the first device of the kind and all that are alike.
fn find_devices(names: &str) -> PluginResult<Vec<DeviceInfo>> {
    if let Some(kind) = names.strip_suffix(ALL_OF_KIND) {
        let first = ComputeDevice::find_info(kind)?;
        let is_like =
            |info: &DeviceInfo| info.id.split(':').next() == Some(kind) && is_alike(info, &first);
        let mut devices: Vec<DeviceInfo> = list_devices().into_iter().filter(is_like).collect();
        if devices.is_empty() {
            devices.push(first);
        }
        return Ok(devices);
    }
    let devices = names
        .split(',')
        .map(|name| ComputeDevice::find_info(name.trim()));
    let devices: Vec<DeviceInfo> = devices.collect::<Result<_, _>>()?;
    for other in &devices[1..] {
        if !is_alike(other, &devices[0]) {
            let message = format!(
                "the devices of a client must be alike: {} is {}, {} is {}",
                devices[0].id, devices[0].name, other.id, other.name
            );
            return Err(PluginError::invalid(message));
        }
    }
    Ok(devices)
}

/// Whether programs for one device run on the other one.
fn is_alike(left: &DeviceInfo, right: &DeviceInfo) -> bool {
    (&left.name, &left.driver) == (&right.name, &right.driver)
}

/// The device that the environment names, if it is of a kind, or the kind, which is the name of its first device.
fn choose_device_name<'a>(kind: Option<&'a str>, named: &'a str) -> &'a str {
    let is_asked = !named.is_empty() && named.starts_with(kind.unwrap_or_default());
    if is_asked {
        named
    } else {
        kind.unwrap_or("cpu")
    }
}

/// The text that an option has.
pub fn read_text<'o>(options: &'o [NamedValue], name: &str) -> PluginResult<Option<&'o str>> {
    let asked = options.iter().find(|option| option.name == name);
    match asked.map(|option| &option.value) {
        Some(OptionValue::Text(text)) => Ok(Some(text)),
        Some(_) => {
            let message = format!("the option {name} is no text");
            Err(PluginError::invalid(message))
        }
        None => Ok(None),
    }
}

/// The option of a client that has the number of logical devices.
const DEVICE_COUNT_OPTION: &str = "logical_devices";

/// The variable of the environment that has it, where the option is missing.
const DEVICE_COUNT_VARIABLE: &str = "SPIRULA_LOGICAL_DEVICES";

/// Most logical devices of a client.
pub const MOST_DEVICES: i64 = 1024;

/// The number of logical devices that the options or the environment ask for; by default one.
///
/// # Errors
/// When it is no number, or too large.
pub fn choose_device_count(options: &[NamedValue]) -> PluginResult<i32> {
    let count = read_number(options, DEVICE_COUNT_OPTION, DEVICE_COUNT_VARIABLE)?;
    let count = count.unwrap_or(1);
    let is_right = (1..=MOST_DEVICES).contains(&count);
    is_right.then_some(count as i32).ok_or_else(|| {
        let message = format!("the number of logical devices is not between 1 and {MOST_DEVICES}");
        PluginError::invalid(message)
    })
}

/// The option of a client that says whether programs for several devices are partitioned: 1 if they are.
const PARTITION_OPTION: &str = "partition";

/// The variable of the environment that says it, where the option is missing.
const PARTITION_VARIABLE: &str = "SPIRULA_PARTITION";

/// Whether the options or the environment ask for programs to be partitioned; by default not.
///
/// # Errors
/// When the number is neither 0 nor 1.
pub fn choose_partition(options: &[NamedValue]) -> PluginResult<bool> {
    match read_number(options, PARTITION_OPTION, PARTITION_VARIABLE)? {
        None | Some(0) => Ok(false),
        Some(1) => Ok(true),
        Some(number) => {
            let message = format!("the option {PARTITION_OPTION} is {number}, not 0 or 1");
            Err(PluginError::invalid(message))
        }
    }
}

/// The option of a client that has the seconds which a launch of a kernel may take.
const TIMEOUT_OPTION: &str = "timeout";

/// The variable of the environment that has them, where the option is missing.
const TIMEOUT_VARIABLE: &str = "SPIRULA_TIMEOUT";

/// The longest time of a launch, by the options or the environment; by default there is none.
///
/// # Errors
/// When it is no positive number of seconds.
pub fn choose_timeout(options: &[NamedValue]) -> PluginResult<Option<Duration>> {
    let seconds = read_number(options, TIMEOUT_OPTION, TIMEOUT_VARIABLE)?;
    let time = seconds.map(|seconds| convert_seconds(seconds, "the timeout"));
    time.transpose()
}

/// The whole number that an option has, or a variable of the environment where the option is missing; `None` where both are.
pub fn read_number(
    options: &[NamedValue],
    name: &str,
    variable: &str,
) -> PluginResult<Option<i64>> {
    if let Some(number) = read_integer(options, name)? {
        return Ok(Some(number));
    }
    match std::env::var(variable) {
        Ok(text) if !text.is_empty() => text
            .parse()
            .map(Some)
            .map_err(|_| PluginError::invalid(format!("{variable} is no whole number: {text}"))),
        _ => Ok(None),
    }
}

/// The whole number that an option has.
pub fn read_integer(options: &[NamedValue], name: &str) -> PluginResult<Option<i64>> {
    let asked = options.iter().find(|option| option.name == name);
    match asked.map(|option| &option.value) {
        Some(OptionValue::Integer(number)) => Ok(Some(*number)),
        Some(_) => {
            let message = format!("the option {name} is no whole number");
            Err(PluginError::invalid(message))
        }
        None => Ok(None),
    }
}

/// A time of seconds. `subject` names it in the error.
pub fn convert_seconds(seconds: i64, subject: &str) -> PluginResult<Duration> {
    let seconds = u64::try_from(seconds).ok().filter(|seconds| *seconds > 0);
    let seconds = seconds.ok_or_else(|| {
        PluginError::invalid(format!("{subject} is no positive number of seconds"))
    })?;
    Ok(Duration::from_secs(seconds))
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

#[cfg(test)]
mod tests {
    use super::choose_device_name;

    #[test]
    fn the_environment_names_devices_of_the_kind() {
        for (kind, named, chosen) in [
            (None, "", "cpu"),
            (None, "vulkan:1", "vulkan:1"),
            (Some("vulkan"), "", "vulkan"),
            (Some("vulkan"), "vulkan:1", "vulkan:1"),
            (Some("vulkan"), "cpu+san", "vulkan"),
            (Some("cpu"), "cpu+san", "cpu+san"),
        ] {
            assert_eq!(choose_device_name(kind, named), chosen);
        }
    }
}
