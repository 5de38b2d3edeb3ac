//! Element types: names, sizes, and conversions between bytes, numbers and decimal text.

use super::DataError;
use spirula_scalar::convert::float_to_float;
use spirula_scalar::{FloatEncoding, FloatRounding};
use std::fmt;
use std::str::FromStr;

/// The type of one element of a buffer, stored little-endian.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ElementType {
    /// One byte, 0 or 1.
    Bool,
    /// Signed, 8 bits.
    I8,
    /// Signed, 16 bits.
    I16,
    /// Signed, 32 bits.
    I32,
    /// Signed, 64 bits.
    I64,
    /// Unsigned, 8 bits.
    U8,
    /// Unsigned, 16 bits.
    U16,
    /// Unsigned, 32 bits.
    U32,
    /// Unsigned, 64 bits.
    U64,
    /// IEEE binary16.
    F16,
    /// The upper half of a binary32.
    BF16,
    /// IEEE binary32.
    F32,
    /// IEEE binary64.
    F64,
}

/// Interpretations of the bits of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ElementClass {
    /// True or false.
    Bool,
    /// Two's complement.
    Signed,
    /// Non-negative.
    Unsigned,
    /// Binary floating point.
    Float,
}

/// Every element type with its name, bytes and class.
const ELEMENTS: [(ElementType, &str, usize, ElementClass); 13] = [
    (ElementType::Bool, "bool", 1, ElementClass::Bool),
    (ElementType::I8, "i8", 1, ElementClass::Signed),
    (ElementType::I16, "i16", 2, ElementClass::Signed),
    (ElementType::I32, "i32", 4, ElementClass::Signed),
    (ElementType::I64, "i64", 8, ElementClass::Signed),
    (ElementType::U8, "u8", 1, ElementClass::Unsigned),
    (ElementType::U16, "u16", 2, ElementClass::Unsigned),
    (ElementType::U32, "u32", 4, ElementClass::Unsigned),
    (ElementType::U64, "u64", 8, ElementClass::Unsigned),
    (ElementType::F16, "f16", 2, ElementClass::Float),
    (ElementType::BF16, "bf16", 2, ElementClass::Float),
    (ElementType::F32, "f32", 4, ElementClass::Float),
    (ElementType::F64, "f64", 8, ElementClass::Float),
];

/// The value of one element, exact for every type.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ElementNumber {
    /// An integer of any type, or a boolean as 0 or 1.
    Int(i128),
    /// A float of any type.
    Float(f64),
}

impl ElementNumber {
    /// The nearest double.
    pub fn to_f64(self) -> f64 {
        match self {
            ElementNumber::Int(n) => n as f64,
            ElementNumber::Float(x) => x,
        }
    }

    /// The integer, or the float rounded towards zero and saturated to 128 bits; NaN is 0.
    pub fn to_int(self) -> i128 {
        match self {
            ElementNumber::Int(n) => n,
            ElementNumber::Float(x) => x as i128,
        }
    }
}

impl ElementType {
    /// All element types.
    pub fn iter_all() -> impl Iterator<Item = ElementType> {
        ELEMENTS.iter().map(|row| row.0)
    }

