//! Internaliser: from typed source to the soac form.
//!
//! It evaluates the source symbolically. Functions, records and modules are known when the program is compiled, so calls of
//! definitions are replaced by their bodies, with types for type parameters and closures for functions, and what remains are
//! scalars, arrays and combinators. Only recursive definitions become functions that are called.

mod accumulator;
mod array;
mod attribute;
mod builtin;
mod call_key;
mod combinator;
mod control;
mod derivative;
mod expression;
mod flat_view;
mod flatmap;
mod message;
mod pattern;
mod recursion;
mod size;
mod value;

use crate::check::types::{TypeForm, TypeId};
use crate::intrinsic::{is_unsigned, machine_type};
use crate::local_slots::LocalSlots;
use crate::source::SourceFiles;
use crate::syntax::tree::SourceNameId;
use crate::typed::{
    DefinitionId, ProgramPlace, TypedKind, TypedPatternId, TypedPatternKind, TypedProgram,
};
use call_key::DefinitionCall;
use message::PlacePrinter;
use recursion::RecursiveFunctions;
use rustc_hash::FxHashMap;
use spirula_program::ScalarLiteral;
use spirula_soac::build::SoacBuilder;
use spirula_soac::differentiate::CustomRules;
use spirula_soac::ir::{
    SoacEntry, SoacEntryValue, SoacFunction, SoacMessagePart, SoacOperand, SoacOperation, SoacType,
};
use spirula_soac::ownership::settle_ownership;
use spirula_soac::simplify::{prune_signatures, remove_dead_code};
use std::rc::Rc;
use value::{StaticFrame, StaticFunction, StaticInstance, StaticPart, StaticValue, TypeArguments};

/// Why a program cannot be internalised.
#[derive(Clone, Debug)]
pub struct InternaliseFault {
    /// The reason.
    pub message: String,
    /// The expression.
    pub place: Option<ProgramPlace>,
}

/// The result of an internalising function.
type InternaliseResult<T> = Result<T, InternaliseFault>;

/// How deep calls of definitions may be nested.
const MAX_CALLS: usize = 500;

/// How many calls of definitions may be replaced by bodies. Definitions that call each other twice need a power of two.
const MAX_INLINED: usize = 200_000;

/// Internalises an entry point.
///
/// The parameters of the function are those of the entry point, each as its sizes and its scalars or arrays. The results are
/// the scalars and arrays of the result.
///
/// # Errors
///
/// A construct that the form cannot express yet, with its place.
pub fn internalise_entry(
    files: &SourceFiles,
    program: &TypedProgram,
    entry: DefinitionId,
) -> Result<(SoacFunction, SoacEntry), InternaliseFault> {
    let definition = &program.definitions[entry];
    let name = |text: &str| program.names.find(text).unwrap_or(definition.name);
    let mut internaliser = SourceInternaliser {
        program,
        types: program.types.clone(),
        builder: SoacBuilder::new(&program.names[definition.name]),
        place: None,
        printer: PlacePrinter::new(files),
        call_depth: 0,
        inlined: 0,
        call_places: Vec::new(),
        loop_sizes: FxHashMap::default(),
        loop_depth: 0,
        pair: [name("0"), name("1")],
        reverse_depth: 0,
        is_unsafe: false,
        custom_rules: CustomRules::default(),
        recursive: RecursiveFunctions::default(),
    };
    let function = Rc::new(StaticFunction::Definition(entry, TypeArguments::default()));
    let mut arguments = Vec::new();
    let mut interface = SoacEntry {
        name: program.names[definition.name].to_owned(),
        ..SoacEntry::default()
    };
    let mut type_id = definition.type_id;
    while let TypeForm::Function(parameter, result) = *internaliser.types.form(type_id) {
        let argument = internaliser.add_argument(parameter)?;
        let mut value = internaliser.describe_value(parameter, &argument);
        value.name = internaliser.parameter_name(entry, arguments.len());
        interface.parameters.push(value);
        arguments.push(argument);
        type_id = result;
    }
    internaliser.unify_entry_sizes(entry, &mut arguments)?;
    let result = internaliser.call_function(&function, arguments)?;
    if result.has_function() {
        return Err(internaliser.fail("the result of an entry point contains a function"));
    }
    interface.results = internaliser.describe_results(type_id, &result);
    let results = result.parts().into_iter().map(|part| match part {
        StaticPart::Data(_, operand) | StaticPart::Size(operand) => operand,
    });
    let mut function = internaliser.builder.finish(results.collect());
    function.callees = internaliser.recursive.functions;
    if function.callees.is_empty() {
        remove_dead_code(&mut function);
        return Ok((function, interface));
    }
    prune_signatures(&mut function);
    let settled = settle_ownership(&mut function);
    settled.map_err(|bug| InternaliseFault {
        message: format!("bug: {bug}"),
        place: Some(definition.place),
    })?;
    Ok((function, interface))
}

