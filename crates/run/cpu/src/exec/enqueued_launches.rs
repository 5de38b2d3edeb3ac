//! Enqueued launches: runs the kernels that a launch has enqueued, after it has ended.

use super::guard::TrapReason;
use super::jit_kernel::JitKernel;
use super::launch::{JitArgument, JitLaunch, LaunchError};
use crate::host::launch_queue::{LaunchQueue, NextLaunch};
use crate::memory::memory_span::MemorySpan;
use crate::sanitizer::kernel_sanitizer::KernelSanitizer;
use std::time::Instant;

impl JitKernel {
    /// Runs the launches that a launch of this kernel has enqueued, and those that they enqueue.
    ///
    /// # Errors
    /// When one of them fails, waits for an event that nothing completes, or all together exceed the time limit.
    ///
    /// # Safety
    /// As [`JitKernel::run_launch`], for the memory of the launch.
    #[allow(unsafe_code)]
    pub(crate) unsafe fn run_enqueued(
        &self,
        launch: &JitLaunch<'_>,
        queue: &LaunchQueue,
        mut checker: Option<&mut KernelSanitizer>,
    ) -> Result<(), LaunchError> {
        let begun = Instant::now();
        loop {
            if launch.timeout.is_some_and(|most| begun.elapsed() > most) {
                return Err(LaunchError::from_trap(TrapReason::Late, &self.name));
            }
            let mut next = match queue.take_next_launch() {
                NextLaunch::Launch(next) => next,
                NextLaunch::Nothing => return Ok(()),
                NextLaunch::Stuck => {
                    let name = &self.name;
                    let message =
                        format!("what {name} has enqueued waits for events that nothing sets");
                    return Err(LaunchError::Launch(message));
                }
            };
            let block = self.blocks.iter().find(|b| b.0 == next.function);
            if let Some((_, kernel)) = block {
                let param = MemorySpan {
                    address: next.param.as_mut_ptr().cast(),
                    length: next.bytes,
                };
                let mut arguments = vec![JitArgument::Memory(param)];
                arguments.extend(next.locals.iter().map(|bytes| JitArgument::Local(*bytes)));
                let launch = JitLaunch {
                    size: next.size,
                    arguments: &arguments,
                    bindings: &[],
                    push: &[],
                    ..*launch
                };
                // SAFETY: the caller's promise; the arguments live until the launch has ended.
                match &mut checker {
                    Some(checker) => unsafe { kernel.run_checked_on(&launch, checker, queue)? },
                    None => unsafe { kernel.run_on(&launch, queue)? },
                }
            }
            queue.end_launch(next.event);
        }
    }
}
