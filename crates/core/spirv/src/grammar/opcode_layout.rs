//! Opcode layouts: eight bytes for each opcode that tell where its ids and its result are, and its role in the
//! layout of a module.
//!
//! The rows are computed from the grammar when the crate is compiled. For most instructions a row gives the words
//! that are ids. Only instructions with several strings, or with operands that bring parameters, are split by
//! [`super::OperandIter`].

use super::generated::instructions::{BY_NUMBER, INSTRUCTIONS};
use super::generated::kinds::{KINDS, Kind};
use super::registry;
use super::types::{
    InstructionClass, InstructionInfo, Op, OperandCategory, OperandInfo, OperandQuantifier,
    ResultForm,
};
use crate::Id;

/// The role of an opcode in the layout of a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OpcodeRole {
    /// No special role: an instruction of blocks and most sections.
    Plain,
    /// A decoration.
    Annotation,
    /// Says where in a source text its followers come from.
    Line,
    /// `OpFunction`.
    Function,
    /// `OpFunctionParameter`.
    Parameter,
    /// `OpFunctionEnd`.
    FunctionEnd,
    /// `OpLabel`.
    Label,
    /// Ends a basic block.
    Terminator,
}

/// The form of the words after the fixed ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum TrailingOperands {
    /// Words that are no ids.
    Literals,
    /// A string that ends the instruction.
    Text,
    /// Ids only.
    Ids,
    /// Two ids each time.
    Pairs,
    /// One value or mask, if any, with the operands that it brings.
    Parameters,
    /// Literals and labels by turns.
    Switch,
    /// The number of an extended instruction and its operands.
    Ext,
    /// An opcode and the operands of its instruction.
    Nested,
    /// Anything.
    Other,
    /// The grammar does not know the opcode.
    Unknown,
}

/// Any number of words may follow.
const ANY: u8 = u8::MAX;

/// The row of an opcode.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OpcodeFormat {
    /// Bit n: word n is an id, the result included.
    ids: u16,
    /// Words before the result and the result itself: 0, 1 or 2.
    result: u8,
    /// Number of fixed words.
    fixed: u8,
    /// Highest number of words after them; 0 for [`TrailingOperands::Parameters`] and
    /// [`TrailingOperands::Other`] if they are optional.
    most: u8,
    pub rest: TrailingOperands,
    pub role: OpcodeRole,
    /// Trailing words of [`TrailingOperands::Parameters`].
    kind: Kind,
}

/// Where an instruction has its ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct IdPositions {
    /// Bit n: word n is an id.
    pub bits: u32,
    /// From here on all words are ids.
    pub from: usize,
}

impl IdPositions {
    /// A mask for an instruction of a given length: bit n is set if word n is an id. `None` if it is too long.
    #[inline]
    pub fn id_mask(self, words: usize) -> Option<u32> {
        (words < 32).then(|| self.bits | u32::MAX << self.from & !(u32::MAX << words))
    }
}

static SHAPES: [OpcodeFormat; BY_NUMBER.len()] = {
    let mut shapes = [OpcodeFormat::UNKNOWN; BY_NUMBER.len()];
    let mut at = 0;
    while at < INSTRUCTIONS.len() {
        let row = &INSTRUCTIONS[at];
        shapes[row.op.0 as usize] = OpcodeFormat::from_instruction(row);
        at += 1;
    }
    shapes
};

impl Op {
    /// The row of this opcode.
    #[inline]
    pub(crate) fn shape(self) -> OpcodeFormat {
        match SHAPES.get(usize::from(self.0)) {
            Some(shape) if shape.rest != TrailingOperands::Unknown => *shape,
            _ => find_added_shape(self),
        }
    }
}

/// The row of an opcode that the table does not have: it may have been added.
#[cold]
fn find_added_shape(op: Op) -> OpcodeFormat {
    registry::find_instruction(op).map_or(OpcodeFormat::UNKNOWN, OpcodeFormat::from_instruction)
}

impl OpcodeFormat {
    const UNKNOWN: OpcodeFormat = OpcodeFormat {
        ids: 0,
        result: 0,
        fixed: 0,
        most: ANY,
        rest: TrailingOperands::Unknown,
        role: OpcodeRole::Plain,
        kind: Kind::IdRef,
    };

