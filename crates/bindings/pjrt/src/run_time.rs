//! Run time of a program: how long its last execution took on the device.
//!
//! A loop may run any number of times, so that the work of a program is not known from its operations. The next execution is taken to be as
//! long as the last one.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The longest execution that the thread of the caller does itself. To wake the thread of the device takes up to half of it.
const SHORT: Duration = Duration::from_micros(200);

/// The time of the last execution.
pub struct RunTimeRecord {
    nanoseconds: AtomicU64,
}

impl Default for RunTimeRecord {
    /// The record of a program that has not run yet. It may take any time.
    fn default() -> Self {
        RunTimeRecord {
            nanoseconds: AtomicU64::new(u64::MAX),
        }
    }
}

impl RunTimeRecord {
    /// Sets the time of the last execution.
    pub fn set(&self, time: Duration) {
        let nanoseconds = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        self.nanoseconds.store(nanoseconds, Ordering::Relaxed);
    }

    /// Whether the last execution was short.
    pub fn is_short(&self) -> bool {
        let nanoseconds = self.nanoseconds.load(Ordering::Relaxed);
        Duration::from_nanos(nanoseconds) <= SHORT
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_execution_counts() {
        let record = RunTimeRecord::default();
        assert!(!record.is_short());
        for (time, is_short) in [(SHORT, true), (2 * SHORT, false), (SHORT / 2, true)] {
            record.set(time);
            assert_eq!(record.is_short(), is_short);
        }
    }
}
