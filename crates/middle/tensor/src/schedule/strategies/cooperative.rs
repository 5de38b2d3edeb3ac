//! Cooperative strategy: a workgroup for each point of the parallel axes, whose invocations reduce together.

use super::cross_lane_reduce::reads_along;
use crate::ir::{AxisKind, StructuredOp};
use crate::schedule::adjacent_points::is_adjacent;
use crate::schedule::dispatch::nest_loops;
use crate::schedule::subgroup_fold::is_worth_subgroup;
use crate::schedule::workgroup_fold::{FEWEST_INVOCATIONS, FoldSize, WorkgroupFold};
use crate::schedule::{
    DispatchStep, FoldSharing, SchedulePlan, ScheduleProfile, ScheduleRequest, TensorLoopNest,
};

/// Points of a row that one invocation reads as well as several.
const SHORT: u64 = 16;

/// Fewest points of a reduction that are worth the largest workgroup.
const LARGE: u64 = 4096;

#[derive(Debug)]
struct CooperativePlan;

/// Suits long reductions with few results.
pub(super) fn plan_cooperative(request: &ScheduleRequest<'_>) -> Option<Box<dyn SchedulePlan>> {
    is_long_fold(request).then(|| Box::new(CooperativePlan) as Box<dyn SchedulePlan>)
}

/// Whether a reduction is long enough, and has few enough results, that several invocations reduce each result.
pub(super) fn is_long_fold(request: &ScheduleRequest<'_>) -> bool {
    !request.op.is_scan()
        && request.is_static()
        && request.fold_length() >= compute_fewest_points(request)
        && request.result_count() <= request.profile.folds
        && !has_adjacent_results(request.op, request.result_count(), request.profile)
}

/// Fewest points of a reduction that are worth a workgroup, a subgroup or a cluster.
///
/// It is lower for rows that subgroups read along. One invocation a row would read from as many places at once as
/// there are invocations.
fn compute_fewest_points(request: &ScheduleRequest<'_>) -> u64 {
    let (op, profile) = (request.op, request.profile);
    let mut axes = op.axes.iter();
    let last = axes.rposition(|axis| axis.kind == AxisKind::Reduction);
    let is_along = last.is_some_and(|axis| reads_along(&op.body, axis));
    let is_read_along = is_along && !is_adjacent(op);
    if profile.subgroup <= 1 || !is_read_along {
        profile.long
    } else if is_worth_subgroup(request) {
        SHORT.min(profile.subgroup)
    } else {
        profile.long / 4
    }
}

/// Whether neighbouring results are reduced of contiguous elements, such as sums of columns, and are enough to keep
/// the device busy with one invocation each. Sums of less than 32 bits are excluded: one after the other they lose
/// more accuracy than in parts.
fn has_adjacent_results(op: &StructuredOp, results: u64, profile: &ScheduleProfile) -> bool {
    let mut values = op.reductions.iter().flat_map(|r| &r.values);
    let is_wide = values.all(|value| op.body.ty(*value).size() >= 4);
    is_wide && results >= profile.busy_invocations() && is_adjacent(op)
}

impl SchedulePlan for CooperativePlan {
    fn tile(&mut self, nest: &mut TensorLoopNest) {
        let fold = WorkgroupFold::split_loops(nest, choose_invocations);
        let mut steps = fold.fold_steps();
        steps.push(DispatchStep::Store);
        nest.steps = nest_loops(&fold.parallel, steps);
    }

    fn fold_sharing(&self) -> FoldSharing {
        FoldSharing::First
    }
}

/// Number of invocations for a result: as few as can keep a row in their registers where there are many results.
fn choose_invocations(nest: &TensorLoopNest, size: &FoldSize) -> u64 {
    let most = nest.profile.fold;
    if size.results >= nest.profile.chunks {
        let each = nest.profile.kept.max(size.lanes);
        let enough = (size.total / each).next_power_of_two();
        enough.clamp(FEWEST_INVOCATIONS.min(most), most)
    } else if size.total >= LARGE {
        2 * most
    } else {
        most
    }
}
