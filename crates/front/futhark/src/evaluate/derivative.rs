//! Derivatives: scalars that carry a tangent, or a place on a tape.
//!
//! Each call of a derivative function opens a level. A scalar of a level has a value, which may belong to levels below it,
//! and its derivative at the level. An operator works on the operands of the highest level as that level says, and on their
//! values as the levels below say, so derivatives nest without being confused.

use super::value::{EvaluatedValue, FunctionValue};
use super::{EvaluateResult, ProgramEvaluator};
use crate::check::types::PrimitiveType;
use crate::intrinsic::machine_type;
use crate::syntax::tree::NumberType;
use spirula_program::{ScalarLiteral, ScalarOperator, ScalarType};
use spirula_soac::differentiate::scalar_rule::{
    PartialDerivative, ScalarAlgebra, chain_derivative, find_partials, has_derivative,
    sum_derivatives,
};
use std::rc::Rc;

/// A scalar with its derivative at a level.
#[derive(Clone, Debug)]
pub struct DerivedScalar {
    /// The level.
    level: usize,
    /// The scalar, which belongs to no level or to a lower one.
    primal: EvaluatedValue,
    /// Its derivative.
    derivative: ScalarDerivative,
}

/// The derivative of a scalar.
#[derive(Clone, Debug)]
enum ScalarDerivative {
    /// The derivative along a direction.
    Tangent(EvaluatedValue),
    /// The position on the tape of the level.
    Node(usize),
}

/// A call of a derivative function that is being evaluated.
pub(super) enum DerivativeLevel {
    /// Forward mode.
    Forward,
    /// Reverse mode, with its tape.
    Reverse(Vec<TapeNode>),
}

/// How a scalar was made.
pub(super) enum TapeNode {
    /// It is an input, or its derivative is counted elsewhere.
    Input,
    /// By an operator, of scalars on the tape.
    Operator(ScalarOperator, Vec<TapeEdge>),
    /// It is the first scalar of the result of a function whose gradient is given.
    Custom(Box<CustomGradient>),
}

/// An operand that is on the tape.
pub(super) struct TapeEdge {
    node: usize,
    partial: PartialDerivative<EvaluatedValue>,
}

/// A call of a function whose gradient is given.
pub(super) struct CustomGradient {
    gradient: Rc<FunctionValue>,
    result: EvaluatedValue,
    /// The positions of the scalars of the argument, if they are on the tape.
    inputs: Vec<Option<usize>>,
}

impl EvaluatedValue {
    /// The value without its derivatives.
    pub(super) fn without_derivatives(&self) -> &EvaluatedValue {
        match self {
            EvaluatedValue::Derived(derived) => derived.primal.without_derivatives(),
            other => other,
        }
    }

    /// The type and the bits of a scalar.
    pub(super) fn to_scalar(&self) -> Option<(PrimitiveType, u64)> {
        match self.without_derivatives() {
            EvaluatedValue::Scalar(scalar, bits) => Some((*scalar, *bits)),
            _ => None,
        }
    }

    fn level(&self) -> Option<usize> {
        match self {
            EvaluatedValue::Derived(derived) => Some(derived.level),
            _ => None,
        }
    }

    /// The value at a level: without the derivative that it has there.
    fn below_level(&self, level: usize) -> EvaluatedValue {
        match self {
            EvaluatedValue::Derived(derived) if derived.level == level => derived.primal.clone(),
            other => other.clone(),
        }
    }

    /// The same value with other scalars.
    fn map_scalars(
        &self,
        map: &mut impl FnMut(&EvaluatedValue) -> EvaluatedValue,
    ) -> EvaluatedValue {
        match self {
            EvaluatedValue::Scalar(..) | EvaluatedValue::Derived(_) => map(self),
            EvaluatedValue::Array(array) => {
                let elements = array.elements.iter();
                let elements = elements.map(|element| element.map_scalars(map));
                EvaluatedValue::from_elements(elements.collect(), array.row_shape.clone())
            }
            EvaluatedValue::Record(fields) => {
                let fields = fields.iter();
                let fields = fields.map(|(name, field)| (*name, field.map_scalars(map)));
                EvaluatedValue::Record(Rc::new(fields.collect()))
            }
            EvaluatedValue::Sum(name, payload) => {
                let payload = payload.iter().map(|part| part.map_scalars(map));
                EvaluatedValue::Sum(*name, Rc::new(payload.collect()))
            }
            other => other.clone(),
        }
    }

    /// The scalars of the value, in order.
    fn collect_leaves(&self) -> Vec<EvaluatedValue> {
        let mut leaves = Vec::new();
        self.map_scalars(&mut |leaf| {
            leaves.push(leaf.clone());
            leaf.clone()
        });
        leaves
    }
}

