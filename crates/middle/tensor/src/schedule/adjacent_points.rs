//! Adjacent points: how many neighbouring points an invocation has, so that it accesses vectors.
//!
//! Where the elements that adjacent points read and write are contiguous too, an invocation has as many points as
//! a vector has elements.

use super::TensorLoopNest;
use crate::ir::{
    AffineSum, AxisKind, IterationAxis, NodeData, NodeGraph, ScalarNode, StructuredOp,
    YieldDestination,
};

/// Number of adjacent points of an invocation along the axes of a kind, which are run as one of `total` points.
/// It divides the last axis.
pub(super) fn count_points_per_lane(nest: &TensorLoopNest, kind: AxisKind, total: u64) -> u64 {
    let op = &nest.op;
    let of_kind = (0..op.axes.len()).filter(|at| op.axes[*at].kind == kind);
    let mut wide = of_kind.filter(|at| nest.loops[*at].extent > 1);
    let Some(last) = wide.next_back() else {
        return 1;
    };
    let positions = op.yields.iter().map(|y| match &y.destination {
        YieldDestination::Point => Some(&[][..]),
        YieldDestination::Each(indices) | YieldDestination::Prefix { indices, .. } => {
            Some(&indices[..])
        }
        YieldDestination::Scatter { .. } => None,
    });
    let positions: Option<Vec<&[ScalarNode]>> = positions.collect();
    if !positions.is_some_and(|written| has_unit_accesses(&op.body, last as u32, &written)) {
        return 1;
    }
    let results = op.yields.iter().map(|y| y.value);
    let elements = op.body.node_ids().filter(|n| is_element(&op.body, *n));
    let widest = results.chain(elements).map(|n| op.body.ty(n).size()).max();
    let lanes = nest.profile.vector / widest.unwrap_or(1).max(1);
    let extent = nest.loops[last].extent;
    // Fewer invocations with several points each would leave the device idle.
    let enough = nest.profile.busy * nest.profile.flat;
    let is_enough = kind == AxisKind::Reduction || total / lanes.max(1) >= enough;
    if lanes > 1 && extent.is_multiple_of(lanes) && is_enough {
        lanes
    } else {
        1
    }
}

/// Whether adjacent points of the last parallel axis read the same elements or contiguous ones.
pub(crate) fn is_adjacent(op: &StructuredOp) -> bool {
    let is_parallel = |axis: &IterationAxis| axis.kind == AxisKind::Parallel;
    let last = op.axes.iter().rposition(is_parallel);
    last.is_some_and(|axis| has_unit_accesses(&op.body, axis as u32, &[]))
}

fn is_element(body: &NodeGraph, node: ScalarNode) -> bool {
    matches!(body.node(node), NodeData::Element(..))
}

/// Whether all elements that are read, or written at some positions, are the same along an axis or contiguous.
pub(super) fn has_unit_accesses(body: &NodeGraph, axis: u32, written: &[&[ScalarNode]]) -> bool {
    has_accesses_in_steps(body, axis, written, &[1])
}

/// The same, where contiguous elements may also be in reverse order.
pub(super) fn has_reversible_accesses(
    body: &NodeGraph,
    axis: u32,
    written: &[&[ScalarNode]],
) -> bool {
    has_accesses_in_steps(body, axis, written, &[1, -1])
}

/// Whether all elements that are read, or written at some positions, are the same along an axis, or move by one of
/// `steps` at each of its points.
fn has_accesses_in_steps(
    body: &NodeGraph,
    axis: u32,
    written: &[&[ScalarNode]],
    steps: &[i64],
) -> bool {
    let mut depends = vec![false; body.len()];
    for node in body.node_ids() {
        depends[node.index()] = match body.node(node) {
            NodeData::Index(at) => *at == axis,
            _ => body.operands(node).iter().any(|n| depends[n.index()]),
        };
    }
    let fits = |position: &[ScalarNode]| {
        let Some((last, others)) = position.split_last() else {
            return true;
        };
        let is_fixed = others.iter().all(|n| !depends[n.index()]);
        is_fixed && (!depends[last.index()] || moves_in_steps(body, *last, axis, &depends, steps))
    };
    let reads = body.node_ids().all(|node| match body.node(node) {
        NodeData::Element(_, position) => fits(position),
        _ => true,
    });
    reads && written.iter().all(|position| fits(position))
}

/// Whether an index moves with the index of an axis by one of `steps`.
fn moves_in_steps(
    body: &NodeGraph,
    index: ScalarNode,
    axis: u32,
    depends: &[bool],
    steps: &[i64],
) -> bool {
    let sum = AffineSum::from_node(body, index);
    sum.terms.iter().all(|(node, factor)| {
        let is_index = body.as_index(*node) == Some(axis);
        !depends[node.index()] || (is_index && steps.contains(factor))
    })
}
