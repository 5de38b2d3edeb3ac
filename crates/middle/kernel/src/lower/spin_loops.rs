//! Spin loops: loops that wait for other invocations, which may have failed.
//!
//! A workgroup in which an invocation fails ends early, so other workgroups may wait for its results forever. Spin
//! loops therefore poll the failure block regularly, and end as if their own invocation had failed.

use super::context::KernelLowering;
use crate::ir::StmtBlock;
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;

/// Iterations between two looks at the failure block; a power of two. It is large enough that polling costs
/// nothing.
const ROUNDS: u32 = 256;

/// The variables of a spin loop.
#[derive(Clone, Copy)]
pub(super) struct SpinLoop {
    /// Number of iterations so far.
    rounds: Id,
    /// Whether the program has failed.
    stopped: Id,
}

impl KernelLowering<'_> {
    /// Whether a loop with this body may wait for an invocation that fails.
    pub(super) fn may_await_others(&self, body: StmtBlock) -> bool {
        let at = body.index();
        self.can_fail() && self.memory_use.asks[at] && !self.memory_use.waits[at]
    }

    /// Emits the variables of a spin loop, before the loop.
    pub(super) fn begin_waiting(&mut self) -> SpinLoop {
        let (word, flag) = (self.uint_type(32), self.b.bool_type());
        let (rounds, stopped) = (self.add_local_variable(word), self.add_local_variable(flag));
        let (zero, no) = (self.const_u32(0), self.b.constant_bool(false));
        self.emit_store(rounds, zero);
        self.emit_store(stopped, no);
        SpinLoop { rounds, stopped }
    }

    /// Extends a loop's condition: the loop also ends when the program has failed.
    pub(super) fn and_not_stopped(&mut self, waiting: SpinLoop, more: Id) -> Id {
        let (word, flag) = (self.uint_type(32), self.b.bool_type());
        let [zero, one, last] = [0, 1, ROUNDS - 1].map(|n| self.const_u32(n));
        let rounds = self.emit_load(word, waiting.rounds);
        let rounds = self.emit_value(Op::IAdd, word, &[rounds, one]);
        self.emit_store(waiting.rounds, rounds);
        let rest = self.emit_value(Op::BitwiseAnd, word, &[rounds, last]);
        let is_due = self.emit_bool_value(Op::IEqual, &[rest, zero]);
        let done: Result<(), SourceDiagnostic> = self.emit_if(is_due, |l| {
            let code = l.failure_code();
            let has_failed = l.emit_bool_value(Op::INotEqual, &[code, zero]);
            l.emit_store(waiting.stopped, has_failed);
            Ok(())
        });
        debug_assert!(done.is_ok());
        let stopped = self.emit_load(flag, waiting.stopped);
        let goes_on = self.not(stopped);
        self.emit_bool_value(Op::LogicalAnd, &[more, goes_on])
    }

    /// Makes the invocation fail if the loop ended because of another's failure.
    pub(super) fn end_waiting(&mut self, waiting: SpinLoop) {
        let flag = self.b.bool_type();
        let stopped = self.emit_load(flag, waiting.stopped);
        if !self.shares_failure() {
            self.return_when(stopped);
            return;
        }
        let done: Result<(), SourceDiagnostic> = self.emit_if(stopped, |l| {
            l.mark_failed();
            Ok(())
        });
        debug_assert!(done.is_ok());
        self.pending = true;
    }
}
