//! What the literals of constants and switches are, which depends on types given earlier.

use super::float::FloatFormat;
use super::ids::IdTable;
use super::integer::{self, NumberError};
use super::print::push_number;
use crate::grammar::enumerants::FPEncoding;
use crate::grammar::{Op, ResultForm};

/// A numeric type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Number {
    /// Width in bits, 1 to 64.
    Int { width: u8, signed: bool },
    /// Floating point.
    Float(FloatFormat),
}

impl Number {
    /// Words that a literal of this type takes.
    pub fn words(self) -> usize {
        usize::from(self.width()).div_ceil(32)
    }

    /// Writes the literal with these words. Returns `false`, having written nothing, when they are
    /// not the words that reading it would give.
    pub fn print(self, words: &[u32], out: &mut String) -> bool {
        let bits = match *words {
            [word] => u64::from(word),
            [low, high] => u64::from(high) << 32 | u64::from(low),
            _ => return false,
        };
        if words.len() != self.words() {
            return false;
        }
        let spare = 64 - u32::from(self.width());
        match self {
            Number::Int { signed: true, .. } => {
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
            Number::Int { .. } => push_number(bits, out),
            Number::Float(format) => format.print(bits, out),
        }
        true
    }

    /// Adds the words of a literal.
    pub fn parse(self, text: &str, out: &mut Vec<u32>) -> Result<(), NumberError> {
        let bits = match self {
            Number::Int { width, signed } => integer::parse(text, width, signed)?,
            Number::Float(format) => format.parse(text)?,
        };
        out.push(bits as u32);
        if self.words() == 2 {
            out.push((bits >> 32) as u32);
        }
        Ok(())
    }

    fn width(self) -> u8 {
        match self {
            Number::Int { width, .. } => width,
            Number::Float(format) => format.width(),
        }
    }

    /// The type that `OpTypeInt` or `OpTypeFloat` with these words behind the result declares;
    /// `None` for what has no literals here.
    fn declared(op: Op, parameters: &[u32]) -> Option<Number> {
        match (op, parameters) {
            (Op::TypeInt, &[width @ 1..=64, signed]) => Some(Number::Int {
                width: width as u8,
                signed: signed != 0,
            }),
            (Op::TypeFloat, &[width]) => FloatFormat::ieee(width).map(Number::Float),
            (Op::TypeFloat, &[width, encoding]) => {
                FloatFormat::encoded(width, FPEncoding(encoding)).map(Number::Float)
            }
            _ => None,
        }
    }
}

/// The numeric types of a module and the types of its values, taken in as they are defined.
#[derive(Debug, Default)]
pub struct LiteralTypes {
    types: IdTable<Option<Number>>,
    values: IdTable<u32>,
}

impl LiteralTypes {
    /// Takes in an instruction by its opcode and the words behind its first.
    pub fn define(&mut self, op: Op, words: &[u32]) {
        match (op.result_form(), words) {
            (ResultForm::Typed, &[ty, id, ..]) => self.values.set(id, ty),
            (ResultForm::Untyped, &[id, ref parameters @ ..]) => {
                if let Some(number) = Number::declared(op, parameters) {
                    self.types.set(id, Some(number));
                }
            }
            _ => {}
        }
    }

    /// The numeric type with this id.
    pub fn number(&self, ty: u32) -> Option<Number> {
        self.types.get(ty)
    }

    /// The numeric type of the value with this id.
    pub fn number_of_value(&self, id: u32) -> Option<Number> {
        self.number(self.values.get(id))
    }
}
