//! The calls in code.

use crate::ir::{SoacArgument, SoacBody, SoacFunctionId, SoacOperation};

/// Calls a function with each call of a body and of those within it.
pub fn visit_calls(body: &SoacBody, visit: &mut dyn FnMut(SoacFunctionId, &[SoacArgument])) {
    body.for_each_statement(&mut |statement| {
        if let SoacOperation::Call(callee, arguments) = &statement.operation {
            visit(*callee, arguments);
        }
    });
}

/// Calls a function with each call of a body and of those within it, to be changed.
pub fn change_calls(
    body: &mut SoacBody,
    change: &mut dyn FnMut(&mut SoacFunctionId, &mut Vec<SoacArgument>),
) {
    for statement in &mut body.statements {
        if let SoacOperation::Call(callee, arguments) = &mut statement.operation {
            change(callee, arguments);
        }
        for body in statement.operation.bodies_mut() {
            change_calls(body, change);
        }
    }
}
