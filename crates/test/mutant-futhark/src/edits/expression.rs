//! Changes of expressions.

use super::MutationEdits;
use crate::source::{MutableSource, MutationChoice, range_of_name};
use spirula_futhark::syntax::token::{TextRange, TokenKind};
use spirula_futhark::syntax::tree::{ExpressionId, ExpressionKind, LetKind, SliceIndex};

/// Operators that replace others.
const OPERATORS: &[&str] = &[
    "+", "-", "*", "/", "%", "//", "**", "==", "!=", "<", "<=", "&&", "||", "&", "|", "^", "<<",
    ">>", "|>", "<|", ">->", "++",
];

/// Endings of literals.
const SUFFIXES: &[&str] = &[
    "", "i8", "i32", "i64", "u8", "u64", "f16", "f32", "f64", ".5", "000",
];

fn range_of(source: &MutableSource, id: ExpressionId) -> TextRange {
    source.tree.expressions[id].range
}

/// The ranges of all expressions.
fn expression_ranges(source: &MutableSource) -> Vec<TextRange> {
    let all = source.tree.expressions.iter();
    all.map(|(_, node)| node.range).collect()
}

/// Uses another operator in the place of one.
pub fn swap_operators(source: &MutableSource, choice: &mut MutationChoice) -> MutationEdits {
    let all = source.tree.expressions.iter();
    let operators = all.filter_map(|(_, node)| match &node.kind {
        ExpressionKind::Binary { operator, .. }
        | ExpressionKind::OperatorSection(operator)
        | ExpressionKind::LeftSection { operator, .. }
        | ExpressionKind::RightSection { operator, .. } => Some(range_of_name(operator)),
        _ => None,
    });
    let old = choice.choose_one(&operators.collect::<Vec<_>>())?;
    Some(vec![source.replace(old, choice.choose_one(OPERATORS)?)])
}

/// Exchanges the operands of an operator.
pub fn swap_operands(source: &MutableSource, choice: &mut MutationChoice) -> MutationEdits {
    let all = source.tree.expressions.iter();
    let operands = all.filter_map(|(_, node)| match node.kind {
        ExpressionKind::Binary { left, right, .. } => Some((left, right)),
        _ => None,
    });
    let (left, right) = choice.choose_one(&operands.collect::<Vec<_>>())?;
    source.exchange(range_of(source, left), range_of(source, right))
}

/// The arguments of all calls.
fn argument_lists(source: &MutableSource) -> Vec<&[ExpressionId]> {
    let all = source.tree.expressions.iter();
    let lists = all.filter_map(|(_, node)| match &node.kind {
        ExpressionKind::Application { arguments, .. } => Some(&arguments[..]),
        _ => None,
    });
    lists.collect()
}

/// Exchanges two arguments of a call.
pub fn swap_arguments(source: &MutableSource, choice: &mut MutationChoice) -> MutationEdits {
    let mut lists = argument_lists(source);
    lists.retain(|list| list.len() > 1);
    let list = choice.choose_one(&lists)?;
    let (first, second) = choice.choose_two(list)?;
    source.exchange(range_of(source, first), range_of(source, second))
}

/// Removes an argument of a call.
pub fn drop_argument(source: &MutableSource, choice: &mut MutationChoice) -> MutationEdits {
    let list = choice.choose_one(&argument_lists(source))?;
    let argument = choice.choose_one(list)?;
    Some(vec![source.remove(range_of(source, argument))])
}

/// Passes an argument of a call twice.
pub fn repeat_argument(source: &MutableSource, choice: &mut MutationChoice) -> MutationEdits {
    let list = choice.choose_one(&argument_lists(source))?;
    let argument = range_of(source, choice.choose_one(list)?);
    let copy = format!("{} ", source.text_of(argument));
    Some(vec![source.insert_before(argument, copy)])
}

/// Replaces an expression by one of another place.
pub fn replace_expression(source: &MutableSource, choice: &mut MutationChoice) -> MutationEdits {
    let all = expression_ranges(source);
    let old = choice.choose_one(&all)?;
    let new = source.text_of(choice.choose_one(&all)?);
    Some(vec![source.replace(old, format!("({new})"))])
}

/// Names that are indexed, updated or passed to functions.
fn possible_arrays(source: &MutableSource) -> Vec<TextRange> {
    let mut arrays = Vec::new();
    let mut push = |id: ExpressionId| {
        let node = &source.tree.expressions[id];
        if matches!(&node.kind, ExpressionKind::Name(name) if name.modules.is_empty()) {
            arrays.push(node.range);
        }
    };
    for (_, node) in source.tree.expressions.iter() {
        match &node.kind {
            ExpressionKind::Index { array, .. } => push(*array),
            ExpressionKind::Update { source, .. } => push(*source),
            ExpressionKind::Application { arguments, .. } => {
                arguments.iter().copied().for_each(&mut push)
            }
            _ => {}
        }
    }
    arrays
}

