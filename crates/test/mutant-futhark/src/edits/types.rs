//! Changes of type expressions.

use super::MutationEdits;
use crate::source::{MutableSource, MutationChoice};
use spirula_futhark::syntax::token::TextRange;
use spirula_futhark::syntax::tree::{
    DeclarationKind, ExpressionKind, FunctionSignature, LetKind, TypeKind,
};

/// Types that replace others.
const TYPES: &[&str] = &[
    "i32",
    "i64",
    "u8",
    "f32",
    "f64",
    "bool",
    "()",
    "(i32, bool)",
    "{a: i32}",
    "[]i32",
    "[]f32",
    "[][]i64",
    "(i32 -> i32)",
    "*[]i32",
    "(#a | #b i32)",
];

/// Sizes that replace others.
const SIZES: &[&str] = &["", "1", "10", "n", "m", "(n + 1)", "(2 * n)", "k"];

fn type_ranges(source: &MutableSource) -> Vec<TextRange> {
    source
        .tree
        .types
        .iter()
        .map(|(_, node)| node.range)
        .collect()
}

/// Exchanges two type expressions.
pub fn swap_types(source: &MutableSource, choice: &mut MutationChoice) -> MutationEdits {
    let (first, second) = choice.choose_two(&type_ranges(source))?;
    source.exchange(first, second)
}

/// Replaces a type expression by one of another place, or by one of a list.
pub fn replace_type(source: &MutableSource, choice: &mut MutationChoice) -> MutationEdits {
    let ranges = type_ranges(source);
    let old = choice.choose_one(&ranges)?;
    let new = if choice.choose_below(2) == 0 {
        source.text_of(choice.choose_one(&ranges)?)
    } else {
        choice.choose_one(TYPES)?
    };
    Some(vec![source.replace(old, new)])
}

/// Makes a unique type one that is not.
pub fn drop_star(source: &MutableSource, choice: &mut MutationChoice) -> MutationEdits {
    let types = source.tree.types.iter();
    let stars = types.filter_map(|(_, node)| match node.kind {
        TypeKind::Unique(inner) => Some((node.range, source.tree.types[inner].range)),
        _ => None,
    });
    let (outer, inner) = choice.choose_one(&stars.collect::<Vec<_>>())?;
    Some(vec![source.replace(outer, source.text_of(inner))])
}

/// Makes a type unique.
pub fn add_star(source: &MutableSource, choice: &mut MutationChoice) -> MutationEdits {
    let range = choice.choose_one(&type_ranges(source))?;
    Some(vec![source.insert_before(range, "*")])
}

/// The arrays among the types: the range of the brackets, and that of the elements.
fn array_ranges(source: &MutableSource) -> Vec<(TextRange, TextRange)> {
    let types = source.tree.types.iter();
    let arrays = types.filter_map(|(_, node)| match node.kind {
        TypeKind::Array { element, .. } => {
            let element = source.tree.types[element].range;
            let end = element.start;
            Some((TextRange { end, ..node.range }, element))
        }
        _ => None,
    });
    arrays.collect()
}

/// Gives a dimension another size.
pub fn change_size(source: &MutableSource, choice: &mut MutationChoice) -> MutationEdits {
    let arrays = array_ranges(source);
    let (brackets, _) = choice.choose_one(&arrays)?;
    if choice.choose_below(2) == 0 {
        let (other, _) = choice.choose_one(&arrays)?;
        return Some(vec![source.replace(brackets, source.text_of(other))]);
    }
    let size = choice.choose_one(SIZES)?;
    Some(vec![source.replace(brackets, format!("[{size}]"))])
}

/// Removes a dimension.
pub fn drop_dimension(source: &MutableSource, choice: &mut MutationChoice) -> MutationEdits {
    let (brackets, _) = choice.choose_one(&array_ranges(source))?;
    Some(vec![source.remove(brackets)])
}

/// Adds a dimension.
pub fn add_dimension(source: &MutableSource, choice: &mut MutationChoice) -> MutationEdits {
    let range = choice.choose_one(&type_ranges(source))?;
    let size = choice.choose_one(SIZES)?;
    Some(vec![source.insert_before(range, format!("[{size}]"))])
}

/// The signatures of all functions with their values.
fn signatures(source: &MutableSource) -> Vec<&FunctionSignature> {
    let mut all = Vec::new();
    for declaration in source.declarations() {
        if let DeclarationKind::Value(value) = &declaration.kind {
            all.push(&value.signature);
        }
    }
    for (_, node) in source.tree.expressions.iter() {
        match &node.kind {
            ExpressionKind::Lambda(function) => all.push(&function.signature),
            ExpressionKind::Let { bindings, .. } => {
                for binding in bindings {
                    if let LetKind::Function { signature, .. } = &binding.kind {
                        all.push(signature);
                    }
                }
            }
            _ => {}
        }
    }
    all
}

/// Removes the type of a result.
pub fn drop_result_type(source: &MutableSource, choice: &mut MutationChoice) -> MutationEdits {
    let results = signatures(source).into_iter().filter_map(|one| one.result);
    let result = choice.choose_one(&results.collect::<Vec<_>>())?;
    let range = source.tree.types[result].range;
    let before = source.text()[..range.start as usize].rfind([':', '>'])?;
    let is_arrow = source.text().as_bytes()[before] == b'>';
    if is_arrow {
        return None;
    }
    let start = before as u32;
    Some(vec![source.remove(TextRange { start, ..range })])
}

/// Makes a type that of a function.
pub fn add_function_type(source: &MutableSource, choice: &mut MutationChoice) -> MutationEdits {
    let ranges = type_ranges(source);
    let range = choice.choose_one(&ranges)?;
    let other = source.text_of(choice.choose_one(&ranges)?);
    let old = source.text_of(range);
    let new = if choice.choose_below(2) == 0 {
        format!("({old} -> {other})")
    } else {
        format!("({other} -> {old})")
    };
    Some(vec![source.replace(range, new)])
}
