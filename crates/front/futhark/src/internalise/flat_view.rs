//! Views of the elements of an array by an offset, and a size and a stride for each dimension.

use super::message::describe_positions;
use super::value::{StaticArray, StaticValue};
use super::{InternaliseResult, SourceInternaliser};
use spirula_program::{ScalarOp, ScalarType as MachineType};
use spirula_soac::ir::{SoacLambda, SoacMessagePart, SoacOperand, SoacOperation, SoacType};

/// A dimension of a view.
#[derive(Clone, Copy, Debug)]
struct ViewDimension {
    /// The number of elements.
    size: SoacOperand,
    /// The distance of elements in the array.
    stride: SoacOperand,
}

impl SourceInternaliser<'_> {
    /// The elements of a view: an array, an offset, then size and stride of each dimension.
    pub(super) fn index_flat(
        &mut self,
        mut arguments: Vec<StaticValue>,
    ) -> InternaliseResult<StaticValue> {
        let numbers = self.require_operands(&arguments.split_off(1))?;
        let array = self.require_array(arguments.remove(0))?;
        let dimensions = numbers[1..].chunks(2).map(|pair| ViewDimension {
            size: pair[0],
            stride: pair[1],
        });
        let dimensions: Vec<_> = dimensions.collect();
        let (count, positions) = self.view_positions(&array, numbers[0], &dimensions);
        let parameter = self
            .builder
            .add_variable("p", SoacType::Scalar(MachineType::I64));
        self.builder.begin_body();
        let element = self.element_at(&array, SoacOperand::Variable(parameter));
        let body = self.builder.end_body(element.leaves());
        let lambda = SoacLambda {
            parameters: vec![parameter],
            body,
        };
        let flat = StaticValue::from_element(count, array.element.clone());
        let map = SoacOperation::Map(count, vec![positions], lambda);
        let results = self.builder.add_operation("m", flat.leaf_types(), map);
        let element = array.element.with_leaves(&results);
        let nested = dimensions.iter().rev().fold(element, |element, dimension| {
            StaticValue::from_element(dimension.size, element)
        });
        Ok(self.reshape(&nested))
    }

    /// The array with the elements of a view replaced: an array, an offset, the strides, the new elements.
    pub(super) fn update_flat(
        &mut self,
        mut arguments: Vec<StaticValue>,
    ) -> InternaliseResult<StaticValue> {
        let new = arguments
            .pop()
            .ok_or_else(|| self.fail("an array is missing"))?;
        let numbers = self.require_operands(&arguments.split_off(1))?;
        let array = self.require_array(arguments.remove(0))?;
        let mut dimensions = Vec::with_capacity(numbers.len());
        let mut element = new;
        for &stride in &numbers[1..] {
            let row = self.require_array(element)?;
            let size = row.length;
            dimensions.push(ViewDimension { size, stride });
            element = row.element;
        }
        let (count, positions) = self.view_positions(&array, numbers[0], &dimensions);
        let flat = self.reshape(&StaticValue::from_element(count, element));
        let certificates = self.builder.take_certificates();
        let flat = self.certify(flat, &certificates);
        let structure = StaticValue::from_element(array.length, array.element.clone());
        let mut types = structure.leaf_types().into_iter();
        let mut values = flat.leaves().into_iter();
        Ok(structure.map_leaves(&mut |leaf| {
            let (Some(result), Some(value)) = (types.next(), values.next()) else {
                return leaf;
            };
            let scatter = SoacOperation::Scatter(leaf, positions, value);
            self.builder.add_single("sct", result, scatter)
        }))
    }

    /// The number of elements of a view, and their positions in the array, which are checked.
    fn view_positions(
        &mut self,
        array: &StaticArray,
        offset: SoacOperand,
        dimensions: &[ViewDimension],
    ) -> (SoacOperand, SoacOperand) {
        let sizes: Vec<_> = dimensions.iter().map(|dimension| dimension.size).collect();
        let count = self.builder.add_product(&sizes);
        let (zero, one) = (SoacOperand::from_int64(0), SoacOperand::from_int64(1));
        let result = SoacType::Array(MachineType::I64, vec![count]);
        let iota = SoacOperation::Iota(count, zero, one);
        let indices = self.builder.add_single("iota", result.clone(), iota);
        let inputs = [(indices, MachineType::I64)];
        let positions = self.map_scalars(count, &inputs, |internaliser, operands| {
            let mut rest = operands[0];
            let mut position = offset;
            for dimension in dimensions.iter().rev() {
                let int64 = |internaliser: &mut Self, op, left, right| {
                    internaliser.builder.add_int64(op, left, right)
                };
                let index = int64(internaliser, ScalarOp::SModSafe, rest, dimension.size);
                rest = int64(internaliser, ScalarOp::SDivSafe, rest, dimension.size);
                let distance = int64(internaliser, ScalarOp::Mul, index, dimension.stride);
                position = int64(internaliser, ScalarOp::Add, position, distance);
            }
            internaliser.check_position(position, array.length);
            internaliser.certify_operand(position)
        });
        (count, positions)
    }

    /// Checks that a position is in an array of some length.
    fn check_position(&mut self, position: SoacOperand, length: SoacOperand) {
        let less = spirula_program::ScalarOperator::with_type(ScalarOp::ULt, MachineType::I64);
        let inside = self.builder.add_scalar(less, &[position, length]);
        let message = describe_positions(vec![SoacMessagePart::Value(position)], &[length]);
        self.add_check(inside, message);
    }

    /// An `i64` that is used only where the checks before it hold.
    fn certify_operand(&mut self, operand: SoacOperand) -> SoacOperand {
        let certificates = self.builder.take_certificates();
        if certificates.is_empty() {
            return operand;
        }
        let int64 = SoacType::Scalar(MachineType::I64);
        self.builder.certify(operand, int64, &certificates)
    }

    /// The operands of values that are scalars.
    fn require_operands(&self, values: &[StaticValue]) -> InternaliseResult<Vec<SoacOperand>> {
        values
            .iter()
            .map(|value| self.require_operand(value))
            .collect()
    }
}
