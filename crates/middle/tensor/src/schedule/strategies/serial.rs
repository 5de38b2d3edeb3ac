//! Serial strategy: one invocation runs all points in order.
//!
//! It is for scatters whose combiner has no atomic operation: several invocations must not write the same element.

use crate::ir::YieldDestination;
use crate::schedule::{LoopMapping, SchedulePlan, ScheduleRequest, TensorLoopNest};
use spirula_kernel::ir::AtomicOp;
use spirula_program::{ScalarOp, ScalarType};

#[derive(Debug)]
struct SerialPlan;

/// Suits operations whose results several invocations must not write at once.
pub(super) fn plan_serial(request: &ScheduleRequest<'_>) -> Option<Box<dyn SchedulePlan>> {
    let mut yields = request.op.yields.iter();
    let is_serial = yields.any(|y| !is_concurrent(&y.destination));
    is_serial.then(serial_plan)
}

/// The plan for any operation.
pub(super) fn serial_plan() -> Box<dyn SchedulePlan> {
    Box::new(SerialPlan)
}

impl SchedulePlan for SerialPlan {
    fn distribute(&mut self, nest: &mut TensorLoopNest) {
        for data in &mut nest.loops {
            data.run = LoopMapping::Sequential;
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
