//! The kind of device that tensor programs are scheduled for.

use clap::ValueEnum;
use spirula::Profile;
use spirula_runtime::{Device, DeviceKind};

/// A kind of device, as it is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Schedule {
    /// A processor with vectors and caches
    Cpu,
    /// A graphics processor
    Gpu,
}

impl Schedule {
    /// The sizes for it.
    pub fn profile(self) -> Profile {
        match self {
            Schedule::Cpu => Profile::CPU,
            Schedule::Gpu => Profile::GPU,
        }
    }
}

/// What is asked for, or what suits the device of a name.
pub fn profile(asked: Option<Schedule>, device: &str) -> Profile {
    let kind = |device| Device::find(device).ok().map(|info| info.kind);
    let suits = || match kind(device) {
        Some(DeviceKind::Gpu) => Schedule::Gpu,
        _ => Schedule::Cpu,
    };
    asked.unwrap_or_else(suits).profile()
}
