//! Line strategy: a workgroup for a part of a line along the last parallel axis, or along the last few where they are short.
//!
//! In one loop over all points, an invocation divides its number to find its position. Processors divide slowly, and lanes of a
//! vector one by one. Here the indices along the other axes follow from the number of the workgroup.

use super::flat::replace_axis_loops;
use crate::ir::{NodeData, ScalarNode, StructuredOp, unflatten_index};
use crate::schedule::{LoopMapping, SchedulePlan, ScheduleRequest, TensorLoopNest};
use spirula_program::ScalarOp;

/// Invocations that run as one vector on any processor.
const LANES: u64 = 8;

#[derive(Debug)]
struct LinesPlan {
    /// Number of axes that a line is along.
    axes: usize,
}

/// Suits maps of long lines whose points need their position.
pub(super) fn plan_lines(request: &ScheduleRequest<'_>) -> Option<Box<dyn SchedulePlan>> {
    let (op, profile) = (request.op, request.profile);
    let sizes: Option<Vec<u64>> = op.axes.iter().map(|axis| axis.extent.as_static()).collect();
    let axes = count_line_axes(&sizes?, profile.lines)?;
    let suits = op.is_map() && needs_position(request, op);
    suits.then(|| Box::new(LinesPlan { axes }) as Box<dyn SchedulePlan>)
}

/// The least number of last axes with a given number of points; none where no other axis is left.
pub(super) fn count_line_axes(sizes: &[u64], points: u64) -> Option<usize> {
    if points == 0 || sizes.contains(&0) {
        return None;
    }
    let mut line = 1_u64;
    let last = sizes.iter().rev().position(|size| {
        line = line.saturating_mul(*size);
        line >= points
    })?;
    let (others, _) = sizes.split_at(sizes.len() - 1 - last);
    others.iter().any(|size| *size > 1).then_some(last + 1)
}

/// Whether points need more than the place of their results: an index, or an element at another place.
fn needs_position(request: &ScheduleRequest<'_>, op: &StructuredOp) -> bool {
    let is_wide = |axis: usize| op.axes[axis].extent.as_static() != Some(1);
    let is_at_point = |value, indices: &[ScalarNode]| {
        let shape = request.function.ty(value).shape.iter().copied();
        let own = |(axis, node): (usize, &ScalarNode)| {
            !is_wide(axis) || op.body.as_index(*node) == Some(axis as u32)
        };
        op.parallel_shape().eq(shape) && indices.iter().enumerate().all(own)
    };
    let needed = op.body.mark_reachable(&op.collect_roots());
    let is_needed = |node: &ScalarNode| needed[node.index()];
    let is_index = |node: &ScalarNode| {
        let axis = op.body.as_index(*node);
        axis.is_some_and(|axis| is_wide(axis as usize))
    };
    let is_yielded = op.yields.iter().any(|result| is_index(&result.value));
    let uses = |node: ScalarNode| match op.body.node(node) {
        NodeData::Element(value, indices) if !indices.is_empty() => !is_at_point(*value, indices),
        _ => op.body.operands(node).iter().any(is_index),
    };
    is_yielded || op.body.node_ids().filter(is_needed).any(uses)
}

impl SchedulePlan for LinesPlan {
    fn distribute(&mut self, nest: &mut TensorLoopNest) {
        let axes: Vec<usize> = (0..nest.op.axes.len()).collect();
        let (outer, inner) = axes.split_at(axes.len() - self.axes);
        share_lines(nest, outer, inner);
    }

    fn has_outer_guard(&self) -> bool {
        true
    }
}

/// Gives each workgroup a part of one line. A line is along the second of two lists of axes.
pub(super) fn share_lines(nest: &mut TensorLoopNest, outer: &[usize], inner: &[usize]) {
    let extent = |at: &usize| nest.loops[*at].extent as i64;
    let (sizes, along): (Vec<i64>, Vec<i64>) = (
        outer.iter().map(extent).collect(),
        inner.iter().map(extent).collect(),
    );
    let line = along.iter().product::<i64>() as u64;
    let parts = line.div_ceil(nest.profile.wide);
    let across = line.div_ceil(parts).next_multiple_of(LANES);
    let parts = line.div_ceil(across);
    let lines = sizes.iter().product::<i64>() as u64;
    let group = nest.add_loop(lines * parts, LoopMapping::Workgroup(0));
    let local = nest.add_loop(across, LoopMapping::Invocation(0));
    let [group_counter, local_counter] = [group, local].map(|number| nest.loop_counter(number));
    let points = &mut nest.points;
    let count = points.intern_i64(parts as i64);
    let part = points.apply_op(ScalarOp::SMod, &[group_counter, count]);
    let number = points.apply_op(ScalarOp::SDiv, &[group_counter, count]);
    let size = points.intern_i64(across as i64);
    let first = points.apply_op(ScalarOp::Mul, &[part, size]);
    let index = points.apply_op(ScalarOp::Add, &[first, local_counter]);
    let end = points.intern_i64(line as i64);
    let guard = points.apply_op(ScalarOp::SLt, &[index, end]);
    nest.add_guard(guard);
    let mut position = unflatten_index(&mut nest.points, number, &sizes);
    position.extend(unflatten_index(&mut nest.points, index, &along));
    let axes: Vec<usize> = outer.iter().chain(inner).copied().collect();
    replace_axis_loops(nest, &axes, &position, [group, local]);
}
