//! Recursive definitions: functions of their own, which are called.
//!
//! A definition is internalised once for each key: itself, its types, and what is static in its arguments. Its results are
//! the sizes of its value, then the data. A function whose calls of itself are the last that it does becomes a loop.

use super::call_key::{CallTranslation, DefinitionCall};
use super::value::{StaticInstance, StaticShape, StaticValue};
use super::{InternaliseResult, SourceInternaliser};
use crate::check::types::{TypeForm, TypeId};
use crate::typed::{DefinitionId, ProgramPlace, TypedPatternId};
use rustc_hash::FxHashMap;
use spirula_program::{ScalarOp, ScalarOperator, ScalarType as MachineType};
use spirula_soac::build::SoacBuilder;
use spirula_soac::calls::visit_calls;
use spirula_soac::differentiate::{CustomRules, find_derived_call};
use spirula_soac::ir::{
    ArgumentOwnership, SoacArgument, SoacBody, SoacFunction, SoacFunctionId, SoacMessagePart,
    SoacOperand, SoacOperation, SoacType, SoacVariableId,
};
use spirula_soac::tail_call::loop_tail_calls;

/// How deep calls of recursive functions may be nested when the program runs.
const MAX_DEPTH: i64 = 16384;

/// How many functions recursive definitions may become.
const MAX_FUNCTIONS: usize = 1000;

/// The functions that recursive definitions became.
#[derive(Debug, Default)]
pub(super) struct RecursiveFunctions {
    /// The functions. One that is being made has only its name.
    pub(super) functions: spirula_entity::EntityArena<SoacFunctionId, SoacFunction>,
    /// Their keys, which begin with the definition.
    keys: FxHashMap<Vec<u64>, SoacFunctionId>,
    /// The number of calls around the function that is made, if it is one that is called.
    depth: Option<SoacOperand>,
    /// Whether sizes of a result are being computed.
    is_sizing: bool,
}

/// The results of a function: the sizes of its value, then the data.
struct RecursiveResults {
    lengths: Vec<SoacOperand>,
    leaves: Vec<SoacOperand>,
}

/// The parts of the function that is made.
struct OuterFunction {
    builder: SoacBuilder,
    call_places: Vec<ProgramPlace>,
    loop_sizes: FxHashMap<TypedPatternId, Vec<usize>>,
    loop_depth: usize,
    reverse_depth: usize,
    is_unsafe: bool,
    custom_rules: CustomRules,
    depth: Option<SoacOperand>,
    is_sizing: bool,
}

