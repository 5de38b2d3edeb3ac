//! Fixed-point arithmetic: integers with a constant number of fractional bits.

use super::super::function_body::FunctionTranslator;
use super::saturating::integer_bounds;
use crate::ir::{LlvmOpcode, Predicate};
use crate::translate::call_rules::ExternalCall;
use crate::translate::shapes::{NumericElement, NumericShape};
use crate::{LlvmResult, make_refusal};
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::opencl_std as std_;

/// `llvm.smul.fix[.sat](a, b, scale)`
pub(super) fn multiply_signed(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    body.lower_fixed_product(true, call).map(Some)
}

/// `llvm.umul.fix[.sat](a, b, scale)`
pub(super) fn multiply_unsigned(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    body.lower_fixed_product(false, call).map(Some)
}

/// `llvm.sdiv.fix[.sat](a, b, scale)`
pub(super) fn divide_signed(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    body.lower_fixed_quotient(true, call).map(Some)
}

/// `llvm.udiv.fix[.sat](a, b, scale)`
pub(super) fn divide_unsigned(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    body.lower_fixed_quotient(false, call).map(Some)
}

fn is_saturating(call: &ExternalCall<'_>) -> bool {
    call.name.contains(".fix.sat")
}

/// Integers of another width, which hold all their bits.
fn of_width(shape: NumericShape, width: u32) -> NumericShape {
    NumericShape {
        elem: NumericElement::Int,
        ..shape.as_int(width)
    }
}

impl FunctionTranslator<'_, '_> {
    /// The shape of the operands, their values, and the number of fractional bits.
    fn fixed_operands(
        &mut self,
        signed: bool,
        call: &ExternalCall<'_>,
    ) -> LlvmResult<(NumericShape, [Id; 2], u32)> {
        let shape = self.result_shape(call.inst)?;
        if shape.elem != NumericElement::Int || shape.width > 64 {
            return Err(make_refusal(format!(
                "the operands have {} bits",
                shape.bits
            )));
        }
        let scale = self.t.module.as_u64(call.arg(2)?);
        let Some(scale) = scale.filter(|scale| *scale <= shape.bits.into()) else {
            return Err(make_refusal(
                "the number of fractional bits is not constant",
            ));
        };
        let mut operands = [
            self.lower_value(call.arg(0)?)?,
            self.lower_value(call.arg(1)?)?,
        ];
        if signed {
            operands = operands.map(|id| self.sign_extend_value(shape, id));
        }
        Ok((shape, operands, scale as u32))
    }

    /// A product. It is computed in twice the bits and shifted right by the number of fractional
    /// bits.
    fn lower_fixed_product(&mut self, signed: bool, call: &ExternalCall<'_>) -> LlvmResult<Id> {
        let (shape, operands, scale) = self.fixed_operands(signed, call)?;
        let ty = self.t.shape_type(shape);
        let (high, back) = if signed {
            (std_::S_MUL_HI, Op::ShiftRightArithmetic)
        } else {
            (std_::U_MUL_HI, Op::ShiftRightLogical)
        };
        let low = self.emit_op(Op::IMul, ty, operands);
        let high = self.emit_ext_inst(high, ty, &operands);
        let whole = of_width(shape, shape.width);
        let zero = self.t.make_zero(whole);
        let (product, rest) = match scale {
            0 => (low, high),
            _ if scale == shape.width => (high, zero),
            _ => {
                let down = self.t.make_splat(whole, u64::from(scale));
                let up = self.t.make_splat(whole, u64::from(shape.width - scale));
                let low = self.emit_op(Op::ShiftRightLogical, ty, [low, down]);
                let part = self.emit_op(Op::ShiftLeftLogical, ty, [high, up]);
                let rest = self.emit_op(back, ty, [high, down]);
                (self.emit_op(Op::BitwiseOr, ty, [low, part]), rest)
            }
        };
        if !is_saturating(call) {
            return Ok(self.mask_high_bits(shape, product));
        }
        // The discarded upper bits must equal the sign.
        let signs = if signed {
            let last = self.t.make_splat(whole, u64::from(shape.width - 1));
            self.emit_op(Op::ShiftRightArithmetic, ty, [product, last])
        } else {
            zero
        };
        let lost = self.emit_comparison(Predicate::Ne, whole, [rest, signs])?;
        let [least, most] =
            integer_bounds(shape, signed).map(|bits| self.t.make_splat(whole, bits));
        let mut end = most;
        if signed {
            let negative = self.emit_comparison(Predicate::Slt, whole, [high, zero])?;
            end = self.emit_select(ty, negative, least, most);
        }
        let mut found = self.emit_select(ty, lost, end, product);
        if shape.is_odd() {
            found = self.clamp_integer(shape, signed, found);
        }
        Ok(self.mask_high_bits(shape, found))
    }

    /// A quotient. The dividend is shifted left by the number of fractional bits, in twice the
    /// bits.
    fn lower_fixed_quotient(&mut self, signed: bool, call: &ExternalCall<'_>) -> LlvmResult<Id> {
        let (shape, operands, scale) = self.fixed_operands(signed, call)?;
        if shape.width > 32 {
            return Err(make_refusal(format!(
                "a fixed-point quotient of {} bits",
                shape.bits
            )));
        }
        let (narrow, wide) = (of_width(shape, shape.width), of_width(shape, 64));
        let (extend, divide) = if signed {
            (LlvmOpcode::SExt, Op::SDiv)
        } else {
            (LlvmOpcode::ZExt, Op::UDiv)
        };
        let ty = self.t.shape_type(wide);
        let mut wider = [operands[0]; 2];
        for (to, from) in wider.iter_mut().zip(operands) {
            *to = self.convert_number(extend, narrow, wide, from)?;
        }
        let by = self.t.make_splat(wide, u64::from(scale));
        let dividend = self.emit_op(Op::ShiftLeftLogical, ty, [wider[0], by]);
        let mut quotient = self.emit_op(divide, ty, [dividend, wider[1]]);
        if is_saturating(call) {
            let [least, most] = integer_bounds(NumericShape { width: 64, ..shape }, signed);
            let [least, most] = [least, most].map(|bits| self.t.make_splat(wide, bits));
            let clamp = if signed { std_::S_CLAMP } else { std_::U_CLAMP };
            quotient = self.emit_ext_inst(clamp, ty, &[quotient, least, most]);
        }
        let found = self.convert_number(LlvmOpcode::Trunc, wide, narrow, quotient)?;
        Ok(self.mask_high_bits(shape, found))
    }
}
