//! Sizes that no value has: those of size parameters, and of arrays without elements.

use super::value::{EvaluatedValue, FunctionValue, InstanceValue, VariableFrame};
use super::{EvaluateResult, ProgramEvaluator};
use crate::check::types::{TypeForm, TypeParameterId};
use crate::sizes::SizeInstance;
use crate::typed::{
    DefinitionId, LocalId, SizeTerm, SizedType, SizedTypeId, TypedExpressionId, TypedKind,
    TypedPatternId,
};
use std::rc::Rc;

impl ProgramEvaluator<'_> {
    /// A function that is used, with the sizes and types for its parameters.
    pub(super) fn instantiate(
        &mut self,
        id: TypedExpressionId,
        value: EvaluatedValue,
        frame: &mut VariableFrame,
    ) -> EvaluateResult<EvaluatedValue> {
        let program = self.program;
        let (Some(instance), EvaluatedValue::Function(function)) =
            (program.sizes.instances.get(&id), &value)
        else {
            return Ok(value);
        };
        let instance = self.evaluate_instance(instance, frame)?;
        let instantiated = match (&**function, &program.expressions[id].kind) {
            (FunctionValue::Lambda(lambda, captured), TypedKind::Local(local, _)) => {
                let mut captured = captured.clone();
                if let TypedKind::Lambda(lambda) = &program.expressions[*lambda].kind {
                    for (&size, value) in lambda.size_parameters.iter().zip(&instance.sizes) {
                        let value = value.map(EvaluatedValue::from_int64);
                        captured.locals.set(size, value);
                    }
                }
                let parameters = program.local_type_parameters.get(local);
                let parameters = parameters.map_or(&[][..], Vec::as_slice);
                captured.set_shapes(parameters, &instance);
                FunctionValue::Lambda(*lambda, captured)
            }
            _ => FunctionValue::Instance(Rc::clone(function), Rc::new(instance)),
        };
        Ok(EvaluatedValue::Function(Rc::new(instantiated)))
    }

    /// The value of a constant that has size or type parameters.
    pub(super) fn evaluate_polymorphic(
        &mut self,
        id: TypedExpressionId,
        definition: DefinitionId,
        frame: &mut VariableFrame,
    ) -> EvaluateResult<EvaluatedValue> {
        let program = self.program;
        let instance = match program.sizes.instances.get(&id) {
            Some(instance) => Some(self.evaluate_instance(instance, frame)?),
            None => None,
        };
        self.call_definition(definition, instance.as_ref(), Vec::new())
    }

    /// The sizes and types for the parameters of a function.
    fn evaluate_instance(
        &mut self,
        instance: &SizeInstance,
        frame: &mut VariableFrame,
    ) -> EvaluateResult<InstanceValue> {
        let sizes = instance.sizes.iter();
        let sizes = sizes.map(|&size| self.evaluate_size(size, frame));
        let sizes = sizes.collect::<EvaluateResult<_>>()?;
        let shapes = instance.types.iter();
        let shapes = shapes.map(|&sized| self.evaluate_shape(sized, frame));
        let shapes = shapes.collect::<EvaluateResult<_>>()?;
        Ok(InstanceValue { sizes, shapes })
    }

    /// The sizes of the outer dimensions of a type, as far as they are known.
    pub(super) fn evaluate_shape(
        &mut self,
        sized: SizedTypeId,
        frame: &mut VariableFrame,
    ) -> EvaluateResult<Vec<i64>> {
        let program = self.program;
        let mut shape = Vec::new();
        let mut at = sized;
        loop {
            match &program.sized_types[at] {
                SizedType::Array(size, element) => {
                    match self.evaluate_size(*size, frame)? {
                        Some(size) => shape.push(size),
                        None => return Ok(shape),
                    }
                    at = *element;
                }
                SizedType::Unique(inner) => at = *inner,
                SizedType::Plain(type_id) => {
                    if let TypeForm::Parameter(parameter) = program.types.form(*type_id) {
                        shape.extend(frame.shape_of(*parameter));
                    }
                    return Ok(shape);
                }
                _ => return Ok(shape),
            }
        }
    }

    /// Gives the size parameters of a definition their values.
    pub(super) fn bind_instance(
        &self,
        id: DefinitionId,
        instance: &InstanceValue,
        frame: &mut VariableFrame,
    ) {
        let definition = &self.program.definitions[id];
        for (&size, value) in definition.size_parameters.iter().zip(&instance.sizes) {
            frame
                .locals
                .set(size, value.map(EvaluatedValue::from_int64));
        }
        frame.set_shapes(&definition.type_parameters, instance);
    }

    /// Gives the sizes that an expression produces the values that its value has.
    pub(super) fn bind_produced(
        &self,
        id: TypedExpressionId,
        value: &EvaluatedValue,
        frame: &mut VariableFrame,
    ) {
        if let Some(produced) = self.program.sizes.results.get(&id) {
            for &size in &produced.sizes {
                frame.locals.set(size, None);
            }
            self.bind_sizes(produced.sized, value, frame);
        }
        if let Some(&local) = self.program.sizes.values.get(&id) {
            frame.locals.set(local, Some(value.clone()));
        }
    }

    /// Gives the sizes of the type of a pattern the values that a value has.
    pub(super) fn bind_pattern_sizes(
        &self,
        id: TypedPatternId,
        value: &EvaluatedValue,
        frame: &mut VariableFrame,
    ) {
        if let Some(produced) = self.program.sizes.patterns.get(&id) {
            for &size in &produced.sizes {
                frame.locals.set(size, None);
            }
            self.bind_sizes(produced.sized, value, frame);
        }
    }

    /// The value of a size. None if it is anonymous, or refers to a variable without a value.
    pub(super) fn evaluate_size(
        &mut self,
        size: SizeTerm,
        frame: &mut VariableFrame,
    ) -> EvaluateResult<Option<i64>> {
        match size {
            SizeTerm::Anonymous => Ok(None),
            SizeTerm::Local(local) => Ok(frame.locals.get(local).map(EvaluatedValue::to_int)),
            SizeTerm::Expression(id) if self.has_values(id, frame) => {
                Ok(Some(self.evaluate(id, frame)?.to_int()))
            }
            SizeTerm::Expression(_) => Ok(None),
        }
    }

    /// Whether the variables of a size expression have values.
    fn has_values(&self, id: TypedExpressionId, frame: &VariableFrame) -> bool {
        let has = |local: LocalId| frame.locals.get(local).is_some();
        crate::sizes::facts::all_locals(self.program, id, &has)
    }
}

impl VariableFrame {
    /// The sizes of the type that a type parameter stands for.
    fn shape_of(&self, parameter: TypeParameterId) -> Vec<i64> {
        self.shapes.get(&parameter).cloned().unwrap_or_default()
    }

    /// Notes the sizes of the types for type parameters.
    fn set_shapes(&mut self, parameters: &[TypeParameterId], instance: &InstanceValue) {
        let shapes = instance.shapes.iter().cloned();
        let shapes = parameters.iter().copied().zip(shapes);
        self.shapes.extend(shapes);
    }
}
