//! Indices, slices, updates and ranges.

use super::value::{ArrayValue, EvaluatedValue, VariableFrame};
use super::{EvaluateResult, ProgramEvaluator};
use crate::syntax::tree::RangeBound;
use crate::typed::{TypedExpressionId, TypedIndex, TypedStep};
use std::rc::Rc;

/// An index with its values.
#[derive(Clone, Copy, Debug)]
pub(super) enum IndexValue {
    /// A position.
    Point(i64),
    /// A slice: first index, one beyond the last, step. None is the default.
    Slice(Option<i64>, Option<i64>, i64),
}

/// A step of an update with its values.
pub(super) enum StepValue {
    /// A field.
    Field(crate::syntax::tree::SourceNameId),
    /// Indices.
    Indices(Vec<IndexValue>),
}

impl ProgramEvaluator<'_> {
    /// Evaluates indices.
    pub(super) fn evaluate_indices(
        &mut self,
        indices: &[TypedIndex],
        frame: &mut VariableFrame,
    ) -> EvaluateResult<Vec<IndexValue>> {
        let mut part = |evaluator: &mut Self, part: &Option<TypedExpressionId>| {
            part.map(|part| Ok(evaluator.evaluate(part, frame)?.to_int()))
                .transpose()
        };
        let mut values = Vec::with_capacity(indices.len());
        for index in indices {
            values.push(match index {
                TypedIndex::Point(point) => {
                    IndexValue::Point(part(self, &Some(*point))?.unwrap_or(0))
                }
                TypedIndex::Slice { start, end, step } => {
                    let (start, end) = (part(self, start)?, part(self, end)?);
                    IndexValue::Slice(start, end, part(self, step)?.unwrap_or(1))
                }
            });
        }
        Ok(values)
    }

    /// Evaluates the steps of an update.
    pub(super) fn evaluate_steps(
        &mut self,
        steps: &[TypedStep],
        frame: &mut VariableFrame,
    ) -> EvaluateResult<Vec<StepValue>> {
        let steps = steps.iter().map(|step| match step {
            TypedStep::Field(field) => Ok(StepValue::Field(*field)),
            TypedStep::Indices(indices) => {
                Ok(StepValue::Indices(self.evaluate_indices(indices, frame)?))
            }
        });
        steps.collect()
    }

    /// The positions of an array that an index selects.
    fn select_positions(&self, index: IndexValue, length: usize) -> EvaluateResult<Vec<usize>> {
        let size = length as i64;
        match index {
            IndexValue::Point(point) if (0..size).contains(&point) => Ok(vec![point as usize]),
            IndexValue::Point(point) => Err(self.fail(format!(
                "Index [{point}] out of bounds for array of shape [{size}]."
            ))),
            IndexValue::Slice(start, end, step) => {
                let start = start.unwrap_or(if step > 0 { 0 } else { size - 1 });
                let end = end.unwrap_or(if step > 0 { size } else { -1 });
                let distance = end.wrapping_sub(start);
                let count = match step {
                    0 => -1,
                    _ if distance != 0 && (distance > 0) != (step > 0) => -1,
                    _ => distance.unsigned_abs().div_ceil(step.unsigned_abs()) as i64,
                };
                let last = start.wrapping_add(step.wrapping_mul((count - 1).max(0)));
                let is_inside = |position| (0..size).contains(&position);
                let is_valid = count == 0 && (0..=size).contains(&start.max(0))
                    || count > 0 && is_inside(start) && is_inside(last);
                if !is_valid {
                    let stride = if step == 1 {
                        String::new()
                    } else {
                        format!(":{step}")
                    };
                    let message = format!(
                        "Index [{start}:{end}{stride}] out of bounds for array of shape [{size}]."
                    );
                    return Err(self.fail(message));
                }
                Ok((0..count)
                    .map(|index| (start + index * step) as usize)
                    .collect())
            }
        }
    }

    /// The element or slice of an array.
    pub(super) fn index_value(
        &self,
        value: &EvaluatedValue,
        indices: &[IndexValue],
    ) -> EvaluateResult<EvaluatedValue> {
        let Some((&first, rest)) = indices.split_first() else {
            return Ok(value.clone());
        };
        let EvaluatedValue::Array(array) = value else {
            return Err(self.fail("a value is indexed that is no array"));
        };
        let positions = self.select_positions(first, array.elements.len())?;
        if let IndexValue::Point(_) = first {
            return self.index_value(&array.elements[positions[0]], rest);
        }
        let elements = positions
            .into_iter()
            .map(|position| self.index_value(&array.elements[position], rest));
        let elements = elements.collect::<EvaluateResult<Vec<_>>>()?;
        Ok(EvaluatedValue::from_elements(
            elements,
            array.row_shape.clone(),
        ))
    }

    /// Replaces a part of a value.
    pub(super) fn update_value(
        &self,
        target: &mut EvaluatedValue,
        steps: &[StepValue],
        value: EvaluatedValue,
    ) -> EvaluateResult<()> {
        let Some((first, rest)) = steps.split_first() else {
            *target = value;
            return Ok(());
        };
        match (first, target) {
            (StepValue::Field(field), EvaluatedValue::Record(fields)) => {
                let fields = Rc::make_mut(fields);
                match fields.iter_mut().find(|(name, _)| name == field) {
                    Some((_, part)) => self.update_value(part, rest, value),
                    None => Err(self.fail("a field is missing")),
                }
            }
            (StepValue::Indices(indices), target) => {
                self.update_elements(target, indices, rest, value)
            }
            _ => Err(self.fail("the update does not fit the value")),
        }
    }

    /// Replaces elements of an array, or parts of an element.
    fn update_elements(
        &self,
        target: &mut EvaluatedValue,
        indices: &[IndexValue],
        steps: &[StepValue],
        value: EvaluatedValue,
    ) -> EvaluateResult<()> {
        let Some((&first, rest)) = indices.split_first() else {
            return self.update_value(target, steps, value);
        };
        let EvaluatedValue::Array(array) = target else {
            return Err(self.fail("a value is updated that is no array"));
        };
        let positions = self.select_positions(first, array.elements.len())?;
        let array: &mut ArrayValue = Rc::make_mut(array);
        if let IndexValue::Point(_) = first {
            return self.update_elements(&mut array.elements[positions[0]], rest, steps, value);
        }
        let EvaluatedValue::Array(values) = value else {
            return Err(self.fail("a slice is replaced by a value that is no array"));
        };
        if values.elements.len() != positions.len() {
            let (found, wanted) = (values.elements.len(), positions.len());
            return Err(self.fail(format!(
                "a slice of {wanted} elements is replaced by {found} elements"
            )));
        }
        for (position, value) in positions.into_iter().zip(&values.elements) {
            self.update_elements(&mut array.elements[position], rest, steps, value.clone())?;
        }
        Ok(())
    }

    /// The numbers of a range.
    pub(super) fn evaluate_range(
        &self,
        first: &EvaluatedValue,
        second: Option<&EvaluatedValue>,
        bound: RangeBound,
        last: &EvaluatedValue,
    ) -> EvaluateResult<EvaluatedValue> {
        let Some((scalar, _)) = first.to_scalar() else {
            return Err(self.fail("a range needs integers"));
        };
        let (start, end) = (i128::from(first.to_int()), i128::from(last.to_int()));
        let default = if bound == RangeBound::DownTo { -1 } else { 1 };
        let step = second.map_or(default, |second| i128::from(second.to_int()) - start);
        let beyond = match bound {
            RangeBound::Inclusive => end + step.signum(),
            RangeBound::UpTo | RangeBound::DownTo => end,
        };
        let is_wrong_way = match bound {
            RangeBound::UpTo => step < 0,
            RangeBound::DownTo => step > 0,
            RangeBound::Inclusive => false,
        };
        let distance = beyond - start;
        if step == 0 || is_wrong_way || distance != 0 && (distance > 0) != (step > 0) {
            let second = second.map_or(String::new(), |second| format!("..{}", second.to_int()));
            let dots = bound.dots();
            return Err(self.fail(format!("Range {start}{second}{dots}{end} is invalid.")));
        }
        let count = distance.unsigned_abs().div_ceil(step.unsigned_abs()) as i128;
        if count > 1 << 28 {
            return Err(self.fail("the range is too large for the evaluator"));
        }
        let machine = crate::intrinsic::machine_type(scalar);
        let elements = (0..count).map(|index| {
            EvaluatedValue::Scalar(scalar, machine.truncate_bits((start + index * step) as u64))
        });
        Ok(EvaluatedValue::from_elements(
            elements.collect(),
            Vec::new(),
        ))
    }
}
