//! Expressions.

use super::pattern::are_equal;
use super::value::{EvaluatedValue, FunctionValue, VariableFrame};
use super::{EvaluateResult, ProgramEvaluator};
use crate::check::types::{PrimitiveType, sort_fields};
use crate::syntax::tree::{NumberType, SourceNameId};
use crate::typed::{
    DefinitionId, LocalId, ProgramPlace, TypedBinding, TypedExpressionId, TypedKind, TypedLambda,
    TypedLoop, TypedLoopForm, TypedPatternId, TypedStep,
};
use std::rc::Rc;

impl ProgramEvaluator<'_> {
    /// Evaluates an expression.
    pub(super) fn evaluate(
        &mut self,
        id: TypedExpressionId,
        frame: &mut VariableFrame,
    ) -> EvaluateResult<EvaluatedValue> {
        if self.fuel == 0 {
            return Err(self.fail("the evaluator gives up: the program takes too many steps"));
        }
        self.fuel -= 1;
        let value = self.evaluate_kind(id, frame)?;
        self.bind_produced(id, &value, frame);
        Ok(value)
    }

    fn evaluate_kind(
        &mut self,
        id: TypedExpressionId,
        frame: &mut VariableFrame,
    ) -> EvaluateResult<EvaluatedValue> {
        let program = self.program;
        let expression = &program.expressions[id];
        self.place = Some(expression.place);
        match &expression.kind {
            TypedKind::Scalar(literal) => self.evaluate_scalar(literal, expression.type_id),
            TypedKind::Bytes(bytes) => Ok(make_byte_array(bytes)),
            TypedKind::Hole => Err(self.fail("Reached hole of type")),
            TypedKind::Local(local, _) => self.evaluate_local(id, *local, frame),
            TypedKind::Global(definition, _) => {
                self.evaluate_global_reference(id, *definition, frame)
            }
            TypedKind::Intrinsic(intrinsic, types) => {
                let value = self.evaluate_builtin(*intrinsic, types)?;
                self.instantiate(id, value, frame)
            }
            TypedKind::Record(fields) => self.evaluate_record(fields, frame),
            TypedKind::Array(elements) => self.evaluate_array(id, elements, frame),
            TypedKind::Constructor(name, payload) => {
                let payload = payload.iter().map(|&part| self.evaluate(part, frame));
                let payload = payload.collect::<EvaluateResult<_>>()?;
                Ok(EvaluatedValue::Sum(*name, Rc::new(payload)))
            }
            TypedKind::Projection(record, field) => {
                let record = self.evaluate(*record, frame)?;
                self.project(&record, *field)
            }
            TypedKind::Index(array, indices) => {
                let array = self.evaluate(*array, frame)?;
                let indices = self.evaluate_indices(indices, frame)?;
                self.place = Some(expression.place);
                self.index_value(&array, &indices)
            }
            TypedKind::Application(function, arguments) => {
                self.evaluate_application(id, *function, arguments, frame)
            }
            TypedKind::Lambda(lambda) => Ok(self.make_closure(id, lambda, frame)),
            TypedKind::If(condition, accept, reject) => {
                let is_accepted = self.evaluate(*condition, frame)?.is_true();
                self.evaluate(if is_accepted { *accept } else { *reject }, frame)
            }
            TypedKind::Let(bindings, body) => {
                let mut bindings = bindings.iter();
                bindings.try_for_each(|binding| self.evaluate_binding(binding, frame))?;
                self.evaluate(*body, frame)
            }
            TypedKind::Match(subject, cases) => self.evaluate_match(*subject, cases, frame),
            TypedKind::Loop(typed_loop) => self.evaluate_loop(typed_loop, frame),
            TypedKind::Assert(condition, body) => self.evaluate_assert(*condition, *body, frame),
            TypedKind::Update {
                source,
                steps,
                value,
            } => self.evaluate_update(*source, steps, *value, expression.place, frame),
            TypedKind::Ascription(value, _) => self.evaluate(*value, frame),
            TypedKind::Coercion(value, sized) => {
                let value = self.evaluate(*value, frame)?;
                self.check_sizes(*sized, &value, frame)?;
                Ok(value)
            }
            TypedKind::Range {
                first,
                second,
                bound,
                last,
            } => {
                let first = self.evaluate(*first, frame)?;
                let second = second.map(|second| self.evaluate(second, frame));
                let second = second.transpose()?;
                let last = self.evaluate(*last, frame)?;
                self.place = Some(expression.place);
                self.evaluate_range(&first, second.as_ref(), *bound, &last)
            }
            TypedKind::Attributed(_, body) => self.evaluate(*body, frame),
        }
    }

    fn evaluate_record(
        &mut self,
        fields: &[(SourceNameId, TypedExpressionId)],
        frame: &mut VariableFrame,
    ) -> EvaluateResult<EvaluatedValue> {
        let mut values = Vec::with_capacity(fields.len());
        for (name, field) in fields {
            values.push((*name, self.evaluate(*field, frame)?));
        }
        Ok(self.make_record(values))
    }

    fn evaluate_assert(
        &mut self,
        condition: TypedExpressionId,
        body: TypedExpressionId,
        frame: &mut VariableFrame,
    ) -> EvaluateResult<EvaluatedValue> {
        if !self.evaluate(condition, frame)?.is_true() {
            return Err(self.fail("Assertion is false"));
        }
        self.evaluate(body, frame)
    }

    /// The value of a local variable, instantiated for the place of its use.
    fn evaluate_local(
        &mut self,
        id: TypedExpressionId,
        local: LocalId,
        frame: &mut VariableFrame,
    ) -> EvaluateResult<EvaluatedValue> {
        let Some(value) = frame.locals.get(local) else {
            let name = &self.program.names[self.program.locals[local].name];
            return Err(self.fail(format!(
                "the size `{name}` does not follow from the arguments"
            )));
        };
        let value = value.clone();
        self.instantiate(id, value, frame)
    }

    /// The value of a definition, instantiated for the place of its use.
    fn evaluate_global_reference(
        &mut self,
        id: TypedExpressionId,
        definition: DefinitionId,
        frame: &mut VariableFrame,
    ) -> EvaluateResult<EvaluatedValue> {
        let target = &self.program.definitions[definition];
        if target.parameters.is_empty() && !target.size_parameters.is_empty() {
            return self.evaluate_polymorphic(id, definition, frame);
        }
        let value = self.evaluate_global(definition)?;
        self.instantiate(id, value, frame)
    }

    /// An array of elements of one shape.
    fn evaluate_array(
        &mut self,
        id: TypedExpressionId,
        elements: &[TypedExpressionId],
        frame: &mut VariableFrame,
    ) -> EvaluateResult<EvaluatedValue> {
        let elements = elements
            .iter()
            .map(|&element| self.evaluate(element, frame));
        let elements = elements.collect::<EvaluateResult<Vec<_>>>()?;
        self.require_regular(&elements)?;
        let shape = match self.program.sizes.types.get(&id) {
            Some(&sized) => self.evaluate_shape(sized, frame)?,
            None => Vec::new(),
        };
        let row_shape = shape.into_iter().skip(1).collect();
        Ok(EvaluatedValue::from_elements(elements, row_shape))
    }

    /// A function with the variables that it sees. Its size parameters have no values until it is applied.
    fn make_closure(
        &self,
        id: TypedExpressionId,
        lambda: &TypedLambda,
        frame: &VariableFrame,
    ) -> EvaluatedValue {
        let mut captured = frame.clone();
        for &size in &lambda.size_parameters {
            captured.locals.set(size, None);
        }
        EvaluatedValue::Function(Rc::new(FunctionValue::Lambda(id, captured)))
    }

    /// A record of its fields.
    pub(super) fn make_record(
        &self,
        mut values: Vec<(SourceNameId, EvaluatedValue)>,
    ) -> EvaluatedValue {
        sort_fields(&mut values, &self.program.names);
        EvaluatedValue::Record(Rc::new(values))
    }

    /// A pair.
    pub(super) fn make_pair(
        &self,
        first: EvaluatedValue,
        second: EvaluatedValue,
    ) -> EvaluatedValue {
        EvaluatedValue::Record(Rc::new(vec![(self.pair[0], first), (self.pair[1], second)]))
    }

    /// A field of a record.
    pub(super) fn project(
        &self,
        record: &EvaluatedValue,
        field: SourceNameId,
    ) -> EvaluateResult<EvaluatedValue> {
        if let EvaluatedValue::Record(fields) = record
            && let Some((_, value)) = fields.iter().find(|(name, _)| *name == field)
        {
            return Ok(value.clone());
        }
        Err(self.fail("a field is missing"))
    }

    /// Requires that elements have the same sizes.
    pub(super) fn require_regular(&self, elements: &[EvaluatedValue]) -> EvaluateResult<()> {
        let Some(EvaluatedValue::Array(_)) = elements.first() else {
            return Ok(());
        };
        let shape = elements[0].shape();
        if elements.iter().all(|element| element.shape() == shape) {
            return Ok(());
        }
        Err(self.fail("the elements of an array have different sizes"))
    }

    /// Evaluates a binding.
    fn evaluate_binding(
        &mut self,
        binding: &TypedBinding,
        frame: &mut VariableFrame,
    ) -> EvaluateResult<()> {
        let value = self.evaluate(binding.value, frame)?;
        for &size in &binding.sizes {
            frame.locals.set(size, None);
        }
        if self.match_pattern(binding.pattern, value, frame)? {
            return Ok(());
        }
        Err(self.fail("the value does not match the pattern"))
    }

    /// Evaluates a loop.
    fn evaluate_loop(
        &mut self,
        typed_loop: &TypedLoop,
        frame: &mut VariableFrame,
    ) -> EvaluateResult<EvaluatedValue> {
        let mut value = self.evaluate(typed_loop.initial, frame)?;
        match typed_loop.form {
            TypedLoopForm::Count(counter, bound) => {
                let bound = self.evaluate(bound, frame)?;
                let Some((scalar, _)) = bound.to_scalar() else {
                    return Err(self.fail("the bound of a loop is no integer"));
                };
                for index in 0..bound.to_int() {
                    let index = EvaluatedValue::Scalar(scalar, index as u64);
                    frame.locals.set(counter, Some(index));
                    value = self.evaluate_iteration(typed_loop, value, frame)?;
                }
            }
            TypedLoopForm::Elements(pattern, array) => {
                let EvaluatedValue::Array(array) = self.evaluate(array, frame)? else {
                    return Err(self.fail("a loop is over a value that is no array"));
                };
                for element in &array.elements {
                    self.match_pattern(pattern, element.clone(), frame)?;
                    value = self.evaluate_iteration(typed_loop, value, frame)?;
                }
            }
            TypedLoopForm::While(condition) => loop {
                self.match_pattern(typed_loop.pattern, value.clone(), frame)?;
                if !self.evaluate(condition, frame)?.is_true() {
                    break;
                }
                value = self.evaluate_iteration(typed_loop, value, frame)?;
            },
        }
        Ok(value)
    }

    /// Evaluates the body of a loop once.
    fn evaluate_iteration(
        &mut self,
        typed_loop: &TypedLoop,
        value: EvaluatedValue,
        frame: &mut VariableFrame,
    ) -> EvaluateResult<EvaluatedValue> {
        self.match_pattern(typed_loop.pattern, value, frame)?;
        self.evaluate(typed_loop.body, frame)
    }

    /// Whether two values are equal, as a truth value.
    pub(super) fn compare_values(
        &self,
        left: &EvaluatedValue,
        right: &EvaluatedValue,
    ) -> EvaluatedValue {
        EvaluatedValue::from_bool(are_equal(left, right))
    }

    /// Evaluates a function with its arguments.
    fn evaluate_application(
        &mut self,
        id: TypedExpressionId,
        function: TypedExpressionId,
        arguments: &[TypedExpressionId],
        frame: &mut VariableFrame,
    ) -> EvaluateResult<EvaluatedValue> {
        let mut values = vec![None; arguments.len()];
        for index in self.program.sizes.argument_order(id, arguments.len()) {
            values[index] = Some(self.evaluate(arguments[index], frame)?);
        }
        let values = values.into_iter().flatten().collect();
        let function = self.evaluate(function, frame)?;
        self.place = Some(self.program.expressions[id].place);
        let function = self.require_function(function)?;
        self.call(&function, values)
    }

    /// Evaluates the first case that matches.
    fn evaluate_match(
        &mut self,
        subject: TypedExpressionId,
        cases: &[(TypedPatternId, TypedExpressionId)],
        frame: &mut VariableFrame,
    ) -> EvaluateResult<EvaluatedValue> {
        let subject = self.evaluate(subject, frame)?;
        for (pattern, body) in cases {
            if self.match_pattern(*pattern, subject.clone(), frame)? {
                return self.evaluate(*body, frame);
            }
        }
        Err(self.fail("no case matches the value"))
    }

    /// Evaluates a value with a part replaced. A variable that is consumed has no value afterwards, so that its array is
    /// changed in place.
    fn evaluate_update(
        &mut self,
        source: TypedExpressionId,
        steps: &[TypedStep],
        value: TypedExpressionId,
        place: ProgramPlace,
        frame: &mut VariableFrame,
    ) -> EvaluateResult<EvaluatedValue> {
        let program = self.program;

        let value = self.evaluate(value, frame)?;
        let steps = self.evaluate_steps(steps, frame)?;
        let mut target = match &program.expressions[source].kind {
            TypedKind::Local(local, _) => {
                let taken = frame.locals.get(*local).cloned();
                let is_consumed = steps
                    .iter()
                    .any(|step| matches!(step, super::array::StepValue::Indices(_)));
                if is_consumed {
                    frame.locals.set(*local, None);
                }
                match taken {
                    Some(value) => value,
                    None => return Err(self.fail("the value that is updated was consumed")),
                }
            }
            _ => self.evaluate(source, frame)?,
        };
        self.place = Some(place);
        self.update_value(&mut target, &steps, value)?;
        Ok(target)
    }
}

/// The array of the bytes of a string.
fn make_byte_array(bytes: &[u8]) -> EvaluatedValue {
    let byte = PrimitiveType::Number(NumberType::U8);
    let elements = bytes
        .iter()
        .map(|&value| EvaluatedValue::Scalar(byte, u64::from(value)));
    EvaluatedValue::from_elements(elements.collect(), Vec::new())
}