/// State of the internaliser.
struct SourceInternaliser<'p> {
    program: &'p TypedProgram,
    /// The types of the program, and those that arguments make of them.
    types: crate::check::types::TypeTable,
    builder: SoacBuilder,
    /// The expression that is internalised.
    place: Option<ProgramPlace>,
    /// Printer of places for the messages of checks.
    printer: PlacePrinter<'p>,
    /// The number of definitions that are being called.
    call_depth: usize,
    /// The number of calls that were replaced by bodies.
    inlined: usize,
    /// The places of the calls around the expression.
    call_places: Vec<ProgramPlace>,
    /// The sizes that change in the loops within the outermost one. A loop that is made again does not have to find them.
    loop_sizes: FxHashMap<TypedPatternId, Vec<usize>>,
    /// The number of loops around the expression.
    loop_depth: usize,
    /// The names `0` and `1` of the fields of a pair.
    pair: [SourceNameId; 2],
    /// Number of functions around that are derived in reverse mode.
    reverse_depth: usize,
    /// Whether checks are left out, by the attribute `#[unsafe]` of an expression around.
    is_unsafe: bool,
    /// The calls of functions whose gradient is given, in functions that are derived in reverse mode.
    custom_rules: CustomRules,
    /// The functions of recursive definitions.
    recursive: RecursiveFunctions,
}

