//! The arguments of a call of a recursive definition: what is static in them, and the operands that are passed.
//!
//! Functions in arguments are part of the key of the function that is called; the operands in their variables are passed as
//! parameters. A recursive call passes functions on unchanged, so that the keys are finite.

use super::value::{
    StaticFrame, StaticFunction, StaticInstance, StaticShape, StaticValue, TypeArguments,
};
use rustc_hash::FxHashMap;
use spirula_program::ScalarType as MachineType;
use spirula_soac::build::SoacBuilder;
use spirula_soac::ir::{SoacOperand, SoacType};
use std::rc::Rc;

/// A call of a definition.
#[derive(Clone, Debug)]
pub(super) struct DefinitionCall {
    /// The types for the type parameters.
    pub(super) types: TypeArguments,
    /// The sizes and types for the parameters.
    pub(super) instance: Option<StaticInstance>,
    /// The arguments.
    pub(super) arguments: Vec<StaticValue>,
}

/// Why operands of a value are passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OperandRole {
    /// They are data of an argument, which differs from call to call.
    Argument,
    /// A function has them in its variables.
    Captured,
}

/// The parts of the key that tell values apart.
#[derive(Clone, Copy, Debug)]
enum KeyMark {
    Absent,
    Present,
    Scalar,
    Array,
    Record,
    Sum,
    Accumulator,
    Definition,
    Lambda,
    Intrinsic,
    Instance,
    Partial,
    Undefined,
    Known,
    Constant,
}

/// State of a walk over the arguments of a call.
#[derive(Debug, Default)]
pub(super) struct CallTranslation<'b> {
    /// The function that gets a parameter for each operand, if it is made.
    target: Option<&'b mut SoacBuilder>,
    /// The static parts.
    pub(super) key: Vec<u64>,
    /// The operands that are passed.
    pub(super) operands: Vec<SoacOperand>,
    /// Whether an argument is an accumulator, which cannot be passed.
    pub(super) has_accumulator: bool,
    /// The operands that functions have, with their positions and parameters.
    captured: FxHashMap<SoacOperand, (usize, SoacOperand)>,
    /// The functions that were seen, by their addresses, with their numbers and translations.
    functions: FxHashMap<*const StaticFunction, (usize, Rc<StaticFunction>)>,
}

impl<'b> CallTranslation<'b> {
    /// A walk that adds a parameter to a function for each operand.
    pub(super) fn with_parameters(target: &'b mut SoacBuilder) -> Self {
        CallTranslation {
            target: Some(target),
            ..CallTranslation::default()
        }
    }

    /// The call with parameters in place of its operands.
    pub(super) fn translate_call(&mut self, call: &DefinitionCall) -> DefinitionCall {
        self.add_types(&call.types);
        let role = OperandRole::Argument;
        let instance = call.instance.as_ref();
        let instance = instance.map(|instance| self.translate_instance(instance, role));
        let arguments = call.arguments.iter();
        let arguments = arguments.map(|argument| self.translate_value(argument, role));
        DefinitionCall {
            types: Rc::clone(&call.types),
            arguments: arguments.collect(),
            instance,
        }
    }

    fn mark(&mut self, mark: KeyMark) {
        self.key.push(mark as u64);
    }

    fn add_number(&mut self, number: usize) {
        self.key.push(number as u64);
    }

    fn add_types(&mut self, types: &TypeArguments) {
        let mut pairs: Vec<_> = types.iter().collect();
        pairs.sort_unstable();
        self.add_number(pairs.len());
        for (parameter, type_id) in pairs {
            self.add_number(parameter.index());
            self.add_number(type_id.index());
        }
    }

    /// The operand in place of another.
    fn pass(
        &mut self,
        operand: SoacOperand,
        operand_type: SoacType,
        role: OperandRole,
    ) -> SoacOperand {
        if role == OperandRole::Captured {
            if let SoacOperand::Constant(literal) = operand {
                self.mark(KeyMark::Constant);
                self.key.push(literal.bits);
                return operand;
            }
            if let Some(&(number, parameter)) = self.captured.get(&operand) {
                self.mark(KeyMark::Known);
                self.add_number(number);
                return parameter;
            }
        }
        self.mark(KeyMark::Present);
        let number = self.operands.len();
        self.operands.push(operand);
        let parameter = match &mut self.target {
            Some(builder) => SoacOperand::Variable(builder.add_parameter("a", operand_type)),
            None => operand,
        };
        if role == OperandRole::Captured {
            self.captured.insert(operand, (number, parameter));
        }
        parameter
    }

    fn pass_size(&mut self, size: SoacOperand, role: OperandRole) -> SoacOperand {
        self.pass(size, SoacType::Scalar(MachineType::I64), role)
    }

    fn translate_shape(&mut self, shape: &StaticShape, role: OperandRole) -> StaticShape {
        self.add_number(shape.len());
        let sizes = shape.iter().map(|&size| match size {
            Some(size) => Some(self.pass_size(size, role)),
            None => {
                self.mark(KeyMark::Absent);
                None
            }
        });
        sizes.collect()
    }

