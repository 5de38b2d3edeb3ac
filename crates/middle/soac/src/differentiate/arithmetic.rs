//! Sums and zeros of scalars and arrays.

use super::scalar_rule::{ScalarAlgebra, sum_derivatives};
use crate::build::SoacBuilder;
use crate::ir::{SoacLambda, SoacOperand, SoacOperation, SoacType};
use spirula_program::{ScalarLiteral, ScalarOp, ScalarOperator, ScalarType};

impl ScalarAlgebra for SoacBuilder {
    type Scalar = SoacOperand;

    fn add_constant(&mut self, literal: ScalarLiteral) -> SoacOperand {
        SoacOperand::Constant(literal)
    }

    fn apply(&mut self, operator: ScalarOperator, operands: &[SoacOperand]) -> SoacOperand {
        self.add_scalar(operator, operands)
    }
}

/// Zero of a scalar type.
pub(super) fn zero_constant(element: ScalarType) -> SoacOperand {
    SoacOperand::Constant(ScalarLiteral::new(element, 0))
}

/// Zero of a type: a constant, or a new array.
pub(super) fn add_zero(builder: &mut SoacBuilder, operand_type: &SoacType) -> SoacOperand {
    let zero = zero_constant(operand_type.element());
    match operand_type {
        SoacType::Array(_, sizes) => {
            let replicate = SoacOperation::Replicate(sizes.clone(), zero);
            builder.add_single("zero", operand_type.clone(), replicate)
        }
        _ => zero,
    }
}

/// The sum of two scalars, or of two arrays of the same sizes, element by element.
pub(super) fn add_values(
    builder: &mut SoacBuilder,
    left: SoacOperand,
    right: SoacOperand,
) -> SoacOperand {
    let sum_type = builder.type_of(left);
    let SoacType::Array(element, sizes) = &sum_type else {
        return sum_derivatives(builder, sum_type.element(), &left, &right);
    };
    let row = SoacType::from_shape(*element, sizes[1..].to_vec());
    let function = make_sum(builder, &row);
    let map = SoacOperation::Map(sizes[0], vec![left, right], function);
    builder.add_single("sum", sum_type.clone(), map)
}

/// The function that adds two values of a type.
pub(super) fn make_sum(builder: &mut SoacBuilder, value_type: &SoacType) -> SoacLambda {
    let left = builder.add_variable("l", value_type.clone());
    let right = builder.add_variable("r", value_type.clone());
    builder.begin_body();
    let sum = add_values(
        builder,
        SoacOperand::Variable(left),
        SoacOperand::Variable(right),
    );
    let body = builder.end_body(vec![sum]);
    SoacLambda {
        parameters: vec![left, right],
        body,
    }
}

/// The sum of two tangents, which are zero if they are None.
pub(super) fn add_tangents(
    builder: &mut SoacBuilder,
    left: Option<SoacOperand>,
    right: Option<SoacOperand>,
) -> Option<SoacOperand> {
    match (left, right) {
        (Some(left), Some(right)) => Some(add_values(builder, left, right)),
        (left, right) => left.or(right),
    }
}

/// Whether a function adds its two parameters, which are scalars or arrays.
pub(super) fn is_sum(function: &SoacLambda) -> bool {
    let ([left, right], [statement]) = (
        function.parameters.as_slice(),
        function.body.statements.as_slice(),
    ) else {
        return false;
    };
    let parameters = [SoacOperand::Variable(*left), SoacOperand::Variable(*right)];
    let swapped = [parameters[1], parameters[0]];
    let is_pair = |operands: &[SoacOperand]| operands == parameters || operands == swapped;
    let is_result = function.body.results == [SoacOperand::Variable(statement.results[0])];
    is_result
        && match &statement.operation {
            SoacOperation::Scalar(operator, operands) => {
                matches!(operator.op, ScalarOp::Add | ScalarOp::FAdd) && is_pair(operands)
            }
            SoacOperation::Map(_, arrays, inner) => is_pair(arrays) && is_sum(inner),
            _ => false,
        }
}
