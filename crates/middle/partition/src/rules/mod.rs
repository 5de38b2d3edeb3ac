//! Sharding rules of StableHLO's operations: a table of the functions that make them.
//!
//! A row has operations and a function that gives the rule of one of them. An operation without a row, or whose row gives no
//! rule, has none: its tensors are whole on every device.
//!
//! - `elementwise`: operations that compute each element from the elements at its place.
//! - `movement`: operations that move elements.
//! - `indexing`: slices, gathers and scatters.
//! - `contraction`: products, convolutions and reductions.
//! - `structured`: windows, sorts, linear algebra and others that keep some dimensions whole.

mod contraction;
mod elementwise;
mod indexing;
mod movement;
mod structured;

use crate::rule::{PropagationStage, ShardingRule};
use spirula_stablehlo::MlirOpcode;
use spirula_stablehlo::mlir::{MlirModule, MlirOp};

/// An operation whose rule is asked for.
#[derive(Debug)]
pub struct RuleContext<'m> {
    /// The module.
    pub module: &'m MlirModule,
    /// The operation.
    pub op: MlirOp,
    /// Shapes of the operands, then of the results.
    pub shapes: Vec<Vec<u64>>,
    /// Number of operands.
    pub operands: usize,
}

/// A function that gives the rule of an operation.
type RuleFunction = fn(&RuleContext<'_>) -> Option<ShardingRule>;

/// Operations, and the function that gives their rules.
type RuleRow = (&'static [MlirOpcode], RuleFunction);

/// All rows.
const TABLES: &[&[RuleRow]] = &[
    elementwise::RULES,
    movement::RULES,
    indexing::RULES,
    contraction::RULES,
    structured::RULES,
];

impl RuleContext<'_> {
    /// A rule without factors.
    fn whole_rule(&self) -> ShardingRule {
        ShardingRule::new_whole(&self.shapes)
    }

    /// The same for an operation that moves elements.
    fn cheap_rule(&self) -> ShardingRule {
        ShardingRule {
            is_cheap: true,
            stage: PropagationStage::Mapping,
            ..self.whole_rule()
        }
    }

    /// Shape of an operand.
    fn operand(&self, at: usize) -> Option<&[u64]> {
        let shapes = self.shapes.get(..self.operands)?;
        shapes.get(at).map(Vec::as_slice)
    }

    /// Shape of a result.
    fn result(&self, at: usize) -> Option<&[u64]> {
        self.shapes.get(self.operands + at).map(Vec::as_slice)
    }

    /// Number of results.
    fn result_count(&self) -> usize {
        self.shapes.len() - self.operands
    }

    /// The integers of an attribute as positions.
    fn positions(&self, name: &str) -> Option<Vec<usize>> {
        to_positions(&self.module.find_integers(self.op, name)?)
    }

    /// The integers of a field of the dimension numbers.
    fn field_positions(&self, attribute: &str, name: &str) -> Option<Vec<usize>> {
        let numbers = self.module.find_attribute(self.op, attribute)?;
        to_positions(&self.module.field_integers(numbers, name))
    }

    /// The integer of an attribute as a position.
    fn position(&self, name: &str) -> Option<usize> {
        let value = self
            .module
            .as_integer(self.module.find_attribute(self.op, name)?)?;
        usize::try_from(value).ok()
    }

    /// Integers for each dimension, the same for all where the attribute is absent.
    fn integers_or(&self, name: &str, default: i64, count: usize) -> Vec<i64> {
        let found = self.module.find_integers(self.op, name);
        found.unwrap_or_else(|| vec![default; count])
    }
}

fn to_positions(integers: &[i64]) -> Option<Vec<usize>> {
    integers
        .iter()
        .map(|at| usize::try_from(*at).ok())
        .collect()
}

/// The rule of an operation.
pub fn find_rule(context: &RuleContext<'_>) -> Option<ShardingRule> {
    let opcode = context.module.opcode(context.op)?;
    let mut rows = TABLES.iter().copied().flatten();
    let row = rows.find(|row| row.0.contains(&opcode))?;
    row.1(context)
}
