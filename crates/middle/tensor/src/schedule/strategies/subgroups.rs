//! Folds of short rows by a subgroup each, and what is computed of rows with folds of the same rows.
//!
//! A workgroup that has one row of a few hundred points is small, and there are very many of them: to start them takes longer than
//! to read the rows. Here each subgroup of a workgroup has a row of its own, and folds it by shuffles, without memory or
//! barriers. Rows that would leave some of it idle have a cluster of its invocations each.

use super::tile::{WRITTEN_OUT, fold_lanes, has_shuffles, sum_scaled_nodes};
use super::{
    DispatchStep, LoopMapping, ScheduleProfile, ScheduleStrategy, TensorDispatch, nest_loops,
};
use crate::ir::{AxisKind, StructuredOp, unflatten_index};
use spirula_program::ScalarOp;

/// Whether each of so many results of a fold of such a length is worth a subgroup, and no more.
pub(super) fn is_worth_subgroup(
    op: &StructuredOp,
    profile: &ScheduleProfile,
    [results, length]: [u64; 2],
) -> bool {
    let is_short = length <= profile.kept * profile.subgroup;
    is_short && results >= profile.chunks && has_shuffles(op, profile)
}

/// Splits a fold across the invocations of a subgroup, all its axes as one, and its results across workgroups and subgroups.
pub(super) fn tile_subgroups(dispatch: &mut TensorDispatch) {
    let axes = 0..dispatch.op.axes.len();
    let is_fold = |at: &usize| dispatch.op.axes[*at].kind == AxisKind::Reduction;
    let (folds, parallel): (Vec<usize>, Vec<usize>) = axes.partition(is_fold);
    let sizes = |axes: &[usize]| -> Vec<i64> {
        let extents = axes.iter().map(|at| dispatch.loops[*at].extent as i64);
        extents.collect()
    };
    let (folded, kept) = (sizes(&folds), sizes(&parallel));
    let total = folded.iter().product::<i64>() as u64;
    let results = kept.iter().product::<i64>() as u64;
    let subgroup = dispatch.profile.subgroup;
    let lanes = fold_lanes(dispatch, total);
    let runs = total / lanes;
    let cluster = runs.next_power_of_two().min(subgroup);
    dispatch.cluster = cluster;
    let rounds = runs.div_ceil(cluster);
    let nodes = rounds * lanes * dispatch.op.body.len() as u64;
    let run = match runs.is_multiple_of(cluster) && nodes <= WRITTEN_OUT {
        true => LoopMapping::Unrolled,
        false => LoopMapping::Sequential,
    };
    let subgroups = (dispatch.profile.flat / subgroup).max(1);
    let rows = subgroup / cluster;
    let round = dispatch.add_loop(rounds, run);
    let group = dispatch.add_loop(results.div_ceil(subgroups * rows), LoopMapping::Parallel);
    let row = dispatch.add_loop(subgroups, LoopMapping::Subgroup);
    let lane = dispatch.add_loop(subgroup, LoopMapping::Lane);
    let point = dispatch.add_loop(lanes, LoopMapping::Unrolled);
    // What the workgroup is made of; subgroups and their invocations are numbered as the device likes.
    dispatch.add_loop(subgroups * subgroup, LoopMapping::Invocation(0));

    let counters = [round, group, row, lane, point].map(|number| dispatch.loop_counter(number));
    let [
        round_counter,
        group_counter,
        row_counter,
        lane_counter,
        point_counter,
    ] = counters;
    let points = &mut dispatch.points;
    let size = points.intern_i64(cluster as i64);
    let [within, place] =
        [ScalarOp::SDiv, ScalarOp::SMod].map(|op| points.apply_op(op, &[lane_counter, size]));
    let run = sum_scaled_nodes(points, &[(round_counter, cluster), (place, 1)]);
    let limit = points.intern_i64(runs as i64);
    let inside = points.apply_op(ScalarOp::SLt, &[run, limit]);
    let flat = sum_scaled_nodes(points, &[(run, lanes), (point_counter, 1)]);
    let position = unflatten_index(points, flat, &folded);
    for (axis, index) in folds.iter().zip(position) {
        dispatch.indices[*axis] = index;
    }
    let terms = [
        (group_counter, subgroups * rows),
        (row_counter, rows),
        (within, 1),
    ];
    let flat = sum_scaled_nodes(&mut dispatch.points, &terms);
    let points = &mut dispatch.points;
    let [count, last] = [results, results - 1].map(|n| points.intern_i64(n as i64));
    let is_result = points.apply_op(ScalarOp::SLt, &[flat, count]);
    // Clusters that have no row fold the last one again.
    let flat = points.apply_op(ScalarOp::SMin, &[flat, last]);
    let position = unflatten_index(points, flat, &kept);
    for (axis, index) in parallel.iter().zip(position) {
        dispatch.indices[*axis] = index;
    }
    for (guards, guard) in [
        (&mut dispatch.fold_guards, inside),
        (&mut dispatch.guards, is_result),
    ] {
        if dispatch.points.as_literal(guard).is_none() {
            guards.push(guard);
        }
    }
    let fold = || {
        let mut steps = nest_loops(&[lane], vec![DispatchStep::Initialise]);
        steps.extend(nest_loops(&[round, lane], vec![DispatchStep::Accumulate]));
        steps.push(DispatchStep::Combine(lane));
        steps
    };
    let steps: Vec<DispatchStep> = match dispatch.strategy {
        ScheduleStrategy::SubgroupRows => {
            let each = (0..dispatch.op.reductions.len()).flat_map(|at| {
                let before = [DispatchStep::Only(at)].into_iter();
                before.chain(fold()).chain([DispatchStep::Share])
            });
            let store = nest_loops(&[round, lane], vec![DispatchStep::Store]);
            each.chain(store).collect()
        }
        _ => fold().into_iter().chain([DispatchStep::Store]).collect(),
    };
    dispatch.steps = nest_loops(&[group], steps);
}
