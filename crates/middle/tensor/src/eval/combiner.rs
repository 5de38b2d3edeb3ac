//! Evaluation of combiners and comparators.

use crate::ir::{NodeData, NodeGraph, ScalarCombiner, ScalarNode};
use spirula_program::ScalarOperator;

/// A combiner that is prepared for calls.
pub(super) struct CombinerCall<'a> {
    body: &'a NodeGraph,
    results: &'a [ScalarNode],
    steps: Vec<ScalarNode>,
    registers: Vec<u64>,
}

impl<'a> CombinerCall<'a> {
    pub fn new(combiner: &'a ScalarCombiner) -> Self {
        let needed = combiner.body.mark_reachable(&combiner.results);
        let steps = combiner.body.node_ids().filter(|n| needed[n.index()]);
        CombinerCall {
            body: &combiner.body,
            results: &combiner.results,
            steps: steps.collect(),
            registers: vec![0; combiner.body.len()],
        }
    }

    pub fn apply_combiner(&mut self, arguments: impl Iterator<Item = u64>) -> Vec<u64> {
        let arguments: Vec<u64> = arguments.collect();
        for step in &self.steps {
            self.registers[step.index()] = match self.body.node(*step) {
                NodeData::Argument(number) => arguments[*number as usize],
                NodeData::Literal(literal) => literal.bits,
                NodeData::Apply(operator, operands) => {
                    apply_operator(*operator, operands, &self.registers)
                }
                _ => 0,
            };
        }
        let results = self.results.iter();
        results.map(|node| self.registers[node.index()]).collect()
    }
}

/// Applies an operator to the values of its operands.
pub(super) fn apply_operator(
    operator: ScalarOperator,
    operands: &[ScalarNode],
    registers: &[u64],
) -> u64 {
    let mut bits = [0; 3];
    for (bits, operand) in bits.iter_mut().zip(operands) {
        *bits = registers[operand.index()];
    }
    operator.eval_operands(&bits[..operands.len()])
}
