//! Automatic differentiation of bodies.
//!
//! - [`scalar_rule`]: derivatives of scalar operators.
//! - `activity`: which variables depend on the inputs.
//! - `forward`: tangents beside each statement.
//!
//! The rules follow R. Schenck, O. Rønning, T. Henriksen, C. Oancea, *AD for an Array Language with Nested Parallelism*,
//! 2022. The result of a transformation is a program of the same form, so that transformations nest.

mod activity;
mod arithmetic;
mod copy;
mod forward;
pub mod scalar_rule;

use crate::build::SoacBuilder;
use crate::ir::{SoacBody, SoacOperand, SoacVariableId};

/// Adds the statements of a body, and those that compute the tangents of its results for tangents of inputs.
///
/// An input is a variable that only the body reads. Returns the tangent of each result.
pub fn add_forward(
    builder: &mut SoacBuilder,
    body: SoacBody,
    inputs: &[(SoacVariableId, SoacOperand)],
) -> Vec<SoacOperand> {
    let mut transform = forward::ForwardTransform::new(builder, inputs, &body);
    transform.add_statements(body.statements);
    let results = body.results.iter();
    results.map(|&result| transform.tangent(result)).collect()
}
