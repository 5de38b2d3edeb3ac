//! Elements of arrays for the functions of combinators.

use super::stream::StreamedScan;
use super::view::{ArrayView, ScalarRef};
use super::{FunctionLowering, LoweredValue};
use spirula_program::{ScalarOp, ScalarOperator, ScalarType};
use spirula_soac::ir::{SoacOperand, SoacOperation, SoacVariableId};
use std::rc::Rc;

/// An array that takes no memory.
#[derive(Clone, Copy, Debug)]
pub(super) enum VirtualArray {
    /// Integers that follow each other: their type, the first, the distance.
    Iota(ScalarType, ScalarRef, ScalarRef),
    /// Copies of a scalar.
    Constant(ScalarRef),
}

/// An array whose elements are used one by one.
#[derive(Clone, Debug)]
pub(super) enum ElementSource {
    /// An array in memory.
    Array(ArrayView),
    /// A virtual one.
    Virtual(VirtualArray),
    /// A result of a streamed scan, by its number.
    Streamed(Rc<StreamedScan>, usize),
}

impl FunctionLowering<'_> {
    /// The virtual array that an operation makes.
    pub(super) fn find_virtual_array(
        &self,
        result: SoacVariableId,
        operation: &SoacOperation,
    ) -> Result<Option<VirtualArray>, String> {
        if !self.virtual_arrays.contains(result) {
            return Ok(None);
        }
        Ok(match *operation {
            SoacOperation::Iota(_, first, step) => {
                let element = self.function.type_of(first).element();
                Some(VirtualArray::Iota(
                    element,
                    self.scalar(first)?,
                    self.scalar(step)?,
                ))
            }
            SoacOperation::Replicate(_, value) => match self.value(value)? {
                LoweredValue::Scalar(scalar) => Some(VirtualArray::Constant(scalar)),
                _ => None,
            },
            _ => None,
        })
    }

    /// The sources of the elements of arrays.
    pub(super) fn element_sources(
        &self,
        operands: &[SoacOperand],
    ) -> Result<Vec<ElementSource>, String> {
        let sources = operands.iter().map(|&operand| match self.value(operand)? {
            LoweredValue::Virtual(array) => Ok(ElementSource::Virtual(array)),
            LoweredValue::Streamed(scan, result) => Ok(ElementSource::Streamed(scan, result)),
            _ => Ok(ElementSource::Array(self.array(operand)?)),
        });
        sources.collect()
    }

    /// Binds the parameters of a function to the elements of arrays at a position. Streamed scans take a step.
    pub(super) fn bind_elements(
        &mut self,
        parameters: &[SoacVariableId],
        sources: &[ElementSource],
        position: ScalarRef,
    ) -> Result<(), String> {
        self.step_streams(sources, position)?;
        for (&parameter, source) in parameters.iter().zip(sources) {
            let value = self.source_value(source, position);
            self.set(parameter, value);
        }
        Ok(())
    }

    /// The elements of arrays at a position. Streamed scans take a step.
    pub(super) fn source_values(
        &mut self,
        sources: &[ElementSource],
        position: ScalarRef,
    ) -> Result<Vec<LoweredValue>, String> {
        self.step_streams(sources, position)?;
        let sources = sources.iter();
        let values = sources.map(|source| self.source_value(source, position));
        Ok(values.collect())
    }

    fn source_value(&mut self, source: &ElementSource, position: ScalarRef) -> LoweredValue {
        match source {
            ElementSource::Array(array) => self.row_value(array, position),
            ElementSource::Virtual(array) => {
                LoweredValue::Scalar(self.virtual_element(*array, position))
            }
            ElementSource::Streamed(scan, result) => scan.states[*result].clone(),
        }
    }

    /// Binds the parameters of a function to the elements or rows of arrays in memory.
    pub(super) fn bind_rows(
        &mut self,
        parameters: &[SoacVariableId],
        arrays: &[ArrayView],
        position: ScalarRef,
    ) {
        for (&parameter, array) in parameters.iter().zip(arrays) {
            let value = self.row_value(array, position);
            self.set(parameter, value);
        }
    }

    /// The element or row of an array at a position.
    fn row_value(&mut self, array: &ArrayView, position: ScalarRef) -> LoweredValue {
        let row = self.row_view(array, position);
        if row.shape.is_empty() {
            LoweredValue::Scalar(self.load(&row))
        } else {
            LoweredValue::Array(row)
        }
    }

    /// The elements or rows of arrays at a position.
    pub(super) fn row_values(
        &mut self,
        arrays: &[ArrayView],
        position: ScalarRef,
    ) -> Vec<LoweredValue> {
        let mut values = Vec::with_capacity(arrays.len());
        for array in arrays {
            values.push(self.row_value(array, position));
        }
        values
    }

    /// The element of a virtual array at a position.
    pub(super) fn virtual_element(
        &mut self,
        array: VirtualArray,
        position: ScalarRef,
    ) -> ScalarRef {
        match array {
            VirtualArray::Constant(value) => value,
            VirtualArray::Iota(element, first, step) => {
                self.number_at(element, first, step, position)
            }
        }
    }

    /// The integer at a position among those that follow each other.
    pub(super) fn number_at(
        &mut self,
        element: ScalarType,
        first: ScalarRef,
        step: ScalarRef,
        position: ScalarRef,
    ) -> ScalarRef {
        if element == ScalarType::I64 {
            let distance = self.int64(ScalarOp::Mul, position, step);
            return self.int64(ScalarOp::Add, first, distance);
        }
        let narrow = ScalarOperator::from_conversion(ScalarOp::SExt, ScalarType::I64, element);
        let number = self.read(position);
        let number = self.builder.apply_operator(narrow, &[number]);
        let (first, step) = (self.read(first), self.read(step));
        let distance = self.builder.apply_op(ScalarOp::Mul, &[number, step]);
        let value = self.builder.apply_op(ScalarOp::Add, &[first, distance]);
        self.assign("x", element, value)
    }
}
