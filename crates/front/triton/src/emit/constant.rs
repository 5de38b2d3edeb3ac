//! Constants of each type.

use super::types::write_float;
use crate::ir::{FloatFormat, TileAttribute, TileElement};

/// The constant of a type that an attribute says; none where it does not fit the type.
pub(crate) fn emit_constant(element: &TileElement, value: &TileAttribute) -> Option<String> {
    match (element, value) {
        (TileElement::Integer(1), TileAttribute::Word(word)) => Some(word.clone()),
        (TileElement::Integer(1), TileAttribute::Integer(value)) => Some((*value != 0).to_string()),
        (TileElement::Integer(_), TileAttribute::Integer(value)) => Some(value.to_string()),
        (TileElement::Pointer(_), TileAttribute::Integer(0)) => Some("null".to_owned()),
        (TileElement::Float(format), TileAttribute::Float(value)) => {
            Some(write_number(*format, *value))
        }
        (TileElement::Float(format), TileAttribute::Bits(bits)) => Some(write_bits(*format, *bits)),
        _ => None,
    }
}

/// A number of a format. Numbers of the formats that are stored as integers are rounded to nearest.
fn write_number(format: FloatFormat, value: f64) -> String {
    let single = value as f32;
    match format {
        FloatFormat::Double => write_float(value),
        FloatFormat::Single => write_float(f64::from(single)),
        FloatFormat::Half => write_bits(format, round_number(value, 10, 15)),
        FloatFormat::Brain => {
            let bits = single.to_bits();
            let rounded = bits.wrapping_add(0x7fff + (bits >> 16 & 1)) >> 16;
            write_bits(format, u64::from(rounded))
        }
        FloatFormat::E5M2 => write_bits(format, round_number(value, 2, 15)),
        FloatFormat::E4M3 => write_bits(format, round_number(value, 3, 7)),
        FloatFormat::E5M2Fnuz => write_bits(format, round_number(value, 2, 16)),
        FloatFormat::E4M3Fnuz => write_bits(format, round_number(value, 3, 8)),
    }
}

/// The bits of a finite number in a format of some bits of mantissa and a bias, with as many bits of exponent as the bias has.
fn round_number(value: f64, mantissa: i32, bias: i32) -> u64 {
    let sign = u64::from(value.is_sign_negative());
    let magnitude = value.abs();
    let exponent_bits = if bias > 8 { 5 } else { 4 };
    let sign = sign << (mantissa + exponent_bits);
    if magnitude == 0.0 {
        return if bias == 16 || bias == 8 { 0 } else { sign };
    }
    let exponent = (magnitude.log2().floor() as i32).max(1 - bias);
    let units = (magnitude / f64::from(exponent - mantissa).exp2()).round_ties_even() as u64;
    let rebased = (exponent + bias - 1) as u64;
    sign | ((rebased << mantissa) + units)
}

/// A number by its bits.
fn write_bits(format: FloatFormat, bits: u64) -> String {
    match format {
        FloatFormat::Double => format!("0x{bits:016X}"),
        FloatFormat::Single => write_float(f64::from(f32::from_bits(bits as u32))),
        FloatFormat::Half => format!("0xH{:04X}", bits as u16),
        FloatFormat::Brain => (bits as u16).to_string(),
        _ => (bits as u8).to_string(),
    }
}
