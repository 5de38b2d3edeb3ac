//! Row strategy: a workgroup for each point of the parallel axes, which reduces a row and writes at all its points.
//!
//! The reductions run one after the other. Each invocation is given what they combined.

use crate::ir::YieldDestination;
use crate::schedule::dispatch::nest_loops;
use crate::schedule::workgroup_fold::{
    FEWEST_INVOCATIONS, FoldSize, WorkgroupFold, fold_each_reduction,
};
use crate::schedule::{DispatchStep, FoldSharing, SchedulePlan, ScheduleRequest, TensorLoopNest};

#[derive(Debug)]
struct RowsPlan;

/// Suits operations that write at each point of all axes.
pub(super) fn plan_rows(request: &ScheduleRequest<'_>) -> Option<Box<dyn SchedulePlan>> {
    writes_each_point(request).then(|| Box::new(RowsPlan) as Box<dyn SchedulePlan>)
}

/// Whether an operation writes at each point of all axes.
pub(super) fn writes_each_point(request: &ScheduleRequest<'_>) -> bool {
    let mut yields = request.op.yields.iter();
    yields.any(|y| matches!(y.destination, YieldDestination::Each(_)))
}

impl SchedulePlan for RowsPlan {
    fn tile(&mut self, nest: &mut TensorLoopNest) {
        let fold = WorkgroupFold::split_loops(nest, choose_invocations);
        let mut steps = fold_each_reduction(nest.op.reductions.len(), || fold.fold_steps());
        steps.extend(nest_loops(
            &[fold.rounds, fold.across],
            vec![DispatchStep::Store],
        ));
        nest.steps = nest_loops(&fold.parallel, steps);
    }

    fn fold_sharing(&self) -> FoldSharing {
        FoldSharing::Broadcast
    }
}

/// Number of invocations for a row.
///
/// Where they can keep the row in their registers, they are so few that each has as much of it as it can keep; where
/// all have as much, at most half of that.
fn choose_invocations(nest: &TensorLoopNest, size: &FoldSize) -> u64 {
    let profile = &nest.profile;
    let rounds = (profile.kept / (2 * size.lanes)).max(1);
    let (fewest, most) = (FEWEST_INVOCATIONS.min(profile.rows), profile.rows);
    let enough = (size.runs / rounds).max(1);
    if enough.is_power_of_two() && size.runs.is_multiple_of(enough) && enough <= most {
        enough.max(fewest)
    } else {
        size.runs.next_power_of_two().clamp(fewest, most)
    }
}
