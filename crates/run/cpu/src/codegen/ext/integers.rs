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

/// `|a - b|`.
pub(super) fn difference_signed(lower: &mut ClifLowering, lane: LaneTypes, v: &[Value]) -> Value {
    let (larger, smaller) = (max_signed(lower, lane, v), min_signed(lower, lane, v));
    lower.builder.ins().isub(larger, smaller)
}

/// `|a - b|`.
pub(super) fn difference_unsigned(lower: &mut ClifLowering, lane: LaneTypes, v: &[Value]) -> Value {
    let (larger, smaller) = (max_unsigned(lower, lane, v), min_unsigned(lower, lane, v));
    lower.builder.ins().isub(larger, smaller)
}

/// Half of the bits in which two integers differ.
fn half_difference(lower: &mut ClifLowering, v: &[Value], is_signed: bool) -> Value {
    let different = lower.builder.ins().bxor(v[0], v[1]);
    if is_signed {
        lower.builder.ins().sshr_imm_u(different, 1)
    } else {
        lower.builder.ins().ushr_imm_u(different, 1)
    }
}

/// `hadd`: the average, rounded down, without overflow. It is the common bits and half of the others.
fn average_down(lower: &mut ClifLowering, v: &[Value], is_signed: bool) -> Value {
    let half = half_difference(lower, v, is_signed);
    let common = lower.builder.ins().band(v[0], v[1]);
    lower.builder.ins().iadd(common, half)
}

/// `rhadd`: the average, rounded up, without overflow. It is all bits without half of those that differ.
fn average_up(lower: &mut ClifLowering, v: &[Value], is_signed: bool) -> Value {
    let half = half_difference(lower, v, is_signed);
    let all = lower.builder.ins().bor(v[0], v[1]);
    lower.builder.ins().isub(all, half)
}

pub(super) fn average_down_signed(lower: &mut ClifLowering, _: LaneTypes, v: &[Value]) -> Value {
    average_down(lower, v, true)
}

pub(super) fn average_down_unsigned(lower: &mut ClifLowering, _: LaneTypes, v: &[Value]) -> Value {
    average_down(lower, v, false)
}

pub(super) fn average_up_signed(lower: &mut ClifLowering, _: LaneTypes, v: &[Value]) -> Value {
    average_up(lower, v, true)
}

pub(super) fn average_up_unsigned(lower: &mut ClifLowering, _: LaneTypes, v: &[Value]) -> Value {
    average_up(lower, v, false)
}

/// The lowest 24 bits of an integer as an integer.
fn short_integer(
    lower: &mut ClifLowering,
    lane: LaneTypes,
    value: Value,
    is_signed: bool,
) -> Value {
    let shift = i64::from(lane.from.bits().saturating_sub(24));
    let raised = lower.builder.ins().ishl_imm_u(value, shift);
    if is_signed {
        lower.builder.ins().sshr_imm_u(raised, shift)
    } else {
        lower.builder.ins().ushr_imm_u(raised, shift)
    }
}

fn mul_short(lower: &mut ClifLowering, lane: LaneTypes, v: &[Value], is_signed: bool) -> Value {
    let first = short_integer(lower, lane, v[0], is_signed);
    let second = short_integer(lower, lane, v[1], is_signed);
    lower.builder.ins().imul(first, second)
}

/// `mul24`.
pub(super) fn mul_short_signed(lower: &mut ClifLowering, lane: LaneTypes, v: &[Value]) -> Value {
    mul_short(lower, lane, v, true)
}

/// `mul24`.
pub(super) fn mul_short_unsigned(lower: &mut ClifLowering, lane: LaneTypes, v: &[Value]) -> Value {
    mul_short(lower, lane, v, false)
}

/// `mad24`.
pub(super) fn mad_short_signed(lower: &mut ClifLowering, lane: LaneTypes, v: &[Value]) -> Value {
    let product = mul_short(lower, lane, v, true);
    lower.builder.ins().iadd(product, v[2])
}

/// `mad24`.
pub(super) fn mad_short_unsigned(lower: &mut ClifLowering, lane: LaneTypes, v: &[Value]) -> Value {
    let product = mul_short(lower, lane, v, false);
    lower.builder.ins().iadd(product, v[2])
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
