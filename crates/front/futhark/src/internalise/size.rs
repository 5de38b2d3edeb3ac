//! Sizes that no value has: those of size parameters, and those of the types for type parameters.

use super::value::{
    StaticFrame, StaticFunction, StaticInstance, StaticShape, StaticValue, TypeArguments,
};
use super::{InternaliseResult, SourceInternaliser};
use crate::check::types::{PrimitiveType, TypeForm, TypeId};
use crate::sizes::SizeInstance;
use crate::sizes::facts::all_locals;
use crate::syntax::tree::NumberType;
use crate::typed::{
    DefinitionId, LocalId, SizeTerm, SizedType, SizedTypeId, TypedExpressionId, TypedKind,
    TypedPatternId,
};
use spirula_soac::ir::SoacOperand;
use std::rc::Rc;

impl SourceInternaliser<'_> {
    /// A function that is used, with the sizes and types for its parameters.
    pub(super) fn instantiate(
        &mut self,
        id: TypedExpressionId,
        value: StaticValue,
        frame: &mut StaticFrame,
    ) -> StaticValue {
        let program = self.program;
        let StaticValue::Function(function) = &value else {
            return value;
        };
        let instance = match program.sizes.instances.get(&id) {
            Some(instance) => self.find_instance(id, instance, frame),
            None => StaticInstance {
                sizes: Vec::new(),
                shapes: Vec::new(),
            },
        };
        let instance = self.add_own_shapes(function, instance, frame);
        if instance.sizes.is_empty() && instance.shapes.is_empty() {
            return value;
        }
        let instantiated = match (&**function, &program.expressions[id].kind) {
            (StaticFunction::Lambda(lambda, captured), TypedKind::Local(local, _)) => {
                let mut captured = captured.clone();
                if let TypedKind::Lambda(lambda) = &program.expressions[*lambda].kind {
                    self.bind_size_values(&lambda.size_parameters, &instance, &mut captured);
                }
                let parameters = program.local_type_parameters.get(local);
                let parameters = parameters.map_or(&[][..], Vec::as_slice);
                let shapes = instance.shapes.into_iter();
                captured
                    .shapes
                    .extend(parameters.iter().copied().zip(shapes));
                StaticFunction::Lambda(*lambda, captured)
            }
            _ => StaticFunction::Instance(Rc::clone(function), Rc::new(instance)),
        };
        StaticValue::Function(Rc::new(instantiated))
    }

    /// The instance of a function. A recursive use has the shapes of types of the function that it is in.
    fn add_own_shapes(
        &self,
        function: &StaticFunction,
        mut instance: StaticInstance,
        frame: &StaticFrame,
    ) -> StaticInstance {
        if let StaticFunction::Definition(id, _) = function
            && instance.shapes.is_empty()
        {
            let parameters = self.program.definitions[*id].type_parameters.iter();
            let own: Option<Vec<_>> = parameters
                .map(|parameter| frame.shapes.get(parameter).cloned())
                .collect();
            instance.shapes = own.unwrap_or_default();
        }
        instance
    }

    /// The sizes and types for the parameters of a value that is used.
    fn find_instance(
        &mut self,
        id: TypedExpressionId,
        instance: &SizeInstance,
        frame: &mut StaticFrame,
    ) -> StaticInstance {
        let sizes = instance.sizes.iter();
        let sizes = sizes.map(|&size| self.find_size(size, frame)).collect();
        let types: &[TypeId] = match &self.program.expressions[id].kind {
            TypedKind::Local(_, types)
            | TypedKind::Global(_, types)
            | TypedKind::Intrinsic(_, types) => types,
            _ => &[],
        };
        let shapes = instance.types.iter().zip(types);
        let shapes = shapes
            .map(|(&sized, &type_id)| self.find_shape(sized, type_id, frame))
            .collect();
        StaticInstance { sizes, shapes }
    }

    /// The sizes and types for the parameters of a constant that is used.
    pub(super) fn constant_instance(
        &mut self,
        id: TypedExpressionId,
        frame: &mut StaticFrame,
    ) -> Option<StaticInstance> {
        let program = self.program;
        let instance = program.sizes.instances.get(&id)?;
        Some(self.find_instance(id, instance, frame))
    }

    /// Gives size parameters their values.
    fn bind_size_values(
        &self,
        parameters: &[LocalId],
        instance: &StaticInstance,
        frame: &mut StaticFrame,
    ) {
        let int64 = PrimitiveType::Number(NumberType::I64);
        for (&size, value) in parameters.iter().zip(&instance.sizes) {
            let value = value.map(|operand| StaticValue::Scalar(int64, operand));
            frame.locals.set(size, value);
        }
    }

    /// Gives the size and type parameters of a definition their values.
    pub(super) fn bind_instance(
        &self,
        id: DefinitionId,
        instance: &StaticInstance,
        frame: &mut StaticFrame,
    ) {
        let definition = &self.program.definitions[id];
        self.bind_size_values(&definition.size_parameters, instance, frame);
        let shapes = instance.shapes.iter().cloned();
        let parameters = definition.type_parameters.iter().copied();
        frame.shapes.extend(parameters.zip(shapes));
    }

    /// Gives the sizes that an expression produces the values that its value has.
    pub(super) fn bind_produced(
        &mut self,
        id: TypedExpressionId,
        value: &StaticValue,
        frame: &mut StaticFrame,
    ) {
        let program = self.program;
        if let Some(produced) = program.sizes.results.get(&id) {
            for &size in &produced.sizes {
                frame.locals.set(size, None);
            }
            self.bind_sizes(produced.sized, value, frame);
        }
        if let Some(&local) = program.sizes.values.get(&id) {
            frame.locals.set(local, Some(value.clone()));
        }
    }

    /// Gives the sizes of the type of a pattern the values that a value has.
    pub(super) fn bind_pattern_sizes(
        &mut self,
        id: TypedPatternId,
        value: &StaticValue,
        frame: &mut StaticFrame,
    ) {
        let program = self.program;
        if let Some(produced) = program.sizes.patterns.get(&id) {
            for &size in &produced.sizes {
                frame.locals.set(size, None);
            }
            self.bind_sizes(produced.sized, value, frame);
        }
    }

    /// The value of a size, if it is known.
    pub(super) fn find_size(
        &mut self,
        size: SizeTerm,
        frame: &mut StaticFrame,
    ) -> Option<SoacOperand> {
        let id = match size {
            SizeTerm::Anonymous => return None,
            SizeTerm::Local(local) => {
                return match frame.locals.get(local) {
                    Some(StaticValue::Scalar(_, operand)) => Some(*operand),
                    _ => None,
                };
            }
            SizeTerm::Expression(id) => id,
        };
        let has = |local: LocalId| frame.locals.get(local).is_some();
        if !all_locals(self.program, id, &has) {
            return None;
        }
        match self.internalise(id, frame) {
            Ok(StaticValue::Scalar(_, operand)) => Some(operand),
            _ => None,
        }
    }

    /// The sizes of a type, in the order of [`StaticValue::lengths`], as far as they are known.
    pub(super) fn find_shape(
        &mut self,
        sized: SizedTypeId,
        type_id: TypeId,
        frame: &mut StaticFrame,
    ) -> StaticShape {
        let type_id = self.concretise(type_id, &frame.types);
        let mut shape = Vec::new();
        self.collect_shape(sized, type_id, frame, &mut shape);
        shape
    }

    /// The sizes of the type of an expression, if size inference noted it.
    pub(super) fn expression_shape(
        &mut self,
        id: TypedExpressionId,
        frame: &mut StaticFrame,
    ) -> StaticShape {
        let program = self.program;
        match program.sizes.types.get(&id) {
            Some(&sized) => self.find_shape(sized, program.expressions[id].type_id, frame),
            None => Vec::new(),
        }
    }

    fn collect_shape(
        &mut self,
        sized: SizedTypeId,
        type_id: TypeId,
        frame: &mut StaticFrame,
        shape: &mut StaticShape,
    ) {
        let program = self.program;
        match (
            &program.sized_types[sized],
            self.types.form(type_id).clone(),
        ) {
            (SizedType::Unique(inner) | SizedType::Existential(_, inner), _) => {
                self.collect_shape(*inner, type_id, frame, shape);
            }
            (SizedType::Array(size, element), TypeForm::Array(element_type)) => {
                shape.push(self.find_size(*size, frame));
                self.collect_shape(*element, element_type, frame, shape);
            }
            (SizedType::Record(fields), TypeForm::Record(types)) => {
                for ((_, field), (_, field_type)) in fields.iter().zip(types) {
                    self.collect_shape(*field, field_type, frame, shape);
                }
            }
            (SizedType::Sum(clauses), TypeForm::Sum(types)) => {
                for ((_, payload), (_, payload_types)) in clauses.iter().zip(types) {
                    for (part, part_type) in payload.iter().zip(payload_types) {
                        self.collect_shape(*part, part_type, frame, shape);
                    }
                }
            }
            (SizedType::Plain(plain), _) => {
                let known = match program.types.form(*plain) {
                    TypeForm::Parameter(parameter) => frame.shapes.get(parameter),
                    _ => None,
                };
                match known {
                    Some(known) if known.len() == self.count_sizes(type_id) => {
                        shape.extend(known.iter().copied());
                    }
                    _ => shape.extend(vec![None; self.count_sizes(type_id)]),
                }
            }
            _ => shape.extend(vec![None; self.count_sizes(type_id)]),
        }
    }

    /// Number of sizes of the values of a type.
    fn count_sizes(&self, type_id: TypeId) -> usize {
        match self.types.form(type_id) {
            TypeForm::Function(..) | TypeForm::Abstract(..) => 0,
            form => {
                let own = usize::from(matches!(form, TypeForm::Array(_)));
                let parts = self.types.parts_of(type_id).into_iter();
                own + parts.map(|part| self.count_sizes(part)).sum::<usize>()
            }
        }
    }

    /// Calls a function with the sizes and types for its parameters, and all its arguments.
    pub(super) fn call_instance(
        &mut self,
        function: &Rc<StaticFunction>,
        instance: &StaticInstance,
        arguments: Vec<StaticValue>,
    ) -> InternaliseResult<StaticValue> {
        match &**function {
            StaticFunction::Definition(id, types) => {
                self.call_definition(*id, types, Some(instance), arguments)
            }
            StaticFunction::Intrinsic(id, _)
                if self.program.names[self.program.intrinsics[*id]] == *"map" =>
            {
                let wanted = instance.shapes.get(1).cloned().unwrap_or_default();
                self.map_sized(arguments, &wanted)
            }
            _ => self.call_function(function, arguments),
        }
    }

    /// A function of each element of an array. `wanted` has the sizes of the results, as far as they are known.
    fn map_sized(
        &mut self,
        mut arguments: Vec<StaticValue>,
        wanted: &[Option<SoacOperand>],
    ) -> InternaliseResult<StaticValue> {
        let array = arguments
            .pop()
            .ok_or_else(|| self.fail("an array is missing"))?;
        let array = self.require_array(array)?;
        let function = arguments
            .pop()
            .ok_or_else(|| self.fail("a function is missing"))?;
        let function = self.require_function(function)?;
        self.map_elements(&function, &array, wanted)
    }

    /// Some value of a type, with sizes as far as they are known.
    pub(super) fn default_sized(
        &mut self,
        type_id: TypeId,
        shape: &[Option<SoacOperand>],
    ) -> InternaliseResult<StaticValue> {
        let type_id = self.concretise(type_id, &TypeArguments::default());
        let mut lengths = shape.iter().copied();
        self.default_part(type_id, &mut Vec::new(), &mut lengths)
    }
}
