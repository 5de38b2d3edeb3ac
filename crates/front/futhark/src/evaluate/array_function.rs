//! Functions of the compiler on arrays.

use super::value::{AccumulatorValue, ArrayValue, EvaluatedValue, FunctionValue};
use super::{EvaluateResult, ProgramEvaluator};
use std::cell::RefCell;
use std::rc::Rc;

/// Positions in the outer dimensions of an array: an integer, or a tuple of integers.
fn read_position(value: &EvaluatedValue) -> Vec<i64> {
    match value {
        EvaluatedValue::Record(fields) => fields.iter().map(|(_, field)| field.to_int()).collect(),
        other => vec![other.to_int()],
    }
}

/// The element at a position, if there is one.
fn find_element<'v>(
    value: &'v mut EvaluatedValue,
    position: &[i64],
) -> Option<&'v mut EvaluatedValue> {
    let Some((&first, rest)) = position.split_first() else {
        return Some(value);
    };
    let EvaluatedValue::Array(array) = value else {
        return None;
    };
    let index = usize::try_from(first)
        .ok()
        .filter(|&index| index < array.elements.len())?;
    find_element(&mut Rc::make_mut(array).elements[index], rest)
}

impl ProgramEvaluator<'_> {
    /// The value as an array.
    pub(super) fn require_array(&self, value: &EvaluatedValue) -> EvaluateResult<Rc<ArrayValue>> {
        match value {
            EvaluatedValue::Array(array) => Ok(Rc::clone(array)),
            _ => Err(self.fail("an array is expected")),
        }
    }

    /// Combines the elements of an array.
    pub(super) fn reduce(&mut self, values: Vec<EvaluatedValue>) -> EvaluateResult<EvaluatedValue> {
        let function = self.require_function(values[0].clone())?;
        let array = self.require_array(&values[2])?;
        let mut result = values[1].clone();
        for element in &array.elements {
            result = self.call(&function, vec![result, element.clone()])?;
        }
        Ok(result)
    }

    /// The elements for which a predicate holds, and the others.
    pub(super) fn partition(
        &mut self,
        values: &[EvaluatedValue],
    ) -> EvaluateResult<(EvaluatedValue, EvaluatedValue)> {
        let predicate = self.require_function(values[0].clone())?;
        let array = self.require_array(&values[1])?;
        let (mut accepted, mut rejected) = (Vec::new(), Vec::new());
        for element in &array.elements {
            if self.call(&predicate, vec![element.clone()])?.is_true() {
                accepted.push(element.clone());
            } else {
                rejected.push(element.clone());
            }
        }
        let shape = &array.row_shape;
        Ok((
            EvaluatedValue::from_elements(accepted, shape.clone()),
            EvaluatedValue::from_elements(rejected, shape.clone()),
        ))
    }

    /// Exchanges rows and columns.
    pub(super) fn transpose(&self, value: &EvaluatedValue) -> EvaluateResult<EvaluatedValue> {
        let rows = self.require_array(value)?;
        let shape = value.shape();
        let (count, columns) = (shape[0], shape.get(1).copied().unwrap_or(0));
        let inner: Vec<i64> = shape.iter().skip(2).copied().collect();
        let mut transposed = Vec::new();
        for column in 0..columns as usize {
            let mut elements = Vec::with_capacity(rows.elements.len());
            for row in &rows.elements {
                elements.push(self.require_array(row)?.elements[column].clone());
            }
            transposed.push(EvaluatedValue::from_elements(elements, inner.clone()));
        }
        let mut row_shape = vec![count];
        row_shape.extend(inner);
        Ok(EvaluatedValue::from_elements(transposed, row_shape))
    }

    /// Concatenates the results of a function.
    pub(super) fn flatmap(&mut self, values: &[EvaluatedValue]) -> EvaluateResult<EvaluatedValue> {
        let function = self.require_function(values[0].clone())?;
        let array = self.require_array(&values[1])?;
        let (mut sizes, mut flags, mut offsets) = (Vec::new(), Vec::new(), Vec::new());
        let (mut results, mut others) = (Vec::new(), Vec::new());
        for element in &array.elements {
            let EvaluatedValue::Record(fields) = self.call(&function, vec![element.clone()])?
            else {
                return Err(self.fail("a pair is expected"));
            };
            let part = self.require_array(&fields[0].1)?;
            sizes.push(EvaluatedValue::from_int64(part.elements.len() as i64));
            offsets.push(EvaluatedValue::from_int64(results.len() as i64));
            flags.extend(
                (0..part.elements.len()).map(|index| EvaluatedValue::from_bool(index == 0)),
            );
            results.extend(part.elements.iter().cloned());
            others.push(fields[1].1.clone());
        }
        let parts = [sizes, flags, offsets, results, others];
        let names = (0..5).filter_map(|index: usize| self.program.names.find(&index.to_string()));
        let parts = parts.map(|part| EvaluatedValue::from_elements(part, Vec::new()));
        Ok(EvaluatedValue::Record(Rc::new(names.zip(parts).collect())))
    }

    /// Replaces the elements of an array at positions in its outer dimensions.
    pub(super) fn scatter(
        &mut self,
        mut values: Vec<EvaluatedValue>,
    ) -> EvaluateResult<EvaluatedValue> {
        let (positions, elements) = (
            self.require_array(&values[1])?,
            self.require_array(&values[2])?,
        );
        let mut target = values.swap_remove(0);
        for (position, element) in positions.elements.iter().zip(&elements.elements) {
            if let Some(slot) = find_element(&mut target, &read_position(position)) {
                *slot = element.clone();
            }
        }
        Ok(target)
    }

    /// Combines elements with those of an array at positions in its outer dimensions.
    pub(super) fn histogram(
        &mut self,
        mut values: Vec<EvaluatedValue>,
    ) -> EvaluateResult<EvaluatedValue> {
        let function = self.require_function(values[1].clone())?;
        let (positions, elements) = (
            self.require_array(&values[3])?,
            self.require_array(&values[4])?,
        );
        let mut target = values.swap_remove(0);
        for (position, element) in positions.elements.iter().zip(&elements.elements) {
            if let Some(slot) = find_element(&mut target, &read_position(position)) {
                *slot = self.call(&function, vec![slot.clone(), element.clone()])?;
            }
        }
        Ok(target)
    }

    /// Runs a function that writes an array for each element of another.
    pub(super) fn accumulate(
        &mut self,
        target: &EvaluatedValue,
        combine: Option<Rc<FunctionValue>>,
        function: EvaluatedValue,
        elements: &EvaluatedValue,
    ) -> EvaluateResult<EvaluatedValue> {
        let function = self.require_function(function)?;
        let elements = self.require_array(elements)?;
        let array = ArrayValue::clone(&*self.require_array(target)?);
        let accumulator = Rc::new(RefCell::new(AccumulatorValue { array, combine }));
        for element in &elements.elements {
            let state = EvaluatedValue::Accumulator(Rc::clone(&accumulator));
            self.call(&function, vec![state, element.clone()])?;
        }
        let array = accumulator.borrow().array.clone();
        Ok(EvaluatedValue::Array(Rc::new(array)))
    }

    /// The view of an array by an offset, and a size and a stride for each dimension.
    pub(super) fn flat_index(&self, values: &[EvaluatedValue]) -> EvaluateResult<EvaluatedValue> {
        let array = self.require_array(&values[0])?;
        let numbers: Vec<i64> = values[1..].iter().map(EvaluatedValue::to_int).collect();
        let dimensions: Vec<(i64, i64)> = numbers[1..]
            .chunks(2)
            .map(|pair| (pair[0], pair[1]))
            .collect();
        self.flat_view(&array, numbers[0], &dimensions)
    }

    fn flat_view(
        &self,
        array: &ArrayValue,
        offset: i64,
        dimensions: &[(i64, i64)],
    ) -> EvaluateResult<EvaluatedValue> {
        let Some((&(size, stride), rest)) = dimensions.split_first() else {
            let element = usize::try_from(offset)
                .ok()
                .and_then(|index| array.elements.get(index));
            let shape = array.elements.len();
            return element.cloned().ok_or_else(|| {
                self.fail(format!(
                    "Index [{offset}] out of bounds for array of shape [{shape}]."
                ))
            });
        };
        let elements = (0..size).map(|index| self.flat_view(array, offset + index * stride, rest));
        let shape = rest.iter().map(|(size, _)| *size).collect();
        Ok(EvaluatedValue::from_elements(
            elements.collect::<EvaluateResult<_>>()?,
            shape,
        ))
    }

    /// Replaces the elements of a view.
    pub(super) fn flat_update(
        &self,
        mut values: Vec<EvaluatedValue>,
    ) -> EvaluateResult<EvaluatedValue> {
        let Some(new) = values.pop() else {
            return Err(self.fail("an array is expected"));
        };
        let numbers: Vec<i64> = values[1..].iter().map(EvaluatedValue::to_int).collect();
        let mut target = ArrayValue::clone(&*self.require_array(&values[0])?);
        self.flat_write(&mut target, numbers[0], &numbers[1..], &new)?;
        Ok(EvaluatedValue::Array(Rc::new(target)))
    }

    fn flat_write(
        &self,
        target: &mut ArrayValue,
        offset: i64,
        strides: &[i64],
        value: &EvaluatedValue,
    ) -> EvaluateResult<()> {
        let Some((&stride, rest)) = strides.split_first() else {
            let shape = target.elements.len();
            return match usize::try_from(offset)
                .ok()
                .and_then(|index| target.elements.get_mut(index))
            {
                Some(slot) => {
                    *slot = value.clone();
                    Ok(())
                }
                None => Err(self.fail(format!(
                    "Index [{offset}] out of bounds for array of shape [{shape}]."
                ))),
            };
        };
        let values = self.require_array(value)?;
        for (index, value) in values.elements.iter().enumerate() {
            self.flat_write(target, offset + index as i64 * stride, rest, value)?;
        }
        Ok(())
    }
}
