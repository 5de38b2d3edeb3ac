//! Launching kernels.

use super::jit_kernel::JitKernel;
use super::launch::{JitLaunch, LaunchError};
use super::launch_crew::count_processors;
use super::launch_grid::{LaunchGrid, checked_product};
use super::launch_team::{LaunchTeam, TeamLimits};
use crate::host::launch_queue::LaunchQueue;
use crate::sanitizer::kernel_sanitizer::KernelSanitizer;

impl JitKernel {
    /// Runs a launch to its end. Workgroups start in order, so that one may wait for earlier ones.
    ///
    /// # Errors
    /// The launch does not fit the kernel, invocations of a workgroup wait at different barriers, or the kernel does
    /// not come to its end. On Linux, the latter includes accesses to addresses without memory and exceeding the time
    /// limit.
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
            0 => count_processors(),
            n => n,
        };
        let threads = threads.min(usize::try_from(total).unwrap_or(usize::MAX));
        let size = self.choose_team_size(&grid, threads);
        shared.counted = self.plan_privatised_memory(launch, &grid, size.most, &shared.bindings);
        let limits = TeamLimits {
            workgroups: total,
            size,
            timeout: launch.timeout,
        };
        let team = LaunchTeam::new(self, &shared, &grid, queue, limits);
        // SAFETY: the caller's promise.
        let busy = unsafe { team.run_workgroups()? };
        self.measured_work.record_launch(&grid, busy);
        Ok(())
    }

    /// Whether all workgroups of a launch consist of whole gangs.
    fn is_all_gangs(&self, grid: &LaunchGrid) -> bool {
        let whole = |n: [u64; 3]| n[0].is_multiple_of(self.gang_width as u64);
        let sizes = [grid.local, grid.global, grid.offset];
        self.code.has_entry(true) && sizes.into_iter().all(whole)
    }
}
