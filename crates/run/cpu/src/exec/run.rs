//! Launching kernels.

use super::compile::JitKernel;
use super::exchange::FrameLayout;
use super::guard::{CallWatchdog, TrapReason};
use super::launch::{InvocationRange, JitLaunch, LaunchError};
use super::launch_worker::LaunchWorker;
use crate::host::launch_queue::LaunchQueue;
use crate::sanitizer::kernel_sanitizer::KernelSanitizer;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// Largest automatic workgroup.
const AUTOMATIC: u64 = 256;
/// Most workgroups that a thread takes at a time.
const MOST_TICKETS: u64 = 64;
/// Most invocations of a workgroup.
const MAX_INVOCATIONS: u64 = 1 << 16;
/// Most words of the frames of a workgroup's invocations.
const MAX_FRAME_WORDS: usize = 1 << 29;

/// The shape of a launch.
pub(crate) struct LaunchGrid {
    pub groups: [u64; 3],
    pub local: [u64; 3],
    pub global: [u64; 3],
    pub offset: [u64; 3],
    pub dimensions: u32,
}

/// The numbers of workgroups, handed out in order.
///
/// Threads that take every other workgroup read and write each other's neighbourhoods, which costs a kernel that
/// waits for memory a quarter of its time: they take several in a row, fewer towards the end. Where workgroups may
/// wait for each other they take one at a time, so that none waits for a thread that has others to run first.
struct WorkgroupTickets {
    next: AtomicU64,
    total: u64,
    threads: u64,
    most: u64,
}

impl WorkgroupTickets {
    fn new(total: u64, threads: usize, may_wait: bool) -> WorkgroupTickets {
        WorkgroupTickets {
            next: AtomicU64::new(0),
            total,
            threads: threads as u64,
            most: if may_wait { 1 } else { MOST_TICKETS },
        }
    }

    /// The next ones; none at the end.
    fn take_range(&self) -> Option<Range<u64>> {
        let count = |left: u64| (left / (4 * self.threads.max(1))).clamp(1, self.most);
        let (order, next) = (Ordering::Relaxed, &self.next);
        let first = next.fetch_update(order, order, |first| {
            let left = self.total.checked_sub(first).filter(|left| *left > 0)?;
            Some(first + count(left))
        });
        let first = first.ok()?;
        Some(first..first + count(self.total - first))
    }

    /// Hands out no more.
    fn stop_issuing(&self) {
        self.next.store(self.total, Ordering::Relaxed);
    }
}

impl JitKernel {
    /// Runs a launch to its end. Workgroups start in order, so that one may wait for those before
    /// it.
    ///
    /// # Errors
    /// When the launch does not fit the kernel, invocations of a workgroup wait at different
    /// barriers, or the kernel does not come to its end: on Linux, when it accesses an address where
    /// no memory is or takes too long.
    ///
    /// # Safety
    /// The memory of the arguments and bindings is valid for reads and writes during the call, and
    /// nothing else uses it meanwhile; the kernel stays within the memory that it is given.
    #[allow(unsafe_code)]
    pub unsafe fn run_launch(&self, launch: &JitLaunch<'_>) -> Result<(), LaunchError> {
        if self.checks.is_some() {
            // SAFETY: the caller's promise.
            return unsafe { self.run_checked(launch, &mut KernelSanitizer::default()) };
        }
        let queue = LaunchQueue::default();
        // SAFETY: as above.
        unsafe {
            self.run_on(launch, &queue)?;
            self.run_enqueued(launch, &queue, None)
        }
    }

    /// The same, but for what it enqueues.
    #[allow(unsafe_code)]
    pub(crate) unsafe fn run_on(
        &self,
        launch: &JitLaunch<'_>,
        queue: &LaunchQueue,
    ) -> Result<(), LaunchError> {
        let grid = self.compute_grid(&launch.size)?;
        let mut shared = self.marshal_arguments(launch)?;
        shared.streams = self.needs_non_temporal(launch, &grid, &shared.bindings);
        if !self.is_all_bundles(&grid) {
            let prepared = self.code.prepare_serialised();
            prepared.map_err(|why| LaunchError::Launch(format!("{}: {why}", self.name)))?;
        }
        let total = checked_product(grid.groups)
            .ok_or_else(|| LaunchError::Launch("the launch has too many workgroups".to_owned()))?;
        let threads = match launch.threads {
            0 => rayon::current_num_threads(),
            n => n,
        };
        let threads = threads.min(usize::try_from(total).unwrap_or(usize::MAX));
        shared.counted = self.plan_privatised_memory(launch, (&grid, threads), &shared);
        let tickets = WorkgroupTickets::new(total, threads, self.may_wait);
        let failure = Mutex::new(None);
        let printed = Mutex::new(Vec::new());
        let watch = CallWatchdog::start_with_limit(launch.timeout);
        let work = || {
            watch.watch_current_thread();
            let mut worker = LaunchWorker::new(self, &shared, &grid, queue);
            let mut run = |ticket| match watch.is_late() {
                true => Err(LaunchError::from_trap(TrapReason::Late, &self.name)),
                // SAFETY: the caller's promise.
                false => unsafe { worker.run_workgroup(ticket) },
            };
            while let Some(mut some) = tickets.take_range() {
                if let Err(error) = some.try_for_each(&mut run) {
                    tickets.stop_issuing();
                    if let Ok(mut slot) = failure.lock() {
                        slot.get_or_insert(error);
                    }
                }
            }
            if shared.streams {
                crate::analysis::non_temporal_stores::fence_stores();
            }
            // SAFETY: the caller's promise.
            unsafe { worker.merge_privatised() };
            self.counters.add_counts(worker.counters());
            if let Ok(mut all) = printed.lock() {
                all.extend(worker.take_printed());
            }
            watch.unwatch_current_thread();
        };
        if threads <= 1 {
            work();
        } else {
            rayon::scope(|scope| {
                for _ in 0..threads {
                    scope.spawn(|_| work());
                }
            });
        }
        self.prints
            .append_output(printed.into_inner().unwrap_or_default());
        match failure.into_inner() {
            Ok(Some(error)) => Err(error),
            _ => Ok(()),
        }
    }

