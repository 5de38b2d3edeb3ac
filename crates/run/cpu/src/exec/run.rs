//! Launching kernels.

use super::guard::{CallWatchdog, TrapReason};
use super::jit_kernel::JitKernel;
use super::launch::{JitLaunch, LaunchError};
use super::launch_grid::{LaunchGrid, checked_product};
use super::launch_worker::LaunchWorker;
use super::non_temporal::fence_stores;
use super::workgroup_tickets::WorkgroupTickets;
use crate::host::launch_queue::LaunchQueue;
use crate::sanitizer::kernel_sanitizer::KernelSanitizer;
use std::sync::Mutex;

impl JitKernel {
    /// Runs a launch to its end. Workgroups start in order, so that one may wait for earlier ones.
    ///
    /// # Errors
    /// When the launch does not fit the kernel, when invocations of a workgroup wait at different barriers, or when
    /// the kernel does not come to its end. On Linux, the latter includes accesses to addresses without memory and
    /// exceeding the time limit.
    ///
    /// # Safety
    /// The memory of the arguments and bindings is valid for reads and writes during the call. Nothing else uses it
    /// meanwhile, and the kernel stays within it.
    #[allow(unsafe_code)]
    pub unsafe fn run_launch(&self, launch: &JitLaunch<'_>) -> Result<(), LaunchError> {
        if self.sanitizer.is_some() {
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

    /// Runs a launch without the kernels that it enqueues.
    #[allow(unsafe_code)]
    pub(crate) unsafe fn run_on(
        &self,
        launch: &JitLaunch<'_>,
        queue: &LaunchQueue,
    ) -> Result<(), LaunchError> {
        let grid = self.compute_grid(&launch.size)?;
        let mut shared = self.marshal_arguments(launch)?;
        shared.non_temporal = self.needs_non_temporal(launch, &grid, &shared.bindings);
        if !self.is_all_gangs(&grid) {
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
        let threads = threads.min(self.count_useful_threads(&grid));
        shared.counted = self.plan_privatised_memory(launch, &grid, threads, &shared.bindings);
        let tickets = WorkgroupTickets::new(total, threads, self.may_wait);
        let failure = Mutex::new(None);
        let printed = Mutex::new(Vec::new());
        let watch = CallWatchdog::start_with_limit(launch.timeout);
        let work = || {
            watch.watch_current_thread();
            let mut worker = LaunchWorker::new(self, &shared, &grid, queue);
            let mut run = |ticket| {
                if watch.is_late() {
                    Err(LaunchError::from_trap(TrapReason::Late, &self.name))
                } else {
                    // SAFETY: the caller's promise.
                    unsafe { worker.run_workgroup(ticket) }
                }
            };
            while let Some(mut some) = tickets.take_range() {
                if let Err(error) = some.try_for_each(&mut run) {
                    tickets.stop_issuing();
                    if let Ok(mut slot) = failure.lock() {
                        slot.get_or_insert(error);
                    }
                }
            }
            if shared.non_temporal {
                fence_stores();
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

    /// Whether all workgroups of a launch consist of whole gangs.
    fn is_all_gangs(&self, grid: &LaunchGrid) -> bool {
        let whole = |n: [u64; 3]| n[0].is_multiple_of(self.gang_width as u64);
        let sizes = [grid.local, grid.global, grid.offset];
        self.code.has_entry(true) && sizes.into_iter().all(whole)
    }
}
