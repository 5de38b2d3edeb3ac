//! Conversions between floating-point formats, and between them and integers.
//!
//! Every function takes and gives bits in a `u64`; integers are `width` bits wide (1 to 64), given
//! with or without sign extension and returned zero-extended. Conversions to integers saturate and
//! turn NaN into zero, whether the program asked for saturation or not: SPIR-V leaves the other
//! results open, and one rule is easier to reproduce everywhere.
//!
//! All have the C calling convention; a [`FloatEncoding`] is passed as its code, a [`FloatRounding`] as its number.

use crate::format::{
    DecodedFloat, FloatEncoding, FloatRounding, decode_bits, encode_value, round_to_format,
    shift_rounded,
};
use crate::int::{make_mask, sign_extend};

/// Converts `bits` of the format `from` to the format `to`, rounding once.
///
/// NaN stays NaN, with its sign and the payload bits that fit, and becomes quiet.
#[inline]
pub extern "C" fn float_to_float(
    bits: u64,
    from: FloatEncoding,
    to: FloatEncoding,
    rounding: FloatRounding,
) -> u64 {
    encode_value(decode_bits(bits, from), to, rounding)
}

/// Converts an integer of `width` bits, two's complement if `signed`, to the format `to`.
#[inline]
pub extern "C" fn int_to_float(
    value: u64,
    width: u32,
    signed: bool,
    to: FloatEncoding,
    rounding: FloatRounding,
) -> u64 {
    let (negative, magnitude) = if signed {
        let value = sign_extend(value, width);
        (value < 0, value.unsigned_abs())
    } else {
        (false, value & make_mask(width))
    };
    round_to_format(negative, magnitude, 0, to, rounding)
}

/// Converts `bits` of the format `from` to an integer of `width` bits, rounding to an integer first
/// and then saturating; NaN gives 0.
#[inline]
pub extern "C" fn float_to_int(
    bits: u64,
    from: FloatEncoding,
    width: u32,
    signed: bool,
    rounding: FloatRounding,
) -> u64 {
    let (negative, significand, exponent) = match decode_bits(bits, from) {
        DecodedFloat::Zero { .. } | DecodedFloat::Nan { .. } => return 0,
        DecodedFloat::Infinite { negative } => (negative, 1, 64),
        DecodedFloat::Finite {
            negative,
            significand,
            exponent,
        } => (negative, significand, exponent),
    };
    // Every value of 2^64 and more saturates alike.
    let magnitude = shift_rounded(significand, exponent.min(64), negative, rounding);
    let (lowest, highest) = match (signed, negative) {
        (true, true) => (true, 1u128 << (width - 1)),
        (true, false) => (false, (1u128 << (width - 1)) - 1),
        (false, true) => (true, 0),
        (false, false) => (false, u128::from(make_mask(width))),
    };
    let magnitude = magnitude.min(highest) as u64;
    let value = if lowest {
        magnitude.wrapping_neg()
    } else {
        magnitude
    };
    value & make_mask(width)
}

/// An integer of `from` bits (two's complement if `signed`) clamped to the range of an integer of
/// `to` bits (two's complement if `to_signed`).
pub extern "C" fn int_to_int_saturating(
    value: u64,
    from: u32,
    signed: bool,
    to: u32,
    to_signed: bool,
) -> u64 {
    let value = if signed {
        i128::from(sign_extend(value, from))
    } else {
        i128::from(value & make_mask(from))
    };
    crate::int::saturate_to_width(value, to, to_signed)
}

/// `f32` to `f16` bits, to nearest even.
pub extern "C" fn f16_from_f32(value: f32) -> u16 {
    float_to_float(
        value.to_bits().into(),
        FloatEncoding::F32,
        FloatEncoding::F16,
        FloatRounding::NearestEven,
    ) as u16
}

/// `f64` to `f16` bits, to nearest even, without passing through `f32`.
pub extern "C" fn f16_from_f64(value: f64) -> u16 {
    float_to_float(
        value.to_bits(),
        FloatEncoding::F64,
        FloatEncoding::F16,
        FloatRounding::NearestEven,
    ) as u16
}

/// `f16` bits to `f32`, exact.
pub extern "C" fn f16_to_f32(bits: u16) -> f32 {
    let magnitude = u32::from(bits & 0x7FFF) << 13;
    let sign = u32::from(bits & 0x8000) << 16;
    if magnitude >= 0x0F80_0000 {
        // Infinity and NaN; NaN becomes quiet.
        let quiet = if magnitude > 0x0F80_0000 {
            0x0040_0000
        } else {
            0
        };
        return f32::from_bits(sign | magnitude | 0x7F80_0000 | quiet);
    }
    if magnitude < 0x0080_0000 {
        let value = (bits & 0x7FFF) as f32 * f32::from_bits((127 - 24) << 23);
        return f32::from_bits(value.to_bits() | sign);
    }
    f32::from_bits(sign | (magnitude + ((127 - 15) << 23)))
}

/// `f16` bits to `f64`, exact.
pub extern "C" fn f16_to_f64(bits: u16) -> f64 {
    f64::from(f16_to_f32(bits))
}

/// `f32` to `bf16` bits, to nearest even.
pub extern "C" fn bf16_from_f32(value: f32) -> u16 {
    let bits = value.to_bits();
    if value.is_nan() {
        return (bits >> 16) as u16 | 0x0040;
    }
    ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16) as u16
}

/// `f64` to `bf16` bits, to nearest even, without passing through `f32`.
pub extern "C" fn bf16_from_f64(value: f64) -> u16 {
    float_to_float(
        value.to_bits(),
        FloatEncoding::F64,
        FloatEncoding::BF16,
        FloatRounding::NearestEven,
    ) as u16
}

/// `bf16` bits to `f32`, exact.
pub extern "C" fn bf16_to_f32(bits: u16) -> f32 {
    f32::from_bits(u32::from(bits) << 16)
}

/// `bf16` bits to `f64`, exact.
pub extern "C" fn bf16_to_f64(bits: u16) -> f64 {
    f64::from(bf16_to_f32(bits))
}

/// `value` rounded to `f16` and back (`OpQuantizeToF16`); subnormal results are kept.
pub extern "C" fn quantize_to_f16(value: f32) -> f32 {
    f16_to_f32(f16_from_f32(value))
}