/// The value with another type of the same machine type.
pub(super) fn retype(value: &EvaluatedValue, scalar: PrimitiveType) -> EvaluatedValue {
    match value {
        EvaluatedValue::Scalar(_, bits) => EvaluatedValue::Scalar(scalar, *bits),
        EvaluatedValue::Derived(derived) => EvaluatedValue::Derived(Rc::new(DerivedScalar {
            primal: retype(&derived.primal, scalar),
            ..DerivedScalar::clone(derived)
        })),
        other => other.clone(),
    }
}

/// Zero of the type of a scalar.
fn zero_of(value: &EvaluatedValue) -> EvaluatedValue {
    let scalar = value
        .to_scalar()
        .map_or(PrimitiveType::Bool, |(scalar, _)| scalar);
    EvaluatedValue::Scalar(scalar, 0)
}

/// A source type that has the values of a machine type.
fn source_type(machine: ScalarType) -> PrimitiveType {
    PrimitiveType::Number(match machine {
        ScalarType::I8 => NumberType::I8,
        ScalarType::I16 => NumberType::I16,
        ScalarType::I32 => NumberType::I32,
        ScalarType::I64 => NumberType::I64,
        ScalarType::F16 => NumberType::F16,
        ScalarType::F32 => NumberType::F32,
        ScalarType::F64 => NumberType::F64,
        ScalarType::Bool | ScalarType::Unit => return PrimitiveType::Bool,
    })
}

impl ScalarAlgebra for ProgramEvaluator<'_> {
    type Scalar = EvaluatedValue;

    fn add_constant(&mut self, literal: ScalarLiteral) -> EvaluatedValue {
        EvaluatedValue::Scalar(source_type(literal.ty), literal.bits)
    }

    fn apply(&mut self, operator: ScalarOperator, operands: &[EvaluatedValue]) -> EvaluatedValue {
        let operand_type = operands
            .last()
            .and_then(EvaluatedValue::to_scalar)
            .map_or(PrimitiveType::Bool, |(scalar, _)| scalar);
        let result = if machine_type(operand_type) == operator.to {
            operand_type
        } else {
            source_type(operator.to)
        };
        self.apply_scalar(operator, operands, result)
    }
}

