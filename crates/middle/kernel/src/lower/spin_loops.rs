//! Loops that wait for other invocations, which may have failed.
//!
//! A workgroup of which an invocation fails ends, and never tells what others ask for. These look at the block for
//! failures now and then, and end as if they had failed themselves.

use super::KernelLowering;
use crate::ir::StmtBlock;
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;

/// After so many rounds, a power of two, a loop looks at the block for failures: seldom enough that it costs nothing.
const ROUNDS: u32 = 256;

/// What a loop that waits knows.
#[derive(Clone, Copy)]
pub(super) struct SpinLoop {
    /// The variable of how many rounds there were.
    rounds: Id,
    /// The variable that says whether the program has failed.
    stopped: Id,
}

impl KernelLowering<'_> {
    /// Whether a loop with this body may wait for an invocation that fails.
    pub(super) fn awaits_others(&self, body: StmtBlock) -> bool {
        let at = body.index();
        self.can_fail() && self.memory_use.asks[at] && !self.memory_use.waits[at]
    }

    /// What stands before a loop that waits.
    pub(super) fn begin_waiting(&mut self) -> SpinLoop {
        let (word, flag) = (self.uint_type(32), self.b.bool_type());
        let (rounds, stopped) = (self.add_local_variable(word), self.add_local_variable(flag));
        let (zero, no) = (self.const_u32(0), self.b.constant_bool(false));
        self.emit_store(rounds, zero);
        self.emit_store(stopped, no);
        SpinLoop { rounds, stopped }
    }

    /// Whether a loop goes on that would for itself.
    pub(super) fn unless_stopped(&mut self, waiting: SpinLoop, more: Id) -> Id {
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

    /// Has the invocation fail where the loop ended because another did.
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
