//! Cross-lane strategy: reductions of contiguous elements, in vectors, with a workgroup for each tile of results.
//!
//! Examples are sums of rows, and products of a single row with a matrix whose rows lie along the reduction, as
//! `A x` is written.
//!
//! On a processor the invocations of a workgroup are the lanes of its vectors. They reduce each result together, so
//! that their reads are contiguous. A workgroup has a tile of results, a few of which are reduced at once. The
//! accumulators of the lanes are saved in the workgroup's memory and combined after one barrier for all.

use crate::ir::{AxisKind, NodeData, NodeGraph, StructuredOp, TensorReduction, YieldDestination};
use crate::schedule::adjacent_points::{has_unit_accesses, is_adjacent};
use crate::schedule::direct_tile::{find_largest_divisor, is_along_columns};
use crate::schedule::dispatch::nest_loops;
use crate::schedule::tile_loops::{
    add_batch_loop, add_tile, add_untiled_folds, multiply_extents, sum_scaled_counters,
};
use crate::schedule::{
    AxisTile, DispatchStep, FoldSharing, LoopMapping, SavedAccumulators, SchedulePlan,
    ScheduleProfile, ScheduleRequest, TensorLoopNest, match_contraction,
};

/// Fewest points of the last reduced axis, where they fill all vectors.
const LEAST_WHOLE: u64 = 32;
/// Fewest points of the last reduced axis, where they do not.
const LEAST_PARTIAL: u64 = 256;
/// Most points of the reduction: sums of more lose accuracy in so few parts.
const MOST: u64 = 1 << 14;
/// Number of workgroups that there should be.
const TILES: u64 = 16;
/// Most results of a workgroup.
const RESULTS: u64 = 64;
/// Most results that are reduced at once.
const AT_ONCE: u64 = 4;
/// Most points of each result that are unrolled.
const POINTS: u64 = 4;

/// The axes of such a reduction.
#[derive(Clone, Debug)]
pub(crate) struct CrossLaneAxes {
    /// Parallel axes that are tiled as one.
    results: Vec<usize>,
    folds: Vec<usize>,
}

impl CrossLaneAxes {
    /// The axes of an operation, if the strategy suits it.
    pub fn from_op(op: &StructuredOp, profile: &ScheduleProfile) -> Option<CrossLaneAxes> {
        let extents = op.axes.iter().map(|axis| axis.extent.as_static());
        let extents: Vec<u64> = extents.collect::<Option<_>>()?;
        let axes = (0..op.axes.len()).partition(|at| op.axes[*at].kind == AxisKind::Parallel);
        let (mut results, folds): (Vec<usize>, Vec<usize>) = axes;
        let last = *folds.last()?;
        let is_point = |d: &YieldDestination| matches!(d, YieldDestination::Point);
        let is_plain = op
            .reductions
            .iter()
            .all(|r| has_wide_neutral_elements(&op.body, r))
            && op.yields.iter().all(|y| is_point(&y.destination));
        let is_whole = extents[last].is_multiple_of(profile.tile[0]);
        let least = if is_whole { LEAST_WHOLE } else { LEAST_PARTIAL };
        let is_long = extents[last] >= least
            && multiply_extents(&extents, &folds) <= MOST
            && !extents.contains(&0);
        if !profile.is_processor() || !is_plain || !is_long {
            return None;
        }
        let is_across = match match_contraction(op) {
            Some(parts) => {
                let is_along = is_along_columns(op, &parts, parts.factors[1]);
                let is_row = multiply_extents(&extents, &parts.rows) == 1;
                results = parts.columns;
                is_row && !is_along && parts.steps == folds
            }
            None => !is_adjacent(op),
        };
        let fits = is_across
            && reads_along(&op.body, last)
            && has_unit_accesses(&op.body, last as u32, &[]);
        fits.then_some(CrossLaneAxes { results, folds })
    }
}

/// Whether accumulators can begin with a neutral element, and have at least 32 bits.
fn has_wide_neutral_elements(body: &NodeGraph, reduction: &TensorReduction) -> bool {
    reduction.values.iter().all(|value| {
        let ty = body.ty(*value);
        ty.size() >= 4 && reduction.combiner.neutral_element(ty).is_some()
    })
}

/// Whether an element is read at the index along an axis.
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

#[derive(Debug)]
struct CrossLanePlan {
    axes: CrossLaneAxes,
}

/// Suits reductions of contiguous elements, on processors.
pub(super) fn plan_cross_lane(request: &ScheduleRequest<'_>) -> Option<Box<dyn SchedulePlan>> {
    let axes = CrossLaneAxes::from_op(request.op, request.profile)?;
    Some(Box::new(CrossLanePlan { axes }))
}

impl SchedulePlan for CrossLanePlan {
    fn tile(&mut self, nest: &mut TensorLoopNest) {
        let CrossLaneAxes { results, folds } = &self.axes;
        let lanes = nest.profile.tile[0];
        let extents = nest.take_extents();
        let batch = add_batch_loop(nest, results, &extents);
        let count = multiply_extents(&extents, results);
        let batches = batch.map_or(1, |number| nest.loop_extent(number));
        let share = count.saturating_mul(batches) / TILES;
        let size = find_largest_divisor(count, share.clamp(1, RESULTS));
        let together = find_largest_divisor(size, AT_ONCE);
        let outer = nest.add_loop(count / size, LoopMapping::Parallel);
        let visit = nest.add_loop(size / together, LoopMapping::Sequential);
        let result = nest.add_loop(together, LoopMapping::Unrolled);
        let base = sum_scaled_counters(nest, &[(outer, size)]);
        let local = sum_scaled_counters(nest, &[(visit, together), (result, 1)]);
        let tile = AxisTile::new(results, &extents, base, local, size);
        add_tile(nest, tile);

        let axis = &folds[folds.len() - 1..];
        let mut folds = add_untiled_folds(nest, axis, &extents);
        let points = multiply_extents(&extents, axis);
        let unrolled = find_largest_divisor(points.div_ceil(lanes), POINTS);
        let step = unrolled * lanes;
        let rounds = nest.add_loop(points.div_ceil(step), LoopMapping::Sequential);
        let point = nest.add_loop(unrolled, LoopMapping::Repeated);
        let lane = nest.add_loop(lanes, LoopMapping::Parallel);
        let base = sum_scaled_counters(nest, &[(rounds, step)]);
        let local = sum_scaled_counters(nest, &[(point, lanes), (lane, 1)]);
        let guard = add_tile(nest, AxisTile::new(axis, &extents, base, local, step));
        nest.fold_guards.extend(guard);
        folds.push(rounds);

        let saved = [(visit, together * lanes), (result, lanes), (lane, 1)];
        nest.saved = Some(SavedAccumulators {
            place: sum_scaled_counters(nest, &saved),
            size: size * lanes,
        });
        let mut folded = nest_loops(&[lane], vec![DispatchStep::Initialise]);
        folded.extend(nest_loops(
            &folds,
            nest_loops(&[lane, point], vec![DispatchStep::Accumulate]),
        ));
        folded.extend(nest_loops(&[lane], vec![DispatchStep::Save]));
        let mut steps = nest_loops(&[visit], folded);
        steps.push(DispatchStep::Barrier);
        steps.extend(nest_loops(
            &[visit],
            vec![DispatchStep::Combine(lane), DispatchStep::Store],
        ));
        let outermost: Vec<u32> = batch.into_iter().chain([outer]).collect();
        nest.steps = nest_loops(&outermost, steps);
    }

    fn fold_sharing(&self) -> FoldSharing {
        FoldSharing::FirstOfEach
    }
}
