//! Subgroup strategy: a subgroup, or a cluster of it, for each point of the parallel axes, which reduces by shuffles.

use super::cooperative::is_long_fold;
use crate::schedule::dispatch::nest_loops;
use crate::schedule::subgroup_fold::{SubgroupFold, has_idle_invocations, is_worth_subgroup};
use crate::schedule::{DispatchStep, FoldSharing, SchedulePlan, ScheduleRequest, TensorLoopNest};

#[derive(Debug, Default)]
struct SubgroupsPlan {
    /// Number of invocations that have a result, once tiled.
    cluster: Option<u64>,
}

/// Suits short reductions with very many results or with few, on devices with shuffles.
pub(super) fn plan_subgroups(request: &ScheduleRequest<'_>) -> Option<Box<dyn SchedulePlan>> {
    let suits = if is_long_fold(request) {
        is_worth_subgroup(request)
    } else {
        has_idle_invocations(request.op, request.profile)
    };
    suits.then(|| Box::new(SubgroupsPlan::default()) as Box<dyn SchedulePlan>)
}

impl SchedulePlan for SubgroupsPlan {
    fn tile(&mut self, nest: &mut TensorLoopNest) {
        let fold = SubgroupFold::split_loops(nest);
        let mut steps = fold.fold_steps();
        steps.push(DispatchStep::Store);
        nest.steps = nest_loops(&[fold.group], steps);
        self.cluster = Some(fold.cluster);
    }

    fn fold_sharing(&self) -> FoldSharing {
        FoldSharing::First
    }

    fn cluster(&self) -> Option<u64> {
        self.cluster
    }
}
