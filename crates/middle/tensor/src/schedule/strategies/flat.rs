//! Flat strategy: an invocation for each point of the parallel axes, or for a few adjacent ones.
//!
//! The parallel axes are collapsed into one loop over all points, in workgroups of a fixed size. An invocation runs
//! reductions of its points alone.

use crate::ir::{AxisKind, ScalarNode, unflatten_index};
use crate::schedule::adjacent_points::count_points_per_lane;
use crate::schedule::dispatch::nest_loops;
use crate::schedule::{
    DispatchStep, LoopMapping, SchedulePlan, ScheduleProfile, ScheduleRequest, TensorLoopNest,
};
use spirula_program::ScalarOp;

/// Number of workgroups that is enough for a large space on any device.
const MANY: u64 = 256;

/// Most workgroups that any device numbers.
const MOST: u64 = 1 << 31;

#[derive(Debug)]
struct FlatPlan;

/// Suits every operation.
pub(super) fn plan_flat(_: &ScheduleRequest<'_>) -> Option<Box<dyn SchedulePlan>> {
    Some(Box::new(FlatPlan))
}

impl SchedulePlan for FlatPlan {
    fn distribute(&mut self, nest: &mut TensorLoopNest) {
        let axes: Vec<usize> = nest.op.axes_of_kind(AxisKind::Parallel).collect();
        let total = nest.op.count_static_points(axes.iter().copied());
        let lanes = total.map_or(1, |total| {
            count_points_per_lane(nest, AxisKind::Parallel, total)
        });
        collapse_axes(nest, &axes, lanes);
    }

    fn has_outer_guard(&self) -> bool {
        true
    }
}

/// Replaces the loops of axes by one over all their points, `lanes` of them by each invocation. Sizes that are known only at
/// run time need 1.
pub(super) fn collapse_axes(nest: &mut TensorLoopNest, axes: &[usize], lanes: u64) {
    if nest.is_sized() {
        collapse_sized_loops(nest, axes);
    } else {
        collapse_loops(nest, axes, lanes);
    }
}

fn collapse_loops(nest: &mut TensorLoopNest, axes: &[usize], lanes: u64) {
    let sizes: Vec<i64> = axes
        .iter()
        .map(|at| nest.loops[*at].extent as i64)
        .collect();
    let total = sizes.iter().product::<i64>() as u64;
    let runs = total / lanes;
    let across = choose_workgroup_size(runs, &nest.profile);
    let group = nest.add_loop(runs.div_ceil(across), LoopMapping::Workgroup(0));
    let local = nest.add_loop(across, LoopMapping::Invocation(0));
    let lane = nest.add_loop(lanes, LoopMapping::Unrolled);
    let [group_counter, local_counter, lane_counter] =
        [group, local, lane].map(|number| nest.loop_counter(number));
    let points = &mut nest.points;
    let size = points.intern_i64(across as i64);
    let flat = points.apply_op(ScalarOp::Mul, &[group_counter, size]);
    let run = points.apply_op(ScalarOp::Add, &[flat, local_counter]);
    let limit = points.intern_i64(runs as i64);
    let guard = points.apply_op(ScalarOp::SLt, &[run, limit]);
    let lanes = points.intern_i64(lanes as i64);
    let flat = points.apply_op(ScalarOp::Mul, &[run, lanes]);
    let flat = points.apply_op(ScalarOp::Add, &[flat, lane_counter]);
    nest.add_guard(guard);
    let position = unflatten_index(&mut nest.points, flat, &sizes);
    replace_axis_loops(nest, axes, &position, [group, local]);
}

/// Number of invocations of a workgroup for a space of `runs` invocations. It is doubled while that fills whole
/// workgroups and leaves many of them, because each workgroup has a fixed cost.
fn choose_workgroup_size(runs: u64, profile: &ScheduleProfile) -> u64 {
    let mut across = profile.flat;
    while 2 * across <= profile.wide.min(runs / MANY) && runs.is_multiple_of(2 * across) {
        across *= 2;
    }
    across.min(runs.next_power_of_two())
}

/// Replaces the loops of axes by loops over workgroups and invocations.
pub(super) fn replace_axis_loops(
    nest: &mut TensorLoopNest,
    axes: &[usize],
    position: &[ScalarNode],
    loops: [u32; 2],
) {
    for (axis, index) in axes.iter().zip(position) {
        nest.indices[*axis] = *index;
    }
    let mut steps = std::mem::take(&mut nest.steps);
    for _ in axes {
        if let Some(DispatchStep::For(_, inner)) = steps.pop() {
            steps = inner;
        }
    }
    nest.steps = nest_loops(&loops, steps);
}

/// One loop over all points, whose number is known only at run time.
fn collapse_sized_loops(nest: &mut TensorLoopNest, axes: &[usize]) {
    let across = nest.profile.flat;
    let points = &mut nest.points;
    let mut sizes = Vec::new();
    let mut total = points.intern_i64(1);
    for axis in axes {
        let size = points.intern_size(nest.op.axes[*axis].extent);
        total = points.apply_op(ScalarOp::Mul, &[total, size]);
        sizes.push(size);
    }
    let (width, less) = (
        points.intern_i64(across as i64),
        points.intern_i64(across as i64 - 1),
    );
    let above = points.apply_op(ScalarOp::Add, &[total, less]);
    let rounds = points.apply_op(ScalarOp::SDiv, &[above, width]);
    let group = nest.add_sized_loop(MOST, rounds, LoopMapping::Workgroup(0));
    let local = nest.add_loop(across, LoopMapping::Invocation(0));
    let [group_counter, local_counter] = [group, local].map(|number| nest.loop_counter(number));
    let points = &mut nest.points;
    let flat = points.apply_op(ScalarOp::Mul, &[group_counter, width]);
    let mut flat = points.apply_op(ScalarOp::Add, &[flat, local_counter]);
    let guard = points.apply_op(ScalarOp::SLt, &[flat, total]);
    nest.add_guard(guard);
    let points = &mut nest.points;
    let mut position = Vec::new();
    for (at, size) in sizes.iter().enumerate().rev() {
        if at == 0 {
            position.push(flat);
            break;
        }
        position.push(points.apply_op(ScalarOp::SMod, &[flat, *size]));
        flat = points.apply_op(ScalarOp::SDiv, &[flat, *size]);
    }
    position.reverse();
    replace_axis_loops(nest, axes, &position, [group, local]);
}
