//! Interpreter of functions: the oracle that passes and lowerings are compared with.
//!
//! It evaluates point after point and node after node. Only nodes that depend on an axis are evaluated again when its
//! index changes. All nodes are evaluated, chosen or not. So a read outside of a tensor yields a mark instead of a value,
//! and the mark is an error only if it reaches a result.

mod combiner;
mod point;
mod sort;

use crate::ir::{
    DenseTensorType, DimExtent, MessagePiece, OpKind, RunAssertion, StructuredOp, TensorBlock,
    TensorConstant, TensorFunction, TensorOp, TensorValue, YieldDestination,
};
use point::PointState;
use spirula_diagnostics::SourceLocation;
use spirula_program::{ScalarLiteral, ScalarType};
use std::fmt;
use std::rc::Rc;

/// The reason why a function could not be evaluated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EvalError {
    /// An argument is missing or not of its parameter's type.
    Argument(usize),
    /// An operation reads outside of a tensor.
    Outside(SourceLocation),
    /// The function needs more work than allowed.
    Work,
    /// The function is not well formed at an operation.
    Malformed(SourceLocation),
    /// An assertion does not hold. It has the message.
    Failed(String),
}

impl fmt::Display for EvalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EvalError::Argument(at) => write!(f, "argument {at} is not of its parameter's type"),
            EvalError::Outside(place) => write!(f, "a read outside of a tensor at {place}"),
            EvalError::Work => f.write_str("more work than was allowed"),
            EvalError::Malformed(place) => write!(f, "a malformed operation at {place}"),
            EvalError::Failed(message) => f.write_str(message),
        }
    }
}

impl std::error::Error for EvalError {}

/// Evaluates a function on arguments of its parameters' types, with at most about `work` evaluations of nodes.
///
/// # Errors
/// When an argument does not fit, a read is outside, an assertion does not hold, or there is too much work.
pub fn evaluate_function(
    function: &TensorFunction,
    arguments: Vec<TensorConstant>,
    work: u64,
) -> Result<Vec<TensorConstant>, EvalError> {
    let mut machine = TensorEvaluator {
        function,
        values: vec![None; function.value_count()],
        work,
        place: SourceLocation::Unknown,
    };
    let parameters = function.block(function.body()).parameters.clone();
    let mut arguments = arguments.into_iter();
    for (at, parameter) in parameters.iter().enumerate() {
        let argument = arguments.next().ok_or(EvalError::Argument(at))?;
        let ty = function.ty(*parameter);
        let known = ty.shape.iter().zip(&argument.ty.shape);
        let fits = argument.ty.element == ty.element
            && argument.ty.rank() == ty.rank()
            && known
                .into_iter()
                .all(|(a, b)| a.as_static().is_none() || a == b);
        if !fits || !machine.bind_sizes(ty, &argument.ty) {
            return Err(EvalError::Argument(at));
        }
        machine.values[parameter.index()] = Some(Rc::new(argument));
    }
    let results = machine.run_block(function.body())?;
    Ok(results.iter().map(|value| (**value).clone()).collect())
}

type SharedTensor = Rc<TensorConstant>;

struct TensorEvaluator<'a> {
    function: &'a TensorFunction,
    values: Vec<Option<SharedTensor>>,
    work: u64,
    place: SourceLocation,
}

