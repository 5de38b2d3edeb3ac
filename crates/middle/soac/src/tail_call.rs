//! Tail calls: a function that ends with calls of itself becomes a loop.
//!
//! The loop passes on whether it goes on, the arguments of the next call, and the results of the last one. A branch that calls the
//! function gives new arguments, and keeps the results as they are; they are empty before the last iteration. A branch that
//! does not gives the results, and empty arguments. So no iteration copies what another one made.
//!
//! ```text
//! f(depth, n, xs) = if c then xs else f(depth + 1, n', xs')
//! ```
//!
//! becomes
//!
//! ```text
//! f(depth, n0, xs0) = r
//!   where (_, _, _, r) = loop (go, n, xs, r) = (true, n0, xs0, empty) while go do
//!     if c then (false, 0, empty, xs) else (true, n', xs', r)
//! ```
//!
//! The first parameter, which counts calls that are nested, stays as it is.

use crate::ir::{
    SoacBody, SoacFunction, SoacFunctionId, SoacLoopForm, SoacOperand, SoacOperation,
    SoacStatement, SoacType, SoacVariable, SoacVariableId,
};
use rustc_hash::FxHashMap;
use spirula_program::{ScalarLiteral, ScalarType};

/// Makes a loop of the calls of a function of itself that are the last that it does. Its first `length_count` results are the
/// sizes of the others. Does nothing to a function without such calls, or whose sizes no result has.
pub fn loop_tail_calls(function: &mut SoacFunction, own: SoacFunctionId, length_count: usize) {
    let values = function.body.results[length_count..].to_vec();
    let parameters = &function.parameters[1..];
    let is_plain = |id: &SoacVariableId| has_plain_sizes(function, parameters, *id);
    let end = TailEnd::find(&function.body, &values, own);
    if values.is_empty() || matches!(end, TailEnd::Value) || !parameters.iter().all(is_plain) {
        return;
    }
    let lengths = function.body.results[..length_count].iter();
    let lengths = lengths.map(|&length| LengthSource::find(function, &values, length));
    let Some(lengths) = lengths.collect::<Option<Vec<_>>>() else {
        return;
    };
    let parameters = parameters.to_vec();
    let mut looper = TailLooper {
        own,
        values: Vec::new(),
        parameters,
        function,
    };
    looper.make_loop(&values, &lengths);
}

/// Whether the sizes of a parameter are constants or other parameters.
fn has_plain_sizes(
    function: &SoacFunction,
    parameters: &[SoacVariableId],
    id: SoacVariableId,
) -> bool {
    let is_plain = |size: &SoacOperand| match size {
        SoacOperand::Constant(_) => true,
        SoacOperand::Variable(id) => parameters.contains(id),
    };
    match &function.variables[id].variable_type {
        SoacType::Scalar(_) => true,
        SoacType::Array(_, shape) => shape.iter().all(is_plain),
        SoacType::Certificate | SoacType::Accumulator => false,
    }
}

/// How a body ends.
enum TailEnd {
    /// With a call of the function that it belongs to.
    Call,
    /// With a choice that has such an end in a branch.
    Choice,
    /// With a value.
    Value,
}

impl TailEnd {
    /// The end of a body that gives some values.
    fn find(body: &SoacBody, values: &[SoacOperand], own: SoacFunctionId) -> TailEnd {
        let Some(last) = body.statements.last() else {
            return TailEnd::Value;
        };
        let Some(first) = last.results.len().checked_sub(values.len()) else {
            return TailEnd::Value;
        };
        let bound = last.results[first..].iter();
        if !bound
            .map(|&id| SoacOperand::Variable(id))
            .eq(values.iter().copied())
        {
            return TailEnd::Value;
        }
        match &last.operation {
            SoacOperation::Call(callee, _) if *callee == own => TailEnd::Call,
            SoacOperation::If(_, accept, reject) => {
                let ends = [accept, reject].map(|branch| {
                    let values = &branch.results[first..];
                    TailEnd::find(branch, values, own)
                });
                if ends.iter().all(|end| matches!(end, TailEnd::Value)) {
                    TailEnd::Value
                } else {
                    TailEnd::Choice
                }
            }
            _ => TailEnd::Value,
        }
    }
}

/// Where a size among the results comes from.
enum LengthSource {
    /// A constant.
    Constant(SoacOperand),
    /// A size of a result: its position, and that of the size.
    Shape(usize, usize),
}

