//! Launch work: whether a launch is worth waking up other threads.
//!
//! A thread that wakes up costs some microseconds. Kernels without loops do equal work in each invocation, so that small
//! launches of theirs are known, and run on one thread. For others the time of earlier launches tells how many threads
//! are worth it. The first launch of a kernel with loops gets all threads.

use super::jit_kernel::JitKernel;
use super::launch_grid::{LaunchGrid, checked_product};
use crate::analysis::analysed_module::AnalysedModule;
use rustc_hash::FxHashSet;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Most instructions of a launch that runs on one thread. Gangs run several invocations' at once.
const SMALL_LAUNCH: u64 = 1 << 17;

/// Least time of a launch for each thread that it begins on. With less, programs of small launches wake threads that have
/// nothing to do soon after.
const WORTH_THREAD: Duration = Duration::from_micros(50);

/// Invocations whose time is measured: enough that it is not rounded to nothing.
const MEASURED_INVOCATIONS: u64 = 1 << 10;

/// Number of simple instructions that take as long as a function of an extended set.
const FUNCTION_WORK: u64 = 16;

/// Number of instructions of an invocation, if the kernel has no loop.
pub(super) fn count_invocation_work(program: &AnalysedModule<'_>) -> Option<u64> {
    let mut work = 0;
    for function in &program.functions.bottom_up {
        let mut labels: FxHashSet<Id> = FxHashSet::default();
        for inst in program.module.function_insts(*function) {
            // A block comes after those that dominate it, so a branch to an earlier one closes a loop.
            let is_branch = matches!(inst.op(), Op::Branch | Op::BranchConditional | Op::Switch);
            if is_branch && inst.id_operands(0).any(|id| labels.contains(&id)) {
                return None;
            }
            if inst.op() == Op::Label {
                labels.extend(inst.result());
            }
            work += match inst.op() {
                Op::ExtInst => FUNCTION_WORK,
                _ => 1,
            };
        }
    }
    Some(work)
}

/// The threads of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TeamSize {
    /// Those that run from the beginning.
    pub(super) first: usize,
    /// Those that run if the launch takes longer than expected.
    pub(super) most: usize,
}

/// The time of an invocation of a kernel, as its launches measured it.
#[derive(Debug, Default)]
pub(crate) struct MeasuredWork {
    /// Nanoseconds of [`MEASURED_INVOCATIONS`] invocations; 0 where nothing was measured.
    nanoseconds: AtomicU64,
}

impl MeasuredWork {
    /// Takes the time of a launch into account, in which all threads were busy in sum.
    pub(super) fn record_launch(&self, grid: &LaunchGrid, busy: Duration) {
        let invocations = checked_product(grid.global).unwrap_or(u64::MAX).max(1);
        let busy = busy.as_nanos() * u128::from(MEASURED_INVOCATIONS);
        let measured = u64::try_from(busy / u128::from(invocations)).unwrap_or(u64::MAX);
        let before = self.nanoseconds.load(Ordering::Relaxed);
        // A launch that was interrupted counts half.
        let average = match before {
            0 => measured,
            before => before / 2 + measured / 2,
        };
        self.nanoseconds.store(average.max(1), Ordering::Relaxed);
    }

    /// The time that a launch is expected to take on one thread. `None` where nothing was measured.
    fn predict_launch(&self, invocations: u64) -> Option<Duration> {
        let measured = self.nanoseconds.load(Ordering::Relaxed);
        let all = u128::from(measured) * u128::from(invocations) / u128::from(MEASURED_INVOCATIONS);
        let nanoseconds = u64::try_from(all).unwrap_or(u64::MAX);
        (measured > 0).then(|| Duration::from_nanos(nanoseconds))
    }
}

