//! Patterns, and sizes that are taken from values.

use super::value::{EvaluatedValue, VariableFrame};
use super::{EvaluateResult, ProgramEvaluator};
use crate::check::types::{PrimitiveType, TypeForm, TypeId};
use crate::intrinsic::machine_type;
use crate::typed::{
    SizeTerm, SizedType, SizedTypeId, TypedLiteral, TypedPatternId, TypedPatternKind,
};
use spirula_program::ScalarOp;

impl ProgramEvaluator<'_> {
    /// Matches a value with a pattern, and binds the variables of the pattern. False if it does not match.
    pub(super) fn match_pattern(
        &mut self,
        id: TypedPatternId,
        value: EvaluatedValue,
        frame: &mut VariableFrame,
    ) -> EvaluateResult<bool> {
        let program = self.program;
        let pattern = &program.patterns[id];
        if let Some(ascribed) = pattern.ascribed {
            self.bind_sizes(ascribed, &value, frame);
        }
        self.bind_pattern_sizes(id, &value, frame);
        match &pattern.kind {
            TypedPatternKind::Local(local) => {
                frame.locals.set(*local, Some(value));
                Ok(true)
            }
            TypedPatternKind::Wildcard => Ok(true),
            TypedPatternKind::Ascribed(inner) => self.match_pattern(*inner, value, frame),
            TypedPatternKind::Scalar(literal) => {
                let literal = self.evaluate_scalar(literal, pattern.type_id)?;
                Ok(are_equal(&literal, &value))
            }
            TypedPatternKind::Record(fields) => {
                let EvaluatedValue::Record(values) = &value else {
                    return Err(self.fail("a record is expected"));
                };
                for (name, field) in fields {
                    let Some((_, part)) = values.iter().find(|(other, _)| other == name) else {
                        return Err(self.fail("a field is missing"));
                    };
                    if !self.match_pattern(*field, part.clone(), frame)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            TypedPatternKind::Constructor(name, payload) => {
                let EvaluatedValue::Sum(constructor, values) = &value else {
                    return Err(self.fail("a value of a sum is expected"));
                };
                if constructor != name {
                    return Ok(false);
                }
                for (&part, value) in payload.iter().zip(values.iter()) {
                    if !self.match_pattern(part, value.clone(), frame)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
        }
    }

    /// The scalar type of a type.
    pub(super) fn scalar_type(&self, id: TypeId) -> EvaluateResult<PrimitiveType> {
        match self.program.types.form(id) {
            TypeForm::Scalar(scalar) => Ok(*scalar),
            _ => {
                let printed = self.program.types.print(id, &self.program.names);
                Err(self.fail(format!("`{printed}` is no scalar type")))
            }
        }
    }

    /// The value of a literal at a type.
    pub(super) fn evaluate_scalar(
        &self,
        literal: &TypedLiteral,
        type_id: TypeId,
    ) -> EvaluateResult<EvaluatedValue> {
        let scalar = self.scalar_type(type_id)?;
        match read_literal(literal, scalar) {
            Some(bits) => Ok(EvaluatedValue::Scalar(scalar, bits)),
            None => Err(self.fail("the literal is no number")),
        }
    }

    /// Gives the size parameters of a type that have no value the sizes of a value.
    pub(super) fn bind_sizes(
        &self,
        id: SizedTypeId,
        value: &EvaluatedValue,
        frame: &mut VariableFrame,
    ) {
        match (&self.program.sized_types[id], value) {
            (SizedType::Array(size, element), EvaluatedValue::Array(array)) => {
                self.bind_size(*size, array.elements.len() as i64, frame);
                match array.elements.first() {
                    Some(first) => self.bind_sizes(*element, first, frame),
                    None => self.bind_row_sizes(*element, &array.row_shape, frame),
                }
            }
            (SizedType::Record(fields), EvaluatedValue::Record(values)) => {
                for ((_, field), (_, value)) in fields.iter().zip(values.iter()) {
                    self.bind_sizes(*field, value, frame);
                }
            }
            (SizedType::Sum(clauses), EvaluatedValue::Sum(name, values)) => {
                let payload = clauses
                    .iter()
                    .find(|(other, _)| other == name)
                    .map(|(_, payload)| payload);
                for (&part, value) in payload.into_iter().flatten().zip(values.iter()) {
                    self.bind_sizes(part, value, frame);
                }
            }
            (SizedType::Unique(inner) | SizedType::Existential(_, inner), value) => {
                self.bind_sizes(*inner, value, frame);
            }
            _ => {}
        }
    }

    /// Gives a size a value, if it is a variable that has none.
    fn bind_size(&self, size: SizeTerm, length: i64, frame: &mut VariableFrame) {
        if let SizeTerm::Local(local) = size
            && frame.locals.get(local).is_none()
        {
            frame
                .locals
                .set(local, Some(EvaluatedValue::from_int64(length)));
        }
    }

    /// Gives the size parameters of the elements of an empty array their values.
    fn bind_row_sizes(&self, id: SizedTypeId, shape: &[i64], frame: &mut VariableFrame) {
        if let (SizedType::Array(size, element), Some((&length, rest))) =
            (&self.program.sized_types[id], shape.split_first())
        {
            self.bind_size(*size, length, frame);
            self.bind_row_sizes(*element, rest, frame);
        }
    }

    /// Checks that the sizes of a value are those of a type.
    pub(super) fn check_sizes(
        &mut self,
        id: SizedTypeId,
        value: &EvaluatedValue,
        frame: &mut VariableFrame,
    ) -> EvaluateResult<()> {
        let program = self.program;
        match (&program.sized_types[id], value) {
            (SizedType::Array(size, element), EvaluatedValue::Array(array)) => {
                let length = array.elements.len() as i64;
                let wanted = self.evaluate_size(*size, frame)?;
                if let Some(wanted) = wanted
                    && wanted != length
                {
                    return Err(self.fail(format!(
                        "Value of (desired) shape [{wanted}] cannot match shape of type `[{length}]`"
                    )));
                }
                match array.elements.first() {
                    Some(first) => self.check_sizes(*element, &first.clone(), frame),
                    None => Ok(()),
                }
            }
            (SizedType::Record(fields), EvaluatedValue::Record(values)) => {
                let mut parts = fields.iter().zip(values.iter());
                parts
                    .try_for_each(|((_, field), (_, value))| self.check_sizes(*field, value, frame))
            }
            (SizedType::Unique(inner) | SizedType::Existential(_, inner), value) => {
                self.check_sizes(*inner, value, frame)
            }
            _ => Ok(()),
        }
    }
}

/// The bits of a literal at a type. None if it is no number.
pub(crate) fn read_literal(literal: &TypedLiteral, scalar: PrimitiveType) -> Option<u64> {
    let machine = machine_type(scalar);
    match literal {
        TypedLiteral::Truth(value) => Some(u64::from(*value)),
        TypedLiteral::Integer(value) if machine.is_float() => {
            Some(float_bits(*value as f64, scalar))
        }
        TypedLiteral::Integer(value) => Some(machine.truncate_bits(*value as u64)),
        TypedLiteral::Float(text) => Some(float_bits(read_float(text)?, scalar)),
    }
}

/// The bits of a number at a floating-point type.
pub(super) fn float_bits(value: f64, scalar: PrimitiveType) -> u64 {
    let machine = machine_type(scalar);
    let from = spirula_program::ScalarType::F64;
    if machine == from {
        return value.to_bits();
    }
    spirula_program::ScalarOperator::from_conversion(ScalarOp::FConv, from, machine)
        .eval_operands(&[value.to_bits()])
}

/// The value of a decimal or hexadecimal number with a fraction or an exponent.
pub(crate) fn read_float(text: &str) -> Option<f64> {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => (-1.0, digits),
        None => (1.0, text),
    };
    let lower = digits.to_ascii_lowercase();
    let Some(digits) = lower.strip_prefix("0x") else {
        return Some(sign * digits.parse::<f64>().ok()?);
    };
    let (mantissa, exponent) = digits.split_once('p')?;
    let (whole, fraction) = mantissa.split_once('.')?;
    let mut value = 0.0;
    for digit in whole.chars().chain(fraction.chars()) {
        value = value * 16.0 + f64::from(digit.to_digit(16)?);
    }
    let exponent: i32 = exponent.parse().ok()?;
    Some(sign * value * 2f64.powi(exponent - 4 * fraction.len() as i32))
}

/// Whether two values are equal. A NaN is equal to nothing.
pub(super) fn are_equal(left: &EvaluatedValue, right: &EvaluatedValue) -> bool {
    use spirula_program::ScalarOperator;
    match (left.without_derivatives(), right.without_derivatives()) {
        (EvaluatedValue::Scalar(scalar, left), EvaluatedValue::Scalar(_, right)) => {
            let equal = ScalarOperator::with_type(ScalarOp::Eq, machine_type(*scalar));
            equal.eval_operands(&[*left, *right]) == 1
        }
        (EvaluatedValue::Array(left), EvaluatedValue::Array(right)) => {
            left.elements.len() == right.elements.len()
                && left
                    .elements
                    .iter()
                    .zip(&right.elements)
                    .all(|(left, right)| are_equal(left, right))
        }
        (EvaluatedValue::Record(left), EvaluatedValue::Record(right)) => left
            .iter()
            .zip(right.iter())
            .all(|((_, left), (_, right))| are_equal(left, right)),
        (EvaluatedValue::Sum(left, payload), EvaluatedValue::Sum(right, others)) => {
            left == right
                && payload
                    .iter()
                    .zip(others.iter())
                    .all(|(left, right)| are_equal(left, right))
        }
        _ => false,
    }
}
