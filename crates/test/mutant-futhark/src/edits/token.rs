//! Changes of tokens, most of which break the syntax.

use super::MutationEdits;
use crate::source::{MutableSource, MutationChoice};
use spirula_futhark::syntax::token::TextRange;

fn token_ranges(source: &MutableSource) -> Vec<TextRange> {
    source.tokens.iter().map(|token| token.range).collect()
}

/// Removes a token.
pub fn drop_token(source: &MutableSource, choice: &mut MutationChoice) -> MutationEdits {
    let range = choice.choose_one(&token_ranges(source))?;
    Some(vec![source.remove(range)])
}

/// Repeats a token.
pub fn repeat_token(source: &MutableSource, choice: &mut MutationChoice) -> MutationEdits {
    let range = choice.choose_one(&token_ranges(source))?;
    let copy = format!(" {}", source.text_of(range));
    Some(vec![source.insert_after(range, copy)])
}

/// Exchanges two tokens that follow each other.
pub fn swap_tokens(source: &MutableSource, choice: &mut MutationChoice) -> MutationEdits {
    let ranges = token_ranges(source);
    let at = choice.choose_below(ranges.len().checked_sub(1)?.max(1));
    source.exchange(*ranges.get(at)?, *ranges.get(at + 1)?)
}

/// Replaces a token by another one of the program.
pub fn replace_token(source: &MutableSource, choice: &mut MutationChoice) -> MutationEdits {
    let ranges = token_ranges(source);
    let (first, second) = choice.choose_two(&ranges)?;
    Some(vec![source.replace(first, source.text_of(second))])
}
