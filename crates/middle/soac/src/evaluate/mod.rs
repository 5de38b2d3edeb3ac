//! Evaluator: what a program means, step by step. A reference for tests.

mod accumulator;
mod array;
mod call;
mod convert;
mod fused;

use crate::ir::{
    SliceSelector, SoacBody, SoacFunction, SoacFunctionId, SoacHistogram, SoacLambda, SoacLoopForm,
    SoacMessagePart, SoacOperand, SoacOperation, SoacStatement, SoacType, SoacVariableId,
};
use accumulator::AccumulatorState;
use rustc_hash::FxHashMap;
use spirula_entity::EntityArena;
use spirula_program::{ScalarLiteral, ScalarType};
use std::rc::Rc;

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub enum SoacValue {
    /// A scalar.
    Scalar(ScalarLiteral),
    /// An array: type of the elements, sizes, and the bits of the elements in row-major order.
    Array(ScalarType, Vec<i64>, Rc<Vec<u64>>),
}

impl SoacValue {
    /// An array.
    pub fn from_elements(element: ScalarType, shape: Vec<i64>, bits: Vec<u64>) -> Self {
        SoacValue::Array(element, shape, Rc::new(bits))
    }

    /// The scalar or array of an element type, sizes and bits.
    fn from_parts(element: ScalarType, shape: &[i64], bits: Vec<u64>) -> Self {
        if shape.is_empty() {
            return SoacValue::Scalar(ScalarLiteral::new(
                element,
                bits.first().copied().unwrap_or(0),
            ));
        }
        SoacValue::from_elements(element, shape.to_vec(), bits)
    }

    fn element(&self) -> ScalarType {
        match self {
            SoacValue::Scalar(literal) => literal.ty,
            SoacValue::Array(element, _, _) => *element,
        }
    }

    /// The sizes of an array. Empty for a scalar.
    pub fn shape(&self) -> &[i64] {
        match self {
            SoacValue::Scalar(_) => &[],
            SoacValue::Array(_, shape, _) => shape,
        }
    }

    /// The bits of the elements.
    pub fn bits(&self) -> Vec<u64> {
        match self {
            SoacValue::Scalar(literal) => vec![literal.bits],
            SoacValue::Array(_, _, bits) => bits.to_vec(),
        }
    }

    fn to_int64(&self) -> i64 {
        match self {
            SoacValue::Scalar(literal) => literal.to_signed(),
            SoacValue::Array(..) => 0,
        }
    }

    /// Row `index` of an array.
    fn row(&self, index: usize) -> SoacValue {
        let shape = &self.shape()[1..];
        let size: usize = shape.iter().map(|&length| length as usize).product();
        let bits = match self {
            SoacValue::Array(_, _, bits) => bits[index * size..(index + 1) * size].to_vec(),
            SoacValue::Scalar(literal) => vec![literal.bits],
        };
        SoacValue::from_parts(self.element(), shape, bits)
    }
}

/// Evaluates a function, with a limit of statements.
///
/// # Errors
///
/// The message of a check that does not hold, or what is wrong with the program.
pub fn evaluate_function(
    function: &SoacFunction,
    arguments: Vec<SoacValue>,
    fuel: u64,
) -> Result<Vec<SoacValue>, String> {
    let mut evaluator = FunctionEvaluator {
        function,
        callees: &function.callees,
        values: vec![None; function.variables.len()],
        accumulators: FxHashMap::default(),
        fuel,
        nesting: 0,
    };
    for (&parameter, argument) in function.parameters.iter().zip(arguments) {
        evaluator.values[parameter.index()] = Some(argument);
    }
    evaluator.evaluate_body(&function.body)
}

/// State of the evaluator.
struct FunctionEvaluator<'f> {
    function: &'f SoacFunction,
    /// The functions that may be called.
    callees: &'f EntityArena<SoacFunctionId, SoacFunction>,
    values: Vec<Option<SoacValue>>,
    /// The accumulators that are in scope.
    accumulators: FxHashMap<SoacVariableId, AccumulatorState>,
    fuel: u64,
    /// The number of bodies that are evaluated within each other.
    nesting: u32,
}

/// The index of an element by its position in each dimension.
fn flatten_position(position: &[i64], shape: &[i64]) -> usize {
    position
        .iter()
        .zip(shape)
        .fold(0, |index, (position, size)| index * size + position) as usize
}