    const fn from_instruction(row: &InstructionInfo) -> OpcodeFormat {
        let mut shape = OpcodeFormat::UNKNOWN;
        shape.result = match row.result {
            ResultForm::None => 0,
            ResultForm::Untyped => 1,
            ResultForm::Typed => 2,
        };
        shape.role = classify_role(row);
        let operands = row.operands;
        while (shape.fixed as usize) < operands.len() && shape.fixed < 16 {
            let operand = &operands[shape.fixed as usize];
            if !matches!(operand.quantifier, OperandQuantifier::One) || !is_one_word(operand.kind) {
                break;
            }
            if is_id(operand.kind) {
                shape.ids |= 1 << shape.fixed;
            }
            shape.fixed += 1;
        }
        shape.with_variable_operands(operands.split_at(shape.fixed as usize).1)
    }

    /// The layout with its trailing operands.
    const fn with_variable_operands(mut self, operands: &[OperandInfo]) -> OpcodeFormat {
        let left_out = if is_optional(operands) { 0 } else { ANY };
        (self.rest, self.most) = match operands {
            [] => (TrailingOperands::Literals, 0),
            [first, ..] if matches!(first.kind, Kind::LiteralExtInstInteger) => {
                (TrailingOperands::Ext, ANY)
            }
            [first] if matches!(first.kind, Kind::LiteralSpecConstantOpInteger) => {
                (TrailingOperands::Nested, ANY)
            }
            [one] => match (one.kind, one.quantifier) {
                (Kind::LiteralContextDependentNumber, OperandQuantifier::One) => {
                    self.fixed += 1;
                    (TrailingOperands::Literals, ANY)
                }
                (Kind::LiteralString, OperandQuantifier::One) => (TrailingOperands::Text, ANY),
                (Kind::PairLiteralIntegerIdRef, OperandQuantifier::Many) => {
                    (TrailingOperands::Switch, ANY)
                }
                (Kind::PairIdRefIdRef, OperandQuantifier::Many) => (TrailingOperands::Pairs, ANY),
                (Kind::LiteralInteger, OperandQuantifier::Many) => {
                    (TrailingOperands::Literals, ANY)
                }
                (kind, OperandQuantifier::Many) if is_id(kind) => (TrailingOperands::Ids, ANY),
                (kind, OperandQuantifier::Optional) if is_id(kind) => (TrailingOperands::Ids, 1),
                (kind, OperandQuantifier::Optional) if is_one_word(kind) => {
                    (TrailingOperands::Literals, 1)
                }
                (kind, OperandQuantifier::One | OperandQuantifier::Optional)
                    if has_values(kind) =>
                {
                    self.kind = kind;
                    (TrailingOperands::Parameters, left_out)
                }
                _ => (TrailingOperands::Other, left_out),
            },
            _ => (TrailingOperands::Other, left_out),
        };
        self
    }

    /// Which word is the result.
    #[inline]
    pub fn result_position(self) -> Option<usize> {
        usize::from(self.result).checked_sub(1)
    }

    /// Words up to the result.
    #[inline]
    pub fn head_length(self) -> usize {
        usize::from(self.result)
    }

    /// The result's bit among those of [`Self::locate_ids`].
    #[inline]
    pub fn result_bit(self) -> u32 {
        (1 << self.result) >> 1
    }

    /// Bit n: fixed word n is an id.
    pub fn fixed_ids(self) -> u32 {
        u32::from(self.ids)
    }

    /// Whether the fixed words are present, with ids that are not 0 and below a bound. This can also be checked
    /// for instructions with unknown values.
    pub fn has_fixed(self, words: &[u32], bound: u32) -> bool {
        let Some(fixed) = words.get(..usize::from(self.fixed)) else {
            return false;
        };
        let is_id = |at: usize| self.fixed_ids() >> at & 1 == 1;
        let mut ids = fixed.iter().enumerate().filter(|(at, _)| is_id(*at));
        ids.all(|(_, id)| (1..bound).contains(id))
    }

