//! Rules of the segmented form, which hold of every function.
//!
//! 1. The soac program that it means keeps the rules of the soac form. So variables are bound once, in front of their uses.
//! 2. Only a map may have no dimension.
//! 3. An operation has as many results as its kind asks for, and its body has those that the kind uses.
//! 4. Only a map may be an operation by workgroups.

use crate::ir::{
    HostOperation, ParallelOperation, SegmentBody, SegmentFunction, SegmentKind, SegmentStatement,
};
use crate::meaning::to_soac;
use spirula_soac::ir::SoacProgram;
use spirula_soac::verify::verify_program;

/// Checks a function.
///
/// # Errors
///
/// The first rule that is broken, with the variables.
pub fn verify_function(function: &SegmentFunction) -> Result<(), String> {
    verify_body(&function.body)?;
    for (_, callee) in function.callees.iter() {
        verify_body(&callee.body)?;
    }
    let mut program = SoacProgram::default();
    program.functions.push(to_soac(function));
    verify_program(&program)
}

fn verify_body(body: &SegmentBody) -> Result<(), String> {
    body.statements.iter().try_for_each(verify_statement)
}

fn verify_statement(statement: &SegmentStatement) -> Result<(), String> {
    match &statement.operation {
        HostOperation::Plain(operation) if operation.bodies().is_empty() => Ok(()),
        HostOperation::Plain(_) => Err(format!(
            "the operation of {:?} has bodies (rule 1)",
            statement.results
        )),
        HostOperation::If(_, accept, reject) => {
            verify_body(accept)?;
            verify_body(reject)
        }
        HostOperation::Loop(_, _, body) | HostOperation::WithAccumulators(_, body) => {
            verify_body(body)
        }
        HostOperation::Parallel(operation) => verify_parallel(operation, statement.results.len())
            .map_err(|reason| format!("{:?}: {reason}", statement.results)),
        HostOperation::Grouped(operation, otherwise) => {
            if !matches!(operation.kind, SegmentKind::Map) {
                return Err("an operation by workgroups is no map (rule 4)".into());
            }
            verify_parallel(operation, statement.results.len())?;
            verify_body(otherwise)
        }
    }
}

fn verify_parallel(operation: &ParallelOperation, results: usize) -> Result<(), String> {
    let values = operation.body.results.len();
    let has_space = !operation.space.is_empty() || matches!(operation.kind, SegmentKind::Map);
    let (inputs, outputs) = (operation.count_inputs(), operation.count_outputs());
    let has_results = values >= inputs && results == outputs + (values - inputs);
    let has_parameters = operation.fold().is_none_or(|fold| {
        fold.neutral.len() == outputs && fold.function.parameters.len() == 2 * outputs
    });
    let is_right = has_results && has_parameters;
    if !has_space {
        return Err("an operation has no dimension (rule 2)".into());
    }
    if !is_right {
        return Err(format!(
            "an operation has {results} results and {values} values of a point (rule 3)"
        ));
    }
    Ok(())
}
