//! Splits an instruction's words into operands by the grammar.
//!
//! An iterator without allocation: what still has to come is a short stack of table slices, since
//! enumerants bring parameters of their own.

use super::Kind;
use super::types::{Category, ExtInstSet, Op, Operand, Quantifier};
use std::fmt;

/// Most lists waiting at a time: the instruction's, and one for each bit of a mask.
const DEPTH: usize = 34;

/// One operand as it stands in an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParsedOperand<'a> {
    /// What it is; composites are given part by part.
    pub kind: Kind,
    /// Name in the specification; may be empty.
    pub name: &'static str,
    /// Position of its first word behind the instruction's first word.
    pub at: usize,
    /// Its words: one, or more for strings and wide literals.
    pub words: &'a [u32],
}

/// Why an instruction cannot be split.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
enum State {
    Running,
    Unknown,
    Failed,
}

/// Iterator over an instruction's operands, result type and result id included.
///
/// After an error it ends.
#[derive(Clone, Debug)]
pub struct Operands<'a> {
    words: &'a [u32],
    at: usize,
    stack: [&'static [Operand]; DEPTH],
    depth: usize,
    /// Second part of a composite that was begun.
    pending: Option<(Kind, &'static str)>,
    ext: Option<&'static ExtInstSet>,
    switch_words: usize,
    state: State,
}

impl<'a> Operands<'a> {
    /// Operands of an instruction given by its opcode and the words behind its first word.
    pub fn new(op: Op, words: &'a [u32]) -> Self {
        let mut stack: [&'static [Operand]; DEPTH] = [&[]; DEPTH];
        stack[0] = op.info().map_or(&[], |info| info.operands);
        Operands {
            words,
            at: 0,
            stack,
            depth: 1,
            pending: None,
            ext: None,
            switch_words: 1,
            state: if op.info().is_some() {
                State::Running
            } else {
                State::Unknown
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

    fn push(&mut self, operands: &'static [Operand]) {
        debug_assert!(self.depth < DEPTH, "a mask has 32 bits at most");
        if !operands.is_empty() && self.depth < DEPTH {
            self.stack[self.depth] = operands;
            self.depth += 1;
        }
    }

    /// The next operand that the grammar expects, given what words are left.
    fn expect(&mut self) -> Result<Option<(Kind, &'static str)>, DecodeError> {
        if let Some(second) = self.pending.take() {
            return Ok(Some(second));
        }
        while self.depth > 0 {
            let list = self.stack[self.depth - 1];
            let Some(next) = list.first() else {
                self.depth -= 1;
                continue;
            };
            let ended = self.at >= self.words.len();
            match next.quantifier {
                Quantifier::One if ended => {
                    return Err(DecodeError::Missing(next.kind, next.name));
                }
                Quantifier::Optional | Quantifier::Many if ended => {
                    self.stack[self.depth - 1] = &list[1..];
                    continue;
                }
                Quantifier::One | Quantifier::Optional => {
                    self.stack[self.depth - 1] = &list[1..];
                }
                Quantifier::Many => {}
            }
            return Ok(Some((next.kind, next.name)));
        }
        if self.at < self.words.len() {
            return Err(DecodeError::Surplus(self.at));
        }
        Ok(None)
    }

    fn step(&mut self) -> Result<Option<ParsedOperand<'a>>, DecodeError> {
        let Some((mut kind, name)) = self.expect()? else {
            return Ok(None);
        };
        if let [first, second] = kind.info().bases {
            kind = *first;
            self.pending = Some((*second, name));
        }
        let rest = &self.words[self.at..];
        let Some(&word) = rest.first() else {
            return Err(DecodeError::Missing(kind, name));
        };
        let mut length = 1;
        match (kind.info().category, kind) {
            (Category::ValueEnum, _) => match kind.info().enumerant(word) {
                Some(e) => self.push(e.parameters),
                None => return Err(DecodeError::UnknownValue(kind, word)),
            },
            (Category::BitEnum, _) => self.push_bits(kind, word)?,
            (_, Kind::LiteralString) => {
                length = 1 + rest
                    .iter()
                    .position(|w| w.to_le_bytes().contains(&0))
                    .ok_or(DecodeError::EndlessString)?;
            }
            (_, Kind::LiteralContextDependentNumber) => length = rest.len(),
            (_, Kind::LiteralInteger) if self.pending.is_some() => length = self.switch_words,
            (_, Kind::LiteralExtInstInteger) => self.enter_ext(word),
            (_, Kind::LiteralSpecConstantOpInteger) => self.enter_spec_op(word)?,
            _ => {}
        }
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

    /// Parameters of a mask's bits follow in the order of the bits.
    fn push_bits(&mut self, kind: Kind, mask: u32) -> Result<(), DecodeError> {
        for bit in (0..32)
            .rev()
            .map(|n| 1u32 << n)
            .filter(|bit| mask & bit != 0)
        {
            match kind.info().enumerant(bit) {
                Some(e) => self.push(e.parameters),
                None => return Err(DecodeError::UnknownValue(kind, mask)),
            }
        }
        Ok(())
    }

    /// Behind an extended instruction's number stand that instruction's own operands.
    fn enter_ext(&mut self, number: u32) {
        if let Some(row) = self.ext.and_then(|set| set.instruction(number)) {
            self.depth = 0;
            self.push(row.operands);
        }
    }

    /// Behind `OpSpecConstantOp`'s opcode stand that instruction's operands without its result.
    fn enter_spec_op(&mut self, number: u32) -> Result<(), DecodeError> {
        let unknown = DecodeError::UnknownValue(Kind::LiteralSpecConstantOpInteger, number);
        let op = u16::try_from(number).map(Op).map_err(|_| unknown)?;
        let operands = op.info().ok_or(unknown)?.operands;
        let skip = operands
            .iter()
            .take_while(|o| matches!(o.kind, Kind::IdResultType | Kind::IdResult))
            .count();
        self.depth = 0;
        self.push(&operands[skip..]);
        Ok(())
    }
}

impl<'a> Iterator for Operands<'a> {
    type Item = Result<ParsedOperand<'a>, DecodeError>;

    fn next(&mut self) -> Option<Self::Item> {
        let item = match self.state {
            State::Running => self.step(),
            State::Unknown => Err(DecodeError::UnknownOpcode),
            State::Failed => return None,
        };
        if item.is_err() {
            self.state = State::Failed;
        }
        item.transpose()
    }
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
