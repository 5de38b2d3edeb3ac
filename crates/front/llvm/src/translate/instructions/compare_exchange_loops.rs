//! Compare-exchange loops: atomic updates that SPIR-V has no instructions for.

use super::atomic::AtomicSite;
use crate::ir::RmwOp;
use crate::translate::function_body::FunctionTranslator;
use crate::translate::shapes::{NumericElement, NumericShape};
use crate::{LlvmResult, make_refusal};
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::opencl_std as std_;

/// Updates that compute the new value by an instruction.
const COMPUTED: &[(RmwOp, Op)] = &[
    (RmwOp::Add, Op::IAdd),
    (RmwOp::Sub, Op::ISub),
    (RmwOp::And, Op::BitwiseAnd),
    (RmwOp::Or, Op::BitwiseOr),
    (RmwOp::Xor, Op::BitwiseXor),
];

/// Updates that keep the old value if a comparison with the operand holds.
const CHOSEN: &[(RmwOp, Op)] = &[
    (RmwOp::Max, Op::SGreaterThan),
    (RmwOp::Min, Op::SLessThan),
    (RmwOp::UMax, Op::UGreaterThan),
    (RmwOp::UMin, Op::ULessThan),
];

/// Updates by an extended instruction of OpenCL that selects one of two floats, and whether NaN
/// takes precedence.
const EXTREMA: &[(RmwOp, u32, bool)] = &[
    (RmwOp::FMax, std_::FMAX, false),
    (RmwOp::FMin, std_::FMIN, false),
    (RmwOp::FMaximumNum, std_::FMAX, false),
    (RmwOp::FMinimumNum, std_::FMIN, false),
    (RmwOp::FMaximum, std_::FMAX, true),
    (RmwOp::FMinimum, std_::FMIN, true),
];

impl FunctionTranslator<'_, '_> {
    /// An atomic update by a loop: the new value is computed and exchanged for the old one, until
    /// no other invocation intervenes. Returns the old value.
    pub(super) fn exchange_loop(
        &mut self,
        ty: Id,
        site: AtomicSite,
        new: impl FnOnce(&mut Self, Id) -> LlvmResult<Id>,
    ) -> LlvmResult<Id> {
        let AtomicSite {
            pointer,
            scope,
            equal,
            unequal,
        } = site;
        let relaxed = self.t.make_u32(0);
        let first = self.emit_op(Op::AtomicLoad, ty, [pointer, scope, relaxed]);
        let before = self.current_label();
        let [again, after] = [(); 2].map(|()| self.t.b.fresh_id());
        self.t.b.append_effect(Op::Branch, &[again.word()]);
        self.begin_block(again);
        let (old, phi) = self.t.b.append_phi(ty);
        let new = new(self, old)?;
        let operands = [pointer, scope, equal, unequal, new, old];
        let found = self.emit_op(Op::AtomicCompareExchange, ty, operands);
        let bool = self.t.b.bool_type();
        let same = self.emit_op(Op::IEqual, bool, [found, old]);
        let words = [same, after, again].map(Id::word);
        self.t.b.append_effect(Op::BranchConditional, &words);
        let words = [first, before, found, again].map(Id::word);
        self.t.b.set_phi(phi, &words);
        self.begin_block(after);
        Ok(old)
    }

    /// The new value of an update, computed from the old one.
    pub(super) fn compute_update(
        &mut self,
        op: RmwOp,
        shape: NumericShape,
        old: Id,
        value: Id,
    ) -> LlvmResult<Id> {
        let ty = self.t.shape_type(shape);
        let bool = self.t.b.bool_type();
        if shape.is_float() {
            return self.compute_float_update(op, shape, old, value);
        }
        let (zero, one) = (self.t.make_zero(shape), self.t.make_splat(shape, 1));
        if let Some((_, op)) = COMPUTED.iter().find(|row| row.0 == op) {
            return Ok(self.emit_op(*op, ty, [old, value]));
        }
        if let Some((_, op)) = CHOSEN.iter().find(|row| row.0 == op) {
            let keeps = self.emit_op(*op, bool, [old, value]);
            return Ok(self.emit_select(ty, keeps, old, value));
        }
        Ok(match op {
            RmwOp::Nand => {
                let both = self.emit_op(Op::BitwiseAnd, ty, [old, value]);
                self.emit_op(Op::Not, ty, [both])
            }
            RmwOp::UIncWrap => {
                let next = self.emit_op(Op::IAdd, ty, [old, one]);
                let wraps = self.emit_op(Op::UGreaterThanEqual, bool, [old, value]);
                self.emit_select(ty, wraps, zero, next)
            }
            RmwOp::UDecWrap => {
                let next = self.emit_op(Op::ISub, ty, [old, one]);
                let none = self.emit_op(Op::IEqual, bool, [old, zero]);
                let above = self.emit_op(Op::UGreaterThan, bool, [old, value]);
                let wraps = self.emit_op(Op::LogicalOr, bool, [none, above]);
                self.emit_select(ty, wraps, value, next)
            }
            RmwOp::USubCond | RmwOp::USubSat => {
                let difference = self.emit_op(Op::ISub, ty, [old, value]);
                let fits = self.emit_op(Op::UGreaterThanEqual, bool, [old, value]);
                let other = if op == RmwOp::USubCond { old } else { zero };
                self.emit_select(ty, fits, difference, other)
            }
            _ => {
                return Err(make_refusal(format!(
                    "the atomic operation {} has no counterpart in SPIR-V",
                    op.name()
                )));
            }
        })
    }

    fn compute_float_update(
        &mut self,
        op: RmwOp,
        shape: NumericShape,
        old: Id,
        value: Id,
    ) -> LlvmResult<Id> {
        let (left, right) = (
            self.promote_float(shape, old),
            self.promote_float(shape, value),
        );
        let ty = self.arithmetic_type(shape);
        let wide = match shape.elem {
            NumericElement::Brain => shape.as_float(),
            _ => shape,
        };
        let found = EXTREMA.iter().find(|row| row.0 == op);
        let new = match (op, found) {
            (RmwOp::FAdd, _) => self.emit_op(Op::FAdd, ty, [left, right]),
            (RmwOp::FSub, _) => self.emit_op(Op::FSub, ty, [left, right]),
            (_, Some((_, number, true))) => self.emit_extremum_or_nan(*number, wide, [left, right]),
            (_, Some((_, number, false))) => self.emit_ext_inst(*number, ty, &[left, right]),
            _ => {
                return Err(make_refusal(format!(
                    "the atomic operation {} has no counterpart in SPIR-V",
                    op.name()
                )));
            }
        };
        Ok(self.demote_float(shape, new))
    }
}
