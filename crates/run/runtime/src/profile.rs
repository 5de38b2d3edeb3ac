//! Profiles: the time that stages and kernels take.

use crate::handles::KernelHandle;
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
    /// Name of its entry point. A kernel of a program has its label and its number, as in `dot_64x32x128.3`.
    pub name: String,
    /// Its number in its program, if it is of one.
    pub number: Option<usize>,
    /// Wall time of its compilation.
    pub compile: Duration,
    /// Whether an earlier run had compiled it; `None` where the driver does not say.
    pub was_cached: Option<bool>,
    /// Number of launches that have ended, where [`DeviceOptions::times`] asks to measure them.
    pub launches: u64,
    /// Device time of these launches.
    pub run: Duration,
}

/// A launch that has ended and was measured, by the name of its kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MeasuredLaunch {
    /// The name, as [`KernelTime::name`].
    pub kernel: String,
    /// The begin by the host's clock. That of a device with a clock of its own ends its last launch when the host sees its end.
    pub begin: Instant,
    /// Device time.
    pub run: Duration,
}

/// The time of a launch that has ended.
#[derive(Clone, Copy, Debug)]
pub struct LaunchTime {
    pub kernel: KernelHandle,
    /// The begin by the host's clock, as in [`MeasuredLaunch`].
    pub begin: Instant,
    pub run: Duration,
}

impl LaunchTime {
    /// The times of launches by a clock of their own, as begin and run. They have the origin of that clock in common. The host
    /// has just seen that all have ended.
    pub fn align_all(launches: &[(KernelHandle, [Duration; 2])]) -> Vec<LaunchTime> {
        let seen = Instant::now();
        let ends = launches.iter().map(|(_, [begin, run])| *begin + *run);
        let last = ends.max().unwrap_or_default();
        let align = |(kernel, [begin, run]): &(KernelHandle, [Duration; 2])| LaunchTime {
            kernel: *kernel,
            begin: seen.checked_sub(last - *begin).unwrap_or(seen),
            run: *run,
        };
        launches.iter().map(align).collect()
    }
}

/// Does some work and adds its wall time to a total.
pub(crate) fn add_elapsed_time<T>(total: &mut Duration, work: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let done = work();
    *total += start.elapsed();
    done
}
