//! Sharding rules of StableHLO's operations: a table of the functions that make them.
//!
//! A row has operations and a function that gives the rule of one of them. An operation without a row, or whose row gives no
//! rule, has none: its tensors are whole on every device.
//!
//! - `context`: the operation whose rule is asked for.
//! - `elementwise`: operations that compute each element from the elements at its place.
//! - `movement`: operations that move elements.
//! - `indexing`: slices, gathers and scatters.
//! - `contraction`: products and reductions.
//! - `combiner`: regions that combine two elements by one operation.
//! - `windows`: convolutions and windows.
//! - `halo`: the elements that windows need of other parts.
//! - `structured`: sorts, linear algebra and others that keep some dimensions whole.
//! - `calls`: custom calls.
//! - `collective`: collectives of manual computations.

mod calls;
mod collective;
mod combiner;
mod context;
mod contraction;
mod elementwise;
mod halo;
mod indexing;
mod movement;
mod structured;
mod windows;

pub use context::RuleContext;

use crate::rule::ShardingRule;
use context::RuleRow;

/// All rows.
const TABLES: &[&[RuleRow]] = &[
    elementwise::RULES,
    movement::RULES,
    indexing::RULES,
    contraction::RULES,
    windows::RULES,
    structured::RULES,
    calls::RULES,
    collective::RULES,
];

/// The rule of an operation.
pub fn find_rule(context: &RuleContext<'_>) -> Option<ShardingRule> {
    let opcode = context.module.opcode(context.op)?;
    let mut rows = TABLES.iter().copied().flatten();
    let row = rows.find(|row| row.0.contains(&opcode))?;
    row.1(context)
}
