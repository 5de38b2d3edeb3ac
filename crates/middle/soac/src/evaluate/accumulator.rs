//! Accumulators: arrays that a body writes in any order.

use super::{FunctionEvaluator, SoacValue};
use crate::ir::{SoacAccumulation, SoacLambda, SoacOperand, SoacVariableId};
use std::rc::Rc;

/// The arrays of an accumulator, as they are written.
#[derive(Clone, Debug)]
pub(super) struct AccumulatorState {
    /// The arrays.
    targets: Vec<SoacValue>,
    /// The function that combines an element with a value.
    combine: Option<SoacLambda>,
}

impl FunctionEvaluator<'_> {
    /// Evaluates a body that writes accumulators.
    pub(super) fn evaluate_accumulation(
        &mut self,
        accumulation: &SoacAccumulation,
    ) -> Result<Vec<SoacValue>, String> {
        for accumulator in &accumulation.accumulators {
            let state = AccumulatorState {
                targets: self.get_all(&accumulator.targets)?,
                combine: accumulator.combine.clone(),
            };
            self.accumulators.insert(accumulator.variable, state);
        }
        let rest = self.evaluate_body(&accumulation.body)?;
        let mut results = Vec::new();
        for accumulator in &accumulation.accumulators {
            let state = self.accumulators.remove(&accumulator.variable);
            results.extend(state.ok_or("an accumulator is lost")?.targets);
        }
        results.extend(rest);
        Ok(results)
    }

    /// Evaluates a write.
    pub(super) fn evaluate_write(
        &mut self,
        accumulator: SoacVariableId,
        position: SoacOperand,
        values: &[SoacOperand],
    ) -> Result<(), String> {
        let position = self.get_int64(position)?;
        let mut values = self.get_all(values)?;
        let state = self.accumulators.get(&accumulator);
        let state = state.ok_or_else(|| format!("{accumulator:?} is not in scope"))?;
        let count = state.targets.first().map_or(0, |target| target.shape()[0]);
        if !(0..count).contains(&position) {
            return Ok(());
        }
        let position = position as usize;
        if let Some(combine) = state.combine.clone() {
            let before = state.targets.iter().map(|target| target.row(position));
            let arguments = before.chain(values).collect();
            values = self.call(&combine, arguments)?;
        }
        let Some(state) = self.accumulators.get_mut(&accumulator) else {
            return Ok(());
        };
        for (target, value) in state.targets.iter_mut().zip(values) {
            if let SoacValue::Array(_, _, bits) = target {
                let row = value.bits();
                let start = position * row.len();
                Rc::make_mut(bits)[start..start + row.len()].copy_from_slice(&row);
            }
        }
        Ok(())
    }
}