    /// Whether all workgroups of a launch consist of whole bundles.
    fn is_all_bundles(&self, grid: &LaunchGrid) -> bool {
        let whole = |n: [u64; 3]| n[0].is_multiple_of(self.bundle_width as u64);
        let sizes = [grid.local, grid.global, grid.offset];
        self.code.has_entry(true) && sizes.into_iter().all(whole)
    }

    /// The shape of a launch.
    ///
    /// # Errors
    /// When it does not fit the kernel.
    pub(crate) fn compute_grid(&self, size: &InvocationRange) -> Result<LaunchGrid, LaunchError> {
        let grid = match *size {
            InvocationRange::Groups(groups) => {
                let local = self.local_size.unwrap_or([1; 3]).map(u64::from);
                let groups = groups.map(u64::from);
                let global = [0, 1, 2].map(|n| groups[n].saturating_mul(local[n]));
                LaunchGrid {
                    groups,
                    local,
                    global,
                    offset: [0; 3],
                    dimensions: 3,
                }
            }
            InvocationRange::Items {
                global,
                local,
                offset,
                dimensions,
            } => {
                let chosen = local.or(self.local_size);
                let local =
                    chosen.map_or_else(|| choose_workgroup_size(global), |l| l.map(u64::from));
                if local.contains(&0) {
                    return Err(LaunchError::Launch("a workgroup is empty".to_owned()));
                }
                LaunchGrid {
                    groups: [0, 1, 2].map(|n| global[n].div_ceil(local[n])),
                    local,
                    global,
                    offset,
                    dimensions,
                }
            }
        };
        self.check_grid(&grid)?;
        Ok(grid)
    }

    /// Words of the frames of a workgroup. Invocations that are never suspended share one.
    pub(crate) fn frame_words(&self, local: [u64; 3]) -> usize {
        if self.points.is_empty() {
            return self.frame.stride.max(self.bundle_frame.stride);
        }
        let count = local.iter().product::<u64>() as usize;
        let bundles = self.bundle_frame.stride * count.div_ceil(self.bundle_width);
        (self.frame.stride * count).max(bundles)
    }

    /// Bytes of the private memory of a workgroup's invocations. Those that are never suspended share one's, or a
    /// bundle's.
    pub(crate) fn private_bytes(&self, local: [u64; 3]) -> usize {
        let [alone, bundle] = self.room_bytes.map(|bytes| bytes as usize);
        let count = match self.points.is_empty() {
            true => [1, self.bundle_width],
            false => [local.iter().product::<u64>() as usize; 2],
        };
        (alone * count[0]).max(bundle * count[1])
    }

    /// The layout of frames.
    pub(crate) fn frame_layout(&self, bundles: bool) -> FrameLayout {
        if bundles {
            self.bundle_frame
        } else {
            self.frame
        }
    }

    fn check_grid(&self, grid: &LaunchGrid) -> Result<(), LaunchError> {
        let bad = |message: String| Err(LaunchError::Launch(message));
        if grid.local.contains(&0) {
            return bad("a workgroup has no invocations".to_owned());
        }
        if checked_product(grid.local).is_none_or(|n| n > MAX_INVOCATIONS) {
            return bad(format!(
                "a workgroup has more than {MAX_INVOCATIONS} invocations"
            ));
        }
        let width = self.bundle_width as u64;
        if !self.code.has_entry(false) && !grid.offset[0].is_multiple_of(width) {
            return bad(format!(
                "an offset of {} is no multiple of {width}",
                grid.offset[0]
            ));
        }
        let words = self.frame_words(grid.local) + self.private_bytes(grid.local) / 8;
        if words > MAX_FRAME_WORDS {
            return bad(format!(
                "the invocations of a workgroup of {} need {} bytes of memory",
                self.name,
                words * 8
            ));
        }
        let Some(fixed) = self.local_size else {
            return Ok(());
        };
        let fixed = fixed.map(u64::from);
        if grid.local != fixed {
            return bad(format!(
                "{} demands workgroups of {fixed:?}, not {:?}",
                self.name, grid.local
            ));
        }
        if (0..3).any(|n| !grid.global[n].is_multiple_of(fixed[n].max(1))) {
            return bad(format!(
                "the global size {:?} is no multiple of the workgroup size {fixed:?} that {} demands",
                grid.global, self.name
            ));
        }
        Ok(())
    }
}

pub(crate) fn checked_product(size: [u64; 3]) -> Option<u64> {
    size[0].checked_mul(size[1])?.checked_mul(size[2])
}

/// A workgroup size that divides the global size.
fn choose_workgroup_size(global: [u64; 3]) -> [u64; 3] {
    let mut room = AUTOMATIC;
    global.map(|n| {
        let divisor = (1..=room.min(n.max(1))).rev().find(|d| n % d == 0);
        let divisor = divisor.unwrap_or(1);
        room /= divisor;
        divisor
    })
}
