//! Changes of declarations, specifications and modules.

use super::MutationEdits;
use crate::source::{MutableSource, MutationChoice};
use spirula_futhark::syntax::token::{ReservedWord, TokenKind};
use spirula_futhark::syntax::tree::{DeclarationKind, ModuleKind, ModuleTypeKind};

/// Removes a declaration.
pub fn drop_declaration(source: &MutableSource, choice: &mut MutationChoice) -> MutationEdits {
    let list = choice.choose_one(&source.declaration_lists())?;
    let declaration = &list[choice.choose_below(list.len())];
    Some(vec![source.remove(declaration.range)])
}

/// Exchanges two declarations.
pub fn swap_declarations(source: &MutableSource, choice: &mut MutationChoice) -> MutationEdits {
    let mut lists = source.declaration_lists();
    lists.retain(|list| list.len() > 1);
    let list = choice.choose_one(&lists)?;
    let ranges: Vec<_> = list.iter().map(|one| one.range).collect();
    let (first, second) = choice.choose_two(&ranges)?;
    source.exchange(first, second)
}

/// Repeats a declaration after itself.
pub fn repeat_declaration(source: &MutableSource, choice: &mut MutationChoice) -> MutationEdits {
    let list = choice.choose_one(&source.declaration_lists())?;
    let range = list[choice.choose_below(list.len())].range;
    let copy = format!("\n{}\n", source.text_of(range));
    Some(vec![source.insert_after(range, copy)])
}

/// Replaces the keyword of a declaration or of a binding.
pub fn change_keyword(source: &MutableSource, choice: &mut MutationChoice) -> MutationEdits {
    let words = source.tokens.iter().filter(|token| {
        matches!(
            token.kind,
            TokenKind::Keyword(ReservedWord::Def | ReservedWord::Entry | ReservedWord::Type)
        )
    });
    let words: Vec<_> = words.map(|token| token.range).collect();
    let word = choice.choose_one(&words)?;
    let new = match source.text_of(word) {
        "type" => choice.choose_one(&["type~", "type^", "local type", "module type"])?,
        _ => choice.choose_one(&["def", "entry", "let", "local def"])?,
    };
    Some(vec![source.replace(word, new)])
}

/// Makes a declaration local.
pub fn hide_declaration(source: &MutableSource, choice: &mut MutationChoice) -> MutationEdits {
    let list = choice.choose_one(&source.declaration_lists())?;
    let range = list[choice.choose_below(list.len())].range;
    Some(vec![source.insert_before(range, "local ")])
}

/// Removes a specification of a module type.
pub fn drop_specification(source: &MutableSource, choice: &mut MutationChoice) -> MutationEdits {
    let list = choice.choose_one(&source.specification_lists())?;
    let range = choice.choose_one(&list)?;
    Some(vec![source.remove(range)])
}

/// Exchanges two specifications of a module type.
pub fn swap_specifications(source: &MutableSource, choice: &mut MutationChoice) -> MutationEdits {
    let list = choice.choose_one(&source.specification_lists())?;
    let (first, second) = choice.choose_two(&list)?;
    source.exchange(first, second)
}

/// Changes a module expression: removes its module type, exchanges it with another, or replaces its module type.
pub fn change_module(source: &MutableSource, choice: &mut MutationChoice) -> MutationEdits {
    let tree = &source.tree;
    let modules: Vec<_> = tree.modules.iter().map(|(_, node)| node.range).collect();
    let types: Vec<_> = tree
        .module_types
        .iter()
        .map(|(_, node)| node.range)
        .collect();
    match choice.choose_below(4) {
        0 => {
            let (first, second) = choice.choose_two(&modules)?;
            source.exchange(first, second)
        }
        1 => {
            let (first, second) = choice.choose_two(&types)?;
            source.exchange(first, second)
        }
        2 => {
            let ascriptions = tree.modules.iter().filter_map(|(_, node)| match node.kind {
                ModuleKind::Ascription(inner, _) => Some((node.range, tree.modules[inner].range)),
                _ => None,
            });
            let (outer, inner) = choice.choose_one(&ascriptions.collect::<Vec<_>>())?;
            Some(vec![source.replace(outer, source.text_of(inner))])
        }
        _ => {
            let refined = tree
                .module_types
                .iter()
                .filter_map(|(_, node)| match node.kind {
                    ModuleTypeKind::With { base, .. } => {
                        Some((node.range, tree.module_types[base].range))
                    }
                    _ => None,
                });
            let named = source.declarations().into_iter();
            let named = named.filter_map(|one| match &one.kind {
                DeclarationKind::Module {
                    ascribed: Some(ascribed),
                    ..
                } => Some((tree.module_types[*ascribed].range, *types.first()?)),
                _ => None,
            });
            let all: Vec<_> = refined.chain(named).collect();
            let (outer, inner) = choice.choose_one(&all)?;
            Some(vec![source.replace(outer, source.text_of(inner))])
        }
    }
}
