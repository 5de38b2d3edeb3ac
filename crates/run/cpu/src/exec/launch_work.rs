//! Launch work: whether a launch is worth waking up other threads.
//!
//! A thread that wakes up costs some microseconds, and waits for more work afterwards. Kernels without loops do equal work in
//! each invocation, so that small launches of theirs are known, and run on one thread. Others get all threads.

use super::jit_kernel::JitKernel;
use super::launch_grid::{LaunchGrid, checked_product};
use crate::analysis::analysed_module::AnalysedModule;
use rustc_hash::FxHashSet;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;

/// Most instructions of a launch that runs on one thread. Gangs run several invocations' at once.
const SMALL_LAUNCH: u64 = 1 << 17;

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

impl JitKernel {
    /// The most threads that a launch is worth.
    pub(super) fn count_useful_threads(&self, grid: &LaunchGrid) -> usize {
        let invocations = checked_product(grid.global);
        let work = self.invocation_work.zip(invocations);
        let work = work.and_then(|(each, invocations)| each.checked_mul(invocations));
        match work {
            Some(work) if !self.may_wait && work <= SMALL_LAUNCH => 1,
            _ => usize::MAX,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The most threads for a launch of a kernel with this number of invocations.
    fn count_threads(body: &str, invocations: u64) -> usize {
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
        let grid = LaunchGrid {
            groups: [invocations / 64, 1, 1],
            local: [64, 1, 1],
            global: [invocations, 1, 1],
            offset: [0; 3],
            dimensions: 1,
        };
        JitKernel::from_assembly(&text).count_useful_threads(&grid)
    }

    #[test]
    fn small_launches_without_loops_wake_no_thread() {
        let straight = "%sum = OpIAdd %uint %n %one";
        assert_eq!(count_threads(straight, 64), 1);
        assert_eq!(count_threads(straight, 1 << 24), usize::MAX);
        let branch = "%is = OpIEqual %bool %n %one
            OpBranchConditional %is %then %end
            %then = OpLabel
            OpBranch %end
            %end = OpLabel";
        assert_eq!(count_threads(branch, 64), 1);
    }

    #[test]
    fn launches_with_loops_may_have_all_threads() {
        let repeat = "OpBranch %head
            %head = OpLabel
            %at = OpPhi %uint %n %entry %next %body
            %goes_on = OpIEqual %bool %at %one
            OpBranchConditional %goes_on %body %end
            %body = OpLabel
            %next = OpISub %uint %at %one
            OpBranch %head
            %end = OpLabel";
        assert_eq!(count_threads(repeat, 64), usize::MAX);
    }
}