impl LengthSource {
    fn find(
        function: &SoacFunction,
        values: &[SoacOperand],
        length: SoacOperand,
    ) -> Option<LengthSource> {
        if let SoacOperand::Constant(_) = length {
            return Some(LengthSource::Constant(length));
        }
        values.iter().enumerate().find_map(|(value, &operand)| {
            let value_type = function.type_of(operand);
            let mut shape = value_type.shape().iter();
            let dimension = shape.position(|&size| size == length)?;
            Some(LengthSource::Shape(value, dimension))
        })
    }
}

/// Variables for the values that the loop passes on.
struct LoopState {
    go: SoacVariableId,
    arguments: Vec<SoacVariableId>,
    /// The sizes of each result, and the result.
    values: Vec<LoopValue>,
}

/// A result that the loop passes on.
#[derive(Clone)]
struct LoopValue {
    sizes: Vec<SoacVariableId>,
    value: SoacVariableId,
}

impl LoopState {
    /// All variables, in the order of the loop.
    fn list_all(&self) -> Vec<SoacVariableId> {
        let mut all = vec![self.go];
        all.extend(&self.arguments);
        for value in &self.values {
            all.extend(&value.sizes);
            all.push(value.value);
        }
        all
    }
}

/// State of the transformation of a function.
struct TailLooper<'f> {
    own: SoacFunctionId,
    function: &'f mut SoacFunction,
    /// The parameters of the function without the first, which become those of the loop.
    parameters: Vec<SoacVariableId>,
    /// The results as the loop passes them on.
    values: Vec<LoopValue>,
}