    /// The ids of an instruction: its result, its type and its uses. `None` if it has to be split, and if it has
    /// too few or too many words.
    #[inline]
    pub fn locate_ids(self, words: &[u32]) -> Option<IdPositions> {
        let fixed = usize::from(self.fixed);
        let more = words.len().checked_sub(fixed)?;
        let bits = u32::from(self.ids);
        let end = words.len();
        let most = usize::from(self.most);
        let fits = more <= most || self.most == ANY;
        if self.rest <= TrailingOperands::Pairs && fits || more == 0 && most == 0 {
            let from = if self.rest >= TrailingOperands::Ids {
                fixed
            } else {
                end
            };
            return Some(IdPositions { bits, from });
        }
        let more = match self.rest {
            TrailingOperands::Parameters => find_parameter_ids(self.kind, &words[fixed..])?,
            TrailingOperands::Nested => return locate_nested_ids(words),
            _ => return None,
        };
        Some(IdPositions {
            bits: bits | more << fixed,
            from: end,
        })
    }

    /// Bit n: word n is an id that the instruction uses, that is, any id except its result. `None` if it has to
    /// be split.
    #[inline(always)]
    pub fn use_mask(self, words: &[u32]) -> Option<u32> {
        let mask = self.locate_ids(words)?.id_mask(words.len())?;
        Some(mask & !self.result_bit())
    }

    /// The result of an instruction.
    #[inline]
    pub fn result_of(self, words: &[u32]) -> Option<Id> {
        words
            .get(self.result_position()?)
            .copied()
            .and_then(Id::new)
    }

    /// Whether the grammar has nothing but single ids for these words.
    pub fn has_ids_only(self, words: &[u32]) -> bool {
        let all = |spots: IdPositions| {
            let mask = spots.id_mask(words.len());
            mask == Some(!(u32::MAX << words.len()))
        };
        words.len() < 32 && self.locate_ids(words).is_some_and(all) && self.is_whole(words)
    }

    /// Whether the trailing words are complete, in cases that [`Self::locate_ids`] does not check: strings end
    /// and pairs are complete.
    #[inline]
    pub fn is_whole(self, words: &[u32]) -> bool {
        match self.rest {
            TrailingOperands::Text => is_text(&words[usize::from(self.fixed)..]),
            TrailingOperands::Pairs => words.len() % 2 == usize::from(self.fixed) % 2,
            _ => true,
        }
    }
}

/// Whether a string begins with the first word and ends with the last.
fn is_text(words: &[u32]) -> bool {
    let ends = |w: u32| w.wrapping_sub(0x0101_0101) & !w & 0x8080_8080 != 0;
    match words {
        [text @ .., last] => ends(*last) && !text.iter().any(|w| ends(*w)),
        [] => false,
    }
}

/// Which of the words are ids: a value or mask, and no more than the operands that it brings.
#[inline(never)]
fn find_parameter_ids(kind: Kind, words: &[u32]) -> Option<u32> {
    let value = *words.first()?;
    let (mut ids, mut at) = (0, 1);
    let mut take = |parameters: &[OperandInfo]| {
        for operand in parameters {
            if operand.quantifier != OperandQuantifier::One
                || !ONE_WORD[operand.kind as usize]
                || at == 16
            {
                return None;
            }
            ids |= u32::from(is_id(operand.kind)) << at;
            at += 1;
        }
        Some(())
    };
    let info = kind.info();
    if info.category == OperandCategory::ValueEnum {
        take(info.enumerant_by_value(value)?.parameters)?;
    } else {
        let mut mask = value;
        while mask != 0 {
            take(
                info.enumerant_by_value(mask & mask.wrapping_neg())?
                    .parameters,
            )?;
            mask &= mask - 1;
        }
    }
    (at == words.len()).then_some(ids)
}

/// The id positions of an opcode whose instruction consists of ids and numbers, with type and result before the
/// operands.
#[inline(never)]
fn locate_nested_ids(words: &[u32]) -> Option<IdPositions> {
    let [_, as_words @ ..] = words else {
        return None;
    };
    let op = Op(u16::try_from(*as_words.get(1)?).ok()?);
    let shape = op.shape();
    if shape.result != 2
        || shape.rest > TrailingOperands::Ids
        || shape.rest == TrailingOperands::Text
    {
        return None;
    }
    let IdPositions { bits, from } = shape.locate_ids(as_words)?;
    Some(IdPositions {
        bits: (bits & !0b11) << 1 | 0b11,
        from: from + 1,
    })
}

