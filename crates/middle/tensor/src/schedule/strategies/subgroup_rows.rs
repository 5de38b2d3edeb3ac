//! Subgroup row strategy: a subgroup, or a cluster of it, for each row, which reduces it and writes at all its points.

use super::rows::writes_each_point;
use crate::schedule::dispatch::nest_loops;
use crate::schedule::subgroup_fold::{SubgroupFold, is_worth_subgroup};
use crate::schedule::workgroup_fold::fold_each_reduction;
use crate::schedule::{DispatchStep, FoldSharing, SchedulePlan, ScheduleRequest, TensorLoopNest};

#[derive(Debug, Default)]
struct SubgroupRowsPlan {
    /// Number of invocations that have a row, once tiled.
    cluster: Option<u64>,
}

/// Suits operations that write at each point of all axes and whose rows are short and very many.
pub(super) fn plan_subgroup_rows(request: &ScheduleRequest<'_>) -> Option<Box<dyn SchedulePlan>> {
    let suits = writes_each_point(request) && is_worth_subgroup(request) && request.is_static();
    suits.then(|| Box::new(SubgroupRowsPlan::default()) as Box<dyn SchedulePlan>)
}

impl SchedulePlan for SubgroupRowsPlan {
    fn tile(&mut self, nest: &mut TensorLoopNest) {
        let fold = SubgroupFold::split_loops(nest);
        let mut steps = fold_each_reduction(nest.op.reductions.len(), || fold.fold_steps());
        steps.extend(nest_loops(
            &[fold.round, fold.lane],
            vec![DispatchStep::Store],
        ));
        nest.steps = nest_loops(&[fold.group], steps);
        self.cluster = Some(fold.cluster);
    }

    fn fold_sharing(&self) -> FoldSharing {
        FoldSharing::Broadcast
    }

    fn cluster(&self) -> Option<u64> {
        self.cluster
    }
}
