//! Functions on integers that are a few instructions.

use crate::codegen::lanes::LaneTypes;
use crate::codegen::lowering::{ClifLowering, clif_type};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value};

pub(super) fn abs(lower: &mut ClifLowering, _: LaneTypes, v: &[Value]) -> Value {
    let negative = lower.builder.ins().ineg(v[0]);
    let below = IntCC::SignedLessThan;
    let less = lower.builder.ins().icmp_imm_s(below, v[0], 0);
    lower.builder.ins().select(less, negative, v[0])
}

pub(super) fn min_signed(lower: &mut ClifLowering, _: LaneTypes, v: &[Value]) -> Value {
    lower.select_by_comparison(IntCC::SignedLessThan, v[0], v[1])
}

pub(super) fn min_unsigned(lower: &mut ClifLowering, _: LaneTypes, v: &[Value]) -> Value {
    lower.select_by_comparison(IntCC::UnsignedLessThan, v[0], v[1])
}

pub(super) fn max_signed(lower: &mut ClifLowering, _: LaneTypes, v: &[Value]) -> Value {
    lower.select_by_comparison(IntCC::SignedGreaterThan, v[0], v[1])
}

pub(super) fn max_unsigned(lower: &mut ClifLowering, _: LaneTypes, v: &[Value]) -> Value {
    lower.select_by_comparison(IntCC::UnsignedGreaterThan, v[0], v[1])
}

pub(super) fn clamp_signed(lower: &mut ClifLowering, lane: LaneTypes, v: &[Value]) -> Value {
    let raised = max_signed(lower, lane, &v[..2]);
    min_signed(lower, lane, &[raised, v[2]])
}

pub(super) fn clamp_unsigned(lower: &mut ClifLowering, lane: LaneTypes, v: &[Value]) -> Value {
    let raised = max_unsigned(lower, lane, &v[..2]);
    min_unsigned(lower, lane, &[raised, v[2]])
}

pub(super) fn leading_zeros(lower: &mut ClifLowering, _: LaneTypes, v: &[Value]) -> Value {
    lower.builder.ins().clz(v[0])
}

pub(super) fn trailing_zeros(lower: &mut ClifLowering, _: LaneTypes, v: &[Value]) -> Value {
    lower.builder.ins().ctz(v[0])
}

pub(super) fn rotate_left(lower: &mut ClifLowering, _: LaneTypes, v: &[Value]) -> Value {
    lower.builder.ins().rotl(v[0], v[1])
}

pub(super) fn mul_high_signed(lower: &mut ClifLowering, _: LaneTypes, v: &[Value]) -> Value {
    lower.wide_product(v[0], v[1], true).1
}

pub(super) fn mul_high_unsigned(lower: &mut ClifLowering, _: LaneTypes, v: &[Value]) -> Value {
    lower.wide_product(v[0], v[1], false).1
}

pub(super) fn mad_high_signed(lower: &mut ClifLowering, lane: LaneTypes, v: &[Value]) -> Value {
    let high = mul_high_signed(lower, lane, v);
    lower.builder.ins().iadd(high, v[2])
}

pub(super) fn mad_high_unsigned(lower: &mut ClifLowering, lane: LaneTypes, v: &[Value]) -> Value {
    let high = mul_high_unsigned(lower, lane, v);
    lower.builder.ins().iadd(high, v[2])
}

pub(super) fn add_sat_signed(lower: &mut ClifLowering, _: LaneTypes, v: &[Value]) -> Value {
    lower.emit_saturating_sum(v[0], v[1], true, true)
}

pub(super) fn add_sat_unsigned(lower: &mut ClifLowering, _: LaneTypes, v: &[Value]) -> Value {
    lower.emit_saturating_sum(v[0], v[1], false, true)
}

pub(super) fn sub_sat_signed(lower: &mut ClifLowering, _: LaneTypes, v: &[Value]) -> Value {
    lower.emit_saturating_sum(v[0], v[1], true, false)
}

pub(super) fn sub_sat_unsigned(lower: &mut ClifLowering, _: LaneTypes, v: &[Value]) -> Value {
    lower.emit_saturating_sum(v[0], v[1], false, false)
}

/// The high half, then the low half.
pub(super) fn upsample_halves(lower: &mut ClifLowering, lane: LaneTypes, v: &[Value]) -> Value {
    let ty = clif_type(lane.to);
    let high = lower.extend_to(v[0], ty, false);
    let low = lower.extend_to(v[1], ty, false);
    let shift = i64::from(lane.from.bits());
    let high = lower.builder.ins().ishl_imm_u(high, shift);
    lower.builder.ins().bor(high, low)
}

/// The bits of the second operand where the third has ones, else of the first.
pub(super) fn bit_select(lower: &mut ClifLowering, lane: LaneTypes, v: &[Value]) -> Value {
    let bits: Vec<Value> = v.iter().map(|v| lower.bits_of(*v)).collect();
    let second = lower.builder.ins().band(bits[1], bits[2]);
    let first = lower.builder.ins().band_not(bits[0], bits[2]);
    let result = lower.builder.ins().bor(first, second);
    lower.bitcast_value(clif_type(lane.to), result)
}
