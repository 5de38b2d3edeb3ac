//! Operations of tensors, constraints and groups.

use super::builder::GraphBuilder;
use super::rotation::find_rotation;
use crate::PartitionResult;
use crate::graph::{GraphNode, GraphNodeKind, GraphValue, PropagationEdge};
use crate::rules::{RuleContext, find_rule};
use rustc_hash::FxHashSet;
use spirula_stablehlo::MlirOpcode;
use spirula_stablehlo::mlir::{MlirOp, MlirValue};
use spirula_stablehlo::sharding::read_sharding;

/// Most elements of a constant that each use has a copy of.
const MOST_COPIED_ELEMENTS: usize = 64;

impl GraphBuilder<'_> {
    /// Whether each use of the result has a copy of the operation: small constants and what is made of them alone.
    pub(super) fn is_copied_by_use(&self, op: MlirOp) -> bool {
        use MlirOpcode as Op;
        match self.module.opcode(op) {
            Some(Op::Iota) => true,
            Some(Op::Constant) => {
                let elements = self.module.find_elements(op, "value");
                elements.is_some_and(|elements| {
                    elements.splat || elements.data.len() <= MOST_COPIED_ELEMENTS
                })
            }
            Some(Op::BroadcastInDim) => {
                let operand = self.module.operands(op).first();
                let source = operand.and_then(|operand| self.module.defining_op(*operand));
                source.is_some_and(|source| {
                    self.module.opcode(source) == Some(Op::Constant)
                        && self.is_copied_by_use(source)
                })
            }
            _ => false,
        }
    }

    pub(super) fn flatten_constraint(
        &mut self,
        op: MlirOp,
        operands: Vec<GraphValue>,
        nodes: &mut Vec<GraphNode>,
    ) -> PartitionResult<()> {
        let attr = self.module.find_attribute(op, "sharding");
        let sharding = attr.and_then(|attr| read_sharding(self.module, attr));
        let Some(sharding) = sharding else {
            return self.error(op, "`sharding` is malformed");
        };
        let results = self.add_results(op)?;
        let sharding = self.drop_uneven_axes(results[0], sharding);
        self.pin_value(op, results[0], Some(&sharding))?;
        self.graph.add_identity_edge(operands[0], results[0]);
        nodes.push(self.make_node(op, GraphNodeKind::Relayout, operands, results));
        Ok(())
    }

    /// Values of a group have layouts alike.
    pub(super) fn join_group(&mut self, op: MlirOp, value: GraphValue) {
        let attr = self.module.find_attribute(op, "group_id");
        let group = attr.and_then(|attr| self.module.as_integer(attr));
        let first = *self.groups.entry(group).or_insert(value);
        if first != value {
            self.graph.add_identity_edge(first, value);
        }
    }

    /// The values that the regions of an operation take from outside.
    pub(super) fn captured_values(&self, op: MlirOp) -> Vec<MlirValue> {
        let module = self.module;
        let (mut used, mut defined) = (Vec::new(), FxHashSet::default());
        let mut open = vec![op];
        while let Some(op) = open.pop() {
            for block in module.regions(op).flat_map(|region| module.blocks(region)) {
                defined.extend(module.arguments(*block));
                for inner in module.ops(*block) {
                    used.extend_from_slice(module.operands(*inner));
                    defined.extend(module.results(*inner));
                    open.push(*inner);
                }
            }
        }
        used.retain(|value| !defined.contains(value));
        used.sort_unstable();
        used.dedup();
        used
    }

    pub(super) fn flatten_plain(
        &mut self,
        op: MlirOp,
        operands: Vec<GraphValue>,
        nodes: &mut Vec<GraphNode>,
    ) -> PartitionResult<()> {
        if self.module.opcode(op) == Some(MlirOpcode::Concatenate)
            && let Some(rotation) = find_rotation(self.module, op)
        {
            return self.flatten_rotation(op, rotation, nodes);
        }
        let mut captures = Vec::new();
        for value in self.captured_values(op) {
            captures.push((value, self.take_value(op, value, nodes)?));
        }
        let results = self.add_results(op)?;
        let tensors: Vec<GraphValue> = operands.iter().chain(&results).copied().collect();
        let mut node = self.make_node(op, GraphNodeKind::Operation, operands, results);
        node.captures = captures;
        let context = RuleContext {
            module: self.module,
            op,
            shapes: tensors
                .iter()
                .map(|value| self.graph.value(*value).shape.clone())
                .collect(),
            operands: node.operands.len(),
            is_manual: self.manual != 0,
        };
        let mut rule = find_rule(&context).filter(|rule| rule.fits(&context.shapes));
        if let Some(rule) = &mut rule
            && tensors.iter().any(|value| self.is_quantized(*value))
        {
            // Results that are rounded cannot be added up, and padding is not zero.
            rule.forbid_combination();
        }
        node.rule = rule.map(|rule| self.graph.add_rule(rule));
        if let Some(rule) = node.rule {
            self.graph.edges.push(PropagationEdge { rule, tensors });
        }
        nodes.push(node);
        Ok(())
    }
}
