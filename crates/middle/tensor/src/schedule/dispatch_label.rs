//! Label of a dispatch: the name of its kernel in profiles and in the text of the module.
//!
//! `dot_tanh_64x32x128` is a product whose elements go through `tanh`, with the sizes of its axes.

use super::{TensorDispatch, match_contraction};
use crate::ir::{AxisKind, DimExtent, NodeData, ScalarNode, StructuredOp, YieldDestination};
use rustc_hash::FxHashSet;
use spirula_program::ScalarType;

/// Most operations that a label names.
const MOST_NAMES: usize = 4;

impl TensorDispatch {
    /// The label.
    pub fn label(&self) -> String {
        let op = &self.nest.op;
        let mut names = OperationNames::default();
        names.add_reductions(op);
        for result in &op.yields {
            names.add_value(op, result.value);
        }
        if op
            .yields
            .iter()
            .any(|result| is_scatter(&result.destination))
        {
            names.add_name("scatter");
        }
        if names.list.is_empty() {
            names.add_name("copy");
        }
        format!("{}_{}", names.list.join("_"), format_sizes(op))
    }
}

fn is_scatter(destination: &YieldDestination) -> bool {
    matches!(destination, YieldDestination::Scatter { .. })
}

/// The sizes of the axes; `n` is one of run time.
fn format_sizes(op: &StructuredOp) -> String {
    let sizes = op.axes.iter().map(|axis| match axis.extent {
        DimExtent::Static(size) => size.to_string(),
        DimExtent::Value(_) => "n".to_owned(),
    });
    let sizes: Vec<String> = sizes.collect();
    if sizes.is_empty() {
        "1".to_owned()
    } else {
        sizes.join("x")
    }
}

/// Names of operations in the order in which they are computed, each once.
#[derive(Default)]
struct OperationNames {
    list: Vec<String>,
    /// The nodes that were visited.
    seen: FxHashSet<ScalarNode>,
}

impl OperationNames {
    fn add_name(&mut self, name: &str) {
        if self.list.len() < MOST_NAMES && !self.list.iter().any(|known| known == name) {
            self.list.push(name.to_owned());
        }
    }

    /// Adds the reductions, with the operations on their values before them.
    fn add_reductions(&mut self, op: &StructuredOp) {
        if match_contraction(op).is_some() {
            return self.add_name("dot");
        }
        let reduces = op.axes.iter().any(|axis| axis.kind == AxisKind::Reduction);
        let what = match (op.is_scan(), reduces) {
            (true, _) => "scan",
            (false, true) => "reduce",
            (false, false) => return,
        };
        for reduction in &op.reductions {
            for value in &reduction.values {
                self.add_value(op, *value);
            }
            match reduction.combiner.as_operator() {
                Some(operator) => self.add_name(&format!("{what}_{}", operator.row().name)),
                None => self.add_name(what),
            }
        }
    }

    /// Adds the operations that compute a value, operands first. Positions of elements and conditions on them do not count.
    fn add_value(&mut self, op: &StructuredOp, value: ScalarNode) {
        let mut waiting = vec![(value, false)];
        while let Some((node, has_operands)) = waiting.pop() {
            let NodeData::Apply(operator, operands) = op.body.node(node) else {
                continue;
            };
            let is_index = |node: ScalarNode| op.body.node_bounds(node).is_some();
            let is_condition =
                op.body.ty(node) == ScalarType::Bool && operands.iter().all(|n| is_index(*n));
            if is_index(node) || is_condition {
                continue;
            }
            if has_operands {
                self.add_name(operator.op.row().name);
            } else if self.list.len() < MOST_NAMES && self.seen.insert(node) {
                waiting.push((node, true));
                waiting.extend(operands.iter().rev().map(|operand| (*operand, false)));
            }
        }
    }
}
