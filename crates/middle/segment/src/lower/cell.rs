//! Cells: words that hold an element, for changes by compare and exchange.
//!
//! Devices exchange words of 32 or 64 bits. Narrower elements, floating-point numbers and small tuples are packed into words, so that one
//! exchange changes all values of an element.

use super::space::SharedItems;
use super::view::{ArrayView, ScalarRef};
use super::{FunctionLowering, LoweredValue};
use spirula_kernel::ir::ExprId;
use spirula_program::{ScalarLiteral, ScalarOp, ScalarOperator, ScalarType};

/// The word that holds the values of an element, the first in its lowest bits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ElementCell {
    pub(super) word: ScalarType,
    elements: Vec<ScalarType>,
}

impl ElementCell {
    /// The cell of an element with values of some types, if a word holds them.
    pub(super) fn find(elements: Vec<ScalarType>) -> Option<ElementCell> {
        let word = match elements.iter().map(|element| element.size()).sum() {
            1..=4 => ScalarType::I32,
            5..=8 => ScalarType::I64,
            _ => return None,
        };
        Some(ElementCell { word, elements })
    }

    /// Whether an element is a word already.
    pub(super) fn is_element(&self) -> bool {
        self.elements == [self.word]
    }
}

/// The integer with the bits of a type.
fn find_integer(element: ScalarType) -> ScalarType {
    match element {
        ScalarType::F16 => ScalarType::I16,
        ScalarType::F32 => ScalarType::I32,
        ScalarType::F64 => ScalarType::I64,
        ScalarType::Bool => ScalarType::I8,
        other => other,
    }
}

impl FunctionLowering<'_> {
    /// The word of some values.
    pub(super) fn pack_values(
        &mut self,
        cell: &ElementCell,
        values: &[LoweredValue],
    ) -> Result<ScalarRef, String> {
        let mut word: Option<ExprId> = None;
        let mut shift = 0;
        for (value, &element) in values.iter().zip(&cell.elements) {
            let LoweredValue::Scalar(value) = value else {
                return Err("a value of a cell is no scalar".into());
            };
            let value = self.read(*value);
            let integer = find_integer(element);
            let bits = match element {
                ScalarType::Bool => self.convert(ScalarOp::FromBool, value, element, integer),
                _ if integer != element => self.convert(ScalarOp::Bits, value, element, integer),
                _ => value,
            };
            let mut part = self.convert(ScalarOp::ZExt, bits, integer, cell.word);
            if let Some(before) = word {
                let distance = self
                    .builder
                    .make_literal(ScalarLiteral::new(cell.word, shift));
                part = self.builder.apply_op(ScalarOp::Shl, &[part, distance]);
                part = self.builder.apply_op(ScalarOp::Or, &[before, part]);
            }
            word = Some(part);
            shift += 8 * element.size();
        }
        let word = word.ok_or("a cell has no values")?;
        Ok(self.assign("word", cell.word, word))
    }

    /// The values of a word.
    pub(super) fn unpack_word(&mut self, cell: &ElementCell, word: ScalarRef) -> Vec<LoweredValue> {
        let mut values = Vec::with_capacity(cell.elements.len());
        let mut shift = 0;
        for &element in &cell.elements {
            let mut part = self.read(word);
            if shift > 0 {
                let distance = self
                    .builder
                    .make_literal(ScalarLiteral::new(cell.word, shift));
                part = self.builder.apply_op(ScalarOp::LShr, &[part, distance]);
            }
            let integer = find_integer(element);
            let bits = self.convert(ScalarOp::ZExt, part, cell.word, integer);
            let value = match element {
                ScalarType::Bool => self.convert(ScalarOp::ToBool, bits, integer, element),
                _ if integer != element => self.convert(ScalarOp::Bits, bits, integer, element),
                _ => bits,
            };
            values.push(LoweredValue::Scalar(self.assign("x", element, value)));
            shift += 8 * element.size();
        }
        values
    }

    fn convert(&mut self, op: ScalarOp, value: ExprId, from: ScalarType, to: ScalarType) -> ExprId {
        if from == to {
            return value;
        }
        let operator = ScalarOperator::from_conversion(op, from, to);
        self.builder.apply_operator(operator, &[value])
    }

    /// Makes an array of the cells of arrays, which have the same sizes.
    pub(super) fn pack_arrays(
        &mut self,
        cell: &ElementCell,
        arrays: &[ArrayView],
    ) -> Result<ArrayView, String> {
        let shape = arrays[0].shape.clone();
        let cells = self.new_array(cell.word, shape.clone());
        self.offload_elements(&shape, |lowering, point| {
            let mut values = Vec::with_capacity(arrays.len());
            for array in arrays {
                let place = lowering.point_view(array, point);
                values.push(LoweredValue::Scalar(lowering.load(&place)));
            }
            let word = lowering.pack_values(cell, &values)?;
            let place = lowering.point_view(&cells, point);
            lowering.store(&place, word);
            Ok(())
        })?;
        Ok(cells)
    }

    /// Writes the values of cells to arrays.
    pub(super) fn unpack_cells(
        &mut self,
        cell: &ElementCell,
        cells: &ArrayView,
        arrays: &[ArrayView],
    ) -> Result<(), String> {
        self.offload_elements(&cells.shape, |lowering, point| {
            let place = lowering.point_view(cells, point);
            let word = lowering.load(&place);
            let values = lowering.unpack_word(cell, word);
            for (array, value) in arrays.iter().zip(&values) {
                let place = lowering.point_view(array, point);
                lowering.write_value(&place, value)?;
            }
            Ok(())
        })
    }

    /// Makes a kernel with an invocation for each element of an array.
    fn offload_elements(
        &mut self,
        shape: &[ScalarRef],
        body: impl FnOnce(&mut Self, &[ScalarRef]) -> Result<(), String>,
    ) -> Result<(), String> {
        let items = SharedItems {
            count: self.product(shape),
            is_chunked: false,
            is_single: false,
        };
        self.offload_items(items, |lowering, item| {
            let point = lowering.unflatten(item, shape);
            body(lowering, &point)
        })
    }
}
