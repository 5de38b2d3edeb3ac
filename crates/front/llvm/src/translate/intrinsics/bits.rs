//! Bit intrinsics.

use super::super::function_body::FunctionTranslator;
use crate::translate::call_rules::ExternalCall;
use crate::translate::shapes::{NumericElement, NumericShape};
use crate::{LlvmResult, make_refusal};
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::opencl_std as std_;

/// Masks of the lower halves of groups of bits, by the size of the halves.
const HALVES: &[(u32, u64)] = &[
    (1, 0x5555_5555_5555_5555),
    (2, 0x3333_3333_3333_3333),
    (4, 0x0f0f_0f0f_0f0f_0f0f),
    (8, 0x00ff_00ff_00ff_00ff),
    (16, 0x0000_ffff_0000_ffff),
    (32, 0x0000_0000_ffff_ffff),
];

/// `llvm.ctpop`
pub(super) fn lower_ctpop(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    let (shape, value) = body.integer_argument(call, 0)?;
    let ty = body.t.shape_type(shape);
    Ok(Some(body.emit_op(Op::BitCount, ty, [value])))
}

/// `llvm.ctlz`
pub(super) fn lower_leading_zeros(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    let (shape, value) = body.integer_argument(call, 0)?;
    let ty = body.t.shape_type(shape);
    let all = body.emit_ext_inst(std_::CLZ, ty, &[value]);
    if !shape.is_odd() {
        return Ok(Some(all));
    }
    let above = body
        .t
        .make_splat(shape, u64::from(shape.width - shape.bits));
    Ok(Some(body.emit_op(Op::ISub, ty, [all, above])))
}

/// `llvm.cttz`
pub(super) fn lower_trailing_zeros(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    let (shape, mut value) = body.integer_argument(call, 0)?;
    let ty = body.t.shape_type(shape);
    if shape.is_odd() {
        let above = body.t.make_splat(shape, 1 << shape.bits);
        value = body.emit_op(Op::BitwiseOr, ty, [value, above]);
    }
    Ok(Some(body.emit_ext_inst(std_::CTZ, ty, &[value])))
}

/// `llvm.bswap`
pub(super) fn swap_bytes(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    body.swap_groups(call, 8).map(Some)
}

/// `llvm.bitreverse`
pub(super) fn lower_bitreverse(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    if !body.t.may_use("SPV_KHR_bit_instructions") {
        return body.swap_groups(call, 1).map(Some);
    }
    let (shape, value) = body.integer_argument(call, 0)?;
    let ty = body.t.shape_type(shape);
    let reversed = body.emit_op(Op::BitReverse, ty, [value]);
    if !shape.is_odd() {
        return Ok(Some(reversed));
    }
    let by = body
        .t
        .make_splat(shape, u64::from(shape.width - shape.bits));
    Ok(Some(body.emit_op(
        Op::ShiftRightLogical,
        ty,
        [reversed, by],
    )))
}

/// `llvm.fshl`
pub(super) fn lower_funnel_left(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    body.lower_funnel_shift(call, true).map(Some)
}

/// `llvm.fshr`
pub(super) fn lower_funnel_right(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    body.lower_funnel_shift(call, false).map(Some)
}

/// `llvm.clmul`: a carry-less product.
pub(super) fn multiply_without_carries(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    let (shape, left) = body.integer_argument(call, 0)?;
    let (_, right) = body.integer_argument(call, 1)?;
    if shape.width > 64 {
        return Err(make_refusal(format!(
            "the operands have {} bits",
            shape.bits
        )));
    }
    let ty = body.t.shape_type(shape);
    let mut product = body.t.make_zero(shape);
    let one = body.t.make_splat(shape, 1);
    for bit in 0..shape.bits {
        let by = body.t.make_splat(shape, u64::from(bit));
        let partial = body.emit_op(Op::ShiftLeftLogical, ty, [left, by]);
        let taken = body.emit_op(Op::ShiftRightLogical, ty, [right, by]);
        let taken = body.emit_op(Op::BitwiseAnd, ty, [taken, one]);
        let partial = body.emit_op(Op::IMul, ty, [partial, taken]);
        product = body.emit_op(Op::BitwiseXor, ty, [product, partial]);
    }
    Ok(Some(body.mask_high_bits(shape, product)))
}

