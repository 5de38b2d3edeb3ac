//! Constants of a program that its entry points use.

use crate::check::types::{TypeForm, TypeId};
use crate::typed::{DefinitionId, TypedExpressionId, TypedKind, TypedProgram};
use std::collections::BTreeSet;

/// The definitions without parameters that entry points use, directly or through others, in the order of the program.
pub(crate) fn find_used_constants(program: &TypedProgram) -> Vec<DefinitionId> {
    let mut found: BTreeSet<usize> = BTreeSet::new();
    let mut rest = program.entries.clone();
    let mut constants = Vec::new();
    while let Some(id) = rest.pop() {
        if !found.insert(id.index()) {
            continue;
        }
        if is_constant(program, id) && !program.entries.contains(&id) {
            constants.push(id);
        }
        if let Some(body) = program.definitions[id].body {
            collect_definitions(program, body, &mut rest);
        }
    }
    constants.sort_by_key(|id| id.index());
    constants
}

/// Whether a definition has one value, which is no function.
fn is_constant(program: &TypedProgram, id: DefinitionId) -> bool {
    let definition = &program.definitions[id];
    definition.body.is_some()
        && definition.parameters.is_empty()
        && definition.type_parameters.is_empty()
        && definition.size_parameters.is_empty()
        && !has_function(program, definition.type_id)
}

fn has_function(program: &TypedProgram, id: TypeId) -> bool {
    match program.types.form(id) {
        TypeForm::Function(..) | TypeForm::Parameter(_) | TypeForm::Variable(_) => true,
        TypeForm::Scalar(_) | TypeForm::Abstract(..) => false,
        TypeForm::Array(element) => has_function(program, *element),
        TypeForm::Record(fields) => fields
            .iter()
            .any(|(_, field)| has_function(program, *field)),
        TypeForm::Sum(clauses) => {
            let mut parts = clauses.iter().flat_map(|(_, payload)| payload);
            parts.any(|part| has_function(program, *part))
        }
    }
}

/// Adds the definitions that an expression refers to.
fn collect_definitions(
    program: &TypedProgram,
    root: TypedExpressionId,
    found: &mut Vec<DefinitionId>,
) {
    let mut rest = vec![root];
    while let Some(id) = rest.pop() {
        let kind = &program.expressions[id].kind;
        if let TypedKind::Global(definition, _) = kind {
            found.push(*definition);
        }
        kind.for_each_child(&mut |child| rest.push(child));
    }
}
