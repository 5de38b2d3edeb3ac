//! Rotations: two slices of a tensor, put together the other way round.
//!
//! Sizes of the slices are seldom multiples of the number of devices, while a rotation needs no more than a few elements of
//! neighbours.

use super::builder::GraphBuilder;
use crate::PartitionResult;
use crate::graph::{
    GraphBlock, GraphNode, GraphNodeKind, GraphValue, ProgramGraph, PropagationEdge,
};
use crate::rule::{ShardingRule, WindowHalo, WindowProperty};
use spirula_stablehlo::MlirOpcode;
use spirula_stablehlo::mlir::{MlirModule, MlirOp, MlirValue};

/// A rotation of a tensor.
#[derive(Clone, Copy, Debug)]
pub(super) struct TensorRotation {
    /// The tensor.
    source: MlirValue,
    dimension: usize,
    /// Number of elements by which all move to the beginning.
    by: u64,
}

/// A slice of a tensor along one dimension.
#[derive(Clone, Copy, Debug)]
struct DimensionSlice {
    source: MlirValue,
    size: u64,
    start: u64,
    limit: u64,
}

fn find_slice(module: &MlirModule, value: MlirValue, dimension: usize) -> Option<DimensionSlice> {
    let op = module.defining_op(value)?;
    if module.opcode(op) != Some(MlirOpcode::Slice) {
        return None;
    }
    let source = *module.operands(op).first()?;
    let shape = module.types.static_shape(module.type_of(source))?;
    let lists = ["start_indices", "limit_indices", "strides"];
    let [starts, limits, strides] = lists.map(|name| module.find_integers(op, name));
    let (starts, limits, strides) = (starts?, limits?, strides?);
    let is_whole = |at: usize| {
        starts.get(at) == Some(&0) && limits.get(at).copied() == i64::try_from(shape[at]).ok()
    };
    let mut others = (0..shape.len()).filter(|at| *at != dimension);
    (strides.iter().all(|stride| *stride == 1) && others.all(is_whole)).then_some(())?;
    Some(DimensionSlice {
        source,
        size: *shape.get(dimension)?,
        start: u64::try_from(*starts.get(dimension)?).ok()?,
        limit: u64::try_from(*limits.get(dimension)?).ok()?,
    })
}

/// The rotation that a concatenation is.
pub(super) fn find_rotation(module: &MlirModule, op: MlirOp) -> Option<TensorRotation> {
    let [first, second] = module.operands(op) else {
        return None;
    };
    let dimension = module.as_integer(module.find_attribute(op, "dimension")?)?;
    let dimension = usize::try_from(dimension).ok()?;
    let first = find_slice(module, *first, dimension)?;
    let second = find_slice(module, *second, dimension)?;
    let is_rotation = first.source == second.source
        && (second.start, first.limit) == (0, first.size)
        && first.start == second.limit;
    is_rotation.then_some(TensorRotation {
        source: first.source,
        dimension,
        by: first.start,
    })
}

/// The rule of a rotation. Elements move the shorter way.
fn make_rule(shape: &[u64], dimension: usize, by: u64) -> ShardingRule {
    let mut rule = ShardingRule::new_identity(shape);
    let size = shape[dimension];
    let back = size - by;
    let after = if by <= back {
        by.cast_signed()
    } else {
        -back.cast_signed()
    };
    rule.halos.push(WindowHalo {
        factor: dimension,
        inputs: 1,
        dimension,
        size,
        before: -after,
        after,
        property: WindowProperty::Cyclic,
        row: 0,
        rows: 0,
        padding: [0, 0],
        has_fill: false,
    });
    rule
}

impl GraphBuilder<'_> {
    /// A concatenation that is a rotation.
    pub(super) fn flatten_rotation(
        &mut self,
        op: MlirOp,
        rotation: TensorRotation,
        nodes: &mut Vec<GraphNode>,
    ) -> PartitionResult<()> {
        let source = self.take_value(op, rotation.source, nodes)?;
        let results = self.add_results(op)?;
        let (dimension, by) = (rotation.dimension, rotation.by);
        let rule = make_rule(&self.graph.value(source).shape, dimension, by);
        let tensors: Vec<GraphValue> = std::iter::once(source).chain(results.clone()).collect();
        let kind = GraphNodeKind::Rotation { dimension, by };
        let mut node = self.make_node(op, kind, vec![source], results);
        let is_divisible = tensors
            .iter()
            .all(|value| self.graph.value(*value).is_divisible);
        if is_divisible {
            let rule = self.graph.add_rule(rule);
            node.rule = Some(rule);
            self.graph.edges.push(PropagationEdge { rule, tensors });
        }
        nodes.push(node);
        Ok(())
    }
}

/// Removes slices that nothing uses, since rotations stand in their place.
pub(super) fn remove_unused_slices(module: &MlirModule, graph: &mut ProgramGraph) {
    let mut is_used = vec![false; graph.values.len()];
    mark_used(&graph.body, &mut is_used);
    remove_slices(module, &mut graph.body, &is_used);
}

fn mark_used(block: &GraphBlock, is_used: &mut [bool]) {
    for node in &block.nodes {
        let captured = node.captures.iter().map(|(_, value)| value);
        for value in node.operands.iter().chain(captured) {
            is_used[value.index()] = true;
        }
        for block in &node.blocks {
            mark_used(block, is_used);
        }
    }
    for value in &block.returned {
        is_used[value.index()] = true;
    }
}

fn remove_slices(module: &MlirModule, block: &mut GraphBlock, is_used: &[bool]) {
    block.nodes.retain(|node| {
        module.opcode(node.op) != Some(MlirOpcode::Slice)
            || node.results.iter().any(|value| is_used[value.index()])
    });
    for node in &mut block.nodes {
        for block in &mut node.blocks {
            remove_slices(module, block, is_used);
        }
    }
}
