//! Calls have no derivative: the functions that they call may be recursive.

use super::activity::ActivitySet;
use super::custom::CustomRules;
use crate::build::SoacBuilder;
use crate::calls::visit_calls;
use crate::ir::{SoacBody, SoacFunctionId, SoacOperation, SoacVariableId};

/// The function of a call whose results depend on inputs of a body in a way that has a derivative.
pub fn find_derived_call(
    builder: &SoacBuilder,
    body: &SoacBody,
    inputs: &[SoacVariableId],
    rules: &CustomRules,
) -> Option<SoacFunctionId> {
    let mut has_call = false;
    visit_calls(body, &mut |_, _| has_call = true);
    if !has_call {
        return None;
    }
    let mut active = ActivitySet::default();
    active.link(rules.iter());
    for &id in inputs {
        active.insert(builder, id);
    }
    active.visit_body(builder, body);
    find_active_call(&active, body)
}

/// The function of a call with active results.
pub(super) fn find_active_call(active: &ActivitySet, body: &SoacBody) -> Option<SoacFunctionId> {
    let mut found = None;
    body.for_each_statement(&mut |statement| {
        if let SoacOperation::Call(function, _) = statement.operation
            && statement.results.iter().any(|&id| active.contains(id))
        {
            found = found.or(Some(function));
        }
    });
    found
}
