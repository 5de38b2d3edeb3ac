//! Scan strategy: a workgroup for each point of the parallel axes, whose invocations scan the row together.

use crate::schedule::dispatch::nest_loops;
use crate::schedule::scan_partition::{ScanPartition, build_part_steps, is_workgroup_scan};
use crate::schedule::{
    DispatchStep, FoldSharing, LoopMapping, SchedulePlan, ScheduleRequest, TensorLoopNest,
};

#[derive(Debug)]
struct ScanPlan;

/// Suits scans of long rows with contiguous accesses.
pub(super) fn plan_scan(request: &ScheduleRequest<'_>) -> Option<Box<dyn SchedulePlan>> {
    let suits = is_workgroup_scan(request.op, request.profile);
    suits.then(|| Box::new(ScanPlan) as Box<dyn SchedulePlan>)
}

impl SchedulePlan for ScanPlan {
    fn tile(&mut self, nest: &mut TensorLoopNest) {
        let rank = nest.op.parallel_rank();
        let total = nest.loops[rank].extent;
        let partition = ScanPartition::of_row(total, &nest.profile);
        let round = nest.add_loop(total.div_ceil(partition.size()), LoopMapping::Sequential);
        let part = nest.loop_counter(round);
        let across = partition.split_part(nest, part);
        let mut steps = vec![DispatchStep::InitialiseCarry];
        steps.extend(nest_loops(&[round, across], build_part_steps(across)));
        let parallel: Vec<u32> = (0..rank as u32).collect();
        nest.steps = nest_loops(&parallel, steps);
    }

    fn fold_sharing(&self) -> FoldSharing {
        FoldSharing::Scan
    }
}
