//! Expressions.

use super::value::{StaticFrame, StaticFunction, StaticValue};
use super::{InternaliseResult, SourceInternaliser};
use crate::check::types::{PrimitiveType, TypeId, TypeParameterId, sort_fields};
use crate::syntax::tree::{NumberType, SourceNameId};
use crate::typed::{
    DefinitionId, LocalId, ProgramPlace, SizedTypeId, TypedBinding, TypedExpressionId, TypedIndex,
    TypedKind, TypedLambda, TypedStep,
};
use rustc_hash::FxHashMap;
use spirula_program::{ScalarLiteral, ScalarType as MachineType};
use spirula_soac::ir::{SoacOperand, SoacOperation, SoacType, SoacVariableId};
use std::rc::Rc;

impl SourceInternaliser<'_> {
    /// Internalises an expression: statements are added, and its value is returned.
    pub(super) fn internalise(
        &mut self,
        id: TypedExpressionId,
        frame: &mut StaticFrame,
    ) -> InternaliseResult<StaticValue> {
        let value = self.internalise_kind(id, frame)?;
        self.bind_produced(id, &value, frame);
        Ok(value)
    }

    fn internalise_kind(
        &mut self,
        id: TypedExpressionId,
        frame: &mut StaticFrame,
    ) -> InternaliseResult<StaticValue> {
        let program = self.program;
        let expression = &program.expressions[id];
        self.place = Some(expression.place);
        match &expression.kind {
            TypedKind::Scalar(literal) => {
                let (scalar, operand) =
                    self.internalise_scalar(literal, expression.type_id, frame)?;
                Ok(StaticValue::Scalar(scalar, operand))
            }
            TypedKind::Bytes(bytes) => Ok(self.internalise_bytes(bytes)),
            TypedKind::Hole => {
                let type_id = self.concretise(expression.type_id, &frame.types);
                self.stop_with_default(type_id)
            }
            TypedKind::Local(local, arguments) => {
                let value = self.internalise_local(*local, arguments, frame)?;
                Ok(self.instantiate(id, value, frame))
            }
            TypedKind::Global(definition, arguments) => {
                let value = self.internalise_global(id, *definition, arguments, frame)?;
                Ok(self.instantiate(id, value, frame))
            }
            TypedKind::Intrinsic(intrinsic, arguments) => {
                let arguments = arguments.iter();
                let arguments = arguments.map(|argument| self.concretise(*argument, &frame.types));
                let arguments: Vec<_> = arguments.collect();
                let value = self.internalise_intrinsic(*intrinsic, arguments)?;
                Ok(self.instantiate(id, value, frame))
            }
            TypedKind::Record(fields) => self.internalise_record(fields, frame),
            TypedKind::Array(elements) => self.internalise_array(id, elements, frame),
            TypedKind::Constructor(name, payload) => {
                self.internalise_constructor(id, *name, payload, frame)
            }
            TypedKind::Projection(record, field) => {
                let record = self.internalise(*record, frame)?;
                self.project(record, *field)
            }
            TypedKind::Index(array, indices) => {
                self.internalise_index(*array, indices, expression.place, frame)
            }
            TypedKind::Application(function, arguments) => {
                self.internalise_application(id, *function, arguments, frame)
            }
            TypedKind::Lambda(lambda) => Ok(self.make_closure(id, lambda, frame)),
            TypedKind::If(condition, accept, reject) => {
                self.internalise_if(*condition, *accept, *reject, frame)
            }
            TypedKind::Let(bindings, body) => self.internalise_let(bindings, *body, frame),
            TypedKind::Match(subject, cases) => {
                let subject = self.internalise(*subject, frame)?;
                self.internalise_cases(&subject, cases, frame)
            }
            TypedKind::Loop(typed_loop) => self.internalise_loop(typed_loop, frame),
            TypedKind::Assert(condition, body) => {
                self.internalise_assert(*condition, *body, expression.place, frame)
            }
            TypedKind::Update {
                source,
                steps,
                value,
            } => self.internalise_update(*source, steps, *value, expression.place, frame),
            TypedKind::Ascription(value, _) => self.internalise(*value, frame),
            TypedKind::Coercion(value, sized) => {
                self.internalise_coercion(*value, *sized, expression.place, frame)
            }
            TypedKind::Range {
                first,
                second,
                bound,
                last,
            } => {
                let first = self.internalise(*first, frame)?;
                let second = second.map(|second| self.internalise(second, frame));
                let second = second.transpose()?;
                let last = self.internalise(*last, frame)?;
                self.place = Some(expression.place);
                self.make_range(first, second, *bound, last)
            }
            TypedKind::Attributed(attribute, body) => {
                self.internalise_attributed(attribute, *body, frame)
            }
        }
    }

    fn internalise_record(
        &mut self,
        fields: &[(SourceNameId, TypedExpressionId)],
        frame: &mut StaticFrame,
    ) -> InternaliseResult<StaticValue> {
        let mut values = Vec::with_capacity(fields.len());
        for (name, field) in fields {
            values.push((*name, self.internalise(*field, frame)?));
        }
        Ok(self.make_record(values))
    }

    fn internalise_if(
        &mut self,
        condition: TypedExpressionId,
        accept: TypedExpressionId,
        reject: TypedExpressionId,
        frame: &mut StaticFrame,
    ) -> InternaliseResult<StaticValue> {
        let condition = self.internalise_operand(condition, frame)?;
        self.choose(
            condition,
            &mut |internaliser| internaliser.internalise(accept, &mut frame.clone()),
            &mut |internaliser| internaliser.internalise(reject, &mut frame.clone()),
        )
    }

    /// Elements of an array. Faults of the access belong to the expression at `place`.
    fn internalise_index(
        &mut self,
        array: TypedExpressionId,
        indices: &[TypedIndex],
        place: ProgramPlace,
        frame: &mut StaticFrame,
    ) -> InternaliseResult<StaticValue> {
        let array = self.internalise(array, frame)?;
        let indices = self.internalise_indices(indices, frame)?;
        self.place = Some(place);
        self.index_value(array, &indices)
    }

    /// A value whose sizes are checked to be others. Faults belong to the expression at `place`.
    fn internalise_coercion(
        &mut self,
        value: TypedExpressionId,
        sized: SizedTypeId,
        place: ProgramPlace,
        frame: &mut StaticFrame,
    ) -> InternaliseResult<StaticValue> {
        let value = self.internalise(value, frame)?;
        self.place = Some(place);
        let value = self.coerce(sized, value, frame)?;
        let certificates = self.builder.take_certificates();
        Ok(self.certify(value, &certificates))
    }

    /// A value with a part replaced. Faults of the steps belong to the update at `place`.
    fn internalise_update(
        &mut self,
        source: TypedExpressionId,
        steps: &[TypedStep],
        value: TypedExpressionId,
        place: ProgramPlace,
        frame: &mut StaticFrame,
    ) -> InternaliseResult<StaticValue> {
        let source = self.internalise(source, frame)?;
        let value = self.internalise(value, frame)?;
        let steps = self.internalise_steps(steps, frame)?;
        self.place = Some(place);
        self.update_value(source, &steps, value)
    }

    /// An array of elements of one shape. An array without elements has the sizes of its type.
    fn internalise_array(
        &mut self,
        id: TypedExpressionId,
        elements: &[TypedExpressionId],
        frame: &mut StaticFrame,
    ) -> InternaliseResult<StaticValue> {
        let values = elements
            .iter()
            .map(|&element| self.internalise(element, frame));
        let values = values.collect::<InternaliseResult<Vec<_>>>()?;
        let type_id = self.program.expressions[id].type_id;
        let type_id = self.concretise(type_id, &frame.types);
        if values.is_empty() {
            let shape = self.expression_shape(id, frame);
            return self.default_sized(type_id, &shape);
        }
        self.make_array(values, type_id)
    }

    /// A value of a sum type.
    fn internalise_constructor(
        &mut self,
        id: TypedExpressionId,
        name: SourceNameId,
        payload: &[TypedExpressionId],
        frame: &mut StaticFrame,
    ) -> InternaliseResult<StaticValue> {
        let payload = payload.iter().map(|&part| self.internalise(part, frame));
        let payload = payload.collect::<InternaliseResult<Vec<_>>>()?;
        let type_id = self.program.expressions[id].type_id;
        let type_id = self.concretise(type_id, &frame.types);
        let shape = self.expression_shape(id, frame);
        self.make_sum(name, payload, type_id, &shape)
    }

    /// A function with the variables that it sees. Its size parameters have no values until it is applied.
    fn make_closure(
        &self,
        id: TypedExpressionId,
        lambda: &TypedLambda,
        frame: &StaticFrame,
    ) -> StaticValue {
        let mut captured = frame.clone();
        for &size in &lambda.size_parameters {
            captured.locals.set(size, None);
        }
        StaticValue::Function(Rc::new(StaticFunction::Lambda(id, captured)))
    }

    /// Internalises an expression whose value is a scalar.
    pub(super) fn internalise_operand(
        &mut self,
        id: TypedExpressionId,
        frame: &mut StaticFrame,
    ) -> InternaliseResult<SoacOperand> {
        match self.internalise(id, frame)? {
            StaticValue::Scalar(_, operand) => Ok(operand),
            _ => Err(self.fail("a scalar is expected")),
        }
    }

    /// The value, whose data is used only where certificates hold.
    pub(super) fn certify(
        &mut self,
        value: StaticValue,
        certificates: &[SoacVariableId],
    ) -> StaticValue {
        if certificates.is_empty() {
            return value;
        }
        let mut types = value.leaf_types().into_iter();
        value.map_leaves(&mut |leaf| match types.next() {
            Some(result) => self.builder.certify(leaf, result, certificates),
            None => leaf,
        })
    }

    /// A local function with types for its type parameters.
    fn instantiate_local(
        &mut self,
        function: &Rc<StaticFunction>,
        local: LocalId,
        arguments: &[TypeId],
        frame: &StaticFrame,
    ) -> Rc<StaticFunction> {
        let StaticFunction::Lambda(id, captured) = &**function else {
            return Rc::clone(function);
        };
        let parameters = self
            .program
            .local_type_parameters
            .get(&local)
            .cloned()
            .unwrap_or_default();
        let arguments = arguments
            .iter()
            .map(|&argument| self.concretise(argument, &frame.types));
        let arguments: Vec<_> = arguments.collect();
        let mut types = FxHashMap::clone(&captured.types);
        types.extend(parameters.into_iter().zip(arguments));
        let mut captured = captured.clone();
        captured.types = Rc::new(types);
        Rc::new(StaticFunction::Lambda(*id, captured))
    }

    /// A string: an array of bytes.
    fn internalise_bytes(&mut self, bytes: &[u8]) -> StaticValue {
        let length = SoacOperand::from_int64(bytes.len() as i64);
        let literal = |&byte: &u8| {
            SoacOperand::Constant(ScalarLiteral::new(MachineType::I8, u64::from(byte)))
        };
        let elements: Vec<_> = bytes.iter().map(literal).collect();
        let operand = if elements.is_empty() {
            let zero = SoacOperand::Constant(ScalarLiteral::new(MachineType::I8, 0));
            self.replicate_operand(&[length], zero)
        } else {
            let result = SoacType::Array(MachineType::I8, vec![length]);
            self.builder
                .add_single("bytes", result, SoacOperation::Literal(elements))
        };
        StaticValue::from_element(
            length,
            StaticValue::Scalar(PrimitiveType::Number(NumberType::U8), operand),
        )
    }

    /// A record of its fields.
    pub(super) fn make_record(&self, mut values: Vec<(SourceNameId, StaticValue)>) -> StaticValue {
        sort_fields(&mut values, &self.program.names);
        StaticValue::Record(values)
    }

    /// A pair.
    pub(super) fn make_pair(&self, first: StaticValue, second: StaticValue) -> StaticValue {
        StaticValue::Record(vec![(self.pair[0], first), (self.pair[1], second)])
    }

    /// A field of a record.
    fn project(&self, record: StaticValue, field: SourceNameId) -> InternaliseResult<StaticValue> {
        if let StaticValue::Record(fields) = record
            && let Some((_, value)) = fields.into_iter().find(|(name, _)| *name == field)
        {
            return Ok(value);
        }
        Err(self.fail("a field is missing"))
    }

    /// A value of a sum.
    fn make_sum(
        &mut self,
        name: SourceNameId,
        payload: Vec<StaticValue>,
        type_id: TypeId,
        shape: &[Option<SoacOperand>],
    ) -> InternaliseResult<StaticValue> {
        let StaticValue::Sum(_, defaults) = self.default_sized(type_id, shape)? else {
            return Err(self.fail("the type of a constructor is no sum"));
        };
        let mut tag = 0;
        let mut parts = Vec::with_capacity(defaults.len());
        for (index, (other, default)) in defaults.into_iter().enumerate() {
            if other == name {
                tag = index as u64;
                parts.push((other, payload.clone()));
            } else {
                parts.push((other, default));
            }
        }
        let tag = SoacOperand::Constant(ScalarLiteral::new(MachineType::I8, tag));
        Ok(StaticValue::Sum(tag, parts))
    }

    /// The value of a variable. A local function gets types for its type parameters.
    fn internalise_local(
        &mut self,
        local: LocalId,
        arguments: &[TypeId],
        frame: &StaticFrame,
    ) -> InternaliseResult<StaticValue> {
        let program = self.program;
        let Some(value) = frame.locals.get(local).cloned() else {
            let name = &program.names[program.locals[local].name];
            return Err(self.fail(format!(
                "the size `{name}` does not follow from the arguments"
            )));
        };
        match value {
            StaticValue::Function(function) if !arguments.is_empty() => Ok(StaticValue::Function(
                self.instantiate_local(&function, local, arguments, frame),
            )),
            value => Ok(value),
        }
    }

    /// The value of a constant, or a definition as a function.
    fn internalise_global(
        &mut self,
        id: TypedExpressionId,
        definition: DefinitionId,
        arguments: &[TypeId],
        frame: &mut StaticFrame,
    ) -> InternaliseResult<StaticValue> {
        let program = self.program;
        let parameters = &program.definitions[definition].type_parameters;
        let arguments = arguments
            .iter()
            .map(|&argument| self.concretise(argument, &frame.types));
        let arguments: Vec<_> = arguments.collect();
        let mut types: FxHashMap<_, _> = parameters.iter().copied().zip(arguments).collect();
        if types.len() < parameters.len() {
            // A recursive use has the types of the function that it is in.
            let own =
                |parameter: &TypeParameterId| Some((*parameter, *frame.types.get(parameter)?));
            types.extend(parameters.iter().filter_map(own));
        }
        let types = Rc::new(types);
        if program.definitions[definition].parameters.is_empty() {
            let instance = self.constant_instance(id, frame);
            return self.call_definition(definition, &types, instance.as_ref(), Vec::new());
        }
        Ok(StaticValue::Function(Rc::new(StaticFunction::Definition(
            definition, types,
        ))))
    }

    /// Internalises a function with its arguments.
    fn internalise_application(
        &mut self,
        id: TypedExpressionId,
        function: TypedExpressionId,
        arguments: &[TypedExpressionId],
        frame: &mut StaticFrame,
    ) -> InternaliseResult<StaticValue> {
        let mut values = vec![None; arguments.len()];
        for index in self.program.sizes.argument_order(id, arguments.len()) {
            values[index] = Some(self.internalise(arguments[index], frame)?);
        }
        let values = values.into_iter().flatten().collect();
        let function = self.internalise(function, frame)?;
        self.place = Some(self.program.expressions[id].place);
        let function = self.require_function(function)?;
        self.call_function(&function, values)
    }

    /// Internalises bindings, each in scope of the next, and their result.
    fn internalise_let(
        &mut self,
        bindings: &[TypedBinding],
        body: TypedExpressionId,
        frame: &mut StaticFrame,
    ) -> InternaliseResult<StaticValue> {
        for binding in bindings {
            let value = self.internalise(binding.value, frame)?;
            for &size in &binding.sizes {
                frame.locals.set(size, None);
            }
            self.bind_pattern(binding.pattern, value, frame)?;
        }
        self.internalise(body, frame)
    }

    /// Internalises a condition that must hold, and its result.
    fn internalise_assert(
        &mut self,
        condition: TypedExpressionId,
        body: TypedExpressionId,
        place: ProgramPlace,
        frame: &mut StaticFrame,
    ) -> InternaliseResult<StaticValue> {
        let message = self.describe_assertion(self.program.expressions[condition].place);
        let condition = self.internalise_operand(condition, frame)?;
        self.place = Some(place);
        self.add_check(condition, message);
        let certificates = self.builder.take_certificates();
        let value = self.internalise(body, frame)?;
        Ok(self.certify(value, &certificates))
    }
}
