//! Accumulators: functions that write an array for each element of another.

use super::value::{StaticArray, StaticFunction, StaticValue};
use super::{InternaliseResult, SourceInternaliser};
use spirula_soac::ir::{
    SoacAccumulation, SoacAccumulator, SoacLambda, SoacOperand, SoacOperation, SoacType,
    SoacVariableId,
};
use std::rc::Rc;

impl SourceInternaliser<'_> {
    /// The array after a function has written it through an accumulator for each of some elements.
    pub(super) fn accumulate_elements(
        &mut self,
        target: StaticValue,
        combine: Option<&Rc<StaticFunction>>,
        function: &Rc<StaticFunction>,
        elements: &StaticArray,
    ) -> InternaliseResult<StaticValue> {
        let target = self.require_array(target)?;
        let combine = combine
            .map(|combine| self.make_lambda(combine, &[&target.element, &target.element]))
            .transpose()?
            .map(|(lambda, _)| lambda);
        if let Some(combine) = &combine {
            self.refuse_calls(&combine.body)?;
        }
        self.with_accumulator(&target, combine, |internaliser, variable| {
            let (argument, parameters) = internaliser.add_parameters(&elements.element);
            internaliser.builder.begin_body();
            let state = StaticValue::Accumulator(variable);
            internaliser.call_function(function, vec![state, argument])?;
            let body = internaliser.builder.end_body(Vec::new());
            let lambda = SoacLambda { parameters, body };
            let arrays = elements.element.leaves();
            let map = SoacOperation::Map(elements.length, arrays, lambda);
            internaliser.builder.add_statement(Vec::new(), map);
            Ok(())
        })
    }

    /// An array that a body writes through an accumulator.
    pub(super) fn with_accumulator(
        &mut self,
        target: &StaticArray,
        combine: Option<SoacLambda>,
        body: impl FnOnce(&mut Self, SoacVariableId) -> InternaliseResult<()>,
    ) -> InternaliseResult<StaticValue> {
        let variable = self.builder.add_variable("acc", SoacType::Accumulator);
        self.builder.begin_body();
        body(self, variable)?;
        let body = self.builder.end_body(Vec::new());
        let structure = StaticValue::from_element(target.length, target.element.clone());
        let accumulator = SoacAccumulator {
            variable,
            targets: structure.leaves(),
            combine,
        };
        let accumulation = SoacAccumulation {
            accumulators: vec![accumulator],
            body,
        };
        let results = self.builder.add_operation(
            "w",
            structure.leaf_types(),
            SoacOperation::WithAccumulators(Box::new(accumulation)),
        );
        Ok(structure.with_leaves(&results))
    }

    /// Writes an element of an accumulator.
    pub(super) fn write_accumulator(
        &mut self,
        accumulator: &StaticValue,
        position: SoacOperand,
        value: &StaticValue,
    ) -> InternaliseResult<StaticValue> {
        let StaticValue::Accumulator(variable) = *accumulator else {
            return Err(self.fail("an accumulator is expected"));
        };
        let write = SoacOperation::Accumulate(variable, position, value.leaves());
        self.builder.add_statement(Vec::new(), write);
        Ok(StaticValue::Accumulator(variable))
    }
}
