//! Accumulators: arrays that a body writes in any order.

use super::atomic::find_atomic;
use super::statement::BodyRef;
use super::view::ArrayView;
use super::{FunctionLowering, LoweredValue};
use spirula_kernel::ir::AtomicOp;
use spirula_soac::ir::{
    SoacAccumulator, SoacBody, SoacLambda, SoacOperand, SoacOperation, SoacVariableId,
};
use std::rc::Rc;

/// An accumulator: where its arrays are, and the function that combines an element with a value.
#[derive(Debug)]
pub(super) struct LoweredAccumulator {
    /// The arrays.
    targets: Vec<ArrayView>,
    /// The function.
    combine: Option<SoacLambda>,
}

impl LoweredAccumulator {
    /// The atomic operation that combines an element with a value, if there is one.
    fn atomic_operation(&self) -> Option<AtomicOp> {
        let has_scalars = self.targets.first()?.shape.len() == 1;
        has_scalars
            .then(|| find_atomic(self.combine.as_ref()?))
            .flatten()
    }
}

impl FunctionLowering<'_> {
    /// Lowers a body that writes accumulators. The arrays are written in place.
    pub(super) fn lower_accumulation(
        &mut self,
        results: &[SoacVariableId],
        accumulators: &[SoacAccumulator],
        body: BodyRef<'_>,
    ) -> Result<(), String> {
        let mut values = Vec::with_capacity(results.len());
        for accumulator in accumulators {
            let targets = accumulator.targets.iter().map(|&target| self.array(target));
            let targets = targets.collect::<Result<Vec<_>, _>>()?;
            values.extend(targets.iter().cloned().map(LoweredValue::Array));
            let combine = accumulator.combine.clone();
            let lowered = Rc::new(LoweredAccumulator { targets, combine });
            self.set(accumulator.variable, LoweredValue::Accumulator(lowered));
        }
        values.extend(self.lower_body_ref(body)?);
        for (&id, value) in results.iter().zip(values) {
            self.set(id, value);
        }
        Ok(())
    }

    /// Lowers a write.
    pub(super) fn lower_write(
        &mut self,
        accumulator: SoacVariableId,
        position: SoacOperand,
        values: &[SoacOperand],
    ) -> Result<(), String> {
        let accumulator = self.accumulator(accumulator)?;
        let position = self.scalar(position)?;
        let values = values.iter().map(|&value| self.value(value));
        let mut values = values.collect::<Result<Vec<_>, _>>()?;
        let targets = &accumulator.targets;
        let Some(length) = targets.first().map(|target| target.shape[0]) else {
            return Ok(());
        };
        self.if_inside(position, length, |lowering| {
            if lowering.kernel.is_some()
                && let Some(op) = accumulator.atomic_operation()
            {
                let [LoweredValue::Scalar(value)] = values[..] else {
                    return Err("an atomic write has no single value".into());
                };
                let row = lowering.row_view(&targets[0], position);
                lowering.push_atomic(op, &row, value);
                return Ok(());
            }
            if let Some(combine) = &accumulator.combine {
                let (before, new) = combine.parameters.split_at(targets.len());
                lowering.bind_rows(before, targets, position);
                for (&parameter, value) in new.iter().zip(values) {
                    lowering.set(parameter, value);
                }
                values = lowering.lower_body(&combine.body)?;
            }
            for (target, value) in targets.iter().zip(&values) {
                let row = lowering.row_view(target, position);
                lowering.write_value(&row, value)?;
            }
            Ok(())
        })
    }

    /// Whether several invocations that run a body could combine values with the same element at once.
    pub(super) fn has_races(&self, body: &SoacBody) -> bool {
        body.statements
            .iter()
            .any(|statement| match &statement.operation {
                SoacOperation::Accumulate(id, _, _) => {
                    self.accumulator(*id).is_ok_and(|accumulator| {
                        accumulator.combine.is_some() && accumulator.atomic_operation().is_none()
                    })
                }
                other => other
                    .bodies()
                    .into_iter()
                    .any(|inner| self.has_races(inner)),
            })
    }

    fn accumulator(&self, id: SoacVariableId) -> Result<Rc<LoweredAccumulator>, String> {
        match self.value(SoacOperand::Variable(id))? {
            LoweredValue::Accumulator(accumulator) => Ok(accumulator),
            _ => Err(format!("{id:?} is no accumulator")),
        }
    }
}