impl JitKernel {
    /// The threads that a launch is worth, of a number of threads.
    pub(super) fn choose_team_size(&self, grid: &LaunchGrid, threads: usize) -> TeamSize {
        let all = TeamSize {
            first: threads,
            most: threads,
        };
        let Some(invocations) = checked_product(grid.global).filter(|_| !self.may_wait) else {
            return all;
        };
        let work = self.invocation_work;
        let work = work.and_then(|each| each.checked_mul(invocations));
        if work.is_some_and(|work| work <= SMALL_LAUNCH) {
            return TeamSize { first: 1, most: 1 };
        }
        // Threads that join later would need private copies that the first has not made.
        let can_join = self.privatised.parameters.is_empty();
        let Some(time) = self.measured_work.predict_launch(invocations) else {
            return all;
        };
        let worth = time.as_nanos() / WORTH_THREAD.as_nanos();
        let worth = usize::try_from(worth).unwrap_or(threads);
        let first = worth.min(threads).max(1);
        let most = if can_join { threads.max(1) } else { first };
        TeamSize { first, most }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A kernel with these instructions.
    fn make_kernel(body: &str) -> JitKernel {
        let text = format!(
            "OpCapability Addresses
            OpCapability Kernel
            OpMemoryModel Physical64 OpenCL
            OpEntryPoint Kernel %main \"main\"
            %void = OpTypeVoid
            %bool = OpTypeBool
            %uint = OpTypeInt 32 0
            %type = OpTypeFunction %void %uint
            %one = OpConstant %uint 1
            %main = OpFunction %void None %type
            %n = OpFunctionParameter %uint
            %entry = OpLabel
            {body}
            OpReturn
            OpFunctionEnd"
        );
        JitKernel::from_assembly(&text)
    }

    fn make_grid(invocations: u64) -> LaunchGrid {
        LaunchGrid {
            groups: [invocations / 64, 1, 1],
            local: [64, 1, 1],
            global: [invocations, 1, 1],
            offset: [0; 3],
            dimensions: 1,
        }
    }

    /// The threads of eight for a launch of a kernel with this number of invocations, at the beginning.
    fn count_threads(body: &str, invocations: u64) -> usize {
        let size = make_kernel(body).choose_team_size(&make_grid(invocations), 8);
        size.first
    }

    const REPEAT: &str = "OpBranch %head
        %head = OpLabel
        %at = OpPhi %uint %n %entry %next %body
        %goes_on = OpIEqual %bool %at %one
        OpBranchConditional %goes_on %body %end
        %body = OpLabel
        %next = OpISub %uint %at %one
        OpBranch %head
        %end = OpLabel";

    #[test]
    fn small_launches_without_loops_wake_no_thread() {
        let straight = "%sum = OpIAdd %uint %n %one";
        assert_eq!(count_threads(straight, 64), 1);
        assert_eq!(count_threads(straight, 1 << 24), 8);
        let branch = "%is = OpIEqual %bool %n %one
            OpBranchConditional %is %then %end
            %then = OpLabel
            OpBranch %end
            %end = OpLabel";
        assert_eq!(count_threads(branch, 64), 1);
    }

    #[test]
    fn launches_with_loops_may_have_all_threads() {
        assert_eq!(count_threads(REPEAT, 64), 8);
    }

    #[test]
    fn launches_that_were_short_begin_on_one_thread() {
        let kernel = make_kernel(REPEAT);
        let sizes = |invocations| kernel.choose_team_size(&make_grid(invocations), 8);
        let all = TeamSize { first: 8, most: 8 };
        assert_eq!(sizes(64), all);
        let record = |microseconds| {
            let busy = Duration::from_micros(microseconds);
            kernel
                .measured_work
                .record_launch(&make_grid(1 << 10), busy);
        };
        record(10);
        assert_eq!(sizes(1 << 10), TeamSize { first: 1, most: 8 });
        // Each thread has a share of some time.
        assert_eq!(sizes(16 << 10), TeamSize { first: 3, most: 8 });
        assert_eq!(sizes(1 << 16), all);
        // A launch without invocations has no other threads.
        let none = kernel.choose_team_size(&make_grid(0), 0);
        assert_eq!(none, TeamSize { first: 1, most: 1 });
        // One slow launch among quick ones is taken for an interruption.
        record(38);
        assert_eq!(sizes(1 << 10), TeamSize { first: 1, most: 8 });
        record(150);
        record(150);
        assert_eq!(sizes(1 << 10), TeamSize { first: 2, most: 8 });
    }
}