impl FunctionTranslator<'_, '_> {
    /// A funnel shift of integers of an odd width, whose representation has room for a shift by all
    /// of their bits.
    fn funnel_shift_odd_width(
        &mut self,
        shape: NumericShape,
        [high, low, by]: [Id; 3],
        left: bool,
    ) -> Id {
        let ty = self.t.shape_type(shape);
        let bits = self.t.make_splat(shape, u64::from(shape.bits));
        let by = self.emit_op(Op::UMod, ty, [by, bits]);
        let rest = self.emit_op(Op::ISub, ty, [bits, by]);
        let (up, down) = if left { (by, rest) } else { (rest, by) };
        let high = self.emit_op(Op::ShiftLeftLogical, ty, [high, up]);
        let low = self.emit_op(Op::ShiftRightLogical, ty, [low, down]);
        let all = self.emit_op(Op::BitwiseOr, ty, [high, low]);
        self.mask_high_bits(shape, all)
    }

    fn integer_argument(
        &mut self,
        call: &ExternalCall<'_>,
        index: usize,
    ) -> LlvmResult<(NumericShape, Id)> {
        let value = call.arg(index)?;
        let shape = self.shape_of(value)?;
        if shape.elem != NumericElement::Int {
            return Err(make_refusal(
                "the operand is not an integer of at least two bits",
            ));
        }
        Ok((shape, self.lower_value(value)?))
    }

    /// Reverses the order of groups of `smallest` bits by swapping increasingly larger halves.
    fn swap_groups(&mut self, call: &ExternalCall<'_>, smallest: u32) -> LlvmResult<Id> {
        let (shape, value) = self.integer_argument(call, 0)?;
        let mut value = self.emit_swapped_groups(shape, value, smallest);
        if shape.is_odd() {
            let ty = self.t.shape_type(shape);
            let by = self
                .t
                .make_splat(shape, u64::from(shape.width - shape.bits));
            value = self.emit_op(Op::ShiftRightLogical, ty, [value, by]);
        }
        Ok(value)
    }

    /// Reverses the order of all groups of bits of an integer's representation.
    pub(in crate::translate) fn emit_swapped_groups(
        &mut self,
        shape: NumericShape,
        mut value: Id,
        smallest: u32,
    ) -> Id {
        let ty = self.t.shape_type(shape);
        for &(size, low) in HALVES {
            if size < smallest || size >= shape.width {
                continue;
            }
            let by = self.t.make_splat(shape, u64::from(size));
            let low = self.t.make_splat(shape, low);
            let high = self.emit_op(Op::ShiftRightLogical, ty, [value, by]);
            let high = self.emit_op(Op::BitwiseAnd, ty, [high, low]);
            let rest = self.emit_op(Op::BitwiseAnd, ty, [value, low]);
            let rest = self.emit_op(Op::ShiftLeftLogical, ty, [rest, by]);
            value = self.emit_op(Op::BitwiseOr, ty, [high, rest]);
        }
        value
    }

    /// A funnel shift. It is a rotation if both operands are the same.
    fn lower_funnel_shift(&mut self, call: &ExternalCall<'_>, left: bool) -> LlvmResult<Id> {
        let (shape, high) = self.integer_argument(call, 0)?;
        let (_, low) = self.integer_argument(call, 1)?;
        let (_, by) = self.integer_argument(call, 2)?;
        let ty = self.t.shape_type(shape);
        if shape.is_odd() {
            return Ok(self.funnel_shift_odd_width(shape, [high, low, by], left));
        }
        if high == low {
            let by = if left {
                by
            } else {
                self.emit_op(Op::SNegate, ty, [by])
            };
            return Ok(self.emit_ext_inst(std_::ROTATE, ty, &[high, by]));
        }
        let width = self.t.make_splat(shape, u64::from(shape.width - 1));
        let by = self.emit_op(Op::BitwiseAnd, ty, [by, width]);
        let rest = self.emit_op(Op::BitwiseXor, ty, [by, width]);
        let one = self.t.make_splat(shape, 1);
        let (high, low) = if left {
            let high = self.emit_op(Op::ShiftLeftLogical, ty, [high, by]);
            let low = self.emit_op(Op::ShiftRightLogical, ty, [low, one]);
            (high, self.emit_op(Op::ShiftRightLogical, ty, [low, rest]))
        } else {
            let low = self.emit_op(Op::ShiftRightLogical, ty, [low, by]);
            let high = self.emit_op(Op::ShiftLeftLogical, ty, [high, one]);
            (self.emit_op(Op::ShiftLeftLogical, ty, [high, rest]), low)
        };
        Ok(self.emit_op(Op::BitwiseOr, ty, [high, low]))
    }
}
