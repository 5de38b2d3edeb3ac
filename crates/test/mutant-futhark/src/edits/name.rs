//! Changes of names.

use super::MutationEdits;
use crate::source::{MutableSource, MutationChoice};
use spirula_futhark::syntax::token::TextRange;
use spirula_futhark::syntax::tree::{ExpressionKind, PatternKind, TypeKind};

/// Names of the prelude that replace others.
const PRELUDE_NAMES: &[&str] = &[
    "map",
    "reduce",
    "scan",
    "iota",
    "length",
    "replicate",
    "zip",
    "copy",
    "scatter",
    "filter",
    "concat",
    "transpose",
    "i32.f32",
    "f32.i32",
    "i64.i32",
    "id",
];

/// The ranges of all names that patterns bind.
fn bound_names(source: &MutableSource) -> Vec<TextRange> {
    let patterns = source.tree.patterns.iter();
    let names = patterns.filter_map(|(_, node)| match &node.kind {
        PatternKind::Name(name) => Some(name.range),
        _ => None,
    });
    names.collect()
}

/// Uses another name in the place of one.
pub fn rename_use(source: &MutableSource, choice: &mut MutationChoice) -> MutationEdits {
    let uses = source.name_uses();
    let old = choice.choose_one(&uses)?;
    let new = match choice.choose_below(4) {
        0 => choice.choose_one(PRELUDE_NAMES)?,
        1 => source.text_of(choice.choose_one(&bound_names(source))?),
        _ => source.text_of(choice.choose_one(&uses)?),
    };
    Some(vec![source.replace(old, new)])
}

/// Binds another name.
pub fn rename_binding(source: &MutableSource, choice: &mut MutationChoice) -> MutationEdits {
    let bound = bound_names(source);
    let old = choice.choose_one(&bound)?;
    let new = match choice.choose_below(3) {
        0 => "fresh",
        1 => "_",
        _ => source.text_of(choice.choose_one(&bound)?),
    };
    Some(vec![source.replace(old, new)])
}

/// Uses another field in the place of one.
pub fn rename_field(source: &MutableSource, choice: &mut MutationChoice) -> MutationEdits {
    let mut fields = Vec::new();
    for (_, node) in source.tree.expressions.iter() {
        match &node.kind {
            ExpressionKind::Projection { field, .. } => fields.push(field.range),
            ExpressionKind::Record(all) => fields.extend(all.iter().map(|field| field.name.range)),
            ExpressionKind::Name(name) if !name.modules.is_empty() => fields.push(name.name.range),
            _ => {}
        }
    }
    for (_, node) in source.tree.patterns.iter() {
        if let PatternKind::Record(all) = &node.kind {
            fields.extend(all.iter().map(|field| field.name.range));
        }
    }
    for (_, node) in source.tree.types.iter() {
        if let TypeKind::Record(all) = &node.kind {
            fields.extend(all.iter().map(|(name, _)| name.range));
        }
    }
    let old = choice.choose_one(&fields)?;
    let new = match choice.choose_below(3) {
        0 => choice.choose_one(&["0", "1", "2", "other"])?,
        _ => source.text_of(choice.choose_one(&fields)?),
    };
    Some(vec![source.replace(old, new)])
}

/// Uses another constructor in the place of one.
pub fn rename_constructor(source: &MutableSource, choice: &mut MutationChoice) -> MutationEdits {
    let mut names = Vec::new();
    for (_, node) in source.tree.expressions.iter() {
        if let ExpressionKind::Constructor { name, .. } = &node.kind {
            names.push(name.range);
        }
    }
    for (_, node) in source.tree.patterns.iter() {
        if let PatternKind::Constructor { name, .. } = &node.kind {
            names.push(name.range);
        }
    }
    for (_, node) in source.tree.types.iter() {
        if let TypeKind::Sum(all) = &node.kind {
            names.extend(all.iter().map(|(name, _)| name.range));
        }
    }
    let old = choice.choose_one(&names)?;
    let new = source.text_of(choice.choose_one(&names)?);
    Some(vec![source.replace(old, new)])
}
