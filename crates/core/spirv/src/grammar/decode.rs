//! Operand decoder: splits the words of an instruction into operands by the grammar.
//!
//! An iterator without allocation: what still has to come is a short stack of table slices, since
//! enumerants bring parameters of their own.

use super::Kind;
use super::expected_operands::ExpectedOperands;
use super::types::{ExtInstSet, Op, OperandCategory};
use std::fmt;

/// One operand of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParsedOperand<'a> {
    /// Its kind; composite operands are split into parts.
    pub kind: Kind,
    /// Name in the specification; may be empty.
    pub name: &'static str,
    /// Position of its first word after the instruction's first word.
    pub at: usize,
    /// Its words: one, or more for strings and wide literals.
    pub words: &'a [u32],
}

/// Why an instruction cannot be split.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DecodeError {
    /// The table does not know the opcode.
    UnknownOpcode,
    /// It ends before the operand of this kind and name.
    Missing(Kind, &'static str),
    /// It has words after its last operand, from this position on.
    Surplus(usize),
    /// A value that its kind does not have.
    UnknownValue(Kind, u32),
    /// A string without an end.
    EndlessString,
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            DecodeError::UnknownOpcode => f.write_str("unknown opcode"),
            DecodeError::Missing(kind, "") => {
                write!(
                    f,
                    "the instruction ends before its operand {}",
                    kind.info().name
                )
            }
            DecodeError::Missing(kind, name) => {
                write!(
                    f,
                    "the instruction ends before its operand {name} ({})",
                    kind.info().name
                )
            }
            DecodeError::Surplus(_) => f.write_str("the instruction has words too many"),
            DecodeError::UnknownValue(kind, value) => {
                write!(f, "{value} is no {}", kind.info().name)
            }
            DecodeError::EndlessString => f.write_str("a string has no end"),
        }
    }
}

#[derive(Clone, Copy, Debug)]
enum OperandDecodeState {
    Running,
    Unknown,
    Failed,
}

/// Iterator over an instruction's operands, result type and result id included.
///
/// After an error it ends.
#[derive(Clone, Debug)]
pub struct OperandIter<'a> {
    words: &'a [u32],
    at: usize,
    expected: ExpectedOperands,
    ext: Option<&'static ExtInstSet>,
    switch_words: usize,
    state: OperandDecodeState,
}

impl<'a> OperandIter<'a> {
    /// Operands of an instruction from its opcode and the words after its first one.
    pub fn new(op: Op, words: &'a [u32]) -> Self {
        let row = op.info();
        OperandIter {
            words,
            at: 0,
            expected: ExpectedOperands::new(row.map_or(&[], |info| info.operands)),
            ext: None,
            switch_words: 1,
            state: if row.is_some() {
                OperandDecodeState::Running
            } else {
                OperandDecodeState::Unknown
            },
        }
    }

    /// Operands of an `OpExtInst` of a known set, split by that set's table.
    #[must_use]
    pub fn with_ext(mut self, set: Option<&'static ExtInstSet>) -> Self {
        self.ext = set;
        self
    }

    /// The number of words of an `OpSwitch`'s literals: 2 where its selector is wider than 32
    /// bits. Constants need no telling, their literal takes the rest of the instruction.
    #[must_use]
    pub fn with_switch_literal_words(mut self, words: usize) -> Self {
        self.switch_words = words.max(1);
        self
    }

    fn decode_next(&mut self) -> Result<Option<ParsedOperand<'a>>, DecodeError> {
        let rest = &self.words[self.at..];
        let next = self.expected.next_operand(|| rest.is_empty());
        let Some((kind, name)) = next.map_err(|(kind, name)| DecodeError::Missing(kind, name))?
        else {
            return match rest {
                [] => Ok(None),
                _ => Err(DecodeError::Surplus(self.at)),
            };
        };
        let length = self.measure_operand(kind, rest)?;
        let words = rest.get(..length).ok_or(DecodeError::Missing(kind, name))?;
        let at = self.at;
        self.at += length;
        Ok(Some(ParsedOperand {
            kind,
            name,
            at,
            words,
        }))
    }

    /// The number of words of an operand. Its parameters are inserted before the operands that are expected
    /// next.
    fn measure_operand(&mut self, kind: Kind, rest: &[u32]) -> Result<usize, DecodeError> {
        let word = rest[0];
        let unknown = DecodeError::UnknownValue(kind, word);
        let info = kind.info();
        match (info.category, kind) {
            (OperandCategory::ValueEnum, _) => {
                let enumerant = info.enumerant_by_value(word).ok_or(unknown)?;
                self.expected.push_operands(enumerant.parameters);
            }
            (OperandCategory::BitEnum, _) => {
                if !info.has_bits(word) {
                    return Err(unknown);
                }
                self.expected.push_bits(kind, word);
            }
            (_, Kind::LiteralString) => {
                let last = rest.iter().position(|w| w.to_le_bytes().contains(&0));
                return last.map(|at| at + 1).ok_or(DecodeError::EndlessString);
            }
            (_, Kind::LiteralContextDependentNumber) => return Ok(rest.len()),
            (_, Kind::LiteralInteger) if self.expected.in_pair() => return Ok(self.switch_words),
            (_, Kind::LiteralExtInstInteger) => self.expected.enter_ext(self.ext, word),
            (_, Kind::LiteralSpecConstantOpInteger) if !self.expected.enter_spec_op(word) => {
                return Err(unknown);
            }
            _ => {}
        }
        Ok(1)
    }
}

impl<'a> Iterator for OperandIter<'a> {
    type Item = Result<ParsedOperand<'a>, DecodeError>;

    fn next(&mut self) -> Option<Self::Item> {
        let item = match self.state {
            OperandDecodeState::Running => self.decode_next(),
            OperandDecodeState::Unknown => Err(DecodeError::UnknownOpcode),
            OperandDecodeState::Failed => return None,
        };
        if item.is_err() {
            self.state = OperandDecodeState::Failed;
        }
        item.transpose()
    }
}

/// The number of words of the literal string that these words begin with: up to the one with its NUL, or all.
/// The result of [`literal_string`] may be longer or shorter if the bytes are not UTF-8.
pub fn literal_string_words(words: &[u32]) -> usize {
    let last = words.iter().position(|w| w.to_le_bytes().contains(&0));
    last.map_or(words.len(), |at| at + 1)
}

/// The bytes of a literal string up to its NUL, as UTF-8 with replacement characters.
pub fn literal_string(words: &[u32]) -> std::borrow::Cow<'static, str> {
    let mut bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
    if let Some(end) = bytes.iter().position(|b| *b == 0) {
        bytes.truncate(end);
    }
    match String::from_utf8(bytes) {
        Ok(text) => text.into(),
        Err(e) => String::from_utf8_lossy(e.as_bytes()).into_owned().into(),
    }
}
