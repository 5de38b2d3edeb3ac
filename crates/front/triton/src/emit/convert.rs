//! Conversions between floating-point formats. Formats of 8 bits and `bf16` are integers, which are computed in `f32`.

use super::llvm_text::LlvmText;
use super::types::{value_type, write_float};
use crate::ir::{FloatFormat, TileElement};

/// Layout of a format that is stored as an integer.
struct SmallFormat {
    mantissa: u32,
    bias: i32,
    /// Bits of the largest finite number without its sign.
    largest: u32,
    /// Bits of a NaN.
    nan: u32,
    /// Bits of infinity, where the format has one.
    infinity: Option<u32>,
    /// Whether the zero with a sign is the only NaN.
    is_unsigned_zero: bool,
}

/// The layout of a format that is stored as an integer of 8 bits.
fn describe_small(format: FloatFormat) -> SmallFormat {
    let (mantissa, bias, largest, nan, infinity) = match format {
        FloatFormat::E5M2 => (2, 15, 0x7b, 0x7f, Some(0x7c)),
        FloatFormat::E5M2Fnuz => (2, 16, 0x7f, 0x80, None),
        FloatFormat::E4M3Fnuz => (3, 8, 0x7f, 0x80, None),
        _ => (3, 7, 0x7e, 0x7f, None),
    };
    SmallFormat {
        mantissa,
        bias,
        largest,
        nan,
        infinity,
        is_unsigned_zero: nan == 0x80,
    }
}

/// The format in which numbers of a format are computed.
pub(super) fn computed_format(format: FloatFormat) -> FloatFormat {
    if format.is_native() {
        format
    } else {
        FloatFormat::Single
    }
}

/// Converts a value to the format in which it is computed.
pub(super) fn widen(text: &mut LlvmText, value: &str, format: FloatFormat) -> String {
    match format {
        FloatFormat::Brain => {
            let wide = text.compute(format!("zext i16 {value} to i32"));
            let shifted = text.compute(format!("shl i32 {wide}, 16"));
            text.compute(format!("bitcast i32 {shifted} to float"))
        }
        _ if format.is_native() => value.to_owned(),
        _ => widen_small(text, value, &describe_small(format)),
    }
}

/// Converts a value in the format in which it is computed back.
pub(super) fn narrow(text: &mut LlvmText, value: &str, format: FloatFormat) -> String {
    match format {
        FloatFormat::Brain => narrow_brain(text, value, true),
        _ if format.is_native() => value.to_owned(),
        _ => narrow_small(text, value, &describe_small(format)),
    }
}

/// Converts between two formats. Results are rounded to the nearest number, or towards zero.
pub(crate) fn convert_format(
    text: &mut LlvmText,
    value: &str,
    from: FloatFormat,
    to: FloatFormat,
    is_nearest: bool,
) -> String {
    if from == to {
        return value.to_owned();
    }
    let wide = widen(text, value, from);
    let (source, target) = (computed_format(from), computed_format(to));
    if target.bits() < source.bits() && target == FloatFormat::Half && !is_nearest {
        let name = if source == FloatFormat::Double {
            "d"
        } else {
            "f"
        };
        let ty = value_type(&TileElement::Float(source));
        let function = format!("_Z16convert_half_rtz{name}");
        return text.call("half", &function, &[(&ty, &wide)]);
    }
    let wide = cast_native(text, &wide, source, target);
    if to == FloatFormat::Brain && !is_nearest {
        return narrow_brain(text, &wide, false);
    }
    narrow(text, &wide, to)
}

/// Converts a value to `f64`, as variadic functions take it.
pub(crate) fn emit_promoted(text: &mut LlvmText, value: &str, format: FloatFormat) -> String {
    convert_format(text, value, format, FloatFormat::Double, true)
}

/// Converts between formats that LLVM IR computes in.
fn cast_native(text: &mut LlvmText, value: &str, from: FloatFormat, to: FloatFormat) -> String {
    if from == to {
        return value.to_owned();
    }
    let instruction = if from.bits() < to.bits() {
        "fpext"
    } else {
        "fptrunc"
    };
    let source = value_type(&TileElement::Float(from));
    let target = value_type(&TileElement::Float(to));
    text.compute(format!("{instruction} {source} {value} to {target}"))
}

/// Rounds an `f32` to `bf16`. A NaN stays one.
fn narrow_brain(text: &mut LlvmText, value: &str, is_nearest: bool) -> String {
    let bits = text.compute(format!("bitcast float {value} to i32"));
    let high = text.compute(format!("lshr i32 {bits}, 16"));
    if !is_nearest {
        return text.compute(format!("trunc i32 {high} to i16"));
    }
    let odd = text.compute(format!("and i32 {high}, 1"));
    let bias = text.compute(format!("add i32 {odd}, 32767"));
    let sum = text.compute(format!("add i32 {bits}, {bias}"));
    let rounded = text.compute(format!("lshr i32 {sum}, 16"));
    let quiet = text.compute(format!("or i32 {high}, 64"));
    let is_nan = text.compute(format!("fcmp uno float {value}, {value}"));
    let chosen = text.compute(format!("select i1 {is_nan}, i32 {quiet}, i32 {rounded}"));
    text.compute(format!("trunc i32 {chosen} to i16"))
}