/// Consumes a variable in front of an expression that may use it, or that contains such an expression.
pub fn consume_variable(source: &MutableSource, choice: &mut MutationChoice) -> MutationEdits {
    let array = choice.choose_one(&possible_arrays(source))?;
    let mut around = expression_ranges(source);
    around.retain(|range| range.start <= array.start && array.end <= range.end);
    let range = choice.choose_one(&around)?;
    let name = source.text_of(array);
    let bound = choice.choose_one(&["gone", "_", name])?;
    let new = format!(
        "(let {bound} = {name} with [0] = {name}[0] in {})",
        source.text_of(range)
    );
    Some(vec![source.replace(range, new)])
}

/// Gives a literal another type or size.
pub fn change_literal(source: &MutableSource, choice: &mut MutationChoice) -> MutationEdits {
    let numbers = source
        .tokens
        .iter()
        .filter(|token| matches!(token.kind, TokenKind::Integer | TokenKind::Float));
    let numbers: Vec<_> = numbers.map(|token| token.range).collect();
    let number = choice.choose_one(&numbers)?;
    let text = source.text_of(number);
    let is_radix = text.starts_with("0x") || text.starts_with("0b");
    let digits = match text.find(['i', 'u', 'f']) {
        Some(end) if !is_radix => &text[..end],
        _ => text,
    };
    let new = format!("{digits}{}", choice.choose_one(SUFFIXES)?);
    Some(vec![source.replace(number, new)])
}

/// Exchanges the branches of a condition, or a branch and the condition.
pub fn swap_branches(source: &MutableSource, choice: &mut MutationChoice) -> MutationEdits {
    let all = source.tree.expressions.iter();
    let branches = all.filter_map(|(_, node)| match node.kind {
        ExpressionKind::If {
            condition,
            accept,
            reject,
        } => Some([condition, accept, reject]),
        _ => None,
    });
    let parts = choice.choose_one(&branches.collect::<Vec<_>>())?;
    let (first, second) = choice.choose_two(&parts)?;
    source.exchange(range_of(source, first), range_of(source, second))
}

/// Makes an ascription a coercion and the reverse, or removes it.
pub fn change_ascription(source: &MutableSource, choice: &mut MutationChoice) -> MutationEdits {
    let all = source.tree.expressions.iter();
    let ascriptions = all.filter_map(|(_, node)| match node.kind {
        ExpressionKind::Ascription { value, ascribed } => Some((node.range, value, ascribed, ":>")),
        ExpressionKind::Coercion { value, coerced } => Some((node.range, value, coerced, ":")),
        _ => None,
    });
    let (range, value, ascribed, mark) = choice.choose_one(&ascriptions.collect::<Vec<_>>())?;
    let value = source.text_of(range_of(source, value));
    let ascribed = source.text_of(source.tree.types[ascribed].range);
    let new = match choice.choose_below(3) {
        0 => value.to_owned(),
        _ => format!("{value} {mark} {ascribed}"),
    };
    Some(vec![source.replace(range, new)])
}

/// Removes an index, adds one, or makes it a slice.
pub fn change_index(source: &MutableSource, choice: &mut MutationChoice) -> MutationEdits {
    let mut points = Vec::new();
    let mut add = |indices: &[SliceIndex]| {
        for index in indices {
            if let SliceIndex::Point(point) = index {
                points.push(range_of(source, *point));
            }
        }
    };
    for (_, node) in source.tree.expressions.iter() {
        if let ExpressionKind::Index { indices, .. } = &node.kind {
            add(indices);
        }
    }
    let point = choice.choose_one(&points)?;
    let text = source.text_of(point);
    let new = match choice.choose_below(4) {
        0 => format!("{text}:"),
        1 => format!(":{text}"),
        2 => format!("{text}, 0"),
        _ => String::new(),
    };
    Some(vec![source.replace(point, new)])
}

/// Updates another variable than the one that is updated.
pub fn alias_update(source: &MutableSource, choice: &mut MutationChoice) -> MutationEdits {
    let mut updated = Vec::new();
    for (_, node) in source.tree.expressions.iter() {
        match &node.kind {
            ExpressionKind::Update { source: base, .. } => updated.push(range_of(source, *base)),
            ExpressionKind::Let { bindings, .. } => {
                for binding in bindings {
                    if let LetKind::Update { name, .. } = &binding.kind {
                        updated.push(name.range);
                    }
                }
            }
            _ => {}
        }
    }
    let old = choice.choose_one(&updated)?;
    let new = choice.choose_one(&possible_arrays(source))?;
    Some(vec![source.replace(old, source.text_of(new))])
}
