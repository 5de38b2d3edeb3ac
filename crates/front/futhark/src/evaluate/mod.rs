//! Evaluator of typed source: what a program means, step by step.
//!
//! It is a reference for tests: simple, and not fast. Sizes are those that size inference found ([`crate::sizes`]), or those
//! of values.

mod array;
mod array_function;
mod builtin;
mod derivative;
mod expression;
mod interface;
mod pattern;
mod size;
pub mod value;

pub(crate) use builtin::{constant_bits, find_arity, result_type};
pub(crate) use pattern::{read_float, read_literal};

use crate::local_slots::LocalSlots;
use crate::syntax::tree::SourceNameId;
use crate::typed::{DefinitionId, ProgramPlace, TypedKind, TypedProgram};
use rustc_hash::FxHashMap;
use spirula_program::ProgramValue;
use std::rc::Rc;
use value::{EvaluatedValue, FunctionValue, InstanceValue, VariableFrame};

/// Why a program stopped.
#[derive(Clone, Debug)]
pub struct EvaluationFault {
    /// The reason.
    pub message: String,
    /// The expression.
    pub place: Option<ProgramPlace>,
}

/// How many calls of definitions may be evaluated within each other.
const MAX_DEPTH: u32 = 400;

/// The result of an evaluating function.
type EvaluateResult<T> = Result<T, EvaluationFault>;

/// A program that is evaluated.
pub struct ProgramEvaluator<'p> {
    program: &'p TypedProgram,
    /// The values of constants.
    constants: FxHashMap<DefinitionId, EvaluatedValue>,
    /// The expression that is evaluated.
    place: Option<ProgramPlace>,
    /// Steps that are left before the evaluator gives up.
    fuel: u64,
    /// The number of calls of definitions that are being evaluated.
    depth: u32,
    /// The names `0` and `1` of the fields of a pair.
    pair: [SourceNameId; 2],
    /// The calls of derivative functions that are being evaluated.
    levels: Vec<derivative::DerivativeLevel>,
}

impl<'p> ProgramEvaluator<'p> {
    /// An evaluator that stops after a number of expressions.
    pub fn new(program: &'p TypedProgram, fuel: u64) -> Self {
        let name = |text: &str| program.names.find(text).unwrap_or(SourceNameId::new(0));
        ProgramEvaluator {
            program,
            constants: FxHashMap::default(),
            place: None,
            fuel,
            depth: 0,
            pair: [name("0"), name("1")],
            levels: Vec::new(),
        }
    }

    /// Calls an entry point. A result that is a tuple is a value for each of its elements.
    ///
    /// # Errors
    ///
    /// An entry point or an argument that does not fit, or why the program stopped.
    pub fn call_entry(
        &mut self,
        name: &str,
        arguments: &[ProgramValue],
    ) -> EvaluateResult<Vec<ProgramValue>> {
        let entries = self.program.entries.iter().rev();
        let found = entries
            .copied()
            .find(|&id| self.program.names[self.program.definitions[id].name] == *name);
        let Some(id) = found else {
            return Err(self.fail(format!("there is no entry point `{name}`")));
        };
        let values = self.read_arguments(id, arguments)?;
        let mut value = self.evaluate_global(id)?;
        if !values.is_empty() {
            let function = self.require_function(value)?;
            value = self.call(&function, values)?;
        }
        self.write_results(&value)
    }

    /// A fault at the expression that is evaluated.
    fn fail(&self, message: impl Into<String>) -> EvaluationFault {
        EvaluationFault {
            message: message.into(),
            place: self.place,
        }
    }

    /// The value of a definition: that of a constant, or the function.
    fn evaluate_global(&mut self, id: DefinitionId) -> EvaluateResult<EvaluatedValue> {
        let definition = &self.program.definitions[id];
        if !definition.parameters.is_empty() {
            return Ok(EvaluatedValue::Function(Rc::new(
                FunctionValue::Definition(id),
            )));
        }
        if let Some(value) = self.constants.get(&id) {
            return Ok(value.clone());
        }
        let value = self.call_definition(id, None, Vec::new())?;
        self.constants.insert(id, value.clone());
        Ok(value)
    }

