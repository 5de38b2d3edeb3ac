//! Constant folding of conversions: each takes a constant and the result type.

use super::{FoldConstant, FoldType, is_int_type};
use crate::convert;
use crate::format::{FloatEncoding, FloatRounding};
use crate::int::{make_mask, sign_extend};

/// The operand's and the result's types, for matching.
fn int_to_int(value: FoldConstant, to: FoldType) -> Option<(u32, u32)> {
    (is_int_type(value.ty) && is_int_type(to)).then(|| (value.ty.width(), to.width()))
}

/// `OpConvertFToU` (saturating) or `OpConvertFToS`.
fn float_to_int(value: FoldConstant, to: FoldType, signed: bool) -> Option<u64> {
    match (value.ty, to) {
        (FoldType::Float(from), FoldType::Int { width }) => Some(convert::float_to_int(
            value.bits,
            from,
            width,
            signed,
            FloatRounding::TowardZero,
        )),
        _ => None,
    }
}

/// `OpConvertUToF` or `OpConvertSToF`.
fn int_to_float(value: FoldConstant, to: FoldType, signed: bool) -> Option<u64> {
    match (value.ty, to) {
        (FoldType::Int { width }, FoldType::Float(format)) => Some(convert::int_to_float(
            value.bits,
            width,
            signed,
            format,
            FloatRounding::NearestEven,
        )),
        _ => None,
    }
}

pub(super) fn f_to_u(value: FoldConstant, to: FoldType) -> Option<u64> {
    float_to_int(value, to, false)
}

pub(super) fn f_to_s(value: FoldConstant, to: FoldType) -> Option<u64> {
    float_to_int(value, to, true)
}

pub(super) fn u_to_f(value: FoldConstant, to: FoldType) -> Option<u64> {
    int_to_float(value, to, false)
}

pub(super) fn s_to_f(value: FoldConstant, to: FoldType) -> Option<u64> {
    int_to_float(value, to, true)
}

pub(super) fn u_convert(value: FoldConstant, to: FoldType) -> Option<u64> {
    int_to_int(value, to).map(|(from, _)| value.bits & make_mask(from))
}

pub(super) fn s_convert(value: FoldConstant, to: FoldType) -> Option<u64> {
    int_to_int(value, to).map(|(from, _)| sign_extend(value.bits, from) as u64)
}

pub(super) fn sat_s_to_u(value: FoldConstant, to: FoldType) -> Option<u64> {
    let (from, width) = int_to_int(value, to)?;
    Some(convert::int_to_int_saturating(
        value.bits, from, true, width, false,
    ))
}

pub(super) fn sat_u_to_s(value: FoldConstant, to: FoldType) -> Option<u64> {
    let (from, width) = int_to_int(value, to)?;
    Some(convert::int_to_int_saturating(
        value.bits, from, false, width, true,
    ))
}

pub(super) fn f_convert(value: FoldConstant, to: FoldType) -> Option<u64> {
    match (value.ty, to) {
        (FoldType::Float(from), FoldType::Float(format)) => Some(convert::float_to_float(
            value.bits,
            from,
            format,
            FloatRounding::NearestEven,
        )),
        _ => None,
    }
}

pub(super) fn fold_quantize(value: FoldConstant, to: FoldType) -> Option<u64> {
    let single = FoldType::Float(FloatEncoding::F32);
    (value.ty == single && to == single).then(|| {
        convert::quantize_to_f16(f32::from_bits(value.bits as u32))
            .to_bits()
            .into()
    })
}

pub(super) fn fold_bitcast(value: FoldConstant, to: FoldType) -> Option<u64> {
    let numeric = value.ty != FoldType::Bool && to != FoldType::Bool;
    (numeric && value.ty.width() == to.width()).then_some(value.bits)
}

pub(super) fn fold_copy(value: FoldConstant, to: FoldType) -> Option<u64> {
    (value.ty == to).then_some(value.bits)
}
