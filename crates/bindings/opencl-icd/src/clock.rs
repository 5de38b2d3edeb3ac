//! Clock: the nanoseconds by which commands are timed.

use std::sync::LazyLock;
use std::time::Instant;

/// The moment at which the clock is 1.
static START: LazyLock<Instant> = LazyLock::new(Instant::now);

/// Nanoseconds since the clock was first read, at least 1.
pub fn read_clock() -> u64 {
    u64::try_from(START.elapsed().as_nanos())
        .unwrap_or(u64::MAX)
        .saturating_add(1)
}
