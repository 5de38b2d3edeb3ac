//! Operations whose rules are asked for, and rows of the table of rules.

use crate::neutral::find_neutral_bytes;
use crate::rule::{NeutralElement, PropagationStage, ShardingRule};
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
    /// Whether it stands in a manual computation.
    pub is_manual: bool,
}

/// A function that gives the rule of an operation.
pub(super) type RuleFunction = fn(&RuleContext<'_>) -> Option<ShardingRule>;

/// Operations, and the function that gives their rules.
pub(super) type RuleRow = (&'static [MlirOpcode], RuleFunction);

impl RuleContext<'_> {
    /// A rule without factors.
    pub(super) fn whole_rule(&self) -> ShardingRule {
        ShardingRule::new_whole(&self.shapes)
    }

    /// The same for an operation that moves elements.
    pub(super) fn cheap_rule(&self) -> ShardingRule {
        ShardingRule {
            is_cheap: true,
            stage: PropagationStage::Mapping,
            ..self.whole_rule()
        }
    }

    /// Shape of an operand.
    pub(super) fn operand(&self, at: usize) -> Option<&[u64]> {
        let shapes = self.shapes.get(..self.operands)?;
        shapes.get(at).map(Vec::as_slice)
    }

    /// Shape of a result.
    pub(super) fn result(&self, at: usize) -> Option<&[u64]> {
        self.shapes.get(self.operands + at).map(Vec::as_slice)
    }

    /// Number of results.
    pub(super) fn result_count(&self) -> usize {
        self.shapes.len() - self.operands
    }

    /// Whether the elements of an operand have zero, so that devices can add them up.
    pub(super) fn has_zero(&self, at: usize) -> bool {
        let types = &self.module.types;
        let operand = self.module.operands(self.op).get(at);
        let element = operand.map(|value| types.element_type(self.module.type_of(*value)));
        element.is_some_and(|element| {
            find_neutral_bytes(types, element, NeutralElement::Zero).is_some()
        })
    }

    /// The integers of an attribute as positions.
    pub(super) fn positions(&self, name: &str) -> Option<Vec<usize>> {
        to_positions(&self.module.find_integers(self.op, name)?)
    }

    /// The integers of a field of the dimension numbers.
    pub(super) fn field_positions(&self, attribute: &str, name: &str) -> Option<Vec<usize>> {
        let numbers = self.module.find_attribute(self.op, attribute)?;
        to_positions(&self.module.field_integers(numbers, name))
    }

    /// The integer of an attribute as a position.
    pub(super) fn position(&self, name: &str) -> Option<usize> {
        let value = self
            .module
            .as_integer(self.module.find_attribute(self.op, name)?)?;
        usize::try_from(value).ok()
    }

    /// Integers for each dimension, the same for all where the attribute is absent.
    pub(super) fn integers_or(&self, name: &str, default: i64, count: usize) -> Vec<i64> {
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
