//! Reductions by workgroups: all reduced axes as one, split across the invocations of a workgroup.

use super::adjacent_points::count_points_per_lane;
use super::dispatch::nest_loops;
use super::tile_loops::{has_neutral_elements, has_shuffles, sum_scaled_counters};
use super::{DispatchStep, LoopMapping, TensorLoopNest};
use crate::ir::{AxisKind, unflatten_index};
use spirula_program::ScalarOp;

/// Fewest invocations of a workgroup that has a row, where it may have as many.
pub(super) const FEWEST_INVOCATIONS: u64 = 32;

/// Most nodes that are unrolled for the points of a row that an invocation keeps.
pub(super) const MOST_UNROLLED_NODES: u64 = 4096;

/// The sizes of a reduction that is split.
pub(super) struct FoldSize {
    /// Number of points of the reduction.
    pub total: u64,
    /// Number of adjacent points of an invocation in each iteration.
    pub lanes: u64,
    /// Number of runs of a given number of points.
    pub runs: u64,
    /// Number of results.
    pub results: u64,
}

/// The loops of a reduction that is split across a workgroup.
pub(super) struct WorkgroupFold {
    /// The loop over an invocation's runs of points.
    pub rounds: u32,
    /// The loop over the invocations.
    pub across: u32,
    /// The loops of the parallel axes.
    pub parallel: Vec<u32>,
}

impl WorkgroupFold {
    /// Splits the reduced axes of a nest. `choose` returns the number of invocations, a power of two.
    pub fn split_loops(
        nest: &mut TensorLoopNest,
        choose: impl Fn(&TensorLoopNest, &FoldSize) -> u64,
    ) -> WorkgroupFold {
        let is_fold = |at: &usize| nest.op.axes[*at].kind == AxisKind::Reduction;
        let (folds, parallel): (Vec<usize>, Vec<usize>) =
            (0..nest.op.axes.len()).partition(is_fold);
        let sizes: Vec<i64> = folds
            .iter()
            .map(|at| nest.loops[*at].extent as i64)
            .collect();
        let total = sizes.iter().product::<i64>() as u64;
        let results = parallel.iter().map(|at| nest.loops[*at].extent);
        let results = results.fold(1u64, u64::saturating_mul);
        let lanes = count_fold_lanes(nest, total);
        let runs = total / lanes;
        let size = FoldSize {
            total,
            lanes,
            runs,
            results,
        };
        let invocations = choose(nest, &size);
        let rounds = runs.div_ceil(invocations);
        let is_kept = runs.is_multiple_of(invocations)
            && rounds * lanes <= nest.profile.kept
            && rounds * lanes * nest.op.body.len() as u64 <= MOST_UNROLLED_NODES;
        let run = if is_kept {
            LoopMapping::Unrolled
        } else {
            LoopMapping::Sequential
        };
        let rounds = nest.add_loop(rounds, run);
        let across = nest.add_loop(invocations, LoopMapping::Parallel);
        let lane = nest.add_loop(lanes, LoopMapping::Unrolled);
        add_subgroup_loops(nest, invocations);
        let run = sum_scaled_counters(nest, &[(rounds, invocations), (across, 1)]);
        let limit = nest.points.intern_i64(runs as i64);
        let guard = nest.points.apply_op(ScalarOp::SLt, &[run, limit]);
        let flat = sum_scaled_counters(
            nest,
            &[(rounds, invocations * lanes), (across, lanes), (lane, 1)],
        );
        nest.add_fold_guard(guard);
        let position = unflatten_index(&mut nest.points, flat, &sizes);
        for (axis, index) in folds.iter().zip(position) {
            nest.indices[*axis] = index;
        }
        WorkgroupFold {
            rounds,
            across,
            parallel: parallel.iter().map(|at| *at as u32).collect(),
        }
    }

    /// The steps that reduce one row.
    pub fn fold_steps(&self) -> Vec<DispatchStep> {
        let mut steps = nest_loops(&[self.across], vec![DispatchStep::Initialise]);
        steps.extend(nest_loops(
            &[self.rounds, self.across],
            vec![DispatchStep::Accumulate],
        ));
        steps.push(DispatchStep::Combine(self.across));
        steps
    }
}

/// Adds loops over subgroups, whose invocations combine accumulators by shuffles, where a workgroup consists of
/// whole subgroups.
fn add_subgroup_loops(nest: &mut TensorLoopNest, invocations: u64) {
    let subgroup = nest.profile.subgroup;
    let fit = has_shuffles(&nest.op, &nest.profile);
    if fit && invocations.is_multiple_of(subgroup) {
        nest.add_loop(invocations / subgroup, LoopMapping::Subgroup);
        nest.add_loop(subgroup, LoopMapping::Lane);
    }
}

/// Number of adjacent points of an invocation in each iteration of a reduction. Each has its own accumulators, which
/// need neutral elements.
pub(super) fn count_fold_lanes(nest: &TensorLoopNest, total: u64) -> u64 {
    if has_neutral_elements(&nest.op) {
        count_points_per_lane(nest, AxisKind::Reduction, total)
    } else {
        1
    }
}

/// The steps of all reductions of rows, one after the other; the accumulators of each are broadcast.
pub(super) fn fold_each_reduction(
    count: usize,
    fold: impl Fn() -> Vec<DispatchStep>,
) -> Vec<DispatchStep> {
    let each = (0..count).flat_map(|at| {
        let mut steps = vec![DispatchStep::SelectReduction(at)];
        steps.extend(fold());
        steps.push(DispatchStep::Broadcast);
        steps
    });
    each.collect()
}
