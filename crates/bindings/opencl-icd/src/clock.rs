//! Clock: the nanoseconds by which commands are timed.

use std::sync::LazyLock;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// The clock's first reading: the moment, and its nanoseconds since 1970.
///
/// Programs take a clock near 0 for one that does not work.
static START: LazyLock<(Instant, u64)> = LazyLock::new(|| {
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH);
    let nanos = since_epoch.map_or(1, |since| u64::try_from(since.as_nanos()).unwrap_or(1));
    (Instant::now(), nanos.max(1))
});

/// Nanoseconds since 1970 by the system's time at the first reading. They never go back.
pub fn read_clock() -> u64 {
    let (start, nanos) = &*START;
    let elapsed = u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX);
    nanos.saturating_add(elapsed)
}