    fn table_row(self) -> &'static (ElementType, &'static str, usize, ElementClass) {
        &ELEMENTS[self as usize]
    }

    /// The name that [`ElementType::from_str`] takes.
    pub fn name(self) -> &'static str {
        self.table_row().1
    }

    /// Bytes of one element.
    pub fn size(self) -> usize {
        self.table_row().2
    }

    /// Interpretation of its bits.
    pub fn class(self) -> ElementClass {
        self.table_row().3
    }

    /// Whether it is a floating-point type.
    pub fn is_float(self) -> bool {
        self.class() == ElementClass::Float
    }

    /// Appends a number: integers wrap to the width, floats round to nearest even, booleans are
    /// true where the number is not 0.
    pub fn encode_number(self, number: ElementNumber, out: &mut Vec<u8>) {
        match self {
            ElementType::Bool => out.push(u8::from(number.to_f64() != 0.0)),
            ElementType::F16 => encode_half(number, FloatEncoding::F16, out),
            ElementType::BF16 => encode_half(number, FloatEncoding::BF16, out),
            ElementType::F32 => {
                let single = match number {
                    ElementNumber::Int(n) => n as f32,
                    ElementNumber::Float(x) => x as f32,
                };
                out.extend_from_slice(&single.to_le_bytes());
            }
            ElementType::F64 => out.extend_from_slice(&number.to_f64().to_le_bytes()),
            _ => out.extend_from_slice(&number.to_int().to_le_bytes()[..self.size()]),
        }
    }

    /// The number in the first bytes.
    ///
    /// # Panics
    /// When there are fewer bytes than the element has.
    pub fn decode_number(self, bytes: &[u8]) -> ElementNumber {
        let mut wide = [0; 8];
        wide[..self.size()].copy_from_slice(&bytes[..self.size()]);
        let bits = u64::from_le_bytes(wide);
        match self {
            ElementType::Bool => ElementNumber::Int(i128::from(bits != 0)),
            ElementType::I8 => ElementNumber::Int((bits as i8).into()),
            ElementType::I16 => ElementNumber::Int((bits as i16).into()),
            ElementType::I32 => ElementNumber::Int((bits as i32).into()),
            ElementType::I64 => ElementNumber::Int((bits as i64).into()),
            ElementType::U8 | ElementType::U16 | ElementType::U32 | ElementType::U64 => {
                ElementNumber::Int(bits.into())
            }
            ElementType::F16 => decode_half(bits, FloatEncoding::F16),
            ElementType::BF16 => decode_half(bits, FloatEncoding::BF16),
            ElementType::F32 => ElementNumber::Float(f32::from_bits(bits as u32).into()),
            ElementType::F64 => ElementNumber::Float(f64::from_bits(bits)),
        }
    }

    /// Parses a number: decimal, `0x` for integers, `inf` and `nan` for floats, `true` and `false` for booleans.
    ///
    /// # Errors
    /// When the text is no number, or the type cannot represent it.
    pub fn parse_number(self, text: &str) -> Result<ElementNumber, DataError> {
        let bad = || DataError::Number {
            text: text.to_owned(),
            element: self,
        };
        match self.class() {
            ElementClass::Float => text
                .parse()
                .map(|x: f64| match self {
                    // Decimal to single in one rounding.
                    ElementType::F32 => {
                        ElementNumber::Float(text.parse::<f32>().unwrap_or(x as f32).into())
                    }
                    _ => ElementNumber::Float(x),
                })
                .map_err(|_| bad()),
            ElementClass::Bool => match text {
                "true" | "1" => Ok(ElementNumber::Int(1)),
                "false" | "0" => Ok(ElementNumber::Int(0)),
                _ => Err(bad()),
            },
            ElementClass::Signed | ElementClass::Unsigned => {
                let n = parse_int(text).ok_or_else(bad)?;
                let (low, high) = self.integer_range();
                (low..=high)
                    .contains(&n)
                    .then_some(ElementNumber::Int(n))
                    .ok_or_else(bad)
            }
        }
    }

    /// Smallest and largest value of an integer type.
    fn integer_range(self) -> (i128, i128) {
        let bits = self.size() as u32 * 8;
        match self.class() {
            ElementClass::Signed => (-(1 << (bits - 1)), (1 << (bits - 1)) - 1),
            _ => (0, (1 << bits) - 1),
        }
    }

    /// A number of this type as the shortest text that reads back as the same.
    pub fn format_number(self, number: ElementNumber) -> String {
        match (self, number) {
            (ElementType::Bool, n) => (n.to_f64() != 0.0).to_string(),
            (_, ElementNumber::Int(n)) => n.to_string(),
            (ElementType::F64, ElementNumber::Float(x)) => {
                float_text(x, format!("{x}"), format!("{x:e}"))
            }
            (_, ElementNumber::Float(x)) => {
                let s = x as f32;
                float_text(x, format!("{s}"), format!("{s:e}"))
            }
        }
    }
}

/// Plain notation for numbers of moderate size, else with an exponent.
fn float_text(x: f64, plain: String, exponent: String) -> String {
    let easy = x == 0.0 || (1e-5..1e9).contains(&x.abs()) || !x.is_finite();
    if easy { plain } else { exponent }
}

fn parse_int(text: &str) -> Option<i128> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    if !digits.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let n = match digits.strip_prefix("0x").or(digits.strip_prefix("0X")) {
        Some(hex) if hex.starts_with(|c: char| c.is_ascii_hexdigit()) => {
            i128::from_str_radix(hex, 16).ok()?
        }
        Some(_) => return None,
        None => digits.parse().ok()?,
    };
    Some(if negative { -n } else { n })
}