impl TensorEvaluator<'_> {
    fn get(&self, value: TensorValue) -> Result<SharedTensor, EvalError> {
        let tensor = self.values[value.index()].clone();
        tensor.ok_or(EvalError::Malformed(self.place))
    }

    fn set_value(&mut self, value: TensorValue, tensor: SharedTensor) {
        self.values[value.index()] = Some(tensor);
    }

    /// Sets the sizes that are known from an argument. Returns whether they agree with those that are known already.
    fn bind_sizes(&mut self, ty: &DenseTensorType, argument: &DenseTensorType) -> bool {
        let mut pairs = ty.shape.iter().zip(static_sizes(argument));
        pairs.all(|(dim, size)| {
            let DimExtent::Value(value) = dim else {
                return true;
            };
            if let Some(known) = &self.values[value.index()] {
                return known.element_bits(0) == size;
            }
            let known = TensorConstant {
                ty: DenseTensorType::from_scalar(ScalarType::I64),
                bytes: size.to_le_bytes().to_vec(),
            };
            self.set_value(*value, Rc::new(known));
            true
        })
    }

    fn spend_work(&mut self, work: u64) -> Result<(), EvalError> {
        self.work = self.work.checked_sub(work).ok_or(EvalError::Work)?;
        Ok(())
    }

    fn run_block(&mut self, block: TensorBlock) -> Result<Vec<SharedTensor>, EvalError> {
        let function = self.function;
        for op in &function.block(block).ops {
            self.place = op.place;
            self.spend_work(1)?;
            self.run_op(op)?;
        }
        let results = function.block(block).results.iter();
        results.map(|value| self.get(*value)).collect()
    }

    fn run_op(&mut self, op: &TensorOp) -> Result<(), EvalError> {
        let results = match &op.kind {
            OpKind::Constant(constant) => vec![Rc::new((**constant).clone())],
            OpKind::Structured(structured) => self.run_structured(structured)?,
            OpKind::Reshape(value) => {
                let bytes = self.get(*value)?.bytes.clone();
                let ty = self.known_type(self.function.ty(op.results[0]))?;
                vec![Rc::new(TensorConstant { ty, bytes })]
            }
            OpKind::Sort(sort) => self.run_sort(sort)?,
            OpKind::RadixSort(sort) => vec![self.run_radix_sort(sort)?],
            OpKind::WordSelection(selection) => vec![self.run_selection(selection)?],
            OpKind::Assert(assertion) => {
                self.run_assertion(assertion)?;
                Vec::new()
            }
            // The interpreter has no foreign functions.
            OpKind::Foreign(call) => {
                let missing = call.signature.missing_function();
                return Err(EvalError::Failed(missing.to_string()));
            }
            OpKind::If {
                condition,
                then,
                otherwise,
            } => {
                let holds = self.get(*condition)?.element_bits(0) != 0;
                self.run_block(if holds { *then } else { *otherwise })?
            }
            OpKind::While {
                initial,
                condition,
                body,
            } => {
                let initial = initial.iter().map(|value| self.get(*value));
                let initial = initial.collect::<Result<_, _>>()?;
                self.run_while(initial, *condition, *body)?
            }
        };
        for (value, tensor) in op.results.iter().zip(results) {
            self.set_value(*value, tensor);
        }
        Ok(())
    }

    fn run_assertion(&self, assertion: &RunAssertion) -> Result<(), EvalError> {
        if self.get(assertion.condition)?.element_bits(0) != 0 {
            return Ok(());
        }
        let mut message = String::new();
        for piece in &assertion.message {
            match piece {
                MessagePiece::Text(text) => message.push_str(text),
                MessagePiece::Value(value) => {
                    let tensor = self.get(*value)?;
                    let ty = tensor.ty.element;
                    let text = ScalarLiteral::new(ty, tensor.element_bits(0)).to_string();
                    message.push_str(text.strip_suffix(ty.name()).unwrap_or(&text));
                }
            }
        }
        Err(EvalError::Failed(message))
    }

    fn run_while(
        &mut self,
        mut state: Vec<SharedTensor>,
        condition: TensorBlock,
        body: TensorBlock,
    ) -> Result<Vec<SharedTensor>, EvalError> {
        loop {
            self.bind_parameters(condition, &state);
            let goes_on = self.run_block(condition)?;
            if goes_on.first().is_none_or(|c| c.element_bits(0) == 0) {
                return Ok(state);
            }
            self.bind_parameters(body, &state);
            state = self.run_block(body)?;
        }
    }

    fn bind_parameters(&mut self, block: TensorBlock, arguments: &[SharedTensor]) {
        let function = self.function;
        let parameters = function.block(block).parameters.iter();
        for (parameter, argument) in parameters.zip(arguments) {
            self.set_value(*parameter, argument.clone());
        }
    }

    fn dim_size(&self, dim: DimExtent) -> Result<u64, EvalError> {
        match dim {
            DimExtent::Static(size) => Ok(size),
            DimExtent::Value(value) => Ok(self.get(value)?.element_bits(0)),
        }
    }

    /// The type with static sizes.
    fn known_type(&self, ty: &DenseTensorType) -> Result<DenseTensorType, EvalError> {
        let sizes = ty.shape.iter().map(|dim| self.dim_size(*dim));
        let sizes: Vec<u64> = sizes.collect::<Result<_, _>>()?;
        Ok(DenseTensorType::new(ty.element, &sizes))
    }

    fn run_structured(&mut self, op: &StructuredOp) -> Result<Vec<SharedTensor>, EvalError> {
        let extents = op.axes.iter().map(|axis| self.dim_size(axis.extent));
        let extents: Vec<u64> = extents.collect::<Result<_, _>>()?;
        let mut point = PointState::new(self, op, &extents)?;
        let all: u64 = extents.iter().fold(1, |all, e| all.saturating_mul(*e));
        self.spend_work(all.saturating_mul(point.innermost_work()))?;
        let mut results = Vec::new();
        for result in &op.yields {
            results.push(match &result.destination {
                YieldDestination::Each(_) => return Err(EvalError::Malformed(self.place)),
                YieldDestination::Point => {
                    let shape = &extents[..op.parallel_rank()];
                    make_zeros(DenseTensorType::new(op.body.ty(result.value), shape))
                }
                YieldDestination::Prefix { shape, .. } => {
                    make_zeros(self.known_type(&DenseTensorType {
                        element: op.body.ty(result.value),
                        shape: shape.clone(),
                    })?)
                }
                YieldDestination::Scatter { base, .. } => (*self.get(*base)?).clone(),
            });
        }
        point.run_points(op, &extents, &mut results)?;
        Ok(results.into_iter().map(Rc::new).collect())
    }
}

