//! Integer arithmetic intrinsics, and basic ones on floats.

use super::super::function_body::FunctionTranslator;
use crate::ir::Predicate;
use crate::translate::call_rules::ExternalCall;
use crate::translate::shapes::{NumericElement, NumericShape, make_width_mask};
use crate::{LlvmResult, make_refusal};
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::opencl_std as std_;

/// `llvm.powi` and `llvm.ldexp`: a float and a scalar 32-bit integer.
pub(super) fn lower_powi_ldexp(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    let number = if call.name.starts_with("llvm.powi") {
        std_::POWN
    } else {
        std_::LDEXP
    };
    let shape = body.result_shape(call.inst)?;
    let base = body.lower_value(call.arg(0)?)?;
    let exponent_shape = body.shape_of(call.arg(1)?)?;
    let mut exponent = body.lower_value(call.arg(1)?)?;
    if exponent_shape.lanes == 1 {
        exponent = body.splat_scalar(shape.as_int(32), exponent);
    }
    let ty = body.t.shape_type(shape);
    Ok(Some(body.emit_ext_inst(number, ty, &[base, exponent])))
}

pub(super) fn lower_minimum(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    body.lower_extremum_with_nan(std_::FMIN, call).map(Some)
}

pub(super) fn lower_maximum(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    body.lower_extremum_with_nan(std_::FMAX, call).map(Some)
}

/// Multiplication by one quiets NaNs.
pub(super) fn lower_canonicalize(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    let shape = body.result_shape(call.inst)?;
    let value = body.lower_value(call.arg(0)?)?;
    let one = body.t.splat_one(shape, false);
    let ty = body.t.shape_type(shape);
    Ok(Some(body.emit_op(Op::FMul, ty, [value, one])))
}

/// `llvm.get.rounding`: to the nearest, which has the number 1.
pub(super) fn lower_get_rounding(
    body: &mut FunctionTranslator<'_, '_>,
    _: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    Ok(Some(body.t.make_u32(1)))
}

/// `llvm.abs`
pub(super) fn lower_abs(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    let shape = body.result_shape(call.inst)?;
    let value = body.lower_value(call.arg(0)?)?;
    if shape.elem == NumericElement::Bool {
        return Ok(Some(value));
    }
    let value = body.sign_extend_value(shape, value);
    let ty = body.t.shape_type(shape);
    let id = body.emit_ext_inst(std_::S_ABS, ty, &[value]);
    Ok(Some(body.mask_high_bits(shape, id)))
}

pub(super) fn add_unsigned_overflow(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    body.with_carry(call, Op::IAddCarry, Op::IAdd)
}

pub(super) fn subtract_unsigned_overflow(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    body.with_carry(call, Op::ISubBorrow, Op::ISub)
}

/// A sum overflows if both operands have the sign that it does not have.
pub(super) fn add_signed_overflow(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    body.with_overflow(call, Op::IAdd, |body, shape, [left, right], sum| {
        body.test_signs_differ(shape, [(left, sum), (right, sum)])
    })
}

/// A difference overflows if the signs of the operands differ, and that of the left one from its
/// own.
pub(super) fn subtract_signed_overflow(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    body.with_overflow(call, Op::ISub, |body, shape, [left, right], difference| {
        body.test_signs_differ(shape, [(left, right), (left, difference)])
    })
}

pub(super) fn multiply_unsigned_overflow(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    body.with_carry(call, Op::UMulExtended, Op::IMul)
}

pub(super) fn multiply_signed_overflow(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    body.with_overflow(call, Op::IMul, |body, shape, [left, right], product| {
        let ty = body.t.shape_type(shape);
        let high = body.emit_ext_inst(std_::S_MUL_HI, ty, &[left, right]);
        let by = body.t.make_splat(shape, u64::from(shape.width - 1));
        let sign = body.emit_op(Op::ShiftRightArithmetic, ty, [product, by]);
        body.emit_comparison(Predicate::Ne, shape, [high, sign])
    })
}

pub(super) fn compare_signed(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    body.emit_three_way_compare([Predicate::Slt, Predicate::Sgt], call)
        .map(Some)
}

pub(super) fn compare_unsigned(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    body.emit_three_way_compare([Predicate::Ult, Predicate::Ugt], call)
        .map(Some)
}

impl FunctionTranslator<'_, '_> {
    fn lower_extremum_with_nan(&mut self, number: u32, call: &ExternalCall<'_>) -> LlvmResult<Id> {
        let shape = self.result_shape(call.inst)?;
        let left = self.lower_value(call.arg(0)?)?;
        let right = self.lower_value(call.arg(1)?)?;
        Ok(self.emit_extremum_or_nan(number, shape, [left, right]))
    }

    /// The smaller or larger of two floats; NaN if one is NaN.
    pub(in crate::translate) fn emit_extremum_or_nan(
        &mut self,
        number: u32,
        shape: NumericShape,
        operands: [Id; 2],
    ) -> Id {
        let ty = self.t.shape_type(shape);
        let found = self.emit_ext_inst(number, ty, &operands);
        let bool = self.t.shape_type(shape.as_bool());
        let unordered = self.emit_op(Op::Unordered, bool, operands);
        let nan = self.emit_op(Op::FAdd, ty, operands);
        self.emit_select(ty, unordered, nan, found)
    }

