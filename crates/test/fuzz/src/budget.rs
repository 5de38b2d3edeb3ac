//! Checks within a budget of time and memory.

use crate::FuzzTarget;
use peak_alloc::PeakAlloc;
use std::time::{Duration, Instant};

/// The allocator, which counts the memory of the process.
#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

/// Longest time for an input of up to some megabytes, on a machine that also does other work.
const LONGEST: Duration = Duration::from_secs(20);

/// Peak memory of some work in bytes, beyond the memory held before. It includes memory of other threads.
pub fn measure_peak_memory(work: impl FnOnce()) -> usize {
    let before = ALLOCATOR.current_usage();
    ALLOCATOR.reset_peak_usage();
    work();
    ALLOCATOR.peak_usage().saturating_sub(before)
}

/// Runs the check of a target.
///
/// # Panics
/// If the check fails, or if the input exceeds its budget of memory or time.
pub fn run_target(target: &FuzzTarget, input: &[u8]) {
    let started = Instant::now();
    let peak = measure_peak_memory(|| (target.check)(input));
    let taken = started.elapsed();
    let allowed = target.floor + input.len() * target.per_byte;
    let (name, length) = (target.name, input.len());
    assert!(
        peak <= allowed,
        "{name}: {length} bytes took {peak} bytes of memory, {allowed} are allowed"
    );
    assert!(taken <= LONGEST, "{name}: {length} bytes took {taken:?}");
}
