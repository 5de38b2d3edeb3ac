//! Strategy for alternatives: an invocation has all points of the axes whose points compute from the same elements.
//!
//! The other axes are shared as those of other maps are: by lines on processors, otherwise as one loop over all points.

use super::flat::collapse_axes;
use super::lines::{count_line_axes, share_lines};
use crate::schedule::alternatives::{AlternativeAxes, find_alternative_axes};
use crate::schedule::dispatch::nest_loops;
use crate::schedule::{DispatchStep, LoopMapping, SchedulePlan, ScheduleRequest, TensorLoopNest};

/// Bytes of the vectors of alternatives that lie next to each other, also on processors.
const VECTOR: u64 = 16;

#[derive(Debug)]
struct AlternativesPlan {
    axes: AlternativeAxes,
}

/// Suits maps with axes of alternatives.
pub(super) fn plan_alternatives(request: &ScheduleRequest<'_>) -> Option<Box<dyn SchedulePlan>> {
    let axes = find_alternative_axes(request.op);
    (!axes.is_empty()).then(|| Box::new(AlternativesPlan { axes }) as Box<dyn SchedulePlan>)
}

/// Unrolls the loops over some axes of a map, and returns the other axes. Loops are still numbered as their axes.
pub(super) fn unroll_alternatives(nest: &mut TensorLoopNest, axes: &[usize]) -> Vec<usize> {
    for axis in axes {
        nest.loops[*axis].run = LoopMapping::Unrolled;
    }
    let others = (0..nest.op.axes.len()).filter(|at| !axes.contains(at));
    let others: Vec<usize> = others.collect();
    let loops: Vec<u32> = others.iter().map(|at| *at as u32).collect();
    nest.steps = nest_loops(&loops, vec![DispatchStep::Store]);
    others
}

impl SchedulePlan for AlternativesPlan {
    fn distribute(&mut self, nest: &mut TensorLoopNest) {
        nest.profile.vector = nest.profile.vector.max(VECTOR);
        let axes = unroll_alternatives(nest, &self.axes);
        let sizes = axes.iter().map(|at| nest.op.axes[*at].extent.as_static());
        let sizes: Option<Vec<u64>> = sizes.collect();
        match sizes.and_then(|sizes| count_line_axes(&sizes, nest.profile.lines)) {
            Some(count) => {
                let (outer, inner) = axes.split_at(axes.len() - count);
                share_lines(nest, outer, inner);
            }
            None => collapse_axes(nest, &axes, 1),
        }
    }

    fn has_outer_guard(&self) -> bool {
        true
    }
}
