//! Changes of bindings, parameters, patterns, cases and loops.

use super::MutationEdits;
use crate::source::{MutableSource, MutationChoice};
use spirula_futhark::syntax::token::TextRange;
use spirula_futhark::syntax::tree::{
    DeclarationKind, ExpressionKind, FunctionSignature, LetBinding, LetKind, LoopForm, MatchCase,
    ModuleTypeKind, PatternKind, SpecificationKind, TypeParameter,
};

/// Type parameters that replace others.
const PARAMETERS: &[&str] = &["[n]", "[m]", "'a", "'~a", "'^a", "'b", "[n] [m]"];

/// The chains of bindings.
fn chains(source: &MutableSource) -> Vec<&[LetBinding]> {
    let all = source.tree.expressions.iter();
    let chains = all.filter_map(|(_, node)| match &node.kind {
        ExpressionKind::Let { bindings, .. } => Some(&bindings[..]),
        _ => None,
    });
    chains.collect()
}

/// Removes a binding of a chain of several.
pub fn drop_binding(source: &MutableSource, choice: &mut MutationChoice) -> MutationEdits {
    let mut chains = chains(source);
    chains.retain(|chain| chain.len() > 1);
    let chain = choice.choose_one(&chains)?;
    let at = choice.choose_below(chain.len());
    Some(vec![source.remove(chain[at].range)])
}

/// Exchanges two bindings of a chain.
pub fn swap_bindings(source: &MutableSource, choice: &mut MutationChoice) -> MutationEdits {
    let mut chains = chains(source);
    chains.retain(|chain| chain.len() > 1);
    let chain = choice.choose_one(&chains)?;
    let at = choice.choose_below(chain.len() - 1);
    source.exchange(chain[at].range, chain[at + 1].range)
}

/// The signatures of functions that are declared or bound, and of lambdas.
fn signatures(source: &MutableSource) -> Vec<&FunctionSignature> {
    let mut all: Vec<&FunctionSignature> = Vec::new();
    for declaration in source.declarations() {
        if let DeclarationKind::Value(value) = &declaration.kind {
            all.push(&value.signature);
        }
    }
    for chain in chains(source) {
        for binding in chain {
            if let LetKind::Function { signature, .. } = &binding.kind {
                all.push(signature);
            }
        }
    }
    for (_, node) in source.tree.expressions.iter() {
        if let ExpressionKind::Lambda(function) = &node.kind {
            all.push(&function.signature);
        }
    }
    all
}

/// The ranges of all parameters.
fn parameters(source: &MutableSource) -> Vec<TextRange> {
    let all = signatures(source).into_iter();
    let all = all.flat_map(|signature| &signature.parameters);
    all.map(|&pattern| source.tree.patterns[pattern].range)
        .collect()
}

/// Removes a parameter.
pub fn drop_parameter(source: &MutableSource, choice: &mut MutationChoice) -> MutationEdits {
    let parameter = choice.choose_one(&parameters(source))?;
    Some(vec![source.remove(parameter)])
}

/// Repeats a parameter, under its name or as a wildcard.
pub fn repeat_parameter(source: &MutableSource, choice: &mut MutationChoice) -> MutationEdits {
    let parameter = choice.choose_one(&parameters(source))?;
    let copy = match choice.choose_below(2) {
        0 => source.text_of(parameter),
        _ => "_",
    };
    Some(vec![source.insert_before(parameter, format!("{copy} "))])
}

/// The lists of size and type parameters, of functions, types and specifications.
fn type_parameter_lists(source: &MutableSource) -> Vec<&[TypeParameter]> {
    let mut lists: Vec<&[TypeParameter]> = Vec::new();
    for signature in signatures(source) {
        lists.push(&signature.type_parameters);
    }
    for declaration in source.declarations() {
        if let DeclarationKind::Type(declared) = &declaration.kind {
            lists.push(&declared.parameters);
        }
    }
    for (_, node) in source.tree.module_types.iter() {
        let ModuleTypeKind::Specifications(specifications) = &node.kind else {
            continue;
        };
        for specification in specifications {
            match &specification.kind {
                SpecificationKind::Value {
                    type_parameters, ..
                } => lists.push(type_parameters),
                SpecificationKind::Type(declared) => lists.push(&declared.parameters),
                _ => {}
            }
        }
    }
    lists.retain(|list| !list.is_empty());
    lists
}

