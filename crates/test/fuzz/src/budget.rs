//! Checks within a budget.

use crate::FuzzTarget;
use peak_alloc::PeakAlloc;
use std::time::{Duration, Instant};

/// Counts what the process allocates.
#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

/// Longest time that an input of any size up to some megabytes may take, on a machine that does other
/// things beside.
const LONGEST: Duration = Duration::from_secs(20);

/// Most bytes that are held at a time while some work is done, beyond those held when it begins; those
/// of other threads count too.
pub fn measure_peak_memory(work: impl FnOnce()) -> usize {
    let before = ALLOCATOR.current_usage();
    ALLOCATOR.reset_peak_usage();
    work();
    ALLOCATOR.peak_usage().saturating_sub(before)
}

/// Runs the check of a target.
///
/// # Panics
/// When the check finds something, or the input takes more memory or time than it may.
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