impl SourceInternaliser<'_> {
    /// Calls a recursive definition with all its arguments.
    pub(super) fn call_recursive(
        &mut self,
        id: DefinitionId,
        mut call: DefinitionCall,
    ) -> InternaliseResult<StaticValue> {
        let pending = self.builder.take_certificates();
        self.drop_known_sizes(id, &mut call)?;
        let call = &call;
        let mut translation = CallTranslation::default();
        translation.key.push(id.index() as u64);
        translation.translate_call(call);
        if translation.has_accumulator {
            return Err(self.fail("an accumulator cannot be passed to a recursive function"));
        }
        let CallTranslation { key, operands, .. } = translation;
        let result_type = self.find_result_type(id, call);
        let function = match self.recursive.keys.get(&key) {
            Some(&function) => function,
            None => self.make_recursive(id, key, call)?,
        };
        let known = self.find_result_sizes(id, result_type, call)?;
        let depth = self.add_depth(id);
        let lend = |operand| SoacArgument {
            operand,
            ownership: ArgumentOwnership::Lent,
        };
        let arguments = std::iter::once(depth).chain(operands).map(lend);
        let operation = SoacOperation::Call(function, arguments.collect());
        let checked = self.builder.take_certificates();
        let structure = self.default_value(result_type)?;
        let (value, results) = self.add_call_results(&structure, &known);
        self.builder.require_certificates(&pending);
        self.builder.require_certificates(&checked);
        self.builder.add_statement(results, operation);
        Ok(value)
    }

    /// Removes the values of size parameters that the arguments determine.
    fn drop_known_sizes(
        &mut self,
        id: DefinitionId,
        call: &mut DefinitionCall,
    ) -> InternaliseResult<()> {
        let Some(instance) = call.instance.take() else {
            return Ok(());
        };
        let frame = self.bind_arguments(id, call.clone())?;
        let StaticInstance { mut sizes, shapes } = instance;
        let parameters = &self.program.definitions[id].size_parameters;
        for (&parameter, size) in parameters.iter().zip(&mut sizes) {
            if frame.locals.get(parameter).is_some() {
                *size = None;
            }
        }
        let mut known = sizes.iter().chain(shapes.iter().flatten());
        if known.any(Option::is_some) {
            call.instance = Some(StaticInstance { sizes, shapes });
        }
        Ok(())
    }

    /// The type of the result of a call of a definition.
    fn find_result_type(&mut self, id: DefinitionId, call: &DefinitionCall) -> TypeId {
        let mut result = self.program.definitions[id].type_id;
        for _ in &call.arguments {
            if let TypeForm::Function(_, rest) = self.types.form(result) {
                result = *rest;
            }
        }
        self.concretise(result, &call.types)
    }

    /// The sizes of the result of a call, as far as the definition states them.
    fn find_result_sizes(
        &mut self,
        id: DefinitionId,
        result_type: TypeId,
        call: &DefinitionCall,
    ) -> InternaliseResult<StaticShape> {
        let Some(written) = self.program.definitions[id].result else {
            return Ok(Vec::new());
        };
        if std::mem::replace(&mut self.recursive.is_sizing, true) {
            return Ok(Vec::new());
        }
        let place = self.place;
        let frame = self.bind_arguments(id, call.clone());
        let shape = frame.map(|mut frame| self.find_shape(written, result_type, &mut frame));
        self.place = place;
        self.recursive.is_sizing = false;
        shape
    }

    /// The number of calls around one that is made, which is limited.
    fn add_depth(&mut self, id: DefinitionId) -> SoacOperand {
        let Some(depth) = self.recursive.depth else {
            return SoacOperand::from_int64(1);
        };
        let limit = SoacOperand::from_int64(MAX_DEPTH);
        let less = ScalarOperator::with_type(ScalarOp::SLt, MachineType::I64);
        let is_less = self.builder.add_scalar(less, &[depth, limit]);
        let name = &self.program.names[self.program.definitions[id].name];
        let message = format!("`{name}` calls itself more than {MAX_DEPTH} times deep");
        self.add_certain_check(is_less, vec![SoacMessagePart::Text(message)]);
        let checked = self.builder.take_certificates();
        let one = SoacOperand::from_int64(1);
        let next = self.builder.add_int64(ScalarOp::Add, depth, one);
        self.builder.require_certificates(&checked);
        next
    }

    /// Variables for the results of a call: the sizes, then the data. Sizes that are known take the place of variables.
    fn add_call_results(
        &mut self,
        structure: &StaticValue,
        known: &StaticShape,
    ) -> (StaticValue, Vec<SoacVariableId>) {
        let mut results = Vec::new();
        let structure = structure.map_lengths(&mut |_| {
            let int64 = SoacType::Scalar(MachineType::I64);
            let length = self.builder.add_variable("n", int64);
            let stated = known.get(results.len()).copied().flatten();
            results.push(length);
            stated.unwrap_or(SoacOperand::Variable(length))
        });
        let mut leaves = Vec::new();
        for leaf_type in structure.leaf_types() {
            let leaf = self.builder.add_variable("x", leaf_type);
            results.push(leaf);
            leaves.push(SoacOperand::Variable(leaf));
        }
        (structure.with_leaves(&leaves), results)
    }

    /// The function of a definition for a key.
    fn make_recursive(
        &mut self,
        id: DefinitionId,
        key: Vec<u64>,
        call: &DefinitionCall,
    ) -> InternaliseResult<SoacFunctionId> {
        if self.recursive.functions.len() == MAX_FUNCTIONS {
            return Err(self.fail(format!(
                "recursive functions have more than {MAX_FUNCTIONS} versions"
            )));
        }
        let name = self.program.names[self.program.definitions[id].name].to_owned();
        let function = self.recursive.functions.push(SoacFunction {
            name: name.clone(),
            ..SoacFunction::default()
        });
        self.recursive.keys.insert(key, function);
        let outer = OuterFunction {
            builder: std::mem::replace(&mut self.builder, SoacBuilder::new(&name)),
            call_places: std::mem::take(&mut self.call_places),
            loop_sizes: std::mem::take(&mut self.loop_sizes),
            loop_depth: std::mem::take(&mut self.loop_depth),
            reverse_depth: std::mem::take(&mut self.reverse_depth),
            // Calls from elsewhere may share the function.
            is_unsafe: std::mem::take(&mut self.is_unsafe),
            custom_rules: std::mem::take(&mut self.custom_rules),
            depth: self.recursive.depth.take(),
            is_sizing: std::mem::take(&mut self.recursive.is_sizing),
        };
        let results = self.make_recursive_body(id, call);
        let builder = std::mem::replace(&mut self.builder, outer.builder);
        self.call_places = outer.call_places;
        self.loop_sizes = outer.loop_sizes;
        self.loop_depth = outer.loop_depth;
        self.reverse_depth = outer.reverse_depth;
        self.is_unsafe = outer.is_unsafe;
        self.custom_rules = outer.custom_rules;
        self.recursive.depth = outer.depth;
        self.recursive.is_sizing = outer.is_sizing;
        let RecursiveResults { lengths, leaves } = results?;
        let count = lengths.len();
        let mut made = builder.finish([lengths, leaves].concat());
        loop_tail_calls(&mut made, function, count);
        self.recursive.functions[function] = made;
        Ok(function)
    }

    /// Adds the parameters and the body of a function. Returns its results.
    fn make_recursive_body(
        &mut self,
        id: DefinitionId,
        call: &DefinitionCall,
    ) -> InternaliseResult<RecursiveResults> {
        let int64 = SoacType::Scalar(MachineType::I64);
        let depth = self.builder.add_parameter("depth", int64);
        self.recursive.depth = Some(SoacOperand::Variable(depth));
        let mut translation = CallTranslation::with_parameters(&mut self.builder);
        let call = translation.translate_call(call);
        let mut frame = self.bind_arguments(id, call)?;
        let value = self.internalise_definition(id, &mut frame)?;
        if value.has_function() {
            return Err(self.fail("the result of a recursive function contains a function"));
        }
        let certificates = self.builder.take_certificates();
        let value = self.certify(value, &certificates);
        Ok(RecursiveResults {
            lengths: value.lengths(),
            leaves: value.leaves(),
        })
    }

    /// Requires that the function of an accumulator calls nothing.
    pub(super) fn refuse_calls(&self, body: &SoacBody) -> InternaliseResult<()> {
        let mut fault = Ok(());
        visit_calls(body, &mut |function, _| {
            let name = &self.recursive.functions[function].name;
            fault = Err(self.fail(format!(
                "the function of an accumulator calls the recursive function `{name}`"
            )));
        });
        fault
    }

    /// Requires that the derivative of a function needs no derivative of a recursive function.
    pub(super) fn refuse_derived_calls(
        &self,
        body: &SoacBody,
        inputs: &[SoacVariableId],
        rules: &CustomRules,
    ) -> InternaliseResult<()> {
        match find_derived_call(&self.builder, body, inputs, rules) {
            None => Ok(()),
            Some(function) => {
                let name = &self.recursive.functions[function].name;
                Err(self.fail(format!(
                    "the recursive function `{name}` has no derivative: write a loop instead"
                )))
            }
        }
    }
}
