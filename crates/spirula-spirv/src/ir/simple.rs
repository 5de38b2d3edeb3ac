//! Which instructions the reader can check without splitting them: those whose operands are single
//! words, with nothing, identifiers or a number behind them. Everything else, and everything that
//! fails, goes the long way, which also says what is wrong.

use super::ids::is_one_word;
use crate::grammar::{Category, Instruction, Kind, Op, Quantifier, instructions};
use std::sync::OnceLock;

/// What may stand behind an instruction's first words.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Tail {
    Nothing,
    /// Operands that may be left out, to be split where they are not.
    Optional,
    /// Any number of ids.
    Ids,
    /// A number of one word or more.
    Number,
    /// Something that has to be split.
    Other,
}

#[derive(Clone, Copy)]
struct Simple {
    /// Bit n: word n is an id.
    ids: u32,
    fixed: u8,
    tail: Tail,
}

impl Simple {
    fn of(row: &Instruction) -> Simple {
        let (mut ids, mut fixed) = (0, 0);
        let mut operands = row.operands;
        while let [first, rest @ ..] = operands {
            if first.quantifier != Quantifier::One || !is_one_word(first.kind) || fixed == 31 {
                break;
            }
            if first.kind.info().category == Category::Id {
                ids |= 1 << fixed;
            }
            fixed += 1;
            operands = rest;
        }
        let tail = match operands {
            [] => Tail::Nothing,
            [one] if one.kind == Kind::LiteralContextDependentNumber => Tail::Number,
            [one]
                if one.quantifier == Quantifier::Many
                    && one.kind.info().category == Category::Id =>
            {
                Tail::Ids
            }
            _ if operands.iter().all(|o| o.quantifier != Quantifier::One) => Tail::Optional,
            _ => Tail::Other,
        };
        Simple { ids, fixed, tail }
    }
}

/// Whether an instruction is certainly well-formed, with all its ids between 0 and the bound.
pub(super) fn is_well_formed(op: Op, words: &[u32], bound: u32) -> bool {
    static ROWS: OnceLock<Vec<Simple>> = OnceLock::new();
    let rows = ROWS.get_or_init(|| instructions().iter().map(Simple::of).collect());
    let Some(row) = op.row().and_then(|row| rows.get(row)) else {
        return false;
    };
    let fixed = usize::from(row.fixed);
    let Some((first, rest)) = words.split_at_checked(fixed) else {
        return false;
    };
    let is_id = |word: u32| word.wrapping_sub(1) < bound.wrapping_sub(1);
    let tail = match row.tail {
        Tail::Nothing | Tail::Optional => rest.is_empty(),
        Tail::Ids => rest.iter().all(|w| is_id(*w)),
        Tail::Number => !rest.is_empty(),
        Tail::Other => false,
    };
    let mut ids = row.ids;
    let mut all = true;
    while ids != 0 {
        all &= is_id(first[ids.trailing_zeros() as usize]);
        ids &= ids - 1;
    }
    tail && all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grammar::Operands;

    /// Where the short way says yes, splitting finds no fault and no id outside of the bound.
    #[test]
    fn the_short_way_agrees_with_splitting() {
        let bound = 9;
        let mut agreed = 0;
        for row in instructions() {
            for length in 0..8usize {
                for fill in [0, 1, 8, 9] {
                    let words = vec![fill; length];
                    if !is_well_formed(row.op, &words, bound) {
                        continue;
                    }
                    agreed += 1;
                    for operand in Operands::new(row.op, &words) {
                        let Ok(operand) = operand else {
                            // A value without a name is kept as it is.
                            let unknown = crate::grammar::DecodeError::UnknownValue;
                            let found = operand.expect_err("it is no operand");
                            let is_unknown = (0..10)
                                .any(|v| row.operands.iter().any(|o| found == unknown(o.kind, v)));
                            assert!(is_unknown, "{}: {found}", row.name);
                            break;
                        };
                        let is_id = operand.kind.info().category == Category::Id;
                        assert!(
                            !is_id || (1..bound).contains(&operand.words[0]),
                            "{}",
                            row.name
                        );
                    }
                }
            }
        }
        assert!(agreed > 1000, "only {agreed} combinations");
    }
}
