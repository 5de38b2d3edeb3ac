//! Launches that are checked.

use super::arguments::MarshalledArguments;
use super::guard::{CallWatchdog, TrapReason};
use super::jit_kernel::JitKernel;
use super::launch::{JitArgument, JitLaunch, LaunchError};
use super::launch_grid::checked_product;
use super::launch_worker::LaunchWorker;
use crate::host::launch_queue::LaunchQueue;
use crate::layout::parameters::SlotKind;
use crate::memory::memory_span::MemorySpan;
use crate::sanitizer::argument_shadow::ArgumentShadow;
use crate::sanitizer::kernel_sanitizer::KernelSanitizer;

impl JitKernel {
    /// Runs a launch as [`JitKernel::run_launch`] does, on one thread, and reports its faults. Accesses outside of
    /// the memory of the launch are not made. Therefore the kernel need not promise anything.
    ///
    /// # Errors
    /// When the launch does not fit the kernel, the kernel was not compiled to be checked, or the launch has to end.
    /// Faults after which it can go on are only reported.
    ///
    /// # Safety
    /// The memory of the arguments and bindings, and the memory that was added to the sanitizer, is valid for reads
    /// and writes during the call. Nothing else uses it meanwhile.
    #[allow(unsafe_code)]
    pub unsafe fn run_checked(
        &self,
        launch: &JitLaunch<'_>,
        checker: &mut KernelSanitizer,
    ) -> Result<(), LaunchError> {
        let queue = LaunchQueue::default();
        // Enqueued kernels may use the memory of the launch, too.
        let lent = checker.add_launch_memory(launch);
        // SAFETY: the caller's promise.
        let result = unsafe {
            self.run_checked_on(launch, checker, &queue)
                .and_then(|()| self.run_enqueued(launch, &queue, Some(checker)))
        };
        for base in lent {
            checker.regions.remove_region(base);
        }
        result
    }

    /// Runs a launch without the kernels that it enqueues.
    #[allow(unsafe_code)]
    pub(crate) unsafe fn run_checked_on(
        &self,
        launch: &JitLaunch<'_>,
        checker: &mut KernelSanitizer,
        queue: &LaunchQueue,
    ) -> Result<(), LaunchError> {
        if self.sanitizer.is_none() {
            let message = format!("{} was not compiled to be checked", self.name);
            return Err(LaunchError::Launch(message));
        }
        let grid = self.compute_grid(&launch.size)?;
        let shared = self.marshal_arguments(launch)?;
        let total = checked_product(grid.groups)
            .ok_or_else(|| LaunchError::Launch("the launch has too many workgroups".to_owned()))?;
        let lent = checker.add_launch_memory(launch);
        let (phase, _) = checker.regions.next_phase();
        let watch = CallWatchdog::start_with_limit(launch.timeout);
        watch.watch_current_thread();
        let mut worker = LaunchWorker::new(self, &shared, &grid, queue);
        let rows = self.build_argument_shadows(launch, &shared, worker.workgroup_memory(), checker);
        worker.enable_sanitizer(checker, rows, phase);
        let mut result = Ok(());
        for ticket in 0..total {
            result = if watch.is_late() {
                Err(LaunchError::from_trap(TrapReason::Late, &self.name))
            } else {
                // SAFETY: the caller's promise.
                unsafe { worker.run_workgroup(ticket) }
            };
            if result.is_err() {
                break;
            }
        }
        watch.unwatch_current_thread();
        self.counters.add_counts(worker.counters());
        self.prints.append_output(worker.take_printed());
        drop(worker);
        for base in lent {
            checker.regions.remove_region(base);
        }
        result
    }

    /// The rows of arguments and bindings.
    fn build_argument_shadows(
        &self,
        launch: &JitLaunch<'_>,
        shared: &MarshalledArguments,
        workgroup: u64,
        checker: &mut KernelSanitizer,
    ) -> Vec<ArgumentShadow> {
        let granules = self.sanitizer.as_ref().map_or(&[][..], |c| &c.granules);
        let mut rows = Vec::new();
        for (n, slot) in self.slots.iter().enumerate() {
            let at = slot.offset as usize / 8;
            let granule = granules.get(n).copied().unwrap_or(2);
            rows.push(match (slot.kind, &launch.arguments[n]) {
                (SlotKind::Local, JitArgument::Local(bytes)) => {
                    let local = shared.locals.iter().find(|l| l.0 == at);
                    let offset = local.map_or(0, |l| l.1);
                    // Cells are counted from the beginning of the workgroup's memory.
                    ArgumentShadow::new(workgroup + offset, *bytes, [offset, 0])
                }
                (SlotKind::Buffer, JitArgument::Memory(memory)) => {
                    checker.argument_shadow(*memory, granule)
                }
                (SlotKind::Buffer, _) => checker.find_shadow_row(shared.args[at], granule),
                _ => ArgumentShadow::default(),
            });
        }
        for (n, [address, length]) in shared.bindings.iter().enumerate() {
            let granule = granules.get(self.slots.len() + n).copied().unwrap_or(2);
            rows.push(match self.bindings[n].count {
                None => {
                    let memory = MemorySpan {
                        address: *address as *mut u8,
                        length: *length,
                    };
                    checker.argument_shadow(memory, granule)
                }
                Some(_) => ArgumentShadow::default(),
            });
        }
        rows
    }
}

impl KernelSanitizer {
    /// Adds the memory of a launch that is not known yet. Returns the addresses that were added.
    fn add_launch_memory(&mut self, launch: &JitLaunch<'_>) -> Vec<u64> {
        let arguments = launch.arguments.iter().filter_map(|a| match a {
            JitArgument::Memory(memory) => Some(*memory),
            JitArgument::Image(image) => Some(image.memory),
            _ => None,
        });
        let bound = launch.bindings.iter().filter_map(|b| b.resource.memory());
        let mut lent = Vec::new();
        for memory in arguments.chain(bound).filter(|memory| memory.length > 0) {
            let base = memory.address as u64;
            let known = self.regions.find_region(base);
            if known.is_none_or(|r| base - r.base + memory.length > r.length) {
                self.regions.add_region(base, memory.length);
                lent.push(base);
            }
        }
        lent
    }

    fn argument_shadow(&mut self, memory: MemorySpan, granule: u32) -> ArgumentShadow {
        let base = memory.address as u64;
        let Some(region) = self.regions.find_region(base) else {
            return ArgumentShadow::new(base, 0, [0; 2]);
        };
        let cells = region.cell_addresses(base, granule);
        ArgumentShadow::from_pointer(base, [base, memory.length], cells, granule)
    }

    /// The shadow of a pointer that is passed as a number. It may point into the middle of memory.
    fn find_shadow_row(&mut self, address: u64, granule: u32) -> ArgumentShadow {
        let Some(region) = self.regions.find_region(address) else {
            return ArgumentShadow::new(address, 0, [0; 2]);
        };
        let memory = [region.base, region.length];
        let cells = region.cell_addresses(address, granule);
        ArgumentShadow::from_pointer(address, memory, cells, granule)
    }
}
