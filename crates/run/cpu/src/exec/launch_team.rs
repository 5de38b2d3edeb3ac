//! Launch team: the threads that run the workgroups of a launch.
//!
//! The thread that launches runs workgroups itself. Others join at once where the launch is worth it. Where it seemed not to
//! be, they join as soon as it has taken some time: heartbeat scheduling (Acar et al., "Heartbeat scheduling: provable
//! efficiency for nested parallelism", 2018) pays for threads with work that is done already.

use super::arguments::MarshalledArguments;
use super::guard::{CallWatchdog, TrapReason};
use super::jit_kernel::JitKernel;
use super::launch::LaunchError;
use super::launch_crew::share_work;
use super::launch_grid::LaunchGrid;
use super::launch_work::TeamSize;
use super::launch_worker::LaunchWorker;
use super::non_temporal::fence_stores;
use super::privatised_memory::{PrivatisedCopy, merge_copies};
use super::workgroup_tickets::WorkgroupTickets;
use crate::host::launch_queue::LaunchQueue;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Time after which other threads join a launch that seemed too small for them.
const JOIN_AFTER: Duration = Duration::from_micros(100);

/// The state that the threads of a launch share.
pub(super) struct LaunchTeam<'a> {
    kernel: &'a JitKernel,
    arguments: &'a MarshalledArguments,
    grid: &'a LaunchGrid,
    queue: &'a LaunchQueue,
    tickets: WorkgroupTickets,
    size: TeamSize,
    watch: CallWatchdog,
    /// Time in nanoseconds that the threads took in sum.
    busy: AtomicU64,
    failure: Mutex<Option<LaunchError>>,
    /// The copies of memory that threads have updated.
    copies: Mutex<Vec<PrivatisedCopy>>,
    printed: Mutex<Vec<(u64, Vec<u8>)>>,
}

impl<'a> LaunchTeam<'a> {
    /// The team of a launch.
    pub(super) fn new(
        kernel: &'a JitKernel,
        arguments: &'a MarshalledArguments,
        grid: &'a LaunchGrid,
        queue: &'a LaunchQueue,
        limits: TeamLimits,
    ) -> Self {
        LaunchTeam {
            kernel,
            arguments,
            grid,
            queue,
            tickets: WorkgroupTickets::new(limits.workgroups, limits.size.most, kernel.may_wait),
            size: limits.size,
            watch: CallWatchdog::start_with_limit(limits.timeout),
            busy: AtomicU64::new(0),
            failure: Mutex::new(None),
            copies: Mutex::new(Vec::new()),
            printed: Mutex::new(Vec::new()),
        }
    }

    /// Runs all workgroups. Returns the time that the threads took in sum.
    ///
    /// # Safety
    /// As [`JitKernel::run_launch`].
    #[allow(unsafe_code)]
    pub(super) unsafe fn run_workgroups(self) -> Result<Duration, LaunchError> {
        let size = self.size;
        if size.most <= 1 {
            // SAFETY: the caller's promise.
            unsafe { self.run_worker(None) };
        } else {
            // SAFETY: the caller's promise.
            let work = || unsafe { self.run_worker(None) };
            share_work(&work, |invite| {
                invite(size.first.saturating_sub(1));
                let invite_rest = || invite(size.most - size.first);
                let joins_later = size.first < size.most;
                let invite_rest: &dyn Fn() = &invite_rest;
                // SAFETY: the caller's promise.
                unsafe { self.run_worker(joins_later.then_some(invite_rest)) };
            });
        }
        let copies = self.copies.into_inner().unwrap_or_default();
        // SAFETY: the caller's promise; all threads have ended.
        unsafe { merge_copies(copies, size.most) };
        let printed = self.printed.into_inner().unwrap_or_default();
        self.kernel.prints.append_output(printed);
        match self.failure.into_inner() {
            Ok(Some(error)) => Err(error),
            _ => Ok(Duration::from_nanos(self.busy.into_inner())),
        }
    }

    /// Runs workgroups on the current thread while there are some. `invite` lets other threads join.
    ///
    /// # Safety
    /// As [`JitKernel::run_launch`].
    #[allow(unsafe_code)]
    unsafe fn run_worker(&self, mut invite: Option<&dyn Fn()>) {
        let start = Instant::now();
        self.watch.watch_current_thread();
        let mut worker = LaunchWorker::new(self.kernel, self.arguments, self.grid, self.queue);
        while let Some(mut range) = self.tickets.take_range() {
            // SAFETY: the caller's promise.
            let run = |ticket| unsafe { self.run_workgroup(&mut worker, ticket) };
            if let Err(error) = range.try_for_each(run) {
                self.tickets.stop_issuing();
                if let Ok(mut slot) = self.failure.lock() {
                    slot.get_or_insert(error);
                }
            }
            if invite.is_some() && start.elapsed() >= JOIN_AFTER && !self.tickets.is_empty() {
                invite.take().into_iter().for_each(|invite| invite());
            }
        }
        if self.arguments.non_temporal {
            fence_stores();
        }
        if let Ok(mut all) = self.copies.lock() {
            all.extend(worker.take_copies());
        }
        self.kernel.counters.add_counts(worker.counters());
        if let Ok(mut all) = self.printed.lock() {
            all.extend(worker.take_printed());
        }
        self.watch.unwatch_current_thread();
        let nanoseconds = start.elapsed().as_nanos() as u64;
        self.busy.fetch_add(nanoseconds, Ordering::Relaxed);
    }

    #[allow(unsafe_code)]
    unsafe fn run_workgroup(
        &self,
        worker: &mut LaunchWorker<'_>,
        ticket: u64,
    ) -> Result<(), LaunchError> {
        if self.watch.is_late() {
            return Err(LaunchError::from_trap(TrapReason::Late, &self.kernel.name));
        }
        // SAFETY: the caller's promise.
        unsafe { worker.run_workgroup(ticket) }
    }
}

/// The bounds of a launch.
pub(super) struct TeamLimits {
    /// The number of workgroups.
    pub(super) workgroups: u64,
    /// The threads.
    pub(super) size: TeamSize,
    /// The time limit, if there is one.
    pub(super) timeout: Option<Duration>,
}