impl TailLooper<'_> {
    /// Makes the body of the function a loop.
    fn make_loop(&mut self, values: &[SoacOperand], lengths: &[LengthSource]) {
        let types: Vec<SoacType> = values.iter().map(|&v| self.function.type_of(v)).collect();
        let outer = self.copy_parameters();
        self.function.parameters.truncate(1);
        self.function.parameters.extend(&outer);
        self.values = types.iter().map(|ty| self.add_loop_value(ty)).collect();
        let mut body = std::mem::take(&mut self.function.body);
        let inner = self.rewrite_body(&mut body, values, &types);
        let go = self.add_variable("go", SoacType::Scalar(ScalarType::Bool));
        let mut statements = Vec::new();
        let mut parameters = vec![(go, SoacOperand::Constant(truth(true)))];
        let first_values = outer.iter().map(|&id| SoacOperand::Variable(id));
        parameters.extend(self.parameters.iter().copied().zip(first_values));
        for value in self.values.clone() {
            let zero = SoacOperand::from_int64(0);
            parameters.extend(value.sizes.iter().map(|&size| (size, zero)));
            let ty = self.function.variables[value.value].variable_type.clone();
            parameters.push((value.value, self.add_empty(&ty, &mut statements)));
        }
        let last = self.add_state(&types);
        statements.push(SoacStatement {
            results: last.list_all(),
            certificates: Vec::new(),
            operation: SoacOperation::Loop(parameters, SoacLoopForm::While(0), inner),
        });
        let lengths = lengths.iter().map(|length| match *length {
            LengthSource::Constant(constant) => constant,
            LengthSource::Shape(value, dimension) => {
                SoacOperand::Variable(last.values[value].sizes[dimension])
            }
        });
        let mut results: Vec<SoacOperand> = lengths.collect();
        let values = last.values.iter();
        results.extend(values.map(|value| SoacOperand::Variable(value.value)));
        self.function.body = SoacBody {
            statements,
            results,
        };
    }

    fn add_variable(&mut self, name: &str, variable_type: SoacType) -> SoacVariableId {
        self.function.variables.push(SoacVariable {
            name: name.to_owned(),
            variable_type,
        })
    }

    /// Variables with the types of the parameters, whose sizes are among them.
    fn copy_parameters(&mut self) -> Vec<SoacVariableId> {
        let mut copies: FxHashMap<SoacVariableId, SoacVariableId> = FxHashMap::default();
        let mut all = Vec::with_capacity(self.parameters.len());
        for parameter in self.parameters.clone() {
            let SoacVariable {
                name,
                variable_type,
            } = self.function.variables[parameter].clone();
            let variable_type = match variable_type {
                SoacType::Array(element, shape) => {
                    let shape = shape.into_iter().map(|size| match size {
                        SoacOperand::Variable(id) => {
                            SoacOperand::Variable(copies.get(&id).copied().unwrap_or(id))
                        }
                        constant => constant,
                    });
                    SoacType::Array(element, shape.collect())
                }
                other => other,
            };
            let copy = self.add_variable(&name, variable_type);
            copies.insert(parameter, copy);
            all.push(copy);
        }
        all
    }

    /// Variables for a result with sizes of its own.
    fn add_loop_value(&mut self, value_type: &SoacType) -> LoopValue {
        let mut sizes = Vec::new();
        for _ in value_type.shape() {
            sizes.push(self.add_variable("n", SoacType::Scalar(ScalarType::I64)));
        }
        let shape = sizes.iter().map(|&size| SoacOperand::Variable(size));
        let value_type = SoacType::from_shape(value_type.element(), shape.collect());
        LoopValue {
            value: self.add_variable("r", value_type),
            sizes,
        }
    }

    /// Variables for all that the loop passes on.
    fn add_state(&mut self, types: &[SoacType]) -> LoopState {
        LoopState {
            go: self.add_variable("go", SoacType::Scalar(ScalarType::Bool)),
            arguments: self.copy_parameters(),
            values: types.iter().map(|ty| self.add_loop_value(ty)).collect(),
        }
    }

    /// The body with the values for the next iteration as its results.
    fn rewrite_body(
        &mut self,
        body: &mut SoacBody,
        values: &[SoacOperand],
        types: &[SoacType],
    ) -> SoacBody {
        let end = TailEnd::find(body, values, self.own);
        let mut statements = std::mem::take(&mut body.statements);
        let last = match end {
            TailEnd::Value => None,
            TailEnd::Call | TailEnd::Choice => statements.pop(),
        };
        let results = match last {
            None => self.end_with_value(values, &mut statements),
            Some(SoacStatement {
                certificates,
                operation: SoacOperation::Call(_, arguments),
                ..
            }) => {
                let arguments = arguments[1..].iter().map(|argument| argument.operand);
                self.end_with_call(arguments.collect(), certificates, &mut statements)
            }
            Some(mut choice) => {
                let first = choice.results.len() - values.len();
                for branch in choice.operation.bodies_mut() {
                    let values = branch.results[first..].to_vec();
                    *branch = self.rewrite_body(branch, &values, types);
                }
                let state = self.add_state(types).list_all();
                choice.results.clone_from(&state);
                statements.push(choice);
                state.into_iter().map(SoacOperand::Variable).collect()
            }
        };
        SoacBody {
            statements,
            results,
        }
    }

    /// The end of the loop: the arguments are empty.
    fn end_with_value(
        &mut self,
        values: &[SoacOperand],
        statements: &mut Vec<SoacStatement>,
    ) -> Vec<SoacOperand> {
        let mut results = vec![SoacOperand::Constant(truth(false))];
        for parameter in self.parameters.clone() {
            let parameter_type = self.function.variables[parameter].variable_type.clone();
            results.push(self.add_empty(&parameter_type, statements));
        }
        for &value in values {
            let value_type = self.function.type_of(value);
            results.extend(value_type.shape());
            results.push(value);
        }
        results
    }

    /// Another iteration: the results stay as they are. The checks that the call needs are needed to go on.
    fn end_with_call(
        &mut self,
        arguments: Vec<SoacOperand>,
        certificates: Vec<SoacVariableId>,
        statements: &mut Vec<SoacStatement>,
    ) -> Vec<SoacOperand> {
        let mut go = SoacOperand::Constant(truth(true));
        if !certificates.is_empty() {
            let checked = self.add_variable("go", SoacType::Scalar(ScalarType::Bool));
            statements.push(SoacStatement {
                results: vec![checked],
                certificates,
                operation: SoacOperation::Slice(go, Vec::new()),
            });
            go = SoacOperand::Variable(checked);
        }
        let mut results = vec![go];
        results.extend(arguments);
        for value in &self.values {
            results.extend(value.sizes.iter().map(|&size| SoacOperand::Variable(size)));
            results.push(SoacOperand::Variable(value.value));
        }
        results
    }

    /// A value of a type without elements, but for those of constant sizes.
    fn add_empty(
        &mut self,
        value_type: &SoacType,
        statements: &mut Vec<SoacStatement>,
    ) -> SoacOperand {
        let zero = SoacOperand::Constant(ScalarLiteral::new(value_type.element(), 0));
        if value_type.shape().is_empty() {
            return zero;
        }
        let sizes = value_type.shape().iter().map(|size| match size {
            SoacOperand::Constant(_) => *size,
            SoacOperand::Variable(_) => SoacOperand::from_int64(0),
        });
        let sizes: Vec<SoacOperand> = sizes.collect();
        let empty_type = SoacType::Array(value_type.element(), sizes.clone());
        let empty = self.add_variable("empty", empty_type);
        statements.push(SoacStatement {
            results: vec![empty],
            certificates: Vec::new(),
            operation: SoacOperation::Replicate(sizes, zero),
        });
        SoacOperand::Variable(empty)
    }
}

fn truth(value: bool) -> ScalarLiteral {
    ScalarLiteral::new(ScalarType::Bool, u64::from(value))
}
