//! What stages and kernels cost.

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

/// What a kernel cost since the device was opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelTime {
    /// Name of its entry point, or its number in its program.
    pub name: String,
    /// Wall time of compiling it.
    pub compile: Duration,
    /// Whether an earlier run had compiled it already; `None` where the driver does not tell.
    pub was_cached: Option<bool>,
    /// Launches that have ended, where [`DeviceOptions::times`] asks for them to be measured.
    pub launches: u64,
    /// Time that those took on the device.
    pub run: Duration,
}

/// Does something, and adds the wall time of it to a total.
pub(crate) fn add_elapsed_time<T>(total: &mut Duration, work: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let done = work();
    *total += start.elapsed();
    done
}
