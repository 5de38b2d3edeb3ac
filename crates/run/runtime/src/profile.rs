//! Profiles: the time that stages and kernels take.

use std::time::{Duration, Instant};

/// Wall time spent in each stage since the device was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeviceProfile {
    /// Compiling kernels.
    pub compile: Duration,
    /// Copying into and out of buffers.
    pub copy: Duration,
    /// Launching kernels and waiting for them.
    pub run: Duration,
}

/// Time that a kernel took since the device was opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelTime {
    /// Name of its entry point, or its number in its program.
    pub name: String,
    /// Wall time of its compilation.
    pub compile: Duration,
    /// Whether an earlier run had compiled it; `None` where the driver does not say.
    pub was_cached: Option<bool>,
    /// Number of launches that have ended, where [`DeviceOptions::times`] asks to measure them.
    pub launches: u64,
    /// Device time of these launches.
    pub run: Duration,
}

/// Does some work and adds its wall time to a total.
pub(crate) fn add_elapsed_time<T>(total: &mut Duration, work: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let done = work();
    *total += start.elapsed();
    done
}
