//! Alternatives: axes whose points choose between results that are computed from the same elements.
//!
//! A step of a Fourier transform computes a few results from as many elements. In an operation each result is a point, and
//! its index along an axis chooses the value. An invocation that has all points of this axis reads each element once, and
//! has no choices: the index is a constant at each point.

use super::AXES;
use crate::ir::{NodeData, NodeGraph, ScalarNode, StructuredOp};
use smallvec::SmallVec;
use spirula_program::ScalarOp;

/// Most points of all axes of alternatives together. An invocation has the results of all of them in its registers.
const ALTERNATIVES: u64 = 32;
/// Fewest elements that both ways of a choice need, or fewest elements and operators.
const SHARED: [usize; 2] = [2, 4];
/// Most choices along an axis that are looked at.
const CHOICES: u32 = 8;
/// The mark of nodes that read memory.
const READS: u64 = 1 << 63;

/// Axes of alternatives, in their order.
pub(crate) type AlternativeAxes = SmallVec<[usize; 2]>;

/// The axes of alternatives of a map. Some choice depends on the index along such an axis alone, and both of its ways need
/// elements or operators that do not.
pub(crate) fn find_alternative_axes(op: &StructuredOp) -> AlternativeAxes {
    let body = &op.body;
    let mut found = AlternativeAxes::new();
    let is_choice = |node: ScalarNode| {
        let operator = body.as_apply(node).map(|(operator, _)| operator.op);
        operator == Some(ScalarOp::Cond)
    };
    // Longer operations are refused later, and axes have a bit each.
    if op.axes.len() > AXES || !op.is_map() || !body.node_ids().any(is_choice) {
        return found;
    }
    let marks = mark_dependences(body);
    let mut looked_at = vec![0; op.axes.len()];
    let mut points = 1;
    for node in body.node_ids().filter(|node| is_choice(*node)) {
        let &[condition, then, otherwise] = body.operands(node) else {
            continue;
        };
        let mark = marks[condition.index()];
        let axis = mark.trailing_zeros() as usize;
        let extent = op.axes.get(axis).and_then(|a| a.extent.as_static());
        let Some(extent) = extent.filter(|extent| (2..=ALTERNATIVES / points).contains(extent))
        else {
            continue;
        };
        let is_known = found.contains(&axis) || looked_at[axis] == CHOICES;
        if mark != 1 << axis || is_known {
            continue;
        }
        looked_at[axis] += 1;
        if share_work(body, &marks, axis, [then, otherwise]) {
            found.push(axis);
            points *= extent;
        }
    }
    found.sort_unstable();
    found
}

/// The axes that each node depends on, a bit each, and whether it reads memory.
fn mark_dependences(body: &NodeGraph) -> Vec<u64> {
    let mut marks = vec![0; body.len()];
    for node in body.node_ids() {
        let own = match body.node(node) {
            NodeData::Index(axis) => 1 << axis,
            NodeData::Element(..) | NodeData::Size(_) => READS,
            _ => 0,
        };
        let operands = body.operands(node).iter();
        marks[node.index()] = operands.fold(own, |mark, n| mark | marks[n.index()]);
    }
    marks
}

/// Whether two nodes need enough elements, and operators on them, that do not depend on an axis.
fn share_work(body: &NodeGraph, marks: &[u64], axis: usize, nodes: [ScalarNode; 2]) -> bool {
    let [first, second] = nodes.map(|node| body.mark_reachable(&[node]));
    let is_shared = |node: &ScalarNode| {
        let at = node.index();
        let reads = marks[at] & READS != 0;
        first[at] && second[at] && reads && marks[at] & (1 << axis) == 0
    };
    let is_element = |node: ScalarNode| matches!(body.node(node), NodeData::Element(..));
    let shared = body.node_ids().filter(is_shared);
    let (mut elements, mut all) = (0, 0);
    for node in shared {
        elements += usize::from(is_element(node));
        all += 1;
    }
    elements >= SHARED[0] || all >= SHARED[1]
}
