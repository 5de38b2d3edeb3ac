//! Maps that read along another axis than they write: transpositions and what they are fused with.
//!
//! Elements that adjacent invocations read should lie next to each other, and those that they write, too.
//! Where that cannot be for both, a workgroup reads a square tile along the one axis into its memory and
//! goes on along the other. Rows are kept one element apart, so that neither way meets banks twice.

use super::tile::{ContractionAxes, TileSplit, add_batch_loop, add_tile_loops};
use super::{DispatchStep, ScheduleProfile, StagedNode, TensorDispatch, nest_loops};
use crate::ir::{AffineSum, NodeData, ScalarNode, StructuredOp};
use spirula_program::ScalarOp;

/// Fewest points along each of the two axes.
const LEAST: u64 = 16;
/// Bytes of an element from which on the profile's tiles have rows of whole lines of a cache; tiles of smaller ones are larger.
const BYTES: u64 = 4;
/// Invocations along the axis that is written; those of a subgroup or two.
const ACROSS: u64 = 32;
/// Invocations along the axis that is read.
const DOWN: u64 = 8;

/// What is read along another axis than that of the results.
pub(super) struct TransposedReads {
    /// The axis along which elements lie next to each other.
    down: usize,
    /// The last axis.
    across: usize,
    /// The elements, nodes of the body.
    elements: Vec<ScalarNode>,
}

impl TransposedReads {
    /// Bytes of tiles of so many points along each side.
    fn memory_bytes(&self, op: &StructuredOp, side: u64) -> u64 {
        let sizes = self.elements.iter().map(|n| op.body.ty(*n).size());
        sizes.map(|size| size * side * (side + 1)).sum()
    }

    /// Points along each side of a tile.
    fn tile_side(&self, op: &StructuredOp, profile: &ScheduleProfile) -> u64 {
        let sizes = self.elements.iter().map(|n| op.body.ty(*n).size());
        let is_small = sizes.max().is_some_and(|size| 2 * size <= BYTES);
        let larger = 2 * profile.turn;
        match is_small && self.memory_bytes(op, larger) <= profile.memory {
            true => larger,
            false => profile.turn,
        }
    }
}

/// The axis along which most elements are read that is not that of the results.
pub(super) fn find_transposed_reads(
    op: &StructuredOp,
    profile: &ScheduleProfile,
) -> Option<TransposedReads> {
    let sizes = op.axes.iter().map(|axis| axis.extent.as_static());
    let sizes: Vec<u64> = sizes.collect::<Option<_>>()?;
    let across = sizes.len().checked_sub(1)?;
    let points = sizes
        .iter()
        .try_fold(1u64, |n, size| n.checked_mul(*size))?;
    let is_small = points < profile.busy * profile.flat || sizes[across] < LEAST;
    if profile.turn < ACROSS || !op.is_map() || is_small {
        return None;
    }
    let lazy = mark_conditional(op);
    let mut found: Option<TransposedReads> = None;
    for node in op.body.node_ids().filter(|n| !lazy[n.index()]) {
        let Some(down) = find_fastest_axis(op, node, across).filter(|at| sizes[*at] >= LEAST)
        else {
            continue;
        };
        let turned = found.get_or_insert(TransposedReads {
            down,
            across,
            elements: Vec::new(),
        });
        if turned.down == down {
            turned.elements.push(node);
        }
    }
    found.filter(|turned| turned.memory_bytes(op, profile.turn) <= profile.memory)
}

/// Nodes that only a choice evaluates: reading them anyway may read outside.
fn mark_conditional(op: &StructuredOp) -> Vec<bool> {
    let choices = op
        .body
        .node_ids()
        .filter_map(|node| match op.body.as_apply(node) {
            Some((operator, operands)) if operator.op == ScalarOp::Cond => Some(&operands[1..]),
            _ => None,
        });
    let ways: Vec<ScalarNode> = choices.flatten().copied().collect();
    op.body.mark_reachable(&ways)
}

/// The axis along which an element lies next to the next one, where the last axis is one that it goes
/// along in steps.
fn find_fastest_axis(op: &StructuredOp, node: ScalarNode, last: usize) -> Option<usize> {
    let NodeData::Element(_, position) = op.body.node(node) else {
        return None;
    };
    let (fast, slow) = position.split_last()?;
    let plain = |node: &ScalarNode| op.body.as_index(*node).map(|axis| axis as usize);
    let sum = AffineSum::from_node(&op.body, *fast);
    let [(index, 1)] = sum.terms[..] else {
        return None;
    };
    let fast = plain(&index)?;
    let indices: Option<Vec<usize>> = slow.iter().map(plain).collect();
    let indices = indices?;
    (fast != last && indices.contains(&last) && !indices.contains(&fast)).then_some(fast)
}

/// Tiles a map and puts what it reads along the other axis into the workgroup's memory.
pub(super) fn tile_transposition(dispatch: &mut TensorDispatch) {
    let profile = dispatch.profile;
    let Some(turned) = find_transposed_reads(&dispatch.op, &profile) else {
        return;
    };
    let extents: Vec<u64> = dispatch.loops.iter().map(|l| l.extent).collect();
    let axes = ContractionAxes {
        factors: [turned.elements[0]; 2],
        rows: vec![turned.down],
        columns: vec![turned.across],
        steps: Vec::new(),
    };
    dispatch.loops.clear();
    dispatch.points = crate::ir::NodeGraph::default();
    let batch = add_batch_loop(dispatch, &axes.tiled_axes(), &extents);
    let side = turned.tile_side(&dispatch.op, &profile);
    let sizes = [DOWN, ACROSS].map(|invocations| TileSplit {
        invocations,
        points: side / invocations,
    });
    let down = add_tile_loops(dispatch, &axes.rows, &extents, &sizes[0]);
    let across = add_tile_loops(dispatch, &axes.columns, &extents, &sizes[1]);
    let (Some(down), Some(across)) = (down, across) else {
        return;
    };
    for node in turned.elements {
        dispatch.staged.push(StagedNode {
            node,
            ty: dispatch.op.body.ty(node),
            tiles: vec![1, 0],
            layout: vec![1, 0],
            padding: 1,
        });
    }
    let staged = (0..dispatch.staged.len()).map(DispatchStep::Stage);
    let mut steps: Vec<DispatchStep> = staged.chain([DispatchStep::Barrier]).collect();
    let mut over_tile = vec![down.invocations, across.invocations];
    over_tile.extend(down.points.iter().chain(&across.points));
    steps.extend(nest_loops(&over_tile, vec![DispatchStep::Store]));
    let mut outermost: Vec<u32> = batch.into_iter().collect();
    outermost.extend([down.tiles, across.tiles]);
    dispatch.steps = nest_loops(&outermost, steps);
}
