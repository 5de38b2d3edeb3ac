//! Look-back strategy: a workgroup for each chunk of a scan, which adds the sums of the chunks before it.
//!
//! Few long rows are cut into chunks. A workgroup takes the next chunk when it begins and publishes the sum of its
//! points. Then it reads the sums of those before it, until one of them has all that comes before. Each point is
//! read once.
//! Source: Merrill and Garland, "Single-pass Parallel Prefix Scan with Decoupled Look-back" (2016).

use crate::ir::unflatten_index;
use crate::schedule::dispatch::nest_loops;
use crate::schedule::scan_partition::{ScanPartition, build_part_steps, is_look_back_scan};
use crate::schedule::{
    DispatchStep, FoldSharing, LoopMapping, SchedulePlan, ScheduleRequest, TensorLoopNest,
};
use spirula_program::ScalarOp;

#[derive(Debug)]
struct LookBackPlan;

/// Suits scans of few very long rows, on devices whose workgroups make progress once they have begun.
pub(super) fn plan_look_back(request: &ScheduleRequest<'_>) -> Option<Box<dyn SchedulePlan>> {
    let suits = is_look_back_scan(request.op, request.profile);
    suits.then(|| Box::new(LookBackPlan) as Box<dyn SchedulePlan>)
}

impl SchedulePlan for LookBackPlan {
    fn tile(&mut self, nest: &mut TensorLoopNest) {
        let rank = nest.op.parallel_rank();
        let total = nest.loops[rank].extent;
        let sizes = nest.loops[..rank].iter().map(|l| l.extent as i64);
        let sizes: Vec<i64> = sizes.collect();
        let rows = sizes.iter().product::<i64>() as u64;
        let partition = ScanPartition::of_chunks(rows.saturating_mul(total), &nest.profile);
        let chunks = total.div_ceil(partition.size());
        let arrival = nest.add_loop(rows * chunks, LoopMapping::Arrival);
        let arrival = nest.loop_counter(arrival);
        let body = &mut nest.points;
        let count = body.intern_i64(chunks as i64);
        let [row, chunk] =
            [ScalarOp::SDiv, ScalarOp::SMod].map(|op| body.apply_op(op, &[arrival, count]));
        let position = unflatten_index(body, row, &sizes);
        nest.indices[..rank].clone_from_slice(&position);
        let across = partition.split_part(nest, chunk);
        nest.steps = vec![DispatchStep::InitialiseCarry];
        nest.steps
            .extend(nest_loops(&[across], build_part_steps(across)));
    }

    fn fold_sharing(&self) -> FoldSharing {
        FoldSharing::Scan
    }

    fn looks_back(&self) -> bool {
        true
    }
}
