//! Automatic differentiation of bodies.
//!
//! - [`scalar_rule`]: derivatives of scalar operators.
//! - `activity`: which variables depend on the inputs.
//! - `forward`: tangents beside each statement.
//! - `reverse`: a sweep that keeps values, and one in reverse that computes adjoints.
//!
//! The rules follow R. Schenck, O. Rønning, T. Henriksen, C. Oancea, *AD for an Array Language with Nested Parallelism*,
//! 2022. The result of a transformation is a program of the same form, so that transformations nest.

mod accumulator;
mod activity;
mod adjoint;
mod alias;
mod arithmetic;
mod call;
mod copy;
mod custom;
mod forward;
mod need;
mod reverse;
mod reverse_bin;
mod reverse_fold;
mod reverse_if;
mod reverse_loop;
mod reverse_map;
mod reverse_scan;
pub mod scalar_rule;

pub use call::find_derived_call;
pub use custom::{CustomRule, CustomRules};

use crate::build::SoacBuilder;
use crate::ir::{SoacBody, SoacOperand, SoacOperation, SoacType, SoacVariableId};
use activity::ActivitySet;
use adjoint::AdjointMap;
use reverse::{ReverseTransform, SweepRecord};
use rustc_hash::FxHashMap;

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

/// A body that was run, to be swept in reverse, once or several times.
pub struct ReverseSweep {
    records: Vec<SweepRecord>,
    active: ActivitySet,
    saved: FxHashMap<SoacVariableId, SoacOperand>,
    originals: FxHashMap<SoacVariableId, SoacVariableId>,
    inputs: Vec<SoacVariableId>,
    results: Vec<SoacOperand>,
}

/// Adds the statements of a body, which keep what the sweep in reverse needs. An input is a variable that only the body reads.
///
/// # Errors
///
/// Why the body has no derivative.
pub fn add_primal(
    builder: &mut SoacBuilder,
    body: SoacBody,
    inputs: &[SoacVariableId],
    rules: &CustomRules,
) -> Result<ReverseSweep, String> {
    let mut active = ActivitySet::default();
    active.link(rules.iter());
    for &id in inputs {
        active.insert(builder, id);
    }
    active.visit_body(builder, &body);
    if let Some(function) = call::find_active_call(&active, &body) {
        return Err(format!("the call of {function:?} has no derivative"));
    }
    let mut transform = ReverseTransform {
        builder,
        active,
        rules: rules.clone(),
        adjoints: AdjointMap::default(),
        saved: FxHashMap::default(),
        originals: FxHashMap::default(),
        written: FxHashMap::default(),
        fault: None,
    };
    let records = transform.sweep_forward(body.statements);
    match transform.fault {
        Some(fault) => Err(fault),
        None => Ok(ReverseSweep {
            records,
            active: transform.active,
            saved: transform.saved,
            originals: transform.originals,
            inputs: inputs.to_vec(),
            results: body.results,
        }),
    }
}

/// Adds the statements that compute the adjoints of the inputs of a body for adjoints of its results.
///
/// # Errors
///
/// Why the body has no derivative.
pub fn add_reverse(
    builder: &mut SoacBuilder,
    sweep: &ReverseSweep,
    adjoints: &[SoacOperand],
    rules: &mut CustomRules,
) -> Result<Vec<SoacOperand>, String> {
    let mut transform = ReverseTransform {
        builder,
        active: sweep.active.clone(),
        rules: std::mem::take(rules),
        adjoints: AdjointMap::default(),
        saved: sweep.saved.clone(),
        originals: sweep.originals.clone(),
        written: FxHashMap::default(),
        fault: None,
    };
    for (&result, &adjoint) in sweep.results.iter().zip(adjoints) {
        if transform.active.has_operand(result) {
            let adjoint = transform.copy_seed(adjoint);
            transform.add_adjoint(result, adjoint);
        }
    }
    transform.sweep_reverse(&sweep.records);
    let inputs = sweep.inputs.iter();
    let gradient = inputs
        .map(|&input| transform.take_or_zero(SoacOperand::Variable(input)))
        .collect();
    *rules = transform.rules;
    match transform.fault {
        Some(fault) => Err(fault),
        None => Ok(gradient),
    }
}

impl ReverseTransform<'_> {
    /// A copy of an adjoint that was given, since adjoints are updated in place.
    pub(super) fn copy_seed(&mut self, adjoint: SoacOperand) -> SoacOperand {
        let adjoint_type = self.builder.type_of(adjoint);
        match adjoint_type {
            SoacType::Array(..) => {
                let copy = SoacOperation::Manifest(adjoint);
                self.builder.add_single("d", adjoint_type, copy)
            }
            _ => adjoint,
        }
    }
}