impl SourceInternaliser<'_> {
    /// A fault at the expression that is internalised.
    fn fail(&self, message: impl Into<String>) -> InternaliseFault {
        InternaliseFault {
            message: message.into(),
            place: self.place,
        }
    }

    /// Parameters for an argument of a type.
    fn add_argument(&mut self, type_id: TypeId) -> InternaliseResult<StaticValue> {
        let int64 = SoacType::Scalar(spirula_program::ScalarType::I64);
        let structure = self.default_value(type_id)?;
        let structure = structure.map_array_lengths(&mut |has_data, length| {
            if has_data {
                SoacOperand::Variable(self.builder.add_parameter("n", int64.clone()))
            } else {
                length
            }
        });
        let mut leaf_types = structure.leaf_types().into_iter();
        let (mut leaves, mut sizes) = (Vec::new(), Vec::new());
        for part in structure.parts() {
            let (name, part_type, parts) = match part {
                StaticPart::Data(..) => ("a", leaf_types.next(), &mut leaves),
                StaticPart::Size(_) => ("n", Some(int64.clone()), &mut sizes),
            };
            let part_type = part_type.unwrap_or_else(|| int64.clone());
            let parameter = self.builder.add_parameter(name, part_type);
            parts.push(SoacOperand::Variable(parameter));
        }
        let mut sizes = sizes.into_iter();
        let structure = structure.map_array_lengths(&mut |has_data, length| {
            let size = if has_data { None } else { sizes.next() };
            size.unwrap_or(length)
        });
        Ok(structure.with_leaves(&leaves))
    }

    /// The name of a parameter of a definition: that of its variable, or a number.
    fn parameter_name(&self, definition: DefinitionId, index: usize) -> String {
        let mut pattern = self.program.definitions[definition]
            .parameters
            .get(index)
            .copied();
        while let Some(id) = pattern {
            match self.program.patterns[id].kind {
                TypedPatternKind::Ascribed(inner) => pattern = Some(inner),
                TypedPatternKind::Local(local) => {
                    return self.program.names[self.program.locals[local].name].to_owned();
                }
                _ => break,
            }
        }
        format!("in{index}")
    }

    /// How a value of a type looks from outside.
    fn describe_value(&self, type_id: TypeId, value: &StaticValue) -> SoacEntryValue {
        let mut unsigned = Vec::new();
        value.visit_parts(&mut |part| {
            unsigned.push(matches!(part, StaticPart::Data(Some(scalar), _) if is_unsigned(scalar)));
        });
        let mut element = type_id;
        while let TypeForm::Array(inner) = self.types.form(element) {
            element = *inner;
        }
        let is_plain = matches!(self.types.form(element), TypeForm::Scalar(_));
        SoacEntryValue {
            name: String::new(),
            opaque: (!is_plain).then(|| self.types.print(type_id, &self.program.names)),
            unsigned,
        }
    }

    /// How the result of an entry point looks from outside. A tuple is a result for each of its elements.
    fn describe_results(&self, type_id: TypeId, value: &StaticValue) -> Vec<SoacEntryValue> {
        match (self.types.form(type_id), value) {
            (TypeForm::Record(types), StaticValue::Record(values)) if self.is_tuple(types) => {
                let parts = types.iter().zip(values);
                parts
                    .map(|((_, type_id), (_, value))| self.describe_value(*type_id, value))
                    .collect()
            }
            _ => vec![self.describe_value(type_id, value)],
        }
    }

    /// Whether fields are those of a tuple.
    fn is_tuple(&self, fields: &[(SourceNameId, TypeId)]) -> bool {
        let names = fields.iter().map(|(name, _)| &self.program.names[*name]);
        names
            .enumerate()
            .all(|(number, name)| *name == *number.to_string())
    }

    /// The type with the types for type parameters, and with hidden types in place of abstract ones.
    fn concretise(&mut self, id: TypeId, arguments: &TypeArguments) -> TypeId {
        match self.types.form(id).clone() {
            TypeForm::Parameter(parameter) => arguments.get(&parameter).copied().unwrap_or(id),
            TypeForm::Abstract(name, parts) => {
                let parts: Vec<_> = parts
                    .into_iter()
                    .map(|part| self.concretise(part, arguments))
                    .collect();
                match self.types.expand_representation(name, &parts) {
                    Some(hidden) => self.concretise(hidden, arguments),
                    None => id,
                }
            }
            _ => {
                let mut types = std::mem::take(&mut self.types);
                let mapped = types.map_parts(id, |types, part| {
                    std::mem::swap(&mut self.types, types);
                    let part = self.concretise(part, arguments);
                    std::mem::swap(&mut self.types, types);
                    part
                });
                self.types = types;
                mapped
            }
        }
    }

    /// Some value of a type, with arrays without elements.
    fn default_value(&mut self, type_id: TypeId) -> InternaliseResult<StaticValue> {
        let type_id = self.concretise(type_id, &TypeArguments::default());
        self.default_part(type_id, &mut Vec::new(), &mut std::iter::empty())
    }

    /// Some value of a type as the element of arrays, of which the sizes are given. Its own sizes are those of an iterator, or
    /// zero.
    fn default_part(
        &mut self,
        type_id: TypeId,
        shape: &mut Vec<SoacOperand>,
        lengths: &mut dyn Iterator<Item = Option<SoacOperand>>,
    ) -> InternaliseResult<StaticValue> {
        let zero = SoacOperand::from_int64(0);
        match self.types.form(type_id).clone() {
            TypeForm::Scalar(scalar) => {
                let machine = machine_type(scalar);
                let literal = SoacOperand::Constant(ScalarLiteral::new(machine, 0));
                Ok(StaticValue::Scalar(
                    scalar,
                    self.replicate_operand(shape, literal),
                ))
            }
            TypeForm::Array(element) => {
                let length = lengths.next().flatten().unwrap_or(zero);
                shape.push(length);
                let element = self.default_part(element, shape, lengths);
                shape.pop();
                Ok(StaticValue::from_element(length, element?))
            }
            TypeForm::Record(fields) => {
                let fields = fields
                    .into_iter()
                    .map(|(name, field)| Ok((name, self.default_part(field, shape, lengths)?)));
                Ok(StaticValue::Record(
                    fields.collect::<InternaliseResult<_>>()?,
                ))
            }
            TypeForm::Sum(clauses) => {
                let tag =
                    SoacOperand::Constant(ScalarLiteral::new(spirula_program::ScalarType::I8, 0));
                let tag = self.replicate_operand(shape, tag);
                let mut parts = Vec::with_capacity(clauses.len());
                for (name, payload) in clauses {
                    let payload = payload
                        .into_iter()
                        .map(|part| self.default_part(part, shape, lengths));
                    parts.push((name, payload.collect::<InternaliseResult<_>>()?));
                }
                Ok(StaticValue::Sum(tag, parts))
            }
            TypeForm::Function(_, result) => Ok(StaticValue::Function(Rc::new(
                StaticFunction::Undefined(result),
            ))),
            TypeForm::Abstract(..) | TypeForm::Parameter(_) | TypeForm::Variable(_) => {
                let printed = self.types.print(type_id, &self.program.names);
                Err(self.fail(format!(
                    "nothing is known of the values of type `{printed}`"
                )))
            }
        }
    }

    /// An array of sizes whose elements are all equal, or the element if there are no sizes.
    fn replicate_operand(&mut self, shape: &[SoacOperand], operand: SoacOperand) -> SoacOperand {
        if shape.is_empty() {
            return operand;
        }
        let element = self.builder.type_of(operand);
        let mut sizes = shape.to_vec();
        sizes.extend(element.shape());
        let result = SoacType::Array(element.element(), sizes);
        self.builder.add_single(
            "rep",
            result,
            SoacOperation::Replicate(shape.to_vec(), operand),
        )
    }

    /// Calls a function with arguments. With too few of them the result is a function.
    fn call_function(
        &mut self,
        function: &Rc<StaticFunction>,
        arguments: Vec<StaticValue>,
    ) -> InternaliseResult<StaticValue> {
        let (place, depth) = (self.place, self.call_places.len());
        self.call_places.extend(place);
        let value = self.apply_function(function, arguments);
        self.call_places.truncate(depth);
        self.place = place;
        value
    }

    fn apply_function(
        &mut self,
        function: &Rc<StaticFunction>,
        mut arguments: Vec<StaticValue>,
    ) -> InternaliseResult<StaticValue> {
        let arity = self.arity(function);
        if arguments.len() < arity {
            let partial = StaticFunction::Partial(Rc::clone(function), arguments);
            return Ok(StaticValue::Function(Rc::new(partial)));
        }
        let rest = arguments.split_off(arity);
        let value = match &**function {
            StaticFunction::Definition(id, types) => {
                self.call_definition(*id, types, None, arguments)?
            }
            StaticFunction::Instance(function, instance) => {
                self.call_instance(function, instance, arguments)?
            }
            StaticFunction::Lambda(id, captured) => {
                let TypedKind::Lambda(lambda) = &self.program.expressions[*id].kind else {
                    return Err(self.fail("this is no function"));
                };
                let mut frame = captured.clone();
                for (&parameter, argument) in lambda.parameters.iter().zip(arguments) {
                    self.bind_pattern(parameter, argument, &mut frame)?;
                }
                self.internalise(lambda.body, &mut frame)?
            }
            StaticFunction::Intrinsic(id, types) => self.call_builtin(*id, types, arguments)?,
            StaticFunction::Undefined(result) => self.stop_with_default(*result)?,
            StaticFunction::Partial(function, first) => {
                let mut all = first.clone();
                all.extend(arguments);
                self.call_function(function, all)?
            }
        };
        if rest.is_empty() {
            return Ok(value);
        }
        let function = self.require_function(value)?;
        self.call_function(&function, rest)
    }

    /// Stops the program where a value is needed that does not exist. Returns some value of its type.
    fn stop_with_default(&mut self, type_id: TypeId) -> InternaliseResult<StaticValue> {
        let text = format!(
            "Reached hole of type: {}",
            self.types.print(type_id, &self.program.names)
        );
        let never = self.truth(false);
        self.add_certain_check(never, vec![SoacMessagePart::Text(text)]);
        let certificates = self.builder.take_certificates();
        let value = self.default_value(type_id)?;
        Ok(self.certify(value, &certificates))
    }

    /// Number of parameters of a function.
    fn arity(&self, function: &StaticFunction) -> usize {
        match function {
            StaticFunction::Definition(id, _) => self.program.definitions[*id].parameters.len(),
            StaticFunction::Lambda(id, _) => match &self.program.expressions[*id].kind {
                TypedKind::Lambda(lambda) => lambda.parameters.len(),
                _ => 1,
            },
            StaticFunction::Intrinsic(id, _) => {
                crate::evaluate::find_arity(&self.program.names[self.program.intrinsics[*id]])
            }
            StaticFunction::Undefined(_) => 1,
            StaticFunction::Instance(function, _) => self.arity(function),
            StaticFunction::Partial(function, arguments) => self.arity(function) - arguments.len(),
        }
    }

    /// The value as a function.
    fn require_function(&self, value: StaticValue) -> InternaliseResult<Rc<StaticFunction>> {
        match value {
            StaticValue::Function(function) => Ok(function),
            _ => Err(self.fail("a value is called that is no function")),
        }
    }

    /// The body of a definition, for arguments.
    fn call_definition(
        &mut self,
        id: DefinitionId,
        types: &TypeArguments,
        instance: Option<&StaticInstance>,
        arguments: Vec<StaticValue>,
    ) -> InternaliseResult<StaticValue> {
        let call = DefinitionCall {
            types: Rc::clone(types),
            instance: instance.cloned(),
            arguments,
        };
        if self.program.definitions[id].is_recursive {
            return self.call_recursive(id, call);
        }
        let mut frame = self.bind_arguments(id, call)?;
        self.internalise_definition(id, &mut frame)
    }

    /// The variables of a definition that is called.
    fn bind_arguments(
        &mut self,
        id: DefinitionId,
        call: DefinitionCall,
    ) -> InternaliseResult<StaticFrame> {
        let definition = &self.program.definitions[id];
        let mut frame = StaticFrame {
            locals: LocalSlots::new(&definition.locals),
            types: call.types,
            shapes: FxHashMap::default(),
        };
        if let Some(instance) = &call.instance {
            self.bind_instance(id, instance, &mut frame);
        }
        for (&parameter, argument) in definition.parameters.iter().zip(call.arguments) {
            self.bind_pattern(parameter, argument, &mut frame)?;
        }
        Ok(frame)
    }

    /// The value of the body of a definition.
    fn internalise_definition(
        &mut self,
        id: DefinitionId,
        frame: &mut StaticFrame,
    ) -> InternaliseResult<StaticValue> {
        let Some(body) = self.program.definitions[id].body else {
            return Err(self.fail("the definition has no body"));
        };
        if self.call_depth >= MAX_CALLS {
            return Err(self.fail(format!("more than {MAX_CALLS} calls are nested")));
        }
        if self.inlined >= MAX_INLINED {
            return Err(self.fail(format!(
                "more than {MAX_INLINED} calls would be replaced by their bodies"
            )));
        }
        self.inlined += 1;
        self.call_depth += 1;
        let value = self.internalise(body, frame);
        self.call_depth -= 1;
        value
    }
}
