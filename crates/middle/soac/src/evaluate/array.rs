//! Operations on arrays, and the combinators with a function.

use super::{FunctionEvaluator, SoacValue};
use crate::ir::{SliceSelector, SoacLambda, SoacOperand, SoacStatement};

impl FunctionEvaluator<'_> {
    /// The part of an array that selectors take.
    pub(super) fn evaluate_slice(
        &mut self,
        array: SoacOperand,
        selectors: &[SliceSelector],
    ) -> Result<SoacValue, String> {
        let array = self.get(array)?;
        let (shape, positions) = self.select(array.shape(), selectors)?;
        let bits = array.bits();
        let selected = positions.iter().map(|&index| bits.get(index).copied());
        let selected = selected
            .collect::<Option<Vec<_>>>()
            .ok_or("a slice is out of bounds")?;
        Ok(SoacValue::from_parts(array.element(), &shape, selected))
    }

    /// An array with a part replaced.
    pub(super) fn evaluate_update(
        &mut self,
        array: SoacOperand,
        selectors: &[SliceSelector],
        value: SoacOperand,
    ) -> Result<SoacValue, String> {
        let array = self.get(array)?;
        let (_, positions) = self.select(array.shape(), selectors)?;
        let mut bits = array.bits();
        for (index, new) in positions.into_iter().zip(self.get(value)?.bits()) {
            *bits.get_mut(index).ok_or("an update is out of bounds")? = new;
        }
        Ok(SoacValue::from_parts(array.element(), array.shape(), bits))
    }

    /// Numbers with a common difference.
    pub(super) fn evaluate_iota(
        &mut self,
        count: SoacOperand,
        first: SoacOperand,
        step: SoacOperand,
    ) -> Result<SoacValue, String> {
        let element = self.get(first)?.element();
        let (count, first, step) = (
            self.get_int64(count)?,
            self.get_int64(first)?,
            self.get_int64(step)?,
        );
        let numbers = (0..count).map(|index| first.wrapping_add(index.wrapping_mul(step)) as u64);
        Ok(SoacValue::from_elements(
            element,
            vec![count],
            numbers.map(|bits| element.truncate_bits(bits)).collect(),
        ))
    }

    /// An array of equal elements.
    pub(super) fn evaluate_replicate(
        &mut self,
        sizes: &[SoacOperand],
        value: SoacOperand,
    ) -> Result<SoacValue, String> {
        let value = self.get(value)?;
        let mut shape = sizes
            .iter()
            .map(|&size| self.get_int64(size))
            .collect::<Result<Vec<_>, _>>()?;
        let count: i64 = shape.iter().product();
        shape.extend(value.shape());
        let bits = value.bits();
        Ok(SoacValue::from_elements(
            value.element(),
            shape,
            bits.repeat(usize::try_from(count).unwrap_or(0)),
        ))
    }

    /// Arrays one after the other.
    pub(super) fn evaluate_concat(&mut self, arrays: &[SoacOperand]) -> Result<SoacValue, String> {
        let arrays = self.get_all(arrays)?;
        let mut shape = arrays[0].shape().to_vec();
        shape[0] = arrays.iter().map(|array| array.shape()[0]).sum();
        let bits = arrays.iter().flat_map(SoacValue::bits).collect();
        Ok(SoacValue::from_elements(arrays[0].element(), shape, bits))
    }

    /// An array with elements written at positions; those outside are left out.
    pub(super) fn evaluate_scatter(
        &mut self,
        array: SoacOperand,
        positions: SoacOperand,
        values: SoacOperand,
    ) -> Result<SoacValue, String> {
        let array = self.get(array)?;
        let positions = self.get(positions)?.bits();
        let values = self.get(values)?;
        let size: usize = array.shape()[1..]
            .iter()
            .map(|&length| length as usize)
            .product();
        let mut bits = array.bits();
        for (index, position) in positions.into_iter().enumerate() {
            if (0..array.shape()[0]).contains(&(position as i64)) {
                let start = position as usize * size;
                bits[start..start + size].copy_from_slice(&values.row(index).bits());
            }
        }
        Ok(SoacValue::from_elements(
            array.element(),
            array.shape().to_vec(),
            bits,
        ))
    }

    /// A function applied to each row.
    pub(super) fn evaluate_map(
        &mut self,
        width: SoacOperand,
        arrays: &[SoacOperand],
        function: &SoacLambda,
        statement: &SoacStatement,
    ) -> Result<Vec<SoacValue>, String> {
        let width = self.get_int64(width)?;
        let arrays = self.get_all(arrays)?;
        let mut rows = vec![Vec::new(); function.body.results.len()];
        for index in 0..width as usize {
            let arguments = arrays.iter().map(|array| array.row(index)).collect();
            let results = self.call(function, arguments)?;
            rows.iter_mut()
                .zip(results)
                .for_each(|(rows, row)| rows.push(row));
        }
        self.stack_results(rows, &statement.results)
    }

    /// The results of a reduction up to each row.
    pub(super) fn evaluate_scan(
        &mut self,
        width: SoacOperand,
        arrays: &[SoacOperand],
        neutral: &[SoacOperand],
        function: &SoacLambda,
        statement: &SoacStatement,
    ) -> Result<Vec<SoacValue>, String> {
        let width = self.get_int64(width)?;
        let arrays = self.get_all(arrays)?;
        let mut state = self.get_all(neutral)?;
        let mut rows = vec![Vec::new(); state.len()];
        for index in 0..width as usize {
            state.extend(arrays.iter().map(|array| array.row(index)));
            state = self.call(function, state)?;
            rows.iter_mut()
                .zip(&state)
                .for_each(|(rows, row)| rows.push(row.clone()));
        }
        self.stack_results(rows, &statement.results)
    }
}
