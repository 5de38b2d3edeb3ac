//! Functions on floating-point numbers that are a few instructions.

use crate::codegen::lanes::LaneTypes;
use crate::codegen::lowering::ClifLowering;
use cranelift_codegen::ir::condcodes::FloatCC;
use cranelift_codegen::ir::{InstBuilder, Value};

pub(super) fn abs(lower: &mut ClifLowering, _: LaneTypes, v: &[Value]) -> Value {
    lower.builder.ins().fabs(v[0])
}

pub(super) fn floor(lower: &mut ClifLowering, _: LaneTypes, v: &[Value]) -> Value {
    lower.builder.ins().floor(v[0])
}

pub(super) fn ceil(lower: &mut ClifLowering, _: LaneTypes, v: &[Value]) -> Value {
    lower.builder.ins().ceil(v[0])
}

pub(super) fn trunc(lower: &mut ClifLowering, _: LaneTypes, v: &[Value]) -> Value {
    lower.builder.ins().trunc(v[0])
}

/// Ties to even.
pub(super) fn round_ties_even(lower: &mut ClifLowering, _: LaneTypes, v: &[Value]) -> Value {
    lower.builder.ins().nearest(v[0])
}

pub(super) fn sqrt(lower: &mut ClifLowering, _: LaneTypes, v: &[Value]) -> Value {
    lower.builder.ins().sqrt(v[0])
}

pub(super) fn inverse_sqrt(lower: &mut ClifLowering, lane: LaneTypes, v: &[Value]) -> Value {
    let root = lower.builder.ins().sqrt(v[0]);
    reciprocal(lower, lane, &[root])
}

pub(super) fn reciprocal(lower: &mut ClifLowering, _: LaneTypes, v: &[Value]) -> Value {
    let one = lower.make_float_constant(v[0], 1.0);
    lower.builder.ins().fdiv(one, v[0])
}

pub(super) fn copysign(lower: &mut ClifLowering, _: LaneTypes, v: &[Value]) -> Value {
    lower.builder.ins().fcopysign(v[0], v[1])
}

/// `mad` with two roundings, as the scalar library computes it. OpenCL leaves the rounding to the implementation.
pub(super) fn multiply_add(lower: &mut ClifLowering, _: LaneTypes, v: &[Value]) -> Value {
    let product = lower.builder.ins().fmul(v[0], v[1]);
    lower.builder.ins().fadd(product, v[2])
}

/// x − floor(x).
pub(super) fn fractional_part(lower: &mut ClifLowering, _: LaneTypes, v: &[Value]) -> Value {
    let floor = lower.builder.ins().floor(v[0]);
    lower.builder.ins().fsub(v[0], floor)
}

/// The smaller number; the other operand where one is a NaN.
pub(crate) fn min(lower: &mut ClifLowering, _: LaneTypes, v: &[Value]) -> Value {
    select_extreme(lower, FloatCC::LessThan, v)
}

/// The greater number, likewise.
pub(crate) fn max(lower: &mut ClifLowering, _: LaneTypes, v: &[Value]) -> Value {
    select_extreme(lower, FloatCC::GreaterThan, v)
}

fn select_extreme(lower: &mut ClifLowering, condition: FloatCC, v: &[Value]) -> Value {
    let second = lower.builder.ins().fcmp(condition, v[1], v[0]);
    let picked = lower.builder.ins().select(second, v[1], v[0]);
    let none = lower.builder.ins().fcmp(FloatCC::Unordered, v[0], v[0]);
    lower.builder.ins().select(none, v[1], picked)
}

pub(super) fn clamp(lower: &mut ClifLowering, lane: LaneTypes, v: &[Value]) -> Value {
    let raised = max(lower, lane, &v[..2]);
    min(lower, lane, &[raised, v[2]])
}

/// OpenCL's: x + (y − x)·a.
pub(super) fn mix(lower: &mut ClifLowering, _: LaneTypes, v: &[Value]) -> Value {
    let way = lower.builder.ins().fsub(v[1], v[0]);
    let part = lower.builder.ins().fmul(way, v[2]);
    lower.builder.ins().fadd(v[0], part)
}

/// GLSL's: x·(1 − a) + y·a.
pub(super) fn mix_glsl(lower: &mut ClifLowering, _: LaneTypes, v: &[Value]) -> Value {
    let one = lower.make_float_constant(v[2], 1.0);
    let rest = lower.builder.ins().fsub(one, v[2]);
    let first = lower.builder.ins().fmul(v[0], rest);
    let second = lower.builder.ins().fmul(v[1], v[2]);
    lower.builder.ins().fadd(first, second)
}

/// 0 below the edge, which comes first, else 1.
pub(super) fn step(lower: &mut ClifLowering, _: LaneTypes, v: &[Value]) -> Value {
    let (zero, one) = (lower.zero_like(v[0]), lower.make_float_constant(v[0], 1.0));
    let below = lower.builder.ins().fcmp(FloatCC::LessThan, v[1], v[0]);
    lower.builder.ins().select(below, zero, one)
}
