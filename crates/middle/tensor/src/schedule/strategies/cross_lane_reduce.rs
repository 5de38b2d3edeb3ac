//! Folds of what lies next to each other: sums of rows, and products of a single row with a matrix whose
//! rows lie along the fold, as `A x` is written.
//!
//! On a processor the invocations of a workgroup, which are the lanes of its vectors, fold each result
//! together: what they read lies next to each other then. A workgroup has a tile of results, a few of
//! which are folded at once. What the lanes have of each is kept in the workgroup's memory, and folded
//! behind one barrier for all.

use super::direct::largest_divisor;
use super::lanes::{accesses_fit, is_adjacent};
use super::tile::{
    add_batch_loop, add_tile, match_contraction, multiply_extents, other_folds,
    sum_scaled_counters, tile_of,
};
use super::{
    DispatchStep, LoopMapping, ScheduleProfile, TensorDispatch, WorkgroupAccumulators, direct,
    nest_loops,
};
use crate::ir::{AxisKind, NodeData, NodeGraph, StructuredOp, TensorReduction, YieldDestination};

/// Fewest points of the last folded axis, where they fill all vectors and where they do not.
const LEAST: [u64; 2] = [32, 256];
/// Most points of the fold: sums of more lose accuracy in so few parts.
const MOST: u64 = 1 << 14;
/// Workgroups that there should be, and most results of one.
const TILES: u64 = 16;
const RESULTS: u64 = 64;
/// Most results that are folded at once, and most points of each that are written out.
const AT_ONCE: u64 = 4;
const POINTS: u64 = 4;

/// The axes of such a fold.
pub(crate) struct CrossLaneAxes {
    /// Parallel axes that are tiled as one.
    results: Vec<usize>,
    folds: Vec<usize>,
}

impl CrossLaneAxes {
    /// How an operation is such a fold.
    pub fn from_op(op: &StructuredOp, profile: &ScheduleProfile) -> Option<CrossLaneAxes> {
        let extents = op.axes.iter().map(|axis| axis.extent.as_static());
        let extents: Vec<u64> = extents.collect::<Option<_>>()?;
        let axes = (0..op.axes.len()).partition(|at| op.axes[*at].kind == AxisKind::Parallel);
        let (mut results, folds): (Vec<usize>, Vec<usize>) = axes;
        let last = *folds.last()?;
        let is_point = |d: &YieldDestination| matches!(d, YieldDestination::Point);
        let is_plain = op.reductions.iter().all(|r| has_neutral(&op.body, r))
            && op.yields.iter().all(|y| is_point(&y.destination));
        let is_whole = extents[last].is_multiple_of(profile.tile[0]);
        let is_long = extents[last] >= LEAST[usize::from(!is_whole)]
            && multiply_extents(&extents, &folds) <= MOST
            && !extents.contains(&0);
        if profile.direct < 2 || !is_plain || !is_long {
            return None;
        }
        let is_across = match match_contraction(op) {
            Some(parts) => {
                let is_along = direct::is_along(op, &parts, parts.factors[1]);
                let is_row = multiply_extents(&extents, &parts.rows) == 1;
                results = parts.columns;
                is_row && !is_along && parts.steps == folds
            }
            None => !is_adjacent(op),
        };
        let fits =
            is_across && reads_along(&op.body, last) && accesses_fit(&op.body, last as u32, &[]);
        fits.then_some(CrossLaneAxes { results, folds })
    }
}

/// Whether accumulators can begin with a neutral element, and have at least 32 bits.
fn has_neutral(body: &NodeGraph, reduction: &TensorReduction) -> bool {
    reduction.values.iter().all(|value| {
        let ty = body.ty(*value);
        ty.size() >= 4 && reduction.combiner.neutral_element(ty).is_some()
    })
}

/// Whether something is read at the index along an axis.
pub(super) fn reads_along(body: &NodeGraph, axis: usize) -> bool {
    let mut nodes = body.node_ids();
    nodes.any(|node| match body.node(node) {
        NodeData::Element(_, position) => {
            let needed = body.mark_reachable(position);
            let mut needed = body.node_ids().filter(|n| needed[n.index()]);
            needed.any(|n| body.as_index(n) == Some(axis as u32))
        }
        _ => false,
    })
}

/// Tiles such a fold.
pub(super) fn tile_cross_lane(dispatch: &mut TensorDispatch) {
    let Some(across) = CrossLaneAxes::from_op(&dispatch.op, &dispatch.profile) else {
        return;
    };
    let extents: Vec<u64> = dispatch.loops.iter().map(|l| l.extent).collect();
    let lanes = dispatch.profile.tile[0];
    dispatch.loops.clear();
    dispatch.points = NodeGraph::default();
    let outer_batch = add_batch_loop(dispatch, &across.results, &extents);
    let results = multiply_extents(&extents, &across.results);
    let size = largest_divisor(results, (results / TILES).clamp(1, RESULTS));
    let together = largest_divisor(size, AT_ONCE);
    let outer = dispatch.add_loop(results / size, LoopMapping::Parallel);
    let visit = dispatch.add_loop(size / together, LoopMapping::Sequential);
    let result = dispatch.add_loop(together, LoopMapping::Unrolled);
    let base = sum_scaled_counters(dispatch, &[(outer, size)]);
    let local = sum_scaled_counters(dispatch, &[(visit, together), (result, 1)]);
    let tile = tile_of(&across.results, &extents, base, local, size);
    add_tile(dispatch, tile);

    let axis = &across.folds[across.folds.len() - 1..];
    let mut folds = other_folds(dispatch, axis, &extents);
    let points = multiply_extents(&extents, axis);
    let written_out = largest_divisor(points.div_ceil(lanes), POINTS);
    let step = written_out * lanes;
    let rounds = dispatch.add_loop(points.div_ceil(step), LoopMapping::Sequential);
    let point = dispatch.add_loop(written_out, LoopMapping::Repeated);
    let lane = dispatch.add_loop(lanes, LoopMapping::Parallel);
    let base = sum_scaled_counters(dispatch, &[(rounds, step)]);
    let local = sum_scaled_counters(dispatch, &[(point, lanes), (lane, 1)]);
    let guard = add_tile(dispatch, tile_of(axis, &extents, base, local, step));
    dispatch.fold_guards.extend(guard);
    folds.push(rounds);

    let kept = [(visit, together * lanes), (result, lanes), (lane, 1)];
    dispatch.kept = Some(WorkgroupAccumulators {
        place: sum_scaled_counters(dispatch, &kept),
        size: size * lanes,
    });
    let mut folded = nest_loops(&[lane], vec![DispatchStep::Initialise]);
    folded.extend(nest_loops(
        &folds,
        nest_loops(&[lane, point], vec![DispatchStep::Accumulate]),
    ));
    folded.extend(nest_loops(&[lane], vec![DispatchStep::Keep]));
    let mut steps = nest_loops(&[visit], folded);
    steps.push(DispatchStep::Barrier);
    steps.extend(nest_loops(
        &[visit],
        vec![DispatchStep::Combine(lane), DispatchStep::Store],
    ));
    let outermost: Vec<u32> = outer_batch.into_iter().chain([outer]).collect();
    dispatch.steps = nest_loops(&outermost, steps);
}
