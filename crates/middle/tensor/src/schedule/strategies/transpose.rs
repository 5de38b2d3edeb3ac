//! Transpose strategy: a workgroup for each tile of a map that reads along another axis than it writes.
//!
//! The elements that neighbouring invocations read should be contiguous, and those that they write too. Where that is
//! not possible for both, a workgroup reads a square tile along the one axis into its memory and goes on along the
//! other. Rows in that memory are padded by one element, so that neither direction has bank conflicts.

use crate::ir::{AffineSum, NodeData, ScalarNode, StructuredOp};
use crate::schedule::dispatch::nest_loops;
use crate::schedule::tile_loops::{TileSplit, add_batch_loop, add_tile_loops};
use crate::schedule::{
    DispatchStep, SchedulePlan, ScheduleProfile, ScheduleRequest, StagedNode, StagingPlan,
    TensorLoopNest,
};
use spirula_program::ScalarOp;

/// Fewest points along each of the two axes.
const LEAST: u64 = 16;
/// Bytes of the smallest element for which the profile's tiles have rows of whole cache lines. Tiles of smaller
/// elements are larger.
const BYTES: u64 = 4;
/// Invocations along the axis that is written; those of a subgroup or two.
const ACROSS: u64 = 32;
/// Invocations along the axis that is read.
const DOWN: u64 = 8;

/// Reads along another axis than that of the results.
#[derive(Debug)]
struct TransposedReads {
    /// The axis along which elements are contiguous.
    down: usize,
    /// The last axis.
    across: usize,
    /// The elements, nodes of the body.
    elements: Vec<ScalarNode>,
}

impl TransposedReads {
    /// Bytes of tiles of `side` points along each side.
    fn memory_bytes(&self, op: &StructuredOp, side: u64) -> u64 {
        let sizes = self.elements.iter().map(|n| op.body.ty(*n).size());
        sizes.map(|size| size * side * (side + 1)).sum()
    }

    /// Number of points along each side of a tile.
    fn tile_side(&self, op: &StructuredOp, profile: &ScheduleProfile) -> u64 {
        let sizes = self.elements.iter().map(|n| op.body.ty(*n).size());
        let is_small = sizes.max().is_some_and(|size| 2 * size <= BYTES);
        let larger = 2 * profile.turn;
        if is_small && self.memory_bytes(op, larger) <= profile.memory {
            larger
        } else {
            profile.turn
        }
    }
}

/// The reads along the first axis that is read but is not that of the results.
fn find_transposed_reads(op: &StructuredOp, profile: &ScheduleProfile) -> Option<TransposedReads> {
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
        let reads = found.get_or_insert(TransposedReads {
            down,
            across,
            elements: Vec::new(),
        });
        if reads.down == down {
            reads.elements.push(node);
        }
    }
    found.filter(|reads| reads.memory_bytes(op, profile.turn) <= profile.memory)
}

/// Marks nodes that only a choice evaluates. To read them unconditionally might read outside of a tensor.
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

/// The axis along which an element is contiguous with the next one, if it moves along the last axis in larger steps.
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

#[derive(Debug)]
struct TransposePlan {
    reads: TransposedReads,
    staging: Option<StagingPlan>,
}

/// Suits large maps that read along another axis than they write.
pub(super) fn plan_transpose(request: &ScheduleRequest<'_>) -> Option<Box<dyn SchedulePlan>> {
    Some(Box::new(TransposePlan {
        reads: find_transposed_reads(request.op, request.profile)?,
        staging: None,
    }))
}

impl SchedulePlan for TransposePlan {
    fn tile(&mut self, nest: &mut TensorLoopNest) {
        let TransposedReads { down, across, .. } = self.reads;
        let extents = nest.take_extents();
        let batch = add_batch_loop(nest, &[down, across], &extents);
        let side = self.reads.tile_side(&nest.op, &nest.profile);
        let sizes = [DOWN, ACROSS].map(|invocations| TileSplit {
            invocations,
            points: side / invocations,
        });
        let down = add_tile_loops(nest, &[down], &extents, &sizes[0]);
        let across = add_tile_loops(nest, &[across], &extents, &sizes[1]);
        let (Some(down), Some(across)) = (down, across) else {
            return;
        };
        let nodes = self.reads.elements.iter().map(|node| StagedNode {
            parts: 1,
            node: *node,
            ty: nest.op.body.ty(*node),
            tiles: vec![1, 0],
            layout: vec![1, 0],
            padding: 1,
        });
        let staging = StagingPlan {
            nodes: nodes.collect(),
            prefetch: None,
            reads_first: true,
        };
        let staged = (0..staging.nodes.len()).map(DispatchStep::Stage);
        let mut steps: Vec<DispatchStep> = staged.chain([DispatchStep::Barrier]).collect();
        let mut over_tile = vec![down.invocations, across.invocations];
        over_tile.extend(down.points.iter().chain(&across.points));
        steps.extend(nest_loops(&over_tile, vec![DispatchStep::Store]));
        let mut outermost: Vec<u32> = batch.into_iter().collect();
        outermost.extend([down.tiles, across.tiles]);
        nest.steps = nest_loops(&outermost, steps);
        self.staging = Some(staging);
    }

    fn staging(&self) -> Option<&StagingPlan> {
        self.staging.as_ref()
    }
}
