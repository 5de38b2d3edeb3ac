//! Dead-code elimination: statements go whose results nothing reads and which check nothing.

use crate::ir::{SoacBody, SoacFunction, SoacOperand, SoacOperation, SoacType, SoacVariableId};
use spirula_entity::EntitySet;

/// Removes the statements of a function that have no effect on its results. Checks stay while something that needs their
/// certificate stays, or while nothing in the function needs it: then the source asked for it.
pub fn remove_dead_code(function: &mut SoacFunction) {
    let mut live: EntitySet<SoacVariableId> = EntitySet::default();
    let types: Vec<SoacType> = function
        .variables
        .iter()
        .map(|(_, variable)| variable.variable_type.clone())
        .collect();
    remove_dead_statements(&mut function.body, &types, &mut live);
}

/// Marks an operand, and the sizes of its type.
fn mark_live(operand: SoacOperand, types: &[SoacType], live: &mut EntitySet<SoacVariableId>) {
    let SoacOperand::Variable(id) = operand else {
        return;
    };
    if live.insert(id) {
        for &size in types[id.index()].shape() {
            mark_live(size, types, live);
        }
    }
}

/// Removes dead statements of a body, from the last to the first.
fn remove_dead_statements(
    body: &mut SoacBody,
    types: &[SoacType],
    live: &mut EntitySet<SoacVariableId>,
) {
    for &result in &body.results {
        mark_live(result, types, live);
    }
    let mut kept = Vec::with_capacity(body.statements.len());
    for mut statement in std::mem::take(&mut body.statements).into_iter().rev() {
        let is_live = statement
            .results
            .iter()
            .any(|&result| live.contains(result));
        if !is_live && !statement.operation.writes_accumulator() {
            continue;
        }
        for &result in &statement.results {
            for &size in types[result.index()].shape() {
                mark_live(size, types, live);
            }
        }
        for body in statement.operation.bodies_mut() {
            remove_dead_statements(body, types, live);
        }
        if let SoacOperation::Loop(parameters, _, _) = &statement.operation {
            for (parameter, _) in parameters {
                for &size in types[parameter.index()].shape() {
                    mark_live(size, types, live);
                }
            }
        }
        statement
            .operation
            .for_each_operand(|operand| mark_live(operand, types, live));
        for &certificate in &statement.certificates {
            live.insert(certificate);
        }
        kept.push(statement);
    }
    kept.reverse();
    body.statements = kept;
}
