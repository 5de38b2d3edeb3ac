//! Functions whose results are arrays of any size, one after the other.
//!
//! The function is applied twice: for the sizes and the values, and once the sum of the sizes is known, for the elements,
//! which are written where they belong.

use super::control::is_outer;
use super::value::{StaticArray, StaticFunction, StaticValue};
use super::{InternaliseResult, SourceInternaliser};
use crate::check::types::PrimitiveType;
use spirula_program::{ScalarOp, ScalarOperator, ScalarType as MachineType};
use spirula_soac::ir::{
    SoacBody, SoacLambda, SoacOperand, SoacOperation, SoacType, SoacVariableId,
};
use std::rc::Rc;

/// The value of a function of a flatmap.
struct FlatmapValue {
    /// An array of any size.
    part: StaticArray,
    /// A value of a fixed size.
    other: StaticValue,
}

/// The sizes of the results of a flatmap, and the values.
struct FlatmapSizes {
    /// The number of elements of each part.
    sizes: SoacOperand,
    /// Where each part begins.
    offsets: SoacOperand,
    /// The number of elements of all parts.
    total: SoacOperand,
    /// An array of the values.
    others: StaticValue,
    /// An element of a part, with its sizes.
    row: StaticValue,
}

impl SourceInternaliser<'_> {
    /// The results of a function for all elements of an array, one after the other. The record has the sizes, whether
    /// an element is the first of its part, and where each part begins. The elements of all parts and the values
    /// follow.
    pub(super) fn flatten_results(
        &mut self,
        function: &Rc<StaticFunction>,
        array: &StaticArray,
    ) -> InternaliseResult<StaticValue> {
        let sizes = self.measure_parts(function, array)?;
        let flags = self.flag_parts(array.length, &sizes);
        let data = self.fill_parts(function, array, &sizes)?;
        let int64 = |operand| StaticValue::Scalar(super::array::INT64, operand);
        let parts = [
            StaticValue::from_element(array.length, int64(sizes.sizes)),
            StaticValue::from_element(sizes.total, StaticValue::Scalar(PrimitiveType::Bool, flags)),
            StaticValue::from_element(array.length, int64(sizes.offsets)),
            data,
            sizes.others,
        ];
        let names = (0..parts.len()).map(|index| self.program.names.find(&index.to_string()));
        let names = names.collect::<Option<Vec<_>>>();
        let names = names.ok_or_else(|| self.fail("a field of a tuple has no name"))?;
        Ok(StaticValue::Record(names.into_iter().zip(parts).collect()))
    }

    /// Calls the function of a flatmap.
    fn call_flatmap(
        &mut self,
        function: &Rc<StaticFunction>,
        element: StaticValue,
    ) -> InternaliseResult<FlatmapValue> {
        match self.call_function(function, vec![element])? {
            StaticValue::Record(mut fields) if fields.len() == 2 => {
                let (other, part) = (fields.pop(), fields.pop());
                let part = self.require_array(
                    part.map_or_else(|| StaticValue::Record(Vec::new()), |(_, part)| part),
                )?;
                let other =
                    other.map_or_else(|| StaticValue::Record(Vec::new()), |(_, other)| other);
                Ok(FlatmapValue { part, other })
            }
            _ => Err(self.fail("a pair is expected")),
        }
    }

    /// Applies the function for the sizes and the values.
    fn measure_parts(
        &mut self,
        function: &Rc<StaticFunction>,
        array: &StaticArray,
    ) -> InternaliseResult<FlatmapSizes> {
        let first_inner = self.builder.count_variables();
        let (argument, parameters) = self.add_parameters(&array.element);
        self.builder.begin_body();
        let FlatmapValue { part, other } = self.call_flatmap(function, argument)?;
        let mut results = vec![part.length];
        results.extend(other.leaves());
        let body = self.builder.end_body(results);
        let mut row_lengths = part.element.lengths();
        let mut other_lengths = other.lengths();
        let mut lengths = row_lengths.iter().chain(&other_lengths);
        if lengths.any(|&length| !is_outer(length, first_inner)) {
            let known =
                self.measure_first(function, array, row_lengths.len() + other_lengths.len())?;
            let (rows, others) = known.split_at(row_lengths.len());
            row_lengths = rows.to_vec();
            other_lengths = others.to_vec();
        }
        let others = StaticValue::from_element(array.length, other.with_lengths(&other_lengths));
        let mut types = vec![SoacType::Array(MachineType::I64, vec![array.length])];
        types.extend(others.leaf_types());
        let lambda = SoacLambda { parameters, body };
        let map = SoacOperation::Map(array.length, array.element.leaves(), lambda);
        let results = self.builder.add_operation("m", types, map);
        let (ends, total) = self.sum_prefixes(array.length, results[0]);
        let inputs = [(ends, MachineType::I64), (results[0], MachineType::I64)];
        let offsets = self.map_scalars(array.length, &inputs, |internaliser, operands| {
            internaliser
                .builder
                .add_int64(ScalarOp::Sub, operands[0], operands[1])
        });
        Ok(FlatmapSizes {
            sizes: results[0],
            offsets,
            total,
            others: others.with_leaves(&results[1..]),
            row: part.element.with_lengths(&row_lengths),
        })
    }

    /// The sizes of the rows of parts and of the values: those for the first element. Without elements they are zero.
    fn measure_first(
        &mut self,
        function: &Rc<StaticFunction>,
        array: &StaticArray,
        count: usize,
    ) -> InternaliseResult<Vec<SoacOperand>> {
        let zero = SoacOperand::from_int64(0);
        let has_elements = self.builder.add_int64(ScalarOp::SLt, zero, array.length);
        self.builder.begin_body();
        let element = self.element_at(array, zero);
        let FlatmapValue { part, other } = self.call_flatmap(function, element)?;
        let mut lengths = part.element.lengths();
        lengths.extend(other.lengths());
        let accept = self.builder.end_body(lengths);
        let reject = SoacBody {
            statements: Vec::new(),
            results: vec![zero; count],
        };
        let types = vec![SoacType::Scalar(MachineType::I64); count];
        let choice = SoacOperation::If(has_elements, accept, reject);
        Ok(self.builder.add_operation("n", types, choice))
    }

    /// For each element of all parts, whether it is the first of its part.
    fn flag_parts(&mut self, count: SoacOperand, sizes: &FlatmapSizes) -> SoacOperand {
        let inputs = [
            (sizes.sizes, MachineType::I64),
            (sizes.offsets, MachineType::I64),
        ];
        let positions = self.map_scalars(count, &inputs, |internaliser, operands| {
            let zero = SoacOperand::from_int64(0);
            let less = ScalarOperator::with_type(ScalarOp::SLt, MachineType::I64);
            let has_elements = internaliser.builder.add_scalar(less, &[zero, operands[0]]);
            let outside = SoacOperand::from_int64(-1);
            internaliser.choose_position(has_elements, operands[1], outside)
        });
        let (accept, reject) = (self.truth(true), self.truth(false));
        let cleared = self.replicate_operand(&[sizes.total], reject);
        let set = self.replicate_operand(&[count], accept);
        let result = SoacType::Array(MachineType::Bool, vec![sizes.total]);
        let scatter = SoacOperation::Scatter(cleared, positions, set);
        self.builder.add_single("flags", result, scatter)
    }

    /// Applies the function for the elements of the parts.
    fn fill_parts(
        &mut self,
        function: &Rc<StaticFunction>,
        array: &StaticArray,
        sizes: &FlatmapSizes,
    ) -> InternaliseResult<StaticValue> {
        let empty = StaticValue::from_element(sizes.total, sizes.row.clone());
        let types = empty.leaf_types();
        let targets: Vec<_> = types
            .iter()
            .map(|leaf| {
                let zero = self.constant(leaf.element(), 0);
                self.replicate_operand(leaf.shape(), zero)
            })
            .collect();
        let target = self.require_array(empty.with_leaves(&targets))?;
        self.with_accumulator(&target, None, |internaliser, variable| {
            let (argument, mut parameters) = internaliser.add_parameters(&array.element);
            let int64 = SoacType::Scalar(MachineType::I64);
            let offset = internaliser.builder.add_variable("offset", int64);
            parameters.push(offset);
            internaliser.builder.begin_body();
            let value = internaliser.call_flatmap(function, argument)?;
            internaliser.write_part(variable, SoacOperand::Variable(offset), &value.part);
            let body = internaliser.builder.end_body(Vec::new());
            let lambda = SoacLambda { parameters, body };
            let mut arrays = array.element.leaves();
            arrays.push(sizes.offsets);
            let map = SoacOperation::Map(array.length, arrays, lambda);
            internaliser.builder.add_statement(Vec::new(), map);
            Ok(())
        })
    }

    /// Writes the elements of a part from an offset on.
    fn write_part(&mut self, accumulator: SoacVariableId, offset: SoacOperand, part: &StaticArray) {
        let (element, mut parameters) = self.add_parameters(&part.element);
        let int64 = SoacType::Scalar(MachineType::I64);
        let index = self.builder.add_variable("i", int64);
        parameters.push(index);
        self.builder.begin_body();
        let index = SoacOperand::Variable(index);
        let position = self.builder.add_int64(ScalarOp::Add, offset, index);
        let write = SoacOperation::Accumulate(accumulator, position, element.leaves());
        self.builder.add_statement(Vec::new(), write);
        let body = self.builder.end_body(Vec::new());
        let (zero, one) = (SoacOperand::from_int64(0), SoacOperand::from_int64(1));
        let result = SoacType::Array(MachineType::I64, vec![part.length]);
        let iota = SoacOperation::Iota(part.length, zero, one);
        let indices = self.builder.add_single("iota", result, iota);
        let mut arrays = part.element.leaves();
        arrays.push(indices);
        let lambda = SoacLambda { parameters, body };
        let map = SoacOperation::Map(part.length, arrays, lambda);
        self.builder.add_statement(Vec::new(), map);
    }
}
