//! Slot numbers: the numbers that exchange slots hold, as bits and as values.

use crate::module::types::ScalarRepr;
use spirula_scalar::{FloatEncoding, FloatRounding, convert};

pub(crate) fn truncate_to_width(bits: u64, scalar: ScalarRepr) -> u64 {
    bits & (u64::MAX >> (64 - scalar.bytes() * 8))
}

/// The value of a floating-point number. A slot may have other bits above it.
pub(crate) fn number_from_bits(bits: u64, scalar: ScalarRepr) -> f64 {
    decode_float(truncate_to_width(bits, scalar), scalar)
}

/// The value of a floating-point number.
pub(crate) fn decode_float(bits: u64, scalar: ScalarRepr) -> f64 {
    let rounding = FloatRounding::NearestEven;
    f64::from_bits(convert::float_to_float(
        bits,
        float_format(scalar),
        FloatEncoding::F64,
        rounding,
    ))
}

/// The bits of a value that is rounded to a floating-point type.
pub(crate) fn encode_float(value: f64, scalar: ScalarRepr) -> u64 {
    let rounding = FloatRounding::NearestEven;
    convert::float_to_float(
        value.to_bits(),
        FloatEncoding::F64,
        float_format(scalar),
        rounding,
    )
}

fn float_format(scalar: ScalarRepr) -> FloatEncoding {
    scalar.float_format().unwrap_or(FloatEncoding::F64)
}