    /// An operation that returns its result and a flag.
    fn with_overflow(
        &mut self,
        call: &ExternalCall<'_>,
        op: Op,
        overflows: impl FnOnce(&mut Self, NumericShape, [Id; 2], Id) -> LlvmResult<Id>,
    ) -> LlvmResult<Option<Id>> {
        let shape = self.shape_of(call.arg(0)?)?;
        let room = op != Op::IMul || shape.width >= 2 * shape.bits;
        if shape.elem != NumericElement::Int || (shape.is_odd() && !room) {
            return Err(make_refusal(format!(
                "the operands have {} bits",
                shape.bits
            )));
        }
        let left = self.lower_value(call.arg(0)?)?;
        let right = self.lower_value(call.arg(1)?)?;
        let ty = self.t.shape_type(shape);
        let (result, overflow) = if shape.is_odd() {
            self.narrow_overflow(shape, op, [left, right], call.name.contains(".s"))?
        } else {
            let result = self.emit_op(op, ty, [left, right]);
            let overflow = overflows(self, shape, [left, right], result)?;
            (result, overflow)
        };
        self.compose_overflow_result(call, shape, result, overflow)
            .map(Some)
    }

    /// An operation whose second result has the overflowing bits; the flag is whether they are
    /// nonzero.
    fn with_carry(
        &mut self,
        call: &ExternalCall<'_>,
        extended: Op,
        narrow: Op,
    ) -> LlvmResult<Option<Id>> {
        let shape = self.shape_of(call.arg(0)?)?;
        if shape.is_odd() || shape.elem != NumericElement::Int {
            return self.with_overflow(call, narrow, |body, _, _, _| {
                Ok(body.t.b.constant_bool(false))
            });
        }
        let operands = [
            self.lower_value(call.arg(0)?)?,
            self.lower_value(call.arg(1)?)?,
        ];
        let ty = self.t.shape_type(shape);
        let both = self.t.b.struct_type(&[ty, ty]);
        let pair = self.emit_op(extended, both, operands);
        let [result, rest] = [0, 1].map(|n| {
            let words = [pair.word(), n];
            self.t.b.append_value(Op::CompositeExtract, ty, &words)
        });
        let overflow = self.is_nonzero(shape, rest);
        self.compose_overflow_result(call, shape, result, overflow)
            .map(Some)
    }

    /// A result combined with a flag.
    fn compose_overflow_result(
        &mut self,
        call: &ExternalCall<'_>,
        shape: NumericShape,
        result: Id,
        overflow: Id,
    ) -> LlvmResult<Id> {
        if self.keep_flag_separate(call.inst, overflow) {
            return Ok(result);
        }
        let flag = match shape.as_bool().to_packed() {
            Some(packed) => self.emit_bitcast(shape.as_bool(), packed, overflow)?,
            None => self.convert_boolean(overflow, NumericShape::new_int(8, 1), false),
        };
        let both = self.result_type(call.inst)?;
        Ok(self.emit_op(Op::CompositeConstruct, both, [result, flag]))
    }

    /// An operation on integers with a wider representation, in which it cannot overflow.
    fn narrow_overflow(
        &mut self,
        shape: NumericShape,
        op: Op,
        operands: [Id; 2],
        signed: bool,
    ) -> LlvmResult<(Id, Id)> {
        let ty = self.t.shape_type(shape);
        let operands = if signed {
            operands.map(|id| self.sign_extend_value(shape, id))
        } else {
            operands
        };
        let exact = self.emit_op(op, ty, operands);
        let result = self.mask_high_bits(shape, exact);
        let back = if signed {
            self.sign_extend_value(shape, result)
        } else {
            result
        };
        let whole = shape.as_int(shape.width);
        let overflow = self.emit_comparison(Predicate::Ne, whole, [exact, back])?;
        Ok((result, overflow))
    }

    /// Whether the signs differ in both pairs.
    fn test_signs_differ(&mut self, shape: NumericShape, pairs: [(Id, Id); 2]) -> LlvmResult<Id> {
        let ty = self.t.shape_type(shape);
        let [a, b] = pairs.map(|(a, b)| self.emit_op(Op::BitwiseXor, ty, [a, b]));
        let both = self.emit_op(Op::BitwiseAnd, ty, [a, b]);
        let zero = self.t.make_zero(shape);
        self.emit_comparison(Predicate::Slt, shape, [both, zero])
    }

    /// -1, 0 or 1 for less, equal and greater.
    fn emit_three_way_compare(
        &mut self,
        predicates: [Predicate; 2],
        call: &ExternalCall<'_>,
    ) -> LlvmResult<Id> {
        let shape = self.shape_of(call.arg(0)?)?;
        let to = self.result_shape(call.inst)?;
        let left = self.lower_value(call.arg(0)?)?;
        let right = self.lower_value(call.arg(1)?)?;
        let [less, greater] = predicates;
        let less = self.emit_comparison(less, shape, [left, right])?;
        let greater = self.emit_comparison(greater, shape, [left, right])?;
        let ty = self.t.shape_type(to);
        let one = self.convert_boolean(greater, to, false);
        let minus = self.t.make_splat(to, make_width_mask(to.bits));
        Ok(self.emit_select(ty, less, minus, one))
    }
}
