//! Points that lie next to each other, for one invocation.
//!
//! Where elements that adjacent points read and write lie next to each other, too, an invocation has as
//! many points as a vector has elements.

use super::TensorDispatch;
use crate::ir::{
    AffineSum, AxisKind, IterationAxis, NodeData, NodeGraph, ScalarNode, StructuredOp,
    YieldDestination,
};

/// Points of an invocation along the axes of a kind, which are run as one of so many points: a number
/// that divides the last axis.
pub(super) fn points_per_lane(dispatch: &TensorDispatch, kind: AxisKind, total: u64) -> u64 {
    let op = &dispatch.op;
    let of_kind = (0..op.axes.len()).filter(|at| op.axes[*at].kind == kind);
    let mut wide = of_kind.filter(|at| dispatch.loops[*at].extent > 1);
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
    if !positions.is_some_and(|written| accesses_fit(&op.body, last as u32, &written)) {
        return 1;
    }
    let results = op.yields.iter().map(|y| y.value);
    let elements = op.body.node_ids().filter(|n| is_element(&op.body, *n));
    let widest = results.chain(elements).map(|n| op.body.ty(n).size()).max();
    let lanes = dispatch.profile.vector / widest.unwrap_or(1).max(1);
    let extent = dispatch.loops[last].extent;
    // Fewer invocations with several points each would leave the device idle.
    let enough = dispatch.profile.busy * dispatch.profile.flat;
    let is_enough = kind == AxisKind::Reduction || total / lanes.max(1) >= enough;
    match lanes > 1 && extent.is_multiple_of(lanes) && is_enough {
        true => lanes,
        false => 1,
    }
}

/// Whether points that lie next to each other along the last parallel axis read what lies next to
/// each other, or the same.
pub(crate) fn is_adjacent(op: &StructuredOp) -> bool {
    let is_parallel = |axis: &IterationAxis| axis.kind == AxisKind::Parallel;
    let last = op.axes.iter().rposition(is_parallel);
    last.is_some_and(|axis| accesses_fit(&op.body, axis as u32, &[]))
}

fn is_element(body: &NodeGraph, node: ScalarNode) -> bool {
    matches!(body.node(node), NodeData::Element(..))
}

/// Whether all that is read, or written at some positions, is the same along an axis, or lies next to
/// each other.
pub(super) fn accesses_fit(body: &NodeGraph, axis: u32, written: &[&[ScalarNode]]) -> bool {
    accesses_step(body, axis, written, &[1])
}

/// The same, or all that lies next to each other does so from the last to the first.
pub(super) fn accesses_follow(body: &NodeGraph, axis: u32, written: &[&[ScalarNode]]) -> bool {
    accesses_step(body, axis, written, &[1, -1])
}

/// Whether all that is read, or written at some positions, is the same along an axis, or so many elements further at each
/// of its points.
fn accesses_step(body: &NodeGraph, axis: u32, written: &[&[ScalarNode]], steps: &[i64]) -> bool {
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
        is_fixed && (!depends[last.index()] || is_step(body, *last, axis, &depends, steps))
    };
    let reads = body.node_ids().all(|node| match body.node(node) {
        NodeData::Element(_, position) => fits(position),
        _ => true,
    });
    reads && written.iter().all(|position| fits(position))
}

/// Whether an index changes with that of an axis by one of some steps.
fn is_step(
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
