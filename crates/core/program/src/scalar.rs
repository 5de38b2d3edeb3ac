//! Scalar types and their literals.

use serde::{Deserialize, Serialize};
use spirula_scalar::convert::{f16_from_f64, f16_to_f32};
use spirula_scalar::{FloatEncoding, int};
use std::fmt;

/// The type of a scalar. Integers have no sign of their own: operators interpret them as signed or unsigned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ScalarType {
    /// Integer of 8 bits.
    I8,
    /// Integer of 16 bits.
    I16,
    /// Integer of 32 bits.
    I32,
    /// Integer of 64 bits.
    I64,
    /// IEEE 754 binary16.
    F16,
    /// IEEE 754 binary32.
    F32,
    /// IEEE 754 binary64.
    F64,
    /// Truth value: bits 0 or 1, one byte in memory.
    Bool,
    /// The type with one value; it takes no memory.
    Unit,
}

/// Names of the types in the order of [`ScalarType::ALL`].
const NAMES: [&str; 9] = [
    "i8", "i16", "i32", "i64", "f16", "f32", "f64", "bool", "unit",
];

impl ScalarType {
    /// All types.
    pub const ALL: [ScalarType; 9] = [
        ScalarType::I8,
        ScalarType::I16,
        ScalarType::I32,
        ScalarType::I64,
        ScalarType::F16,
        ScalarType::F32,
        ScalarType::F64,
        ScalarType::Bool,
        ScalarType::Unit,
    ];

    /// The name.
    pub fn name(self) -> &'static str {
        NAMES[self as usize]
    }

    /// The type with this name.
    pub fn from_name(name: &str) -> Option<ScalarType> {
        let at = NAMES.iter().position(|n| *n == name)?;
        Some(ScalarType::ALL[at])
    }

    /// Size of a value in memory, in bytes.
    pub fn size(self) -> u64 {
        match self {
            ScalarType::Unit => 0,
            ScalarType::I8 | ScalarType::Bool => 1,
            ScalarType::I16 | ScalarType::F16 => 2,
            ScalarType::I32 | ScalarType::F32 => 4,
            ScalarType::I64 | ScalarType::F64 => 8,
        }
    }

    /// Number of bits of a value: 1 for a truth value, 0 for the unit.
    pub fn width(self) -> u32 {
        match self {
            ScalarType::Bool => 1,
            _ => self.size() as u32 * 8,
        }
    }

    /// Whether it is an integer.
    pub fn is_int(self) -> bool {
        self <= ScalarType::I64
    }

    /// The format of a floating-point type.
    pub fn format(self) -> Option<FloatEncoding> {
        match self {
            ScalarType::F16 => Some(FloatEncoding::F16),
            ScalarType::F32 => Some(FloatEncoding::F32),
            ScalarType::F64 => Some(FloatEncoding::F64),
            _ => None,
        }
    }

    /// Whether it is a floating-point type.
    pub fn is_float(self) -> bool {
        self.format().is_some()
    }

    /// The bits that a value of this type has.
    pub fn truncate_bits(self, bits: u64) -> u64 {
        match self {
            ScalarType::Unit => 0,
            _ => bits & int::make_mask(self.width()),
        }
    }
}

impl fmt::Display for ScalarType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A value: its type and its bits. Bits above the type's width are 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ScalarLiteral {
    /// Type.
    pub ty: ScalarType,
    /// Bits.
    pub bits: u64,
}

impl ScalarLiteral {
    /// A value from its bits. Bits above the type's width are dropped.
    pub fn new(ty: ScalarType, bits: u64) -> Self {
        let bits = ty.truncate_bits(bits);
        ScalarLiteral { ty, bits }
    }

    /// An `i64`.
    pub fn from_i64(value: i64) -> Self {
        Self::new(ScalarType::I64, value as u64)
    }

    /// An `i32`.
    pub fn from_i32(value: i32) -> Self {
        Self::new(ScalarType::I32, value as u32 as u64)
    }

    /// An integer's value with its sign.
    pub fn to_signed(self) -> i64 {
        int::sign_extend(self.bits, self.ty.width().max(1))
    }

