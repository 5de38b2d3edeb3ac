//! Numbers in text, and as elements of a type.

use super::cursor::MlirParseResult;
use super::parser::MlirParser;
use crate::mlir::{IntegerSignedness, MlirFloat, MlirType, MlirTypeKind};

/// A number in text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MlirLiteral {
    pub value: MlirLiteralValue,
    start: usize,
}

/// Form of a number.
#[derive(Clone, Copy, Debug)]
pub(crate) enum MlirLiteralValue {
    /// `true` or `false`
    Bool(bool),
    /// `-12`
    Integer(i128),
    /// `0x7F`, which may be negative
    Hex { bits: u64, negative: bool },
    /// `1.5e3`
    Float(f64),
}

/// Storage of a number of a type.
#[derive(Clone, Copy, Debug)]
pub(crate) enum NumberStorage {
    Integer { width: u32, sign: IntegerSignedness },
    Float(MlirFloat),
}

impl NumberStorage {
    /// Whole bytes.
    pub fn byte_width(self) -> usize {
        match self {
            NumberStorage::Integer { width, .. } => width.div_ceil(8) as usize,
            NumberStorage::Float(float) => float.width().div_ceil(8) as usize,
        }
    }
}

impl MlirParser<'_> {
    /// Storage of the numbers of a type: integers of at most 64 bits, `index`, floats.
    pub fn scalar_of(&self, ty: MlirType) -> Option<NumberStorage> {
        match *self.module.types.kind(ty) {
            MlirTypeKind::Integer { width, sign } if width <= 64 => {
                Some(NumberStorage::Integer { width, sign })
            }
            MlirTypeKind::Index => Some(NumberStorage::Integer {
                width: 64,
                sign: IntegerSignedness::Signless,
            }),
            MlirTypeKind::Float(float) => Some(NumberStorage::Float(float)),
            _ => None,
        }
    }

    /// A number or a Boolean.
    pub fn parse_literal(&mut self) -> MlirParseResult<MlirLiteral> {
        let start = self.cursor.skip_to_start();
        if self.cursor.current_byte().is_ascii_alphabetic() {
            let value = match self.cursor.peek_word() {
                "true" => MlirLiteralValue::Bool(true),
                "false" => MlirLiteralValue::Bool(false),
                _ => return self.cursor.report_expected("a number"),
            };
            self.cursor.read_word();
            return Ok(MlirLiteral { value, start });
        }
        let negative = self.cursor.current_byte() == b'-';
        self.cursor.pos += usize::from(negative);
        self.cursor.skip_trivia();
        if !self.cursor.current_byte().is_ascii_digit() {
            return self.cursor.report_expected("a number");
        }
        let value = if self.cursor.byte_at_offset(1) == b'x' && self.cursor.current_byte() == b'0' {
            self.parse_hexadecimal(negative)?
        } else {
            self.parse_decimal(negative)?
        };
        Ok(MlirLiteral { value, start })
    }

    fn parse_hexadecimal(&mut self, negative: bool) -> MlirParseResult<MlirLiteralValue> {
        let start = self.cursor.skip_to_start();
        self.cursor.pos += 2;
        let mut bits = Some(0u64);
        let first = self.cursor.pos;
        while let Some(digit) = (self.cursor.current_byte() as char).to_digit(16) {
            bits = bits.and_then(|b| (b >> 60 == 0).then_some(b << 4 | u64::from(digit)));
            self.cursor.pos += 1;
        }
        match bits {
            Some(bits) if self.cursor.pos > first => Ok(MlirLiteralValue::Hex { bits, negative }),
            _ => {
                let place = self.cursor.location_since(start);
                self.cursor
                    .error_at(place, "a number in hexadecimal has 1 to 16 digits")
            }
        }
    }

    fn parse_decimal(&mut self, negative: bool) -> MlirParseResult<MlirLiteralValue> {
        let start = self.cursor.skip_to_start();
        let mut magnitude = Some(0u128);
        while self.cursor.current_byte().is_ascii_digit() {
            let digit = u128::from(self.cursor.current_byte() - b'0');
            magnitude = magnitude.and_then(|m| m.checked_mul(10)?.checked_add(digit));
            self.cursor.pos += 1;
        }
        if self.cursor.current_byte() != b'.' {
            let value = magnitude.and_then(|m| i128::try_from(m).ok());
            return match value {
                Some(value) => Ok(MlirLiteralValue::Integer(if negative {
                    -value
                } else {
                    value
                })),
                None => {
                    let place = self.cursor.location_since(start);
                    self.cursor
                        .error_at(place, "the number does not fit into 128 bits")
                }
            };
        }
        self.cursor.pos += 1;
        self.skip_digits();
        let sign = usize::from(matches!(self.cursor.byte_at_offset(1), b'+' | b'-'));
        let is_exponent = matches!(self.cursor.current_byte(), b'e' | b'E')
            && self.cursor.byte_at_offset(1 + sign).is_ascii_digit();
        if is_exponent {
            self.cursor.pos += 1 + sign;
            self.skip_digits();
        }
        let text = std::str::from_utf8(&self.cursor.bytes[start..self.cursor.pos]);
        let value: f64 = text.unwrap_or_default().parse().unwrap_or(f64::NAN);
        Ok(MlirLiteralValue::Float(if negative {
            -value
        } else {
            value
        }))
    }

    fn skip_digits(&mut self) {
        while self.cursor.current_byte().is_ascii_digit() {
            self.cursor.pos += 1;
        }
    }

    /// A number with a point, as the scales of quantised types are.
    pub fn float_literal(&mut self) -> MlirParseResult<f64> {
        let literal = self.parse_literal()?;
        match literal.value {
            MlirLiteralValue::Float(value) => Ok(value),
            MlirLiteralValue::Integer(value) => Ok(value as f64),
            _ => {
                let place = self.cursor.location_since(literal.start);
                self.cursor
                    .error_at(place, "expected a number with a point")
            }
        }
    }

    /// The bits of a number in a type, the bits above those of the type zero.
    pub fn literal_bits(
        &self,
        literal: MlirLiteral,
        scalar: NumberStorage,
    ) -> MlirParseResult<u64> {
        let fault = match (scalar, literal.value) {
            (NumberStorage::Integer { width: 1, .. }, MlirLiteralValue::Bool(value)) => {
                return Ok(value.into());
            }
            (_, MlirLiteralValue::Bool(_)) => "only `i1` has true and false",
            (NumberStorage::Integer { width, sign }, MlirLiteralValue::Integer(value)) => {
                let mask = u64::MAX >> (64 - width);
                if is_representable(value, width, sign) {
                    return Ok(value as u64 & mask);
                }
                "the number does not fit into its type"
            }
            (NumberStorage::Integer { width, sign }, MlirLiteralValue::Hex { bits, negative }) => {
                let mask = u64::MAX >> (64 - width);
                let value = i128::from(bits);
                let value = if negative { -value } else { value };
                // Hexadecimal digits are the bits, which the type has to have.
                if bits <= mask && (!negative || is_representable(value, width, sign)) {
                    return Ok(value as u64 & mask);
                }
                "the number does not fit into its type"
            }
            (NumberStorage::Integer { .. }, MlirLiteralValue::Float(_)) => {
                "an integer has no point"
            }
            (NumberStorage::Float(float), MlirLiteralValue::Float(value)) => {
                return Ok(float.format().encode_value(value));
            }
            (NumberStorage::Float(float), MlirLiteralValue::Hex { bits, negative }) => {
                let mask = u64::MAX >> (64 - float.width());
                if bits <= mask && !negative {
                    return Ok(bits);
                }
                "the bits do not fit into their type"
            }
            (NumberStorage::Float(_), MlirLiteralValue::Integer(_)) => {
                "an integer stands where a float should; add a point to make it one"
            }
        };
        let place = self.cursor.location_since(literal.start);
        self.cursor.error_at(place, fault)
    }
}

/// Whether a type has a number. Signless types have the values of both signed and unsigned ones.
fn is_representable(value: i128, width: u32, sign: IntegerSignedness) -> bool {
    let (least, most) = (-(1i128 << (width - 1)), (1i128 << width) - 1);
    match sign {
        IntegerSignedness::Unsigned => (0..=most).contains(&value),
        IntegerSignedness::Signless => (least..=most).contains(&value),
        IntegerSignedness::Signed => (least..=-least - 1).contains(&value),
    }
}
