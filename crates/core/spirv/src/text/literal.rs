//! Types of literals: the literals of constants and switches depend on types that are declared before.

use super::float::FloatLiteralFormat;
use super::ids::IdTable;
use super::integer::{self, NumberError};
use super::print::push_number;
use crate::grammar::enumerants::FPEncoding;
use crate::grammar::{Op, ResultForm};

/// A numeric type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NumericLiteralType {
    /// Width in bits, 1 to 64.
    Int { width: u8, signed: bool },
    /// Floating point.
    Float(FloatLiteralFormat),
}

impl NumericLiteralType {
    /// Words that a literal of this type takes.
    pub fn word_count(self) -> usize {
        usize::from(self.width()).div_ceil(32)
    }

    /// Writes the literal with these words. Returns `false`, having written nothing, when they are
    /// not the words that reading it would give.
    pub fn print_literal(self, words: &[u32], out: &mut String) -> bool {
        let bits = match *words {
            [word] => u64::from(word),
            [low, high] => u64::from(high) << 32 | u64::from(low),
            _ => return false,
        };
        if words.len() != self.word_count() {
            return false;
        }
        let spare = 64 - u32::from(self.width());
        match self {
            NumericLiteralType::Int { signed: true, .. } => {
                let extended = if words.len() == 1 {
                    i64::from(bits as i32)
                } else {
                    bits as i64
                };
                if extended << spare >> spare != extended {
                    return false;
                }
                if extended < 0 {
                    out.push('-');
                }
                push_number(extended.unsigned_abs(), out);
            }
            _ if bits << spare >> spare != bits => return false,
            NumericLiteralType::Int { .. } => push_number(bits, out),
            NumericLiteralType::Float(format) => format.print_literal(bits, out),
        }
        true
    }

    /// Adds the words of a literal.
    pub fn parse_literal(self, text: &str, out: &mut Vec<u32>) -> Result<(), NumberError> {
        let bits = match self {
            NumericLiteralType::Int { width, signed } => {
                integer::parse_integer(text, width, signed)?
            }
            NumericLiteralType::Float(format) => format.parse_literal(text)?,
        };
        out.push(bits as u32);
        if self.word_count() == 2 {
            out.push((bits >> 32) as u32);
        }
        Ok(())
    }

    fn width(self) -> u8 {
        match self {
            NumericLiteralType::Int { width, .. } => width,
            NumericLiteralType::Float(format) => format.width(),
        }
    }

    /// The type that `OpTypeInt` or `OpTypeFloat` with these words after the result declares; `None` for types
    /// without literals here.
    fn from_declaration(op: Op, parameters: &[u32]) -> Option<NumericLiteralType> {
        match (op, parameters) {
            (Op::TypeInt, &[width @ 1..=64, signed]) => Some(NumericLiteralType::Int {
                width: width as u8,
                signed: signed != 0,
            }),
            (Op::TypeFloat, &[width]) => {
                FloatLiteralFormat::from_width(width).map(NumericLiteralType::Float)
            }
            (Op::TypeFloat, &[width, encoding]) => {
                FloatLiteralFormat::from_encoding(width, FPEncoding(encoding))
                    .map(NumericLiteralType::Float)
            }
            _ => None,
        }
    }
}

/// The numeric types of a module and the types of its values, taken in as they are defined.
#[derive(Debug, Default)]
pub struct LiteralTypes {
    types: IdTable<Option<NumericLiteralType>>,
    values: IdTable<u32>,
}

impl LiteralTypes {
    /// Records an instruction by its opcode and the words after its first.
    pub fn record_instruction(&mut self, op: Op, words: &[u32]) {
        match (op.result_form(), words) {
            (ResultForm::Typed, &[ty, id, ..]) => self.values.set(id, ty),
            (ResultForm::Untyped, &[id, ref parameters @ ..]) => {
                if let Some(number) = NumericLiteralType::from_declaration(op, parameters) {
                    self.types.set(id, Some(number));
                }
            }
            _ => {}
        }
    }

    /// The numeric type with this id.
    pub fn number_type(&self, ty: u32) -> Option<NumericLiteralType> {
        self.types.get(ty)
    }

    /// The numeric type of the value with this id.
    pub fn number_of_value(&self, id: u32) -> Option<NumericLiteralType> {
        self.number_type(self.values.get(id))
    }
}