    /// Reads a literal such as `5i64`, `-1.5f32`, `f32.nan`, `-f64.inf`, `f32.0x7fc00001`, `true` or `()`. Integers must lie
    /// between the type's lowest signed and highest unsigned value.
    pub fn from_text(text: &str) -> Option<ScalarLiteral> {
        match text {
            "true" => return Some(ScalarLiteral::new(ScalarType::Bool, 1)),
            "false" => return Some(ScalarLiteral::new(ScalarType::Bool, 0)),
            "()" => return Some(ScalarLiteral::new(ScalarType::Unit, 0)),
            _ => {}
        }
        if let Some(special) = parse_special(text) {
            return Some(special);
        }
        let mark = text.rfind(['i', 'f'])?;
        let (digits, name) = text.split_at(mark);
        let ty = ScalarType::from_name(name)?;
        if !digits.starts_with(|c: char| c == '-' || c.is_ascii_digit()) {
            return None;
        }
        let bits = match ty {
            ScalarType::F64 => digits.parse::<f64>().ok()?.to_bits(),
            ScalarType::F32 => digits.parse::<f32>().ok()?.to_bits().into(),
            ScalarType::F16 => f16_from_f64(digits.parse::<f64>().ok()?).into(),
            _ => parse_integer(digits, ty.width())?,
        };
        Some(ScalarLiteral::new(ty, bits))
    }
}

fn parse_integer(digits: &str, width: u32) -> Option<u64> {
    let value: i128 = digits.parse().ok()?;
    let fits = value >= -(1i128 << (width - 1)) && value < 1i128 << width;
    fits.then_some(value as u64)
}

/// Reads infinities, NaNs, and numbers by their bits.
fn parse_special(text: &str) -> Option<ScalarLiteral> {
    let (negative, rest) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let (name, kind) = rest.split_once('.')?;
    let ty = ScalarType::from_name(name)?;
    let format = ty.format()?;
    let bits = match kind.strip_prefix("0x") {
        Some(hex) if !negative => u64::from_str_radix(hex, 16).ok()?,
        _ => match kind {
            "nan" => format.nan(),
            "inf" => format.infinity(),
            _ => return None,
        },
    };
    let sign = if negative { format.sign_bit() } else { 0 };
    (ty.truncate_bits(bits) == bits).then(|| ScalarLiteral::new(ty, bits | sign))
}

/// The form that [`ScalarLiteral::from_text`] reads back to the same bits.
impl fmt::Display for ScalarLiteral {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ScalarLiteral { ty, bits } = *self;
        let value = match ty {
            ScalarType::Unit => return f.write_str("()"),
            ScalarType::Bool => return write!(f, "{}", bits != 0),
            ScalarType::F64 => f64::from_bits(bits),
            ScalarType::F32 => f32::from_bits(bits as u32).into(),
            ScalarType::F16 => f16_to_f32(bits as u16).into(),
            _ => return write!(f, "{}{ty}", self.to_signed()),
        };
        let nan = ty.format().map_or(0, FloatEncoding::nan);
        match () {
            () if value.is_nan() && bits == nan => write!(f, "{ty}.nan"),
            () if value.is_nan() => write!(f, "{ty}.{bits:#x}"),
            () if value == f64::INFINITY => write!(f, "{ty}.inf"),
            () if value == f64::NEG_INFINITY => write!(f, "-{ty}.inf"),
            () if ty == ScalarType::F64 => write!(f, "{value:?}{ty}"),
            () => write!(f, "{:?}{ty}", value as f32),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_read_back() {
        let samples = [
            "-128i8",
            "5i64",
            "1.5f32",
            "-0.0f64",
            "1e-7f32",
            "f32.nan",
            "-f64.inf",
            "f16.inf",
            "true",
            "()",
            "0.1f16",
            "f32.0x7fc00001",
        ];
        for text in samples {
            let literal = ScalarLiteral::from_text(text).expect(text);
            assert_eq!(
                ScalarLiteral::from_text(&literal.to_string()),
                Some(literal),
                "{text}"
            );
        }
    }

    #[test]
    fn wrong_literals_are_refused() {
        for text in [
            "",
            "5",
            "i64",
            "300i8",
            "1.0i32",
            "f32.0x1ffffffff",
            "xi64",
            "infinityf32",
        ] {
            assert_eq!(ScalarLiteral::from_text(text), None, "{text}");
        }
    }
}