impl FunctionEvaluator<'_> {
    fn get(&self, operand: SoacOperand) -> Result<SoacValue, String> {
        match operand {
            SoacOperand::Constant(literal) => Ok(SoacValue::Scalar(literal)),
            SoacOperand::Variable(id) => self.values[id.index()]
                .clone()
                .ok_or_else(|| format!("{id:?} has no value")),
        }
    }

    fn get_int64(&self, operand: SoacOperand) -> Result<i64, String> {
        Ok(self.get(operand)?.to_int64())
    }

    fn get_all(&self, operands: &[SoacOperand]) -> Result<Vec<SoacValue>, String> {
        operands.iter().map(|&operand| self.get(operand)).collect()
    }

    fn set(&mut self, id: SoacVariableId, value: SoacValue) {
        self.values[id.index()] = Some(value);
    }

    fn evaluate_body(&mut self, body: &SoacBody) -> Result<Vec<SoacValue>, String> {
        if self.nesting == call::MAX_NESTING {
            return Err("calls are nested too deeply".into());
        }
        self.nesting += 1;
        for statement in &body.statements {
            self.evaluate_statement(statement)?;
        }
        self.nesting -= 1;
        self.get_all(&body.results)
    }

    fn evaluate_statement(&mut self, statement: &SoacStatement) -> Result<(), String> {
        self.fuel = self
            .fuel
            .checked_sub(1)
            .ok_or("the program takes too many steps")?;
        let results = self.evaluate_operation(&statement.operation, statement)?;
        for (&id, value) in statement.results.iter().zip(results) {
            self.check_shape(id, &value)?;
            self.set(id, value);
        }
        Ok(())
    }

    /// Checks that a value has the sizes of its variable.
    fn check_shape(&self, id: SoacVariableId, value: &SoacValue) -> Result<(), String> {
        let SoacType::Array(_, sizes) = &self.function.variables[id].variable_type else {
            return Ok(());
        };
        let sizes = sizes
            .iter()
            .map(|&size| self.get_int64(size))
            .collect::<Result<Vec<_>, _>>();
        match sizes {
            Ok(sizes) if sizes != value.shape() => Err(format!(
                "bug: {id:?} has sizes {sizes:?}, its value {:?}",
                value.shape()
            )),
            _ => Ok(()),
        }
    }

    fn call(
        &mut self,
        function: &SoacLambda,
        arguments: Vec<SoacValue>,
    ) -> Result<Vec<SoacValue>, String> {
        for (&parameter, argument) in function.parameters.iter().zip(arguments) {
            self.set(parameter, argument);
        }
        self.evaluate_body(&function.body)
    }

    fn evaluate_operation(
        &mut self,
        operation: &SoacOperation,
        statement: &SoacStatement,
    ) -> Result<Vec<SoacValue>, String> {
        let single = match operation {
            SoacOperation::Scalar(operator, operands) => {
                let operands = self.get_all(operands)?;
                let bits: Vec<u64> = operands.iter().map(|value| value.bits()[0]).collect();
                let bits = operator.eval_operands(&bits);
                SoacValue::Scalar(ScalarLiteral::new(operator.to, bits))
            }
            SoacOperation::Parameter(_, default) => {
                SoacValue::Scalar(ScalarLiteral::from_i64(default.unwrap_or(0)))
            }
            SoacOperation::Check(condition, message) => {
                if self.get(*condition)?.bits()[0] == 0 {
                    return Err(self.write_message(&message.parts)?);
                }
                SoacValue::Scalar(ScalarLiteral::new(ScalarType::Unit, 0))
            }
            SoacOperation::Slice(array, selectors) => self.evaluate_slice(*array, selectors)?,
            SoacOperation::Update(array, selectors, value) => {
                self.evaluate_update(*array, selectors, *value)?
            }
            SoacOperation::Literal(elements) => stack(&self.get_all(elements)?),
            SoacOperation::Iota(count, first, step) => self.evaluate_iota(*count, *first, *step)?,
            SoacOperation::Replicate(sizes, value) => self.evaluate_replicate(sizes, *value)?,
            SoacOperation::Concat(arrays) => self.evaluate_concat(arrays)?,
            SoacOperation::Reshape(array, sizes) => {
                let array = self.get(*array)?;
                let shape = sizes.iter().map(|&size| self.get_int64(size));
                let shape = shape.collect::<Result<Vec<_>, _>>()?;
                SoacValue::from_elements(array.element(), shape, array.bits())
            }
            SoacOperation::Rearrange(array, permutation) => {
                rearrange(&self.get(*array)?, permutation)
            }
            SoacOperation::Manifest(array) => self.get(*array)?,
            SoacOperation::If(condition, accept, reject) => {
                let is_accepted = self.get(*condition)?.bits()[0] != 0;
                return self.evaluate_body(if is_accepted { accept } else { reject });
            }
            SoacOperation::Loop(parameters, form, body) => {
                return self.evaluate_loop(parameters, *form, body);
            }
            SoacOperation::Map(width, arrays, function) => {
                return self.evaluate_map(*width, arrays, function, statement);
            }
            SoacOperation::Reduce(width, arrays, neutral, function, _) => {
                return self.evaluate_reduce(*width, arrays, neutral, function);
            }
            SoacOperation::Scan(width, arrays, neutral, function) => {
                return self.evaluate_scan(*width, arrays, neutral, function, statement);
            }
            SoacOperation::Scatter(array, positions, values) => {
                self.evaluate_scatter(*array, *positions, *values)?
            }
            SoacOperation::Histogram(histogram) => return self.evaluate_histogram(histogram),
            SoacOperation::Accumulate(accumulator, position, values) => {
                self.evaluate_write(*accumulator, *position, values)?;
                return Ok(Vec::new());
            }
            SoacOperation::WithAccumulators(accumulation) => {
                return self.evaluate_accumulation(accumulation);
            }
            SoacOperation::Fused(fused) => return self.evaluate_fused(fused, statement),
            SoacOperation::Call(function, arguments) => {
                return self.evaluate_call(*function, arguments);
            }
        };
        Ok(vec![single])
    }

    fn write_message(&self, parts: &[SoacMessagePart]) -> Result<String, String> {
        let mut message = String::new();
        for part in parts {
            match part {
                SoacMessagePart::Text(text) => message.push_str(text),
                SoacMessagePart::Value(value) => {
                    message.push_str(&self.get_int64(*value)?.to_string())
                }
            }
        }
        Ok(message)
    }

    /// Rows as arrays. Without rows the sizes are those of the variables.
    fn stack_results(
        &self,
        rows: Vec<Vec<SoacValue>>,
        results: &[SoacVariableId],
    ) -> Result<Vec<SoacValue>, String> {
        let stacked = rows.into_iter().zip(results).map(|(rows, &id)| {
            if !rows.is_empty() {
                return Ok(stack(&rows));
            }
            let variable_type = &self.function.variables[id].variable_type;
            let sizes = variable_type
                .shape()
                .iter()
                .map(|&size| self.get_int64(size));
            let shape = sizes.collect::<Result<Vec<_>, _>>()?;
            Ok(SoacValue::from_elements(
                variable_type.element(),
                shape,
                Vec::new(),
            ))
        });
        stacked.collect()
    }

    fn evaluate_reduce(
        &mut self,
        width: SoacOperand,
        arrays: &[SoacOperand],
        neutral: &[SoacOperand],
        function: &SoacLambda,
    ) -> Result<Vec<SoacValue>, String> {
        let width = self.get_int64(width)?;
        let arrays = self.get_all(arrays)?;
        let mut state = self.get_all(neutral)?;
        for index in 0..width as usize {
            state.extend(arrays.iter().map(|array| array.row(index)));
            state = self.call(function, state)?;
        }
        Ok(state)
    }

    fn evaluate_histogram(&mut self, histogram: &SoacHistogram) -> Result<Vec<SoacValue>, String> {
        let targets = self.get_all(&histogram.targets)?;
        let values = self.get_all(&histogram.values)?;
        let positions = self.get(histogram.positions)?.bits();
        let mut rows: Vec<_> = targets.iter().map(split_rows).collect();
        for (index, position) in positions.into_iter().enumerate() {
            let values = values.iter().map(|value| value.row(index)).collect();
            self.combine_rows(&mut rows, &histogram.function, position as usize, values)?;
        }
        let arrays = rows.iter().zip(&targets).map(|(rows, target)| {
            if rows.is_empty() {
                target.clone()
            } else {
                stack(rows)
            }
        });
        Ok(arrays.collect())
    }

    fn evaluate_loop(
        &mut self,
        parameters: &[(SoacVariableId, SoacOperand)],
        form: SoacLoopForm,
        body: &SoacBody,
    ) -> Result<Vec<SoacValue>, String> {
        let initial: Vec<_> = parameters.iter().map(|(_, initial)| *initial).collect();
        let mut values = self.get_all(&initial)?;
        let bound = match form {
            SoacLoopForm::For(_, bound) => self.get_int64(bound)?,
            SoacLoopForm::While(_) => i64::MAX,
        };
        let mut counter = 0;
        while counter < bound {
            for ((parameter, _), value) in parameters.iter().zip(&values) {
                self.set(*parameter, value.clone());
            }
            match form {
                SoacLoopForm::For(id, bound) => {
                    let element = self.function.type_of(bound).element();
                    self.set(
                        id,
                        SoacValue::Scalar(ScalarLiteral::new(element, counter as u64)),
                    );
                }
                SoacLoopForm::While(position) if values[position].bits()[0] == 0 => break,
                SoacLoopForm::While(_) => {}
            }
            self.fuel = self
                .fuel
                .checked_sub(1)
                .ok_or("the program takes too many steps")?;
            values = self.evaluate_body(body)?;
            counter += 1;
        }
        Ok(values)
    }

    /// The sizes of a slice, and the indices of its elements.
    fn select(
        &self,
        shape: &[i64],
        selectors: &[SliceSelector],
    ) -> Result<(Vec<i64>, Vec<usize>), String> {
        let mut result = Vec::new();
        let mut choices: Vec<Vec<i64>> = Vec::with_capacity(shape.len());
        for (dimension, &size) in shape.iter().enumerate() {
            choices.push(match selectors.get(dimension) {
                Some(SliceSelector::Point(point)) => vec![self.get_int64(*point)?],
                Some(SliceSelector::Stride {
                    start,
                    count,
                    stride,
                }) => {
                    let (start, count) = (self.get_int64(*start)?, self.get_int64(*count)?);
                    let stride = self.get_int64(*stride)?;
                    result.push(count);
                    (0..count).map(|index| start + index * stride).collect()
                }
                None => {
                    result.push(size);
                    (0..size).collect()
                }
            });
            let is_inside = choices[dimension]
                .iter()
                .all(|position| (0..size).contains(position));
            if !is_inside {
                return Err(format!(
                    "bug: an index is out of bounds: {:?} of {size}",
                    choices[dimension]
                ));
            }
        }
        let mut positions = vec![Vec::new()];
        for choice in &choices {
            let extend = |position: &Vec<i64>| {
                choice
                    .iter()
                    .map(|&next| position.iter().copied().chain([next]).collect())
                    .collect::<Vec<Vec<i64>>>()
            };
            positions = positions.iter().flat_map(extend).collect();
        }
        Ok((
            result,
            positions
                .iter()
                .map(|position| flatten_position(position, shape))
                .collect(),
        ))
    }
}

