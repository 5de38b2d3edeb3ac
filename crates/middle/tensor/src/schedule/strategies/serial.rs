//! Serial strategy: one invocation runs all points in order.
//!
//! It is for scatters whose combiner has no atomic operation, because several invocations must not write the same element, and
//! for operations of loops within a kernel.

use super::alternatives::unroll_alternatives;
use crate::ir::{StructuredYield, YieldDestination};
use crate::schedule::alternatives::find_alternative_axes;
use crate::schedule::dispatch::nest_loops;
use crate::schedule::{DispatchStep, LoopMapping, SchedulePlan, ScheduleRequest, TensorLoopNest};
use spirula_kernel::ir::AtomicOp;
use spirula_program::{ScalarOp, ScalarType};

/// Numbers of points that are reduced at the same time.
const UNROLLED: [u64; 3] = [8, 4, 2];

#[derive(Debug)]
struct SerialPlan;

/// Suits operations whose results several invocations must not write at once.
pub(super) fn plan_serial(request: &ScheduleRequest<'_>) -> Option<Box<dyn SchedulePlan>> {
    let mut yields = request.op.yields.iter();
    let is_serial = yields.any(|y| !is_concurrent(&y.destination));
    is_serial.then(serial_plan)
}

/// The plan for any operation. Reductions of neighbouring points run at the same time.
pub(super) fn serial_plan() -> Box<dyn SchedulePlan> {
    Box::new(SerialPlan)
}

impl SchedulePlan for SerialPlan {
    fn tile(&mut self, nest: &mut TensorLoopNest) {
        let alternatives = find_alternative_axes(&nest.op);
        if !alternatives.is_empty() {
            unroll_alternatives(nest, &alternatives);
        }
        if !nest.op.reductions.is_empty() && nest.op.yields.iter().all(is_at_point) {
            unroll_points(nest);
        }
        let is_each = |y: &StructuredYield| matches!(y.destination, YieldDestination::Each(_));
        if nest.op.yields.iter().any(is_each) {
            let folded = nest.op.parallel_rank() as u32..nest.op.axes.len() as u32;
            let folded: Vec<u32> = folded.collect();
            store_in_loops(&mut nest.steps, &folded);
        }
    }

    fn distribute(&mut self, nest: &mut TensorLoopNest) {
        for data in &mut nest.loops {
            if data.run == LoopMapping::Parallel {
                data.run = LoopMapping::Sequential;
            }
        }
    }
}

fn is_at_point(result: &StructuredYield) -> bool {
    matches!(result.destination, YieldDestination::Point)
}

/// Unrolls some points along the last parallel axis, so that their accumulators do not wait for each other.
fn unroll_points(nest: &mut TensorLoopNest) {
    let Some(axis) = nest.op.parallel_rank().checked_sub(1) else {
        return;
    };
    let extent = nest.op.axes[axis].extent.as_static();
    let divides = |count: &u64| extent.is_some_and(|extent| extent.is_multiple_of(*count));
    let (Some(extent), Some(count)) = (extent, UNROLLED.into_iter().find(divides)) else {
        return;
    };
    let runs = nest.add_loop(extent / count, LoopMapping::Sequential);
    let place = nest.add_loop(count, LoopMapping::Unrolled);
    let [run, place] = [runs, place].map(|number| nest.loop_counter(number));
    let count = nest.points.intern_i64(count as i64);
    let first = nest.points.apply_op(ScalarOp::Mul, &[run, count]);
    nest.indices[axis] = nest.points.apply_op(ScalarOp::Add, &[first, place]);
    // Loops are numbered as their axes at first.
    rename_loop(&mut nest.steps, axis as u32, runs);
}

/// Runs the loops of the reduced axes a second time, around the writes of the results.
fn store_in_loops(steps: &mut Vec<DispatchStep>, folded: &[u32]) {
    if steps.last() == Some(&DispatchStep::Store) {
        steps.pop();
        steps.extend(nest_loops(folded, vec![DispatchStep::Store]));
    } else if let Some(DispatchStep::For(_, inner)) = steps.last_mut() {
        store_in_loops(inner, folded);
    }
}

fn rename_loop(steps: &mut [DispatchStep], from: u32, to: u32) {
    for step in steps {
        if let DispatchStep::For(number, inner) = step {
            if *number == from {
                *number = to;
            }
            rename_loop(inner, from, to);
        }
    }
}

/// Whether several invocations may write at once. They may if each writes at its own point, if one of the values
/// stays, or if the combiner is an atomic operation.
fn is_concurrent(destination: &YieldDestination) -> bool {
    match destination {
        YieldDestination::Point
        | YieldDestination::Each(_)
        | YieldDestination::Prefix { .. }
        | YieldDestination::Scatter { combiner: None, .. } => true,
        YieldDestination::Scatter {
            combiner: Some(combiner),
            ..
        } => combiner.as_operator().is_some_and(|op| {
            let ty = combiner.body.ty(combiner.results[0]);
            match_atomic_op(op, ty).is_some()
        }),
    }
}

/// The atomic operation for an operator.
pub(crate) fn match_atomic_op(op: ScalarOp, ty: ScalarType) -> Option<AtomicOp> {
    let atomic = match (op, ty) {
        (ScalarOp::FAdd, ScalarType::F32) => AtomicOp::FAdd,
        (_, ScalarType::I32) => match op {
            ScalarOp::Add => AtomicOp::Add,
            ScalarOp::SMax => AtomicOp::SMax,
            ScalarOp::SMin => AtomicOp::SMin,
            ScalarOp::UMax => AtomicOp::UMax,
            ScalarOp::UMin => AtomicOp::UMin,
            ScalarOp::And => AtomicOp::And,
            ScalarOp::Or => AtomicOp::Or,
            ScalarOp::Xor => AtomicOp::Xor,
            _ => return None,
        },
        _ => return None,
    };
    Some(atomic)
}
