//! Saturating arithmetic and conversions.

use super::super::function_body::FunctionTranslator;
use crate::ir::Predicate;
use crate::translate::call_rules::ExternalCall;
use crate::translate::shapes::{NumericElement, NumericShape, make_width_mask};
use crate::{LlvmResult, make_refusal};
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::Decoration;
use spirula_spirv::grammar::opencl_std as std_;

/// `llvm.fptosi.sat`
pub(super) fn to_signed(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    body.lower_saturating_conversion(Op::ConvertFToS, call)
        .map(Some)
}

/// `llvm.fptoui.sat`
pub(super) fn to_unsigned(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    body.lower_saturating_conversion(Op::ConvertFToU, call)
        .map(Some)
}

/// `llvm.sadd.sat`
pub(super) fn add_signed(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    body.emit_saturating_op(std_::S_ADD_SAT, true, call)
        .map(Some)
}

/// `llvm.uadd.sat`
pub(super) fn add_unsigned(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    body.emit_saturating_op(std_::U_ADD_SAT, false, call)
        .map(Some)
}

/// `llvm.ssub.sat`
pub(super) fn subtract_signed(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    body.emit_saturating_op(std_::S_SUB_SAT, true, call)
        .map(Some)
}

/// `llvm.usub.sat`
pub(super) fn subtract_unsigned(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    body.emit_saturating_op(std_::U_SUB_SAT, false, call)
        .map(Some)
}

/// `llvm.ushl.sat`: the largest number if bits are lost.
pub(super) fn shift_unsigned(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    body.lower_saturating_shift(false, call).map(Some)
}

/// `llvm.sshl.sat`: the bound with the operand's sign if bits or the sign are lost.
pub(super) fn shift_signed(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    body.lower_saturating_shift(true, call).map(Some)
}

/// The bounds of a type. The lower one is sign-extended to the width of the representation.
pub(super) fn integer_bounds(shape: NumericShape, signed: bool) -> [u64; 2] {
    let all = make_width_mask(shape.bits);
    if signed {
        [make_width_mask(shape.width) & !(all >> 1), all >> 1]
    } else {
        [0, all]
    }
}

impl FunctionTranslator<'_, '_> {
    fn lower_saturating_conversion(&mut self, op: Op, call: &ExternalCall<'_>) -> LlvmResult<Id> {
        let shape = self.result_shape(call.inst)?;
        if shape.elem != NumericElement::Int || shape.width > 64 {
            return Err(make_refusal(format!("the result has {} bits", shape.bits)));
        }
        let from = self.shape_of(call.arg(0)?)?;
        let value = self.lower_value(call.arg(0)?)?;
        let value = self.promote_float(from, value);
        let ty = self.t.shape_type(shape);
        let id = self.emit_op(op, ty, [value]);
        self.decorate_result(id, Decoration::SaturatedConversion, &[]);
        if !shape.is_odd() {
            return Ok(id);
        }
        let id = self.clamp_integer(shape, op == Op::ConvertFToS, id);
        Ok(self.mask_high_bits(shape, id))
    }

    /// Clamps an integer to the bounds of its own, narrower type.
    pub(super) fn clamp_integer(&mut self, shape: NumericShape, signed: bool, id: Id) -> Id {
        let [low, high] = integer_bounds(shape, signed).map(|bits| self.t.make_splat(shape, bits));
        let number = if signed { std_::S_CLAMP } else { std_::U_CLAMP };
        let ty = self.t.shape_type(shape);
        self.emit_ext_inst(number, ty, &[id, low, high])
    }

    fn emit_saturating_op(
        &mut self,
        number: u32,
        signed: bool,
        call: &ExternalCall<'_>,
    ) -> LlvmResult<Id> {
        let shape = self.result_shape(call.inst)?;
        if shape.elem != NumericElement::Int || shape.width > 64 {
            return Err(make_refusal(format!(
                "the operands have {} bits",
                shape.bits
            )));
        }
        let mut operands = [
            self.lower_value(call.arg(0)?)?,
            self.lower_value(call.arg(1)?)?,
        ];
        if signed {
            operands = operands.map(|id| self.sign_extend_value(shape, id));
        }
        let ty = self.t.shape_type(shape);
        let id = self.emit_ext_inst(number, ty, &operands);
        if !shape.is_odd() {
            return Ok(id);
        }
        let id = self.clamp_integer(shape, signed, id);
        Ok(self.mask_high_bits(shape, id))
    }

    fn lower_saturating_shift(&mut self, signed: bool, call: &ExternalCall<'_>) -> LlvmResult<Id> {
        let shape = self.result_shape(call.inst)?;
        if shape.elem != NumericElement::Int || shape.width > 64 {
            return Err(make_refusal(format!(
                "the operands have {} bits",
                shape.bits
            )));
        }
        let value = self.lower_value(call.arg(0)?)?;
        let by = self.lower_value(call.arg(1)?)?;
        let ty = self.t.shape_type(shape);
        let (value, back_op) = if signed {
            (
                self.sign_extend_value(shape, value),
                Op::ShiftRightArithmetic,
            )
        } else {
            (value, Op::ShiftRightLogical)
        };
        let shifted = self.emit_op(Op::ShiftLeftLogical, ty, [value, by]);
        let kept = self.mask_high_bits(shape, shifted);
        let seen = if signed {
            self.sign_extend_value(shape, kept)
        } else {
            kept
        };
        let back = self.emit_op(back_op, ty, [seen, by]);
        let whole = shape.as_int(shape.width);
        let lost = self.emit_comparison(Predicate::Ne, whole, [back, value])?;
        let [low, high] = integer_bounds(shape, signed).map(|bits| self.t.make_splat(shape, bits));
        let mut end = high;
        if signed {
            let zero = self.t.make_zero(shape);
            let negative = self.emit_comparison(Predicate::Slt, whole, [value, zero])?;
            end = self.emit_select(ty, negative, low, high);
        }
        let id = self.emit_select(ty, lost, end, kept);
        Ok(self.mask_high_bits(shape, id))
    }
}
