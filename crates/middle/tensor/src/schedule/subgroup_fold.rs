//! Reductions by subgroups: all reduced axes as one, split across the invocations of a subgroup.
//!
//! A workgroup that has one row of a few hundred points is small, and there are very many of them: to start them
//! takes longer than to read the rows. Here each subgroup of a workgroup has a row of its own and combines
//! accumulators by shuffles, without memory or barriers. Rows that would leave invocations of a subgroup idle get a
//! cluster of its invocations each.

use super::dispatch::nest_loops;
use super::tile_loops::{has_shuffles, sum_scaled_nodes};
use super::workgroup_fold::{MOST_UNROLLED_NODES, count_fold_lanes};
use super::{DispatchStep, LoopMapping, ScheduleProfile, ScheduleRequest, TensorLoopNest};
use crate::ir::{AxisKind, ScalarNode, StructuredOp, unflatten_index};
use spirula_program::ScalarOp;

/// Whether each result of a reduction is worth a subgroup, and no more.
pub(super) fn is_worth_subgroup(request: &ScheduleRequest<'_>) -> bool {
    let profile = request.profile;
    let is_short = request.fold_length() <= profile.kept * profile.subgroup;
    is_short && request.result_count() >= profile.chunks && has_shuffles(request.op, profile)
}

/// Fewest points of a reduction that are worth several invocations where others would be idle.
const SPREAD: u64 = 16;

/// Whether a reduction is so short, and has so few results, that a device has idle invocations for all its points. One
/// invocation would wait for each element in turn, so that each result gets a subgroup, wherever its elements are.
pub(super) fn has_idle_invocations(op: &StructuredOp, profile: &ScheduleProfile) -> bool {
    let count = |kind| op.count_static_points(op.axes_of_kind(kind));
    let (Some(results), Some(length)) = (count(AxisKind::Parallel), count(AxisKind::Reduction))
    else {
        return false;
    };
    !profile.is_processor()
        && !op.is_scan()
        && has_shuffles(op, profile)
        && (SPREAD..=profile.kept * profile.subgroup).contains(&length)
        && results.saturating_mul(profile.subgroup) <= profile.busy_invocations()
}

/// The loops of a reduction that is split across a subgroup.
pub(super) struct SubgroupFold {
    /// The loop over an invocation's runs of points.
    pub round: u32,
    /// The loop over the invocations of a subgroup.
    pub lane: u32,
    /// The loop over workgroups.
    pub group: u32,
    /// Number of invocations that have a row.
    pub cluster: u64,
}

impl SubgroupFold {
    /// Splits the reduced axes across the invocations of a subgroup, and the parallel ones across workgroups and
    /// subgroups.
    pub fn split_loops(nest: &mut TensorLoopNest) -> SubgroupFold {
        let axes = 0..nest.op.axes.len();
        let is_fold = |at: &usize| nest.op.axes[*at].kind == AxisKind::Reduction;
        let (folds, parallel): (Vec<usize>, Vec<usize>) = axes.partition(is_fold);
        let sizes = |axes: &[usize]| -> Vec<i64> {
            let extents = axes.iter().map(|at| nest.loops[*at].extent as i64);
            extents.collect()
        };
        let (folded, kept) = (sizes(&folds), sizes(&parallel));
        let total = folded.iter().product::<i64>() as u64;
        let results = kept.iter().product::<i64>() as u64;
        let subgroup = nest.profile.subgroup;
        let lanes = count_fold_lanes(nest, total);
        let runs = total / lanes;
        let cluster = runs.next_power_of_two().min(subgroup);
        let rounds = runs.div_ceil(cluster);
        let nodes = rounds * lanes * nest.op.body.len() as u64;
        let run = if runs.is_multiple_of(cluster) && nodes <= MOST_UNROLLED_NODES {
            LoopMapping::Unrolled
        } else {
            LoopMapping::Sequential
        };
        let subgroups = (nest.profile.flat / subgroup).max(1);
        let rows = subgroup / cluster;
        let round = nest.add_loop(rounds, run);
        let group = nest.add_loop(results.div_ceil(subgroups * rows), LoopMapping::Parallel);
        let row = nest.add_loop(subgroups, LoopMapping::Subgroup);
        let lane = nest.add_loop(subgroup, LoopMapping::Lane);
        let point = nest.add_loop(lanes, LoopMapping::Unrolled);
        // The size of the workgroup. The device numbers subgroups and their invocations in its own order.
        nest.add_loop(subgroups * subgroup, LoopMapping::Invocation(0));

        let counters = [round, group, row, lane, point].map(|number| nest.loop_counter(number));
        let [
            round_counter,
            group_counter,
            row_counter,
            lane_counter,
            point_counter,
        ] = counters;
        let points = &mut nest.points;
        let size = points.intern_i64(cluster as i64);
        let [within, place] =
            [ScalarOp::SDiv, ScalarOp::SMod].map(|op| points.apply_op(op, &[lane_counter, size]));
        let run = sum_scaled_nodes(points, &[(round_counter, cluster), (place, 1)]);
        let limit = points.intern_i64(runs as i64);
        let inside = points.apply_op(ScalarOp::SLt, &[run, limit]);
        let flat = sum_scaled_nodes(points, &[(run, lanes), (point_counter, 1)]);
        set_indices(nest, &folds, flat, &folded);
        let terms = [
            (group_counter, subgroups * rows),
            (row_counter, rows),
            (within, 1),
        ];
        let points = &mut nest.points;
        let flat = sum_scaled_nodes(points, &terms);
        let [count, last] = [results, results - 1].map(|n| points.intern_i64(n as i64));
        let is_result = points.apply_op(ScalarOp::SLt, &[flat, count]);
        // Clusters without a row of their own reduce the last one again.
        let flat = points.apply_op(ScalarOp::SMin, &[flat, last]);
        set_indices(nest, &parallel, flat, &kept);
        nest.add_fold_guard(inside);
        nest.add_guard(is_result);
        SubgroupFold {
            round,
            lane,
            group,
            cluster,
        }
    }

    /// The steps that reduce one row.
    pub fn fold_steps(&self) -> Vec<DispatchStep> {
        let mut steps = nest_loops(&[self.lane], vec![DispatchStep::Initialise]);
        steps.extend(nest_loops(
            &[self.round, self.lane],
            vec![DispatchStep::Accumulate],
        ));
        steps.push(DispatchStep::Combine(self.lane));
        steps
    }
}

/// Sets the indices of axes to the position of a row-major place among them.
fn set_indices(nest: &mut TensorLoopNest, axes: &[usize], flat: ScalarNode, sizes: &[i64]) {
    let position = unflatten_index(&mut nest.points, flat, sizes);
    for (axis, index) in axes.iter().zip(position) {
        nest.indices[*axis] = index;
    }
}