impl fmt::Display for ElementType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for ElementType {
    type Err = DataError;

    fn from_str(name: &str) -> Result<Self, DataError> {
        ElementType::iter_all()
            .find(|e| e.name() == name)
            .ok_or_else(|| DataError::Element(name.to_owned()))
    }
}

/// A number in a format of 16 bits, rounded once, ties to even.
fn encode_half(number: ElementNumber, format: FloatEncoding, out: &mut Vec<u8>) {
    let bits = number.to_f64().to_bits();
    let half = float_to_float(bits, FloatEncoding::F64, format, FloatRounding::NearestEven);
    out.extend_from_slice(&(half as u16).to_le_bytes());
}

fn decode_half(bits: u64, format: FloatEncoding) -> ElementNumber {
    let wide = float_to_float(bits, format, FloatEncoding::F64, FloatRounding::NearestEven);
    ElementNumber::Float(f64::from_bits(wide))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Digits far below the kept ones decide what would otherwise be a tie.
    #[test]
    fn halves_are_rounded_once() {
        let bits = |element: ElementType, x: f64| {
            let mut out = Vec::new();
            element.encode_number(ElementNumber::Float(x), &mut out);
            u16::from_le_bytes([out[0], out[1]])
        };
        let above_tie = 1.0 + 2f64.powi(-8) + 2f64.powi(-40);
        assert_eq!(bits(ElementType::BF16, above_tie), 0x3f81);
        assert_eq!(bits(ElementType::BF16, 1.0 + 2f64.powi(-8)), 0x3f80);
        let above_tie = 1.0 + 2f64.powi(-11) + 2f64.powi(-40);
        assert_eq!(bits(ElementType::F16, above_tie), 0x3c01);
    }

    #[test]
    fn rows_stand_in_the_order_of_the_enum() {
        for (i, element) in ElementType::iter_all().enumerate() {
            assert_eq!(element as usize, i);
            assert_eq!(element.name().parse(), Ok(element));
        }
    }

    #[test]
    fn limits_of_every_integer_type_read_back() {
        for element in ElementType::iter_all().filter(|e| !e.is_float()) {
            let (low, high) = match element.class() {
                ElementClass::Bool => (0, 1),
                _ => element.integer_range(),
            };
            for n in [low, high] {
                let mut bytes = Vec::new();
                element.encode_number(ElementNumber::Int(n), &mut bytes);
                assert_eq!(bytes.len(), element.size());
                assert_eq!(
                    element.decode_number(&bytes),
                    ElementNumber::Int(n),
                    "{element}"
                );
                assert_eq!(
                    element.parse_number(&element.format_number(ElementNumber::Int(n))),
                    Ok(ElementNumber::Int(n))
                );
            }
            assert!(element.parse_number(&(high + 1).to_string()).is_err());
            assert!(element.parse_number(&(low - 1).to_string()).is_err());
        }
    }

    #[test]
    fn floats_round_to_nearest_even() {
        let bytes = |e: ElementType, text| {
            let mut out = Vec::new();
            e.encode_number(e.parse_number(text).unwrap(), &mut out);
            out
        };
        assert_eq!(bytes(ElementType::F16, "2049"), 0x6800_u16.to_le_bytes());
        assert_eq!(bytes(ElementType::F16, "65520"), 0x7c00_u16.to_le_bytes());
        assert_eq!(
            bytes(ElementType::BF16, "1.00390625"),
            0x3f80_u16.to_le_bytes()
        );
        assert_eq!(bytes(ElementType::F32, "0.1"), 0.1_f32.to_le_bytes());
        assert_eq!(
            ElementType::F32.format_number(ElementType::F32.decode_number(&0.1_f32.to_le_bytes())),
            "0.1"
        );
        assert_eq!(
            bytes(ElementType::F32, "-inf"),
            f32::NEG_INFINITY.to_le_bytes()
        );
    }

    #[test]
    fn words_that_are_no_numbers_are_refused() {
        for text in ["", "-", "+", "0x", "0x-1", "--1", "1 2", "1.5", "e", "0xg"] {
            assert!(ElementType::I32.parse_number(text).is_err(), "{text}");
        }
        assert_eq!(
            ElementType::I32.parse_number("-0x10"),
            Ok(ElementNumber::Int(-16))
        );
    }
}