/// Converts a number of 8 bits to `f32`: its exponent and mantissa are those of an `f32` that is too small by a power of
/// two, which also makes subnormal numbers right.
fn widen_small(text: &mut LlvmText, value: &str, format: &SmallFormat) -> String {
    let wide = text.compute(format!("zext i8 {value} to i32"));
    let magnitude = text.compute(format!("and i32 {wide}, 127"));
    let placed = text.compute(format!("shl i32 {magnitude}, {}", 23 - format.mantissa));
    let small = text.compute(format!("bitcast i32 {placed} to float"));
    let scale = f64::from(127 - format.bias).exp2();
    let scaled = text.compute(format!("fmul float {small}, {}", write_float(scale)));
    let bits = text.compute(format!("bitcast float {scaled} to i32"));
    let sign = text.compute(format!("and i32 {wide}, 128"));
    let sign = text.compute(format!("shl i32 {sign}, 24"));
    let mut bits = text.compute(format!("or i32 {bits}, {sign}"));
    let mut replace = |text: &mut LlvmText, compare: &str, with: String| {
        let holds = text.compute(format!("icmp {compare}"));
        bits = text.compute(format!("select i1 {holds}, i32 {with}, i32 {bits}"));
    };
    if format.is_unsigned_zero {
        replace(
            text,
            &format!("eq i32 {wide}, 128"),
            "2143289344".to_owned(),
        );
    } else if let Some(infinity) = format.infinity {
        let with = text.compute(format!("or i32 {sign}, 2139095040"));
        replace(text, &format!("eq i32 {magnitude}, {infinity}"), with);
        replace(
            text,
            &format!("ugt i32 {magnitude}, {infinity}"),
            "2143289344".to_owned(),
        );
    } else {
        replace(
            text,
            &format!("eq i32 {magnitude}, {}", format.nan),
            "2143289344".to_owned(),
        );
    }
    text.compute(format!("bitcast i32 {bits} to float"))
}

/// Rounds an `f32` to a number of 8 bits, to the nearest even one. Numbers that are too large become the largest, or infinity
/// where they are infinite.
fn narrow_small(text: &mut LlvmText, value: &str, format: &SmallFormat) -> String {
    let bits = text.compute(format!("bitcast float {value} to i32"));
    let magnitude = text.compute(format!("and i32 {bits}, 2147483647"));
    let sign = text.compute(format!("lshr i32 {bits}, 24"));
    let sign = text.compute(format!("and i32 {sign}, 128"));
    let shift = 23 - format.mantissa;
    let rebias = (127 - format.bias) as u32;
    // Normal numbers: the exponent is rebased, and the mantissa rounded.
    let high = text.compute(format!("lshr i32 {magnitude}, {shift}"));
    let odd = text.compute(format!("and i32 {high}, 1"));
    let half = (1_u32 << (shift - 1)) - 1;
    let bias = text.compute(format!("add i32 {odd}, {half}"));
    let sum = text.compute(format!("add i32 {magnitude}, {bias}"));
    let rounded = text.compute(format!("lshr i32 {sum}, {shift}"));
    let normal = text.compute(format!("sub i32 {rounded}, {}", rebias << format.mantissa));
    // Subnormal numbers: adding a power of two leaves the rounded multiple of the smallest number in the low bits.
    let magic = (rebias + 1 + shift) << 23;
    let absolute = text.compute(format!("bitcast i32 {magnitude} to float"));
    let magic_float = text.compute(format!("bitcast i32 {magic} to float"));
    let added = text.compute(format!("fadd float {absolute}, {magic_float}"));
    let added = text.compute(format!("bitcast float {added} to i32"));
    let subnormal = text.compute(format!("sub i32 {added}, {magic}"));
    let least = (rebias + 1) << 23;
    let is_small = text.compute(format!("icmp ult i32 {magnitude}, {least}"));
    let mut result = text.compute(format!(
        "select i1 {is_small}, i32 {subnormal}, i32 {normal}"
    ));
    let is_large = text.compute(format!("icmp ugt i32 {result}, {}", format.largest));
    let limit = format.infinity.unwrap_or(format.largest);
    let largest = format.largest;
    let is_infinite = text.compute(format!("icmp eq i32 {magnitude}, 2139095040"));
    let beyond = text.compute(format!(
        "select i1 {is_infinite}, i32 {limit}, i32 {largest}"
    ));
    result = text.compute(format!("select i1 {is_large}, i32 {beyond}, i32 {result}"));
    let mut signed = text.compute(format!("or i32 {result}, {sign}"));
    if format.is_unsigned_zero {
        let is_zero = text.compute(format!("icmp eq i32 {result}, 0"));
        signed = text.compute(format!("select i1 {is_zero}, i32 0, i32 {signed}"));
    }
    let is_nan = text.compute(format!("fcmp uno float {value}, {value}"));
    let chosen = text.compute(format!(
        "select i1 {is_nan}, i32 {}, i32 {signed}",
        format.nan
    ));
    text.compute(format!("trunc i32 {chosen} to i8"))
}