impl ProgramEvaluator<'_> {
    /// Applies an operator to scalars.
    pub(super) fn apply_scalar(
        &mut self,
        operator: ScalarOperator,
        operands: &[EvaluatedValue],
        result: PrimitiveType,
    ) -> EvaluatedValue {
        let Some(level) = operands.iter().filter_map(EvaluatedValue::level).max() else {
            let bits = operands.iter().filter_map(EvaluatedValue::to_scalar);
            let bits: Vec<u64> = bits.map(|(_, bits)| bits).collect();
            return EvaluatedValue::Scalar(result, operator.eval_operands(&bits));
        };
        let primals: Vec<_> = operands
            .iter()
            .map(|operand| operand.below_level(level))
            .collect();
        let primal = self.apply_scalar(operator, &primals, result);
        if !has_derivative(operator.to) {
            return primal;
        }
        let partials = find_partials(self, operator, &primals, &primal);
        match self.derive(level, operator, operands, partials) {
            Some(derivative) => EvaluatedValue::Derived(Rc::new(DerivedScalar {
                level,
                primal,
                derivative,
            })),
            None => primal,
        }
    }

    /// The derivative of the result of an operator at a level. None if it is zero.
    fn derive(
        &mut self,
        level: usize,
        operator: ScalarOperator,
        operands: &[EvaluatedValue],
        partials: Vec<PartialDerivative<EvaluatedValue>>,
    ) -> Option<ScalarDerivative> {
        let mut tangent: Option<EvaluatedValue> = None;
        let mut edges = Vec::new();
        for (operand, partial) in operands.iter().zip(partials) {
            let EvaluatedValue::Derived(derived) = operand else {
                continue;
            };
            if derived.level != level || matches!(partial, PartialDerivative::Zero) {
                continue;
            }
            match &derived.derivative {
                ScalarDerivative::Node(node) => edges.push(TapeEdge {
                    node: *node,
                    partial,
                }),
                ScalarDerivative::Tangent(direction) => {
                    let part = chain_derivative(self, operator, &partial, direction, false);
                    tangent = self.add_derivatives(tangent, part);
                }
            }
        }
        if edges.is_empty() {
            return tangent.map(ScalarDerivative::Tangent);
        }
        self.push_node(level, TapeNode::Operator(operator, edges))
            .map(ScalarDerivative::Node)
    }

    /// The sum of two derivatives, which are zero if they are None.
    fn add_derivatives(
        &mut self,
        left: Option<EvaluatedValue>,
        right: Option<EvaluatedValue>,
    ) -> Option<EvaluatedValue> {
        let (Some(left), Some(right)) = (&left, &right) else {
            return left.or(right);
        };
        let (scalar, _) = left.to_scalar()?;
        Some(sum_derivatives(self, machine_type(scalar), left, right))
    }

    /// Adds a node to the tape of a level. Returns its position.
    fn push_node(&mut self, level: usize, node: TapeNode) -> Option<usize> {
        match self.levels.get_mut(level) {
            Some(DerivativeLevel::Reverse(tape)) => {
                tape.push(node);
                Some(tape.len() - 1)
            }
            _ => None,
        }
    }

    /// The value of a function and its derivative along a direction.
    pub(super) fn evaluate_forward(
        &mut self,
        values: &[EvaluatedValue],
    ) -> EvaluateResult<EvaluatedValue> {
        let function = self.require_function(values[0].clone())?;
        let level = self.levels.len();
        self.levels.push(DerivativeLevel::Forward);
        let mut directions = values[2].collect_leaves().into_iter();
        let argument = values[1].map_scalars(&mut |leaf| match directions.next() {
            Some(direction) if is_differentiable(leaf) => {
                EvaluatedValue::Derived(Rc::new(DerivedScalar {
                    level,
                    primal: leaf.clone(),
                    derivative: ScalarDerivative::Tangent(direction),
                }))
            }
            _ => leaf.clone(),
        });
        let result = self.call(&function, vec![argument]);
        self.levels.pop();
        let result = result?;
        let primal = result.map_scalars(&mut |leaf| leaf.below_level(level));
        let tangent = result.map_scalars(&mut |leaf| match leaf {
            EvaluatedValue::Derived(derived) if derived.level == level => {
                match (&derived.derivative, derived.primal.to_scalar()) {
                    (ScalarDerivative::Tangent(tangent), Some((scalar, _))) => {
                        retype(tangent, scalar)
                    }
                    _ => zero_of(leaf),
                }
            }
            _ => zero_of(leaf),
        });
        Ok(self.make_pair(primal, tangent))
    }

    /// The value of a function and its gradient for a direction of the result.
    pub(super) fn evaluate_reverse(
        &mut self,
        values: &[EvaluatedValue],
    ) -> EvaluateResult<EvaluatedValue> {
        let function = self.require_function(values[0].clone())?;
        let level = self.levels.len();
        let inputs = values[1].collect_leaves().len();
        let tape = (0..inputs).map(|_| TapeNode::Input).collect();
        self.levels.push(DerivativeLevel::Reverse(tape));
        let mut node = 0;
        let argument = values[1].map_scalars(&mut |leaf| {
            node += 1;
            if !is_differentiable(leaf) {
                return leaf.clone();
            }
            EvaluatedValue::Derived(Rc::new(DerivedScalar {
                level,
                primal: leaf.clone(),
                derivative: ScalarDerivative::Node(node - 1),
            }))
        });
        let result = self.call(&function, vec![argument]);
        let Some(DerivativeLevel::Reverse(tape)) = self.levels.pop() else {
            return Err(self.fail("the tape of a derivative is missing"));
        };
        let result = result?;
        let mut adjoints: Vec<Option<EvaluatedValue>> = tape.iter().map(|_| None).collect();
        let directions = values[2].collect_leaves();
        for (leaf, direction) in result.collect_leaves().iter().zip(directions) {
            if let Some(node) = find_node(leaf, level) {
                adjoints[node] = self.add_derivatives(adjoints[node].take(), Some(direction));
            }
        }
        self.sweep_tape(&tape, &mut adjoints)?;
        let primal = result.map_scalars(&mut |leaf| leaf.below_level(level));
        let mut rest = adjoints.into_iter();
        let gradient = values[1].map_scalars(&mut |leaf| match (rest.next(), leaf.to_scalar()) {
            (Some(Some(adjoint)), Some((scalar, _))) => retype(&adjoint, scalar),
            _ => zero_of(leaf),
        });
        Ok(self.make_pair(primal, gradient))
    }

    /// Computes the derivatives by all scalars on a tape, from the last to the first.
    fn sweep_tape(
        &mut self,
        tape: &[TapeNode],
        adjoints: &mut [Option<EvaluatedValue>],
    ) -> EvaluateResult<()> {
        for (position, node) in tape.iter().enumerate().rev() {
            match node {
                TapeNode::Input => {}
                TapeNode::Operator(operator, edges) => {
                    let Some(adjoint) = adjoints[position].take() else {
                        continue;
                    };
                    for edge in edges {
                        let part = chain_derivative(self, *operator, &edge.partial, &adjoint, true);
                        adjoints[edge.node] =
                            self.add_derivatives(adjoints[edge.node].take(), part);
                    }
                }
                TapeNode::Custom(custom) => self.sweep_custom(position, custom, adjoints)?,
            }
        }
        Ok(())
    }

    /// Calls the gradient of a function for the derivatives by its result.
    fn sweep_custom(
        &mut self,
        first: usize,
        custom: &CustomGradient,
        adjoints: &mut [Option<EvaluatedValue>],
    ) -> EvaluateResult<()> {
        let mut position = first;
        let direction = custom.result.map_scalars(&mut |leaf| {
            position += 1;
            adjoints[position - 1]
                .take()
                .unwrap_or_else(|| zero_of(leaf))
        });
        let arguments = vec![custom.result.clone(), direction];
        let gradient = self.call(&Rc::clone(&custom.gradient), arguments)?;
        for (input, part) in custom.inputs.iter().zip(gradient.collect_leaves()) {
            if let Some(node) = *input {
                adjoints[node] = self.add_derivatives(adjoints[node].take(), Some(part));
            }
        }
        Ok(())
    }

    /// Calls a function whose gradient is given.
    pub(super) fn evaluate_custom(
        &mut self,
        values: &[EvaluatedValue],
    ) -> EvaluateResult<EvaluatedValue> {
        let function = self.require_function(values[0].clone())?;
        let gradient = self.require_function(values[1].clone())?;
        let leaves = values[2].collect_leaves();
        let level = leaves.iter().filter_map(EvaluatedValue::level).max();
        let Some(level) = level.filter(|&level| self.is_reverse(level)) else {
            return self.call(&function, vec![values[2].clone()]);
        };
        let argument = values[2].map_scalars(&mut |leaf| leaf.below_level(level));
        let arguments = [values[0].clone(), values[1].clone(), argument];
        let result = self.evaluate_custom(&arguments)?;
        let result = result.map_scalars(&mut |leaf| leaf.below_level(level));
        let inputs = leaves.iter().map(|leaf| find_node(leaf, level)).collect();
        let mut node = Some(TapeNode::Custom(Box::new(CustomGradient {
            gradient,
            result: result.clone(),
            inputs,
        })));
        Ok(result.map_scalars(&mut |leaf| {
            let position = self.push_node(level, node.take().unwrap_or(TapeNode::Input));
            match position {
                Some(position) if is_differentiable(leaf) => {
                    EvaluatedValue::Derived(Rc::new(DerivedScalar {
                        level,
                        primal: leaf.clone(),
                        derivative: ScalarDerivative::Node(position),
                    }))
                }
                _ => leaf.clone(),
            }
        }))
    }

    fn is_reverse(&self, level: usize) -> bool {
        matches!(self.levels.get(level), Some(DerivativeLevel::Reverse(_)))
    }

    /// The value of a function and its derivatives for several directions.
    pub(super) fn evaluate_directions(
        &mut self,
        values: &[EvaluatedValue],
        derive: fn(&mut Self, &[EvaluatedValue]) -> EvaluateResult<EvaluatedValue>,
    ) -> EvaluateResult<EvaluatedValue> {
        let function = self.require_function(values[0].clone())?;
        let primal = self.call(&function, vec![values[1].clone()])?;
        let EvaluatedValue::Array(directions) = &values[2] else {
            return Err(self.fail("an array of directions is expected"));
        };
        let mut elements = Vec::with_capacity(directions.elements.len());
        for direction in &directions.elements {
            let arguments = [values[0].clone(), values[1].clone(), direction.clone()];
            let pair = derive(self, &arguments)?;
            elements.push(self.project(&pair, self.pair[1])?);
        }
        let row_shape = primal.shape();
        let derivatives = EvaluatedValue::from_elements(elements, row_shape);
        Ok(self.make_pair(primal, derivatives))
    }
}

/// Whether a scalar has a derivative.
fn is_differentiable(value: &EvaluatedValue) -> bool {
    value
        .to_scalar()
        .is_some_and(|(scalar, _)| has_derivative(machine_type(scalar)))
}

/// The position of a scalar on the tape of a level.
fn find_node(value: &EvaluatedValue, level: usize) -> Option<usize> {
    match value {
        EvaluatedValue::Derived(derived) if derived.level == level => match derived.derivative {
            ScalarDerivative::Node(node) => Some(node),
            ScalarDerivative::Tangent(_) => None,
        },
        _ => None,
    }
}