    /// Calls a definition with all its arguments.
    fn call_definition(
        &mut self,
        id: DefinitionId,
        instance: Option<&InstanceValue>,
        arguments: Vec<EvaluatedValue>,
    ) -> EvaluateResult<EvaluatedValue> {
        let definition = &self.program.definitions[id];
        let Some(body) = definition.body else {
            return Err(self.fail("the definition has no body"));
        };
        let mut frame = VariableFrame {
            locals: LocalSlots::new(&definition.locals),
            shapes: FxHashMap::default(),
        };
        if let Some(instance) = instance {
            self.bind_instance(id, instance, &mut frame);
        }
        for (&parameter, argument) in definition.parameters.iter().zip(arguments) {
            self.match_pattern(parameter, argument, &mut frame)?;
        }
        if self.depth == MAX_DEPTH {
            let name = &self.program.names[definition.name];
            return Err(self.fail(format!("the calls of `{name}` are nested too deeply")));
        }
        self.depth += 1;
        let value = self.evaluate(body, &mut frame);
        self.depth -= 1;
        value
    }

    /// Number of parameters of a function.
    fn arity(&self, function: &FunctionValue) -> usize {
        match function {
            FunctionValue::Definition(id) => self.program.definitions[*id].parameters.len(),
            FunctionValue::Lambda(id, _) => match &self.program.expressions[*id].kind {
                TypedKind::Lambda(lambda) => lambda.parameters.len(),
                _ => 1,
            },
            FunctionValue::Intrinsic(id, _) => {
                find_arity(&self.program.names[self.program.intrinsics[*id]])
            }
            FunctionValue::Instance(function, _) => self.arity(function),
            FunctionValue::Partial(function, arguments) => self.arity(function) - arguments.len(),
        }
    }

    /// Calls a function with some arguments, at least one. With too few of them the result is a function.
    fn call(
        &mut self,
        function: &Rc<FunctionValue>,
        mut arguments: Vec<EvaluatedValue>,
    ) -> EvaluateResult<EvaluatedValue> {
        let arity = self.arity(function);
        if arguments.len() < arity {
            let partial = FunctionValue::Partial(Rc::clone(function), arguments);
            return Ok(EvaluatedValue::Function(Rc::new(partial)));
        }
        let rest = arguments.split_off(arity);
        let value = match &**function {
            FunctionValue::Definition(id) => self.call_definition(*id, None, arguments)?,
            FunctionValue::Instance(function, instance) => {
                self.call_instance(function, instance, arguments)?
            }
            FunctionValue::Lambda(id, captured) => {
                let TypedKind::Lambda(lambda) = &self.program.expressions[*id].kind else {
                    return Err(self.fail("this is no function"));
                };
                let mut frame = captured.clone();
                for (&parameter, argument) in lambda.parameters.iter().zip(arguments) {
                    self.match_pattern(parameter, argument, &mut frame)?;
                }
                self.evaluate(lambda.body, &mut frame)?
            }
            FunctionValue::Intrinsic(id, types) => self.call_builtin(*id, types, arguments, &[])?,
            FunctionValue::Partial(function, first) => {
                let mut all = first.clone();
                all.extend(arguments);
                self.call(function, all)?
            }
        };
        if rest.is_empty() {
            return Ok(value);
        }
        let function = self.require_function(value)?;
        self.call(&function, rest)
    }

    /// Calls a function with the sizes and types for its parameters, and all its arguments.
    fn call_instance(
        &mut self,
        function: &Rc<FunctionValue>,
        instance: &InstanceValue,
        arguments: Vec<EvaluatedValue>,
    ) -> EvaluateResult<EvaluatedValue> {
        match &**function {
            FunctionValue::Definition(id) => self.call_definition(*id, Some(instance), arguments),
            FunctionValue::Intrinsic(id, types) => {
                self.call_builtin(*id, types, arguments, &instance.shapes)
            }
            _ => self.call(function, arguments),
        }
    }

    /// The value as a function.
    fn require_function(&self, value: EvaluatedValue) -> EvaluateResult<Rc<FunctionValue>> {
        match value {
            EvaluatedValue::Function(function) => Ok(function),
            _ => Err(self.fail("a value is called that is no function")),
        }
    }
}