/// Whether all operands are optional.
const fn is_optional(operands: &[OperandInfo]) -> bool {
    let mut at = 0;
    while at < operands.len() {
        if matches!(operands[at].quantifier, OperandQuantifier::One) {
            return false;
        }
        at += 1;
    }
    true
}

const fn is_id(kind: Kind) -> bool {
    matches!(KINDS[kind as usize].category, OperandCategory::Id)
}

const fn has_values(kind: Kind) -> bool {
    matches!(
        KINDS[kind as usize].category,
        OperandCategory::ValueEnum | OperandCategory::BitEnum
    )
}

const fn is_one_word(kind: Kind) -> bool {
    ONE_WORD[kind as usize]
}

/// Whether an operand of each kind is one word and brings no others.
static ONE_WORD: [bool; KINDS.len()] = {
    let mut one = [false; KINDS.len()];
    let mut at = 0;
    while at < KINDS.len() {
        let info = &KINDS[at];
        one[at] = match info.category {
            OperandCategory::Id => true,
            OperandCategory::Literal => matches!(info.kind, Kind::LiteralInteger),
            OperandCategory::Composite => false,
            OperandCategory::ValueEnum | OperandCategory::BitEnum => {
                let (mut plain, mut row) = (true, 0);
                while row < info.enumerants.len() {
                    plain &= info.enumerants[row].parameters.is_empty();
                    row += 1;
                }
                plain
            }
        };
        at += 1;
    }
    one
};

const fn classify_role(row: &InstructionInfo) -> OpcodeRole {
    match row.op {
        Op::Function => OpcodeRole::Function,
        Op::FunctionParameter => OpcodeRole::Parameter,
        Op::FunctionEnd => OpcodeRole::FunctionEnd,
        Op::Label => OpcodeRole::Label,
        Op::Line | Op::NoLine => OpcodeRole::Line,
        op if op.is_terminator() => OpcodeRole::Terminator,
        _ if matches!(row.class, InstructionClass::Annotation) => OpcodeRole::Annotation,
        _ => OpcodeRole::Plain,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grammar::{DecodeError, OperandIter, all_instructions};

    /// If the layout gives the positions of the ids, splitting finds the same ones.
    #[test]
    fn rows_agree_with_splitting() {
        let mut agreed = 0;
        for row in all_instructions() {
            for length in 0..9usize {
                for fill in [0, 1, 2, 3, 8, 0x6161_6161] {
                    let mut words = vec![fill; length];
                    for last in [fill, 0, 0x61] {
                        words.iter_mut().last().into_iter().for_each(|w| *w = last);
                        agreed += u32::from(is_consistent_with_decoder(row.op, &words));
                    }
                }
            }
        }
        assert!(agreed > 10_000, "only {agreed} combinations");
    }

    fn is_consistent_with_decoder(op: Op, words: &[u32]) -> bool {
        let Some(spots) = op.shape().locate_ids(words) else {
            return false;
        };
        if !op.shape().is_whole(words) {
            return false;
        }
        let is_spot = |at: usize| at >= spots.from || spots.bits >> at & 1 == 1;
        let mut end = 0;
        for operand in OperandIter::new(op, words) {
            match operand {
                Ok(operand) => {
                    let is_id = operand.kind.info().category == OperandCategory::Id;
                    assert_eq!(is_spot(operand.at), is_id, "{op} {words:?}");
                    end = operand.at + operand.words.len();
                }
                // A value without a name is kept as it is.
                Err(DecodeError::UnknownValue(..)) => return true,
                Err(error) => panic!("{op} {words:?}: {error}"),
            }
        }
        assert_eq!(end, words.len(), "{op}");
        true
    }

    #[test]
    fn a_row_takes_eight_bytes() {
        assert_eq!(size_of::<OpcodeFormat>(), 8);
    }
}