fn static_sizes(ty: &DenseTensorType) -> Vec<u64> {
    ty.shape
        .iter()
        .map(|dim| dim.as_static().unwrap_or(0))
        .collect()
}

/// A tensor of zeros.
fn make_zeros(ty: DenseTensorType) -> TensorConstant {
    let count = ty.element_count().unwrap_or(0) * ty.element.size();
    TensorConstant {
        ty,
        bytes: vec![0; count as usize],
    }
}

fn set_bits(tensor: &mut TensorConstant, at: usize, bits: u64) {
    let size = tensor.ty.element.size() as usize;
    let bytes = bits.to_le_bytes();
    tensor.bytes[at * size..(at + 1) * size].copy_from_slice(&bytes[..size]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TensorBuilder;
    use crate::ir::{AxisKind, ScalarCombiner, StructuredYield, TensorReduction, TensorShape};
    use spirula_program::{ScalarLiteral, ScalarOp};

    fn make_tensor(shape: &[u64], values: &[i32]) -> TensorConstant {
        TensorConstant {
            ty: DenseTensorType::new(ScalarType::I32, shape),
            bytes: values.iter().flat_map(|v| v.to_le_bytes()).collect(),
        }
    }

    fn evaluate_builder(
        builder: TensorBuilder,
        arguments: Vec<TensorConstant>,
    ) -> Result<Vec<TensorConstant>, EvalError> {
        evaluate_function(&builder.finish_function(), arguments, 1 << 20)
    }

    #[test]
    fn a_product_of_matrices() {
        let mut builder = TensorBuilder::new("main");
        let a = builder.add_parameter("a", DenseTensorType::new(ScalarType::I32, &[2, 3]), false);
        let b = builder.add_parameter("b", DenseTensorType::new(ScalarType::I32, &[3, 2]), false);
        let mut op =
            StructuredOp::with_parallel_axes(&[DimExtent::Static(2), DimExtent::Static(2)]);
        let (i, j) = (op.axis_indices()[0], op.axis_indices()[1]);
        let k = op.add_axis(DimExtent::Static(3), AxisKind::Reduction);
        let left = op.body.intern_element(a, ScalarType::I32, &[i, k]);
        let right = op.body.intern_element(b, ScalarType::I32, &[k, j]);
        let product = op.body.apply_op(ScalarOp::Mul, &[left, right]);
        let zero = op.body.intern_literal(ScalarLiteral::from_i32(0));
        let sum = op.add_reduction(TensorReduction {
            initial: vec![zero],
            values: vec![product],
            combiner: ScalarCombiner::from_op(ScalarOp::Add, ScalarType::I32),
        });
        op.add_yield(sum[0]);
        let result = builder.add_structured(op)[0];
        builder.add_result(result, false);
        let arguments = vec![
            make_tensor(&[2, 3], &[1, 2, 3, 4, 5, 6]),
            make_tensor(&[3, 2], &[1, 0, 0, 1, 1, 1]),
        ];
        let results = evaluate_builder(builder, arguments).expect("it runs");
        assert_eq!(results, [make_tensor(&[2, 2], &[4, 5, 10, 11])]);
    }

    #[test]
    fn reads_outside_count_where_they_are_chosen() {
        for (bound, expected) in [(2, true), (3, false)] {
            let mut builder = TensorBuilder::new("main");
            let a = builder.add_parameter("a", DenseTensorType::new(ScalarType::I32, &[2]), false);
            let shape: TensorShape = [DimExtent::Static(3)].into_iter().collect();
            let mut op = StructuredOp::with_parallel_axes(&shape);
            let point = op.axis_indices();
            let bound = op.body.intern_i64(bound);
            let inside = op.body.apply_op(ScalarOp::SLt, &[point[0], bound]);
            let element = op.body.intern_element(a, ScalarType::I32, &point);
            let other = op.body.intern_literal(ScalarLiteral::from_i32(7));
            let value = op.body.apply_op(ScalarOp::Cond, &[inside, element, other]);
            op.add_yield(value);
            let result = builder.add_structured(op)[0];
            builder.add_result(result, false);
            let found = evaluate_builder(builder, vec![make_tensor(&[2], &[5, 6])]);
            assert_eq!(found.is_ok(), expected);
            if let Ok(found) = found {
                assert_eq!(found, [make_tensor(&[3], &[5, 6, 7])]);
            }
        }
    }

    #[test]
    fn a_scatter_combines_and_drops_what_is_outside() {
        let mut builder = TensorBuilder::new("main");
        let base =
            builder.add_parameter("base", DenseTensorType::new(ScalarType::I32, &[2]), false);
        let at = builder.add_parameter("at", DenseTensorType::new(ScalarType::I32, &[4]), false);
        let mut op = StructuredOp::with_parallel_axes(&[DimExtent::Static(4)]);
        let point = op.axis_indices();
        let index = op.body.intern_element(at, ScalarType::I32, &point);
        let index = op
            .body
            .apply_conversion(ScalarOp::SExt, ScalarType::I64, index);
        let value = op.body.intern_literal(ScalarLiteral::from_i32(10));
        op.yields.push(StructuredYield {
            value,
            destination: YieldDestination::Scatter {
                base,
                indices: vec![index],
                combiner: Some(ScalarCombiner::from_op(ScalarOp::Add, ScalarType::I32)),
                distinct: false,
            },
        });
        let result = builder.add_structured(op)[0];
        builder.add_result(result, false);
        let arguments = vec![
            make_tensor(&[2], &[1, 2]),
            make_tensor(&[4], &[1, 1, -1, 2]),
        ];
        let results = evaluate_builder(builder, arguments).expect("it runs");
        assert_eq!(results, [make_tensor(&[2], &[1, 22])]);
    }

    #[test]
    fn a_loop_without_end_runs_out_of_work() {
        let mut builder = TensorBuilder::new("main");
        let shape = DenseTensorType::from_scalar(ScalarType::I32);
        let start = builder.add_parameter("start", shape.clone(), false);
        let _ = builder.begin_block(std::slice::from_ref(&shape));
        let always = builder.add_splat(ScalarLiteral::new(ScalarType::Bool, 1), &[]);
        let condition = builder.end_block(&[always]);
        let state = builder.begin_block(&[shape]);
        let body = builder.end_block(&state);
        let result = builder.add_while(&[start], condition, body)[0];
        builder.add_result(result, false);
        let found = evaluate_builder(builder, vec![make_tensor(&[], &[1])]);
        assert_eq!(found, Err(EvalError::Work));
    }
}
