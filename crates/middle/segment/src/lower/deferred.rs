//! Deferred scalars: those that kernels compute and only kernels use. Each kernel that uses one reads it when it begins.

use super::view::{ArrayView, ScalarRef};
use super::{FunctionLowering, LoweredValue};
use crate::ir::ParallelOperation;
use crate::scope::for_each_used_in;
use spirula_program::ScalarOperator;
use spirula_soac::ir::{SoacOperand, SoacVariableId};
use std::rc::Rc;

/// A scalar that the host does not read.
#[derive(Clone, Debug)]
pub(super) enum DeferredScalar {
    /// The only element of an array without dimensions.
    Element(ArrayView),
    /// The result of an operator.
    Operation(ScalarOperator, Vec<SoacOperand>),
}

impl FunctionLowering<'_> {
    /// A scalar that a kernel has left in memory. It is read now, unless only kernels use it.
    pub(super) fn load_result(&mut self, id: SoacVariableId, place: ArrayView) -> LoweredValue {
        if self.device_scalars.contains(id) {
            LoweredValue::Deferred(Rc::new(DeferredScalar::Element(place)))
        } else {
            LoweredValue::Scalar(self.load(&place))
        }
    }

    /// The result of an operator on the host, if only kernels use it.
    pub(super) fn defer_operation(
        &self,
        id: SoacVariableId,
        operator: ScalarOperator,
        operands: &[SoacOperand],
    ) -> Option<LoweredValue> {
        let operation = || DeferredScalar::Operation(operator, operands.to_vec());
        let is_deferred = self.kernel.is_none() && self.device_scalars.contains(id);
        is_deferred.then(|| LoweredValue::Deferred(Rc::new(operation())))
    }

    /// The deferred scalars that the kernels of an operation use.
    pub(super) fn find_deferred(&self, operation: &ParallelOperation) -> Vec<SoacVariableId> {
        let mut found = Vec::new();
        let mut visit = |id: SoacVariableId| {
            let value = &self.values[id.index()];
            if matches!(value, Some(LoweredValue::Deferred(_))) && !found.contains(&id) {
                found.push(id);
            }
        };
        operation.for_each_body(&mut |body| for_each_used_in(self.function, body, &mut visit));
        found
    }

    /// Computes the deferred scalars that a kernel uses, at its beginning.
    pub(super) fn compute_deferred(&mut self) -> Result<(), String> {
        for id in self.deferred.clone() {
            self.compute_scalar(id)?;
        }
        Ok(())
    }

    fn compute_scalar(&mut self, id: SoacVariableId) -> Result<ScalarRef, String> {
        let operand = SoacOperand::Variable(id);
        let LoweredValue::Deferred(deferred) = self.value(operand)? else {
            return self.scalar(operand);
        };
        let scalar = match &*deferred {
            DeferredScalar::Element(place) => self.load(place),
            DeferredScalar::Operation(operator, operands) => {
                let mut values = Vec::with_capacity(operands.len());
                for &operand in operands {
                    let value = match operand {
                        SoacOperand::Variable(id) => self.compute_scalar(id)?,
                        SoacOperand::Constant(_) => self.scalar(operand)?,
                    };
                    values.push(self.read(value));
                }
                let value = self.builder.apply_operator(*operator, &values);
                self.assign("s", operator.to, value)
            }
        };
        let before = self.values[id.index()].replace(LoweredValue::Scalar(scalar));
        if let Some(kernel) = &mut self.kernel {
            kernel.computed.push((id, before));
        }
        Ok(scalar)
    }
}