    fn translate_instance(
        &mut self,
        instance: &StaticInstance,
        role: OperandRole,
    ) -> StaticInstance {
        let sizes = self.translate_shape(&instance.sizes, role);
        self.add_number(instance.shapes.len());
        let shapes = instance.shapes.iter();
        let shapes = shapes.map(|shape| self.translate_shape(shape, role));
        StaticInstance {
            shapes: shapes.collect(),
            sizes,
        }
    }

    /// The value with parameters in place of its operands: first its sizes, then its data, then those of its functions.
    fn translate_value(&mut self, value: &StaticValue, role: OperandRole) -> StaticValue {
        let value = value.map_lengths(&mut |length| self.pass_size(length, role));
        let mut types = value.leaf_types().into_iter();
        let value = value.map_leaves(&mut |leaf| {
            let leaf_type = types.next().unwrap_or(SoacType::Certificate);
            self.pass(leaf, leaf_type, role)
        });
        self.translate_functions(value)
    }

    /// The value with translations in place of its functions.
    fn translate_functions(&mut self, value: StaticValue) -> StaticValue {
        match value {
            StaticValue::Scalar(..) => {
                self.mark(KeyMark::Scalar);
                value
            }
            StaticValue::Array(mut array) => {
                self.mark(KeyMark::Array);
                array.element = self.translate_functions(array.element);
                StaticValue::Array(array)
            }
            StaticValue::Record(fields) => {
                self.mark(KeyMark::Record);
                self.add_number(fields.len());
                let fields = fields.into_iter();
                let fields = fields.map(|(name, field)| (name, self.translate_functions(field)));
                StaticValue::Record(fields.collect())
            }
            StaticValue::Sum(tag, clauses) => {
                self.mark(KeyMark::Sum);
                self.add_number(clauses.len());
                let clauses = clauses.into_iter().map(|(name, payload)| {
                    let payload = payload.into_iter();
                    let payload = payload.map(|part| self.translate_functions(part));
                    (name, payload.collect())
                });
                StaticValue::Sum(tag, clauses.collect())
            }
            StaticValue::Function(function) => {
                StaticValue::Function(self.translate_function(&function))
            }
            StaticValue::Accumulator(_) => {
                self.mark(KeyMark::Accumulator);
                self.has_accumulator = true;
                value
            }
        }
    }

    /// The function with parameters in place of the operands in its variables. A function that occurs several times is
    /// translated once.
    fn translate_function(&mut self, function: &Rc<StaticFunction>) -> Rc<StaticFunction> {
        let address = Rc::as_ptr(function);
        if let Some((number, translated)) = self.functions.get(&address) {
            let (number, translated) = (*number, Rc::clone(translated));
            self.mark(KeyMark::Known);
            self.add_number(number);
            return translated;
        }
        let translated = Rc::new(self.translate_new_function(function));
        let number = self.functions.len();
        self.functions
            .insert(address, (number, Rc::clone(&translated)));
        translated
    }

    fn translate_new_function(&mut self, function: &StaticFunction) -> StaticFunction {
        match function {
            StaticFunction::Definition(id, types) => {
                self.mark(KeyMark::Definition);
                self.add_number(id.index());
                self.add_types(types);
                function.clone()
            }
            StaticFunction::Lambda(id, frame) => {
                self.mark(KeyMark::Lambda);
                self.add_number(id.index());
                StaticFunction::Lambda(*id, self.translate_frame(frame))
            }
            StaticFunction::Intrinsic(id, types) => {
                self.mark(KeyMark::Intrinsic);
                self.add_number(id.index());
                types
                    .iter()
                    .for_each(|type_id| self.add_number(type_id.index()));
                function.clone()
            }
            StaticFunction::Instance(function, instance) => {
                self.mark(KeyMark::Instance);
                let function = self.translate_function(function);
                let instance = self.translate_instance(instance, OperandRole::Captured);
                StaticFunction::Instance(function, Rc::new(instance))
            }
            StaticFunction::Partial(function, arguments) => {
                self.mark(KeyMark::Partial);
                self.add_number(arguments.len());
                let function = self.translate_function(function);
                let arguments = arguments.iter();
                let arguments =
                    arguments.map(|argument| self.translate_value(argument, OperandRole::Captured));
                StaticFunction::Partial(function, arguments.collect())
            }
            StaticFunction::Undefined(type_id) => {
                self.mark(KeyMark::Undefined);
                self.add_number(type_id.index());
                function.clone()
            }
        }
    }

    /// The variables of a function. An accumulator has no value there.
    fn translate_frame(&mut self, frame: &StaticFrame) -> StaticFrame {
        let role = OperandRole::Captured;
        self.add_types(&frame.types);
        let mut shapes: Vec<_> = frame.shapes.iter().collect();
        shapes.sort_unstable_by_key(|(parameter, _)| **parameter);
        let shapes = shapes.into_iter().map(|(&parameter, shape)| {
            self.add_number(parameter.index());
            (parameter, self.translate_shape(shape, role))
        });
        let shapes = shapes.collect();
        let locals = frame.locals.map_slots(|value| match value {
            Some(value) if !matches!(value, StaticValue::Accumulator(_)) => {
                Some(self.translate_value(value, role))
            }
            _ => {
                self.mark(KeyMark::Absent);
                None
            }
        });
        StaticFrame {
            locals,
            types: Rc::clone(&frame.types),
            shapes,
        }
    }
}
