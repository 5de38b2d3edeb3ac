//! Schedules on the command line: the kind of device that tensor programs are scheduled for, and sizes.

use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use spirula::ScheduleProfile;
use spirula_runtime::{ComputeDevice, DeviceInfo};
use spirula_schedule::{ScheduleDevice, choose_kind_profile};
use std::ffi::OsStr;
use std::fmt;
use std::str::FromStr;

/// A schedule of the form `gpu`, `gpu,tile=128` or `vector=1`. Without a kind it is for the kind of the device.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScheduleSpec {
    kind: Option<ScheduleDevice>,
    settings: Vec<(String, u64)>,
}

/// Parser of schedules. The help lists the kinds only, since sizes are for experiments.
#[derive(Clone)]
pub struct ScheduleParser;

impl TypedValueParser for ScheduleParser {
    type Value = ScheduleSpec;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<ScheduleSpec, clap::Error> {
        let parser = StringValueParser::new().try_map(|text| text.parse::<ScheduleSpec>());
        parser.parse_ref(command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let kinds = [
            ("cpu", "A processor with vectors and caches"),
            ("gpu", "A graphics processor"),
        ];
        let values = kinds.map(|(name, help)| PossibleValue::new(name).help(help));
        Some(Box::new(values.into_iter()))
    }
}

impl FromStr for ScheduleSpec {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut schedule = ScheduleSpec::default();
        for (at, part) in text.split(',').enumerate() {
            match (at, part) {
                (0, "cpu") => schedule.kind = Some(ScheduleDevice::Cpu),
                (0, "gpu") => schedule.kind = Some(ScheduleDevice::Gpu),
                _ => schedule.settings.push(parse_schedule_setting(part)?),
            }
        }
        Ok(schedule)
    }
}

fn parse_schedule_setting(text: &str) -> Result<(String, u64), String> {
    let names = || {
        let names: Vec<&str> = ScheduleProfile::SETTINGS.iter().map(|s| s.name).collect();
        format!("cpu, gpu or NAME=VALUE of {}", names.join(", "))
    };
    let (name, value) = text
        .split_once('=')
        .ok_or_else(|| format!("{text:?} is none of {}", names()))?;
    let value = value.parse();
    let value: u64 = value.map_err(|_| format!("the value in {text:?} is not a number"))?;
    if !ScheduleProfile::SETTINGS.iter().any(|s| s.name == name) {
        return Err(format!("{name:?} is none of {}", names()));
    }
    // The range of a setting does not depend on the profile.
    let mut profile = ScheduleProfile::GPU;
    if profile.set_setting(name, value) {
        Ok((name.to_owned(), value))
    } else {
        Err(format!("{text:?} is not a power of two, or too large"))
    }
}

impl fmt::Display for ScheduleSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.kind {
            Some(ScheduleDevice::Cpu) => Some("cpu".to_owned()),
            Some(ScheduleDevice::Gpu) => Some("gpu".to_owned()),
            None => None,
        };
        let settings = self.settings.iter();
        let settings = settings.map(|(name, value)| format!("{name}={value}"));
        let parts: Vec<String> = kind.into_iter().chain(settings).collect();
        f.write_str(&parts.join(","))
    }
}

impl ScheduleSpec {
    /// The profile for an unknown device.
    pub fn profile(&self) -> ScheduleProfile {
        self.profile_for_device(self.kind.unwrap_or(ScheduleDevice::Cpu), None)
    }

    fn profile_for_device(
        &self,
        kind: ScheduleDevice,
        device: Option<&DeviceInfo>,
    ) -> ScheduleProfile {
        let mut profile = choose_kind_profile(kind, device);
        for (name, value) in &self.settings {
            profile.set_setting(name, *value);
        }
        profile
    }
}

/// The requested profile, or the one that suits a device.
pub fn choose_schedule_profile(asked: Option<&ScheduleSpec>, device: &str) -> ScheduleProfile {
    let plain = ScheduleSpec::default();
    let asked = asked.unwrap_or(&plain);
    let info = ComputeDevice::find_info(device).ok();
    let suits = || {
        let info = info.as_ref();
        info.map_or(ScheduleDevice::Cpu, ScheduleDevice::from_info)
    };
    asked.profile_for_device(asked.kind.unwrap_or_else(suits), info.as_ref())
}

/// The profiles of a program that is compiled for devices which are chosen when it runs.
#[derive(Clone, Copy, Debug)]
pub struct LibrarySchedules {
    /// That of the processor; none where it is not wanted.
    pub processor: Option<ScheduleProfile>,
    /// That of any graphics device; none where it is not wanted.
    pub graphics: Option<ScheduleProfile>,
}

/// The profiles for both kinds of devices, or for the requested kind.
pub fn choose_library_schedules(asked: Option<&ScheduleSpec>) -> LibrarySchedules {
    let plain = ScheduleSpec::default();
    let asked = asked.unwrap_or(&plain);
    let processor = ComputeDevice::find_info("cpu").ok();
    let is_wanted = |kind| asked.kind.is_none_or(|asked| asked == kind);
    LibrarySchedules {
        processor: is_wanted(ScheduleDevice::Cpu)
            .then(|| asked.profile_for_device(ScheduleDevice::Cpu, processor.as_ref())),
        graphics: is_wanted(ScheduleDevice::Gpu)
            .then(|| asked.profile_for_device(ScheduleDevice::Gpu, None)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schedules_read_back() {
        for text in [
            "gpu",
            "cpu,vector=1",
            "gpu,matrix-rows=64,matrix-fragment=160816",
        ] {
            let schedule: ScheduleSpec = text.parse().unwrap();
            assert_eq!(schedule.to_string(), text);
        }
        let profile = "gpu,flat=64".parse::<ScheduleSpec>().unwrap().profile();
        assert_eq!(profile.flat, 64);
        for text in [
            "", "tpu", "gpu,flat", "flat=3", "flat=x", "flat=0", "gpu,cpu",
        ] {
            assert!(text.parse::<ScheduleSpec>().is_err(), "{text}");
        }
    }
}