/// The range of a size or type parameter with its brackets or its mark.
fn range_with_mark(source: &MutableSource, parameter: TypeParameter) -> Option<TextRange> {
    let range = parameter.name.range;
    let before = &source.text()[..range.start as usize];
    let start = before.rfind(['[', '\''])? as u32;
    let is_size = source.text().as_bytes()[start as usize] == b'[';
    let end = range.end + u32::from(is_size);
    Some(TextRange { start, end })
}

/// Replaces a size or type parameter by another one.
pub fn change_type_parameter(source: &MutableSource, choice: &mut MutationChoice) -> MutationEdits {
    let list = choice.choose_one(&type_parameter_lists(source))?;
    let parameter = choice.choose_one(list)?;
    let name = source.text_of(parameter.name.range);
    let range = range_with_mark(source, parameter)?;
    let new = match choice.choose_below(5) {
        0 => format!("'{name}"),
        1 => format!("'~{name}"),
        2 => format!("'^{name}"),
        3 => format!("[{name}]"),
        _ => choice.choose_one(PARAMETERS)?.to_owned(),
    };
    Some(vec![source.replace(range, new)])
}

/// Removes a size or type parameter.
pub fn drop_type_parameter(source: &MutableSource, choice: &mut MutationChoice) -> MutationEdits {
    let list = choice.choose_one(&type_parameter_lists(source))?;
    let parameter = choice.choose_one(list)?;
    Some(vec![source.remove(range_with_mark(source, parameter)?)])
}

/// Replaces a pattern by another one, by a wildcard, or by a pair.
pub fn change_pattern(source: &MutableSource, choice: &mut MutationChoice) -> MutationEdits {
    let all: Vec<_> = source.tree.patterns.iter().collect();
    let (_, node) = choice.choose_one(&all)?;
    let new = match (&node.kind, choice.choose_below(5)) {
        (PatternKind::Ascription { pattern, .. }, 0 | 1) => source
            .text_of(source.tree.patterns[*pattern].range)
            .to_owned(),
        (_, 0) => "_".to_owned(),
        (_, 1) => format!("({}, _)", source.text_of(node.range)),
        (_, 2) => choice
            .choose_one(&["(_: i64)", "1", "true", "()", "{a}", "#none", "-1"])?
            .to_owned(),
        _ => source.text_of(choice.choose_one(&all)?.1.range).to_owned(),
    };
    Some(vec![source.replace(node.range, new)])
}

/// The lists of cases.
fn case_lists(source: &MutableSource) -> Vec<&[MatchCase]> {
    let all = source.tree.expressions.iter();
    let lists = all.filter_map(|(_, node)| match &node.kind {
        ExpressionKind::Match { cases, .. } => Some(&cases[..]),
        _ => None,
    });
    lists.collect()
}

/// Removes a case.
pub fn drop_case(source: &MutableSource, choice: &mut MutationChoice) -> MutationEdits {
    let list = choice.choose_one(&case_lists(source))?;
    let case = choice.choose_one(list)?;
    Some(vec![source.remove(case.range)])
}

/// Exchanges the patterns of two cases.
pub fn swap_cases(source: &MutableSource, choice: &mut MutationChoice) -> MutationEdits {
    let list = choice.choose_one(&case_lists(source))?;
    let (first, second) = choice.choose_two(list)?;
    let range = |case: MatchCase| source.tree.patterns[case.pattern].range;
    source.exchange(range(first), range(second))
}

/// Changes a loop: its first value, its body or its form.
pub fn change_loop(source: &MutableSource, choice: &mut MutationChoice) -> MutationEdits {
    let all = source.tree.expressions.iter();
    let loops = all.filter_map(|(_, node)| match &node.kind {
        ExpressionKind::Loop(one) => Some(one),
        _ => None,
    });
    let one = choice.choose_one(&loops.collect::<Vec<_>>())?;
    let expressions = &source.tree.expressions;
    let pattern = source.text_of(source.tree.patterns[one.pattern].range);
    let body = expressions[one.body].range;
    match choice.choose_below(4) {
        0 => Some(vec![source.replace(body, pattern)]),
        1 => {
            let initial = expressions[one.initial?].range;
            Some(vec![source.replace(body, source.text_of(initial))])
        }
        2 => {
            let initial = expressions[one.initial?].range;
            source.exchange(initial, body)
        }
        _ => {
            let bound = match one.form {
                LoopForm::Count(_, bound)
                | LoopForm::While(bound)
                | LoopForm::Elements(_, bound) => bound,
            };
            let new = choice.choose_one(&["10", "true", "[1, 2]", "1.5", "(iota 3)"])?;
            Some(vec![source.replace(expressions[bound].range, new)])
        }
    }
}
