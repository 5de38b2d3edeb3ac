//! Assertions in kernels, and the report of failures.
//!
//! The program has one failure block of 32-bit words. Word 0 is 0, or 1 plus the index of the message of the first
//! assertion that failed. From word 2 on it holds the values of that message, two words each: integers are
//! sign-extended, other values are stored as their bits.

use super::context::KernelLowering;
use crate::ir::{KernelSyncScope, MessageId, MessageSegment};
use spirula_diagnostics::SourceDiagnostic;
use spirula_program::ScalarType;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::StorageClass;

impl KernelLowering<'_> {
    /// The variable that holds whether this invocation has failed.
    pub(super) fn failed_variable(&mut self) -> Id {
        if let Some(variable) = self.failed {
            return variable;
        }
        let flag = self.b.bool_type();
        let variable = self.add_local_variable(flag);
        self.failed = Some(variable);
        variable
    }

    /// Whether the kernel or a function that it calls has assertions.
    pub(super) fn can_fail(&self) -> bool {
        self.memory_use.fails[self.data.body.index()]
    }

    /// Whether the kernel has barriers. An invocation that fails has to go on to them.
    pub(super) fn has_barriers(&self) -> bool {
        self.memory_use.waits[self.data.body.index()]
    }

    /// Whether the workgroup has to know of failures of its invocations.
    pub(super) fn shares_failure(&self) -> bool {
        self.can_fail() && self.has_barriers()
    }

    /// The word in shared memory that holds whether an invocation of the workgroup has failed.
    fn workgroup_flag(&mut self) -> Id {
        if self.layout.is_some() {
            return self.laid_out_flag();
        }
        if let Some(variable) = self.workgroup_flag {
            return variable;
        }
        let ty = self.uint_type(32);
        let variable = self.add_global_variable(StorageClass::Workgroup, ty);
        self.workgroup_flag = Some(variable);
        variable
    }

    fn failure_word(&mut self, word: Id) -> Id {
        self.device_pointer(self.failure_binding, 4, word)
    }

    /// Atomically loads word 0 of the failure block.
    pub(super) fn failure_code(&mut self) -> Id {
        let u32_ty = self.uint_type(32);
        let [device, relaxed] = [1, 0].map(|n| self.const_u32(n));
        let zero = self.const_u32(0);
        let word = self.failure_word(zero);
        self.emit_value(Op::AtomicLoad, u32_ty, &[word, device, relaxed])
    }

    /// Records that this invocation has failed, for itself and for its workgroup.
    pub(super) fn mark_failed(&mut self) {
        let failed = self.failed_variable();
        let yes = self.b.constant_bool(true);
        self.emit_store(failed, yes);
        let (flag, one) = (self.workgroup_flag(), self.const_u32(1));
        self.emit_store(flag, one);
    }

    /// Emits the prologue: the kernel returns if an earlier launch failed, unless it is tolerant of failures. All
    /// invocations of a workgroup have to decide alike.
    pub(super) fn begin_failures(&mut self) {
        let u32_ty = self.uint_type(32);
        let (zero, first) = (self.const_u32(0), self.local_id[0]);
        if !self.shares_failure() {
            if !self.data.failure_tolerant {
                let word = self.failure_word(zero);
                let code = self.emit_load(u32_ty, word);
                let has_failed = self.emit_bool_value(Op::INotEqual, &[code, zero]);
                self.return_when(has_failed);
            }
            return;
        }
        let no = self.b.constant_bool(false);
        let failed = self.failed_variable();
        self.emit_store(failed, no);
        let flag = self.workgroup_flag();
        let mut is_first = self.emit_bool_value(Op::IEqual, &[first, zero]);
        for id in [self.local_id[1], self.local_id[2]] {
            let also = self.emit_bool_value(Op::IEqual, &[id, zero]);
            is_first = self.emit_bool_value(Op::LogicalAnd, &[is_first, also]);
        }
        let tolerant = self.data.failure_tolerant;
        let done: Result<(), SourceDiagnostic> = self.emit_if(is_first, |l| {
            let code = if tolerant {
                zero
            } else {
                let word = l.failure_word(zero);
                l.emit_load(u32_ty, word)
            };
            l.emit_store(flag, code);
            Ok(())
        });
        debug_assert!(done.is_ok());
        self.emit_barrier(KernelSyncScope::Shared);
        self.leave_if_failed();
    }

    /// Returns from the kernel if an invocation of the workgroup has failed. A second barrier ensures that all
    /// invocations have read the flag before one of them can set it again.
    pub(super) fn leave_if_failed(&mut self) {
        if !self.shares_failure() {
            return;
        }
        let u32_ty = self.uint_type(32);
        let zero = self.const_u32(0);
        let flag = self.workgroup_flag();
        let flag = self.emit_load(u32_ty, flag);
        self.emit_barrier(KernelSyncScope::Shared);
        let has_failed = self.emit_bool_value(Op::INotEqual, &[flag, zero]);
        self.return_when(has_failed);
    }

    /// Fails where the condition does not hold. The invocation returns, or goes on to the barriers that others wait
    /// at.
    pub(super) fn lower_assertion(
        &mut self,
        condition: Id,
        message: MessageId,
    ) -> Result<(), SourceDiagnostic> {
        if !self.shares_failure() {
            let [no, merge] = [(); 2].map(|()| self.b.fresh_id());
            self.b.append_effect(Op::SelectionMerge, &[merge.word(), 0]);
            self.emit_effect(Op::BranchConditional, &[condition, merge, no]);
            self.begin_block(no);
            self.report_failure(message)?;
            self.b.append_effect(Op::Return, &[]);
            self.begin_block(merge);
            return Ok(());
        }
        let wrong = self.not(condition);
        self.pending = true;
        self.emit_if(wrong, |l| {
            l.mark_failed();
            l.report_failure(message)
        })
    }

    /// Writes a message into the failure block if it is the first.
    fn report_failure(&mut self, message: MessageId) -> Result<(), SourceDiagnostic> {
        let program = self.p;
        let parts = &program.message(message).parts;
        let u32_ty = self.uint_type(32);
        let [zero, one] = [0, 1].map(|n| self.const_u32(n));
        let word = self.failure_word(zero);
        let code = self.const_u32(message.index() as u32 + 1);
        let before = self.emit_value(
            Op::AtomicCompareExchange,
            u32_ty,
            &[word, one, zero, zero, code, zero],
        );
        let is_first = self.emit_bool_value(Op::IEqual, &[before, zero]);
        self.emit_if(is_first, |l| {
            let values = parts.iter().filter_map(|part| match part {
                MessageSegment::Value(expr) => Some(*expr),
                MessageSegment::Text(_) => None,
            });
            for (index, expr) in values.enumerate() {
                let value = l.lower_expr(expr)?;
                let ty = program.type_of(expr).unwrap_or(ScalarType::I64);
                let (low, high) = l.encode_as_words(ty, value);
                for (offset, half) in [low, high].into_iter().enumerate() {
                    let at = l.const_u32((2 + index * 2 + offset) as u32);
                    let pointer = l.failure_word(at);
                    l.emit_store(pointer, half);
                }
            }
            Ok(())
        })
    }

    /// Encodes a value as two words.
    fn encode_as_words(&mut self, ty: ScalarType, value: Id) -> (Id, Id) {
        let (u32_ty, zero) = (self.uint_type(32), self.const_u32(0));
        match ty {
            ScalarType::Bool => {
                let one = self.const_u32(1);
                (self.select(u32_ty, value, one, zero), zero)
            }
            ScalarType::F16 | ScalarType::F32 => {
                let bits = self.uint_type(ty.width());
                let bits = self.emit_bitcast(bits, value);
                let low = match ty {
                    ScalarType::F16 => self.emit_value(Op::UConvert, u32_ty, &[bits]),
                    _ => bits,
                };
                (low, zero)
            }
            ScalarType::I64 | ScalarType::F64 => {
                let bits = self.uint_type(64);
                let bits = self.emit_bitcast(bits, value);
                self.split_word_halves(bits)
            }
            _ => {
                let word = match ty {
                    ScalarType::I32 => value,
                    _ => self.emit_value(Op::SConvert, u32_ty, &[value]),
                };
                let last = self.const_u32(31);
                let sign = self.emit_value(Op::ShiftRightArithmetic, u32_ty, &[word, last]);
                (word, sign)
            }
        }
    }
}