/// The rows of an array.
fn split_rows(array: &SoacValue) -> Vec<SoacValue> {
    let count = array.shape()[0] as usize;
    (0..count).map(|index| array.row(index)).collect()
}

/// An array of rows, at least one.
fn stack(rows: &[SoacValue]) -> SoacValue {
    let mut shape = vec![rows.len() as i64];
    shape.extend(rows[0].shape());
    let bits = rows.iter().flat_map(SoacValue::bits).collect();
    SoacValue::from_elements(rows[0].element(), shape, bits)
}

/// The array with its dimensions in another order.
fn rearrange(array: &SoacValue, permutation: &[usize]) -> SoacValue {
    let shape: Vec<i64> = permutation
        .iter()
        .map(|&dimension| array.shape()[dimension])
        .collect();
    let count: i64 = shape.iter().product();
    let bits = array.bits();
    let mut rearranged = Vec::with_capacity(bits.len());
    for index in 0..count {
        let mut rest = index;
        let mut position = vec![0; shape.len()];
        for (dimension, &size) in shape.iter().enumerate().rev() {
            position[permutation[dimension]] = rest % size;
            rest /= size;
        }
        rearranged.push(bits[flatten_position(&position, array.shape())]);
    }
    SoacValue::from_elements(array.element(), shape, rearranged)
}
