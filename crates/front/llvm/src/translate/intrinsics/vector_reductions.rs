//! Vector reductions: lanes are combined one after the other.

use super::super::function_body::FunctionTranslator;
use crate::translate::call_rules::ExternalCall;
use crate::translate::shapes::{NumericElement, NumericShape};
use crate::{LlvmResult, make_refusal};
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::opencl_std as std_;

/// How two lanes are joined.
#[derive(Clone, Copy)]
pub(super) enum LaneReductionRule {
    /// An instruction, and another one for Booleans.
    Op(Op, Op),
    /// An extended instruction on floats, with NaN as the result if an operand is NaN.
    Nan(u32),
    /// An extended instruction. The flag states whether integers are signed.
    Ext(u32, bool),
}

/// Reduction operations by their names in intrinsics.
const REDUCTIONS: &[(&str, LaneReductionRule)] = &[
    ("add", LaneReductionRule::Op(Op::IAdd, Op::LogicalNotEqual)),
    ("mul", LaneReductionRule::Op(Op::IMul, Op::LogicalAnd)),
    ("and", LaneReductionRule::Op(Op::BitwiseAnd, Op::LogicalAnd)),
    ("or", LaneReductionRule::Op(Op::BitwiseOr, Op::LogicalOr)),
    (
        "xor",
        LaneReductionRule::Op(Op::BitwiseXor, Op::LogicalNotEqual),
    ),
    ("smax", LaneReductionRule::Ext(std_::S_MAX, true)),
    ("smin", LaneReductionRule::Ext(std_::S_MIN, true)),
    ("umax", LaneReductionRule::Ext(std_::U_MAX, false)),
    ("umin", LaneReductionRule::Ext(std_::U_MIN, false)),
    ("fadd", LaneReductionRule::Op(Op::FAdd, Op::FAdd)),
    ("fmul", LaneReductionRule::Op(Op::FMul, Op::FMul)),
    ("fmax", LaneReductionRule::Ext(std_::FMAX, false)),
    ("fmin", LaneReductionRule::Ext(std_::FMIN, false)),
    ("fmaximum", LaneReductionRule::Nan(std_::FMAX)),
    ("fminimum", LaneReductionRule::Nan(std_::FMIN)),
];

/// The way to join lanes of a name.
pub(super) fn find_reduction(name: &str) -> Option<LaneReductionRule> {
    REDUCTIONS.iter().find(|row| row.0 == name).map(|row| row.1)
}

pub(super) fn lower_reduce_add(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    body.reduce_vector(
        LaneReductionRule::Op(Op::IAdd, Op::LogicalNotEqual),
        call,
        0,
    )
}

pub(super) fn lower_reduce_mul(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    body.reduce_vector(LaneReductionRule::Op(Op::IMul, Op::LogicalAnd), call, 0)
}

pub(super) fn lower_reduce_and(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    body.reduce_vector(
        LaneReductionRule::Op(Op::BitwiseAnd, Op::LogicalAnd),
        call,
        0,
    )
}

pub(super) fn lower_reduce_or(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    body.reduce_vector(LaneReductionRule::Op(Op::BitwiseOr, Op::LogicalOr), call, 0)
}

pub(super) fn lower_reduce_xor(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    body.reduce_vector(
        LaneReductionRule::Op(Op::BitwiseXor, Op::LogicalNotEqual),
        call,
        0,
    )
}

pub(super) fn signed_maximum(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    body.reduce_vector(LaneReductionRule::Ext(std_::S_MAX, true), call, 0)
}

pub(super) fn signed_minimum(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    body.reduce_vector(LaneReductionRule::Ext(std_::S_MIN, true), call, 0)
}

pub(super) fn unsigned_maximum(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    body.reduce_vector(LaneReductionRule::Ext(std_::U_MAX, false), call, 0)
}

pub(super) fn unsigned_minimum(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    body.reduce_vector(LaneReductionRule::Ext(std_::U_MIN, false), call, 0)
}

/// `(start, vector)`
pub(super) fn float_add(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    body.reduce_vector(LaneReductionRule::Op(Op::FAdd, Op::FAdd), call, 1)
}

/// `(start, vector)`
pub(super) fn float_multiply(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    body.reduce_vector(LaneReductionRule::Op(Op::FMul, Op::FMul), call, 1)
}

pub(super) fn float_maximum(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    body.reduce_vector(LaneReductionRule::Ext(std_::FMAX, false), call, 0)
}

pub(super) fn float_minimum(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    body.reduce_vector(LaneReductionRule::Ext(std_::FMIN, false), call, 0)
}

pub(super) fn nan_maximum(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    body.reduce_vector(LaneReductionRule::Nan(std_::FMAX), call, 0)
}

pub(super) fn nan_minimum(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    body.reduce_vector(LaneReductionRule::Nan(std_::FMIN), call, 0)
}

impl FunctionTranslator<'_, '_> {
    /// Reduces the argument `vector`. An argument before it is the start value.
    fn reduce_vector(
        &mut self,
        join: LaneReductionRule,
        call: &ExternalCall<'_>,
        vector: usize,
    ) -> LlvmResult<Option<Id>> {
        let value = call.arg(vector)?;
        let element = self.t.module.types.scalar_type(self.type_of(value));
        let scalar = self.t.require_shape(element)?;
        let ty = self.t.shape_type(scalar);
        if let (LaneReductionRule::Op(op, _), 1..) = (join, vector) {
            let mut all = self.lower_value(call.arg(0)?)?;
            for lane in 0..self.lane_count(self.type_of(value)) {
                let lane = self.lane_value(value, lane)?;
                all = self.emit_op(op, ty, [all, lane]);
            }
            return Ok(Some(all));
        }
        let lanes = self.lane_values(value)?;
        let mut all = lanes[0];
        if let LaneReductionRule::Ext(_, true) = join {
            all = self.sign_extend_value(scalar, all);
        }
        for &lane in &lanes[1..] {
            all = self.combine_lanes(join, scalar, [all, lane])?;
        }
        Ok(Some(self.mask_high_bits(scalar, all)))
    }

    /// Combines two lanes. The first is already sign-extended if the operation is signed.
    pub(super) fn combine_lanes(
        &mut self,
        join: LaneReductionRule,
        scalar: NumericShape,
        [all, lane]: [Id; 2],
    ) -> LlvmResult<Id> {
        let ty = self.t.shape_type(scalar);
        Ok(match (join, scalar.elem) {
            (LaneReductionRule::Op(_, op), NumericElement::Bool)
            | (LaneReductionRule::Op(op, _), _) => self.emit_op(op, ty, [all, lane]),
            (LaneReductionRule::Nan(number), _) => {
                self.emit_extremum_or_nan(number, scalar, [all, lane])
            }
            (LaneReductionRule::Ext(..), NumericElement::Bool) => {
                return Err(make_refusal("the operand is a vector of Booleans"));
            }
            (LaneReductionRule::Ext(number, signed), _) => {
                let lane = if signed {
                    self.sign_extend_value(scalar, lane)
                } else {
                    lane
                };
                self.emit_ext_inst(number, ty, &[all, lane])
            }
        })
    }
}
