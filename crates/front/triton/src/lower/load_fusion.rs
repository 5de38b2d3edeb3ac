//! Fusion of loads: a load whose elements are used once is part of the expression that uses it.
//!
//! The load then happens later than it is written. That is allowed where nothing in between changes memory, and where a store
//! that uses the elements cannot change elements that are loaded afterwards.

use super::facts::FunctionFacts;
use crate::emit::is_scalar_operation;
use crate::ir::{TileOperation, ValueId};

/// Operations that read each element of their operands once, when they are executed.
const CONSUMERS: &[&str] = &[
    "tt.reduce",
    "tt.scan",
    "tt.dot",
    "tt.histogram",
    "scf.yield",
];

/// Operations that only move elements, one to one.
const MOVES: &[&str] = &["tt.expand_dims", "tt.reshape", "tt.trans"];

/// Whether a load is part of the expression that uses it.
pub(super) fn is_load_fused(facts: &FunctionFacts<'_>, load: &TileOperation) -> bool {
    let (Some(result), Some(pointer)) = (load.results.first(), load.operands.first()) else {
        return false;
    };
    let Some((_, position)) = facts.definition(*result) else {
        return false;
    };
    let mut value = *result;
    loop {
        let [only] = facts.uses(value) else {
            // The expression is stored where it is defined.
            return value != *result;
        };
        let is_near = only.position.block == position.block
            && !facts.has_effects_between(position.block, position.index, only.position.index);
        if !is_near {
            return false;
        }
        let name = only.user.name.as_str();
        if name == "tt.store" {
            return only.user.operands.first().is_some_and(|target| {
                only.operand != Some(0) && are_distinct(facts, *pointer, *target)
            });
        }
        if CONSUMERS.contains(&name) {
            return true;
        }
        if !is_scalar_operation(name) && !MOVES.contains(&name) {
            return false;
        }
        let [next] = only.user.results.as_slice() else {
            return false;
        };
        value = *next;
    }
}

/// Whether a store to some addresses cannot change what is loaded from others at a later element. Equal addresses are
/// loaded before they are stored to. Parameters are taken as distinct arrays: a kernel in which they overlap has a race
/// between its elements.
fn are_distinct(facts: &FunctionFacts<'_>, loaded: ValueId, stored: ValueId) -> bool {
    if loaded == stored {
        return true;
    }
    match (find_root(facts, loaded), find_root(facts, stored)) {
        (Some(loaded), Some(stored)) => loaded != stored,
        _ => false,
    }
}

/// The parameter of the function that an address is computed from.
fn find_root(facts: &FunctionFacts<'_>, mut value: ValueId) -> Option<ValueId> {
    const STEPS: &[&str] = &[
        "tt.addptr",
        "tt.splat",
        "tt.broadcast",
        "tt.expand_dims",
        "tt.bitcast",
        "tt.reshape",
        "tt.trans",
    ];
    while let Some((operation, _)) = facts.definition(value) {
        if !STEPS.contains(&operation.name.as_str()) {
            return None;
        }
        value = *operation.operands.first()?;
    }
    facts.is_parameter(value).then_some(value)
}
