//! Reductions along a dimension.
//!
//! Two strategies: each invocation reduces whole rows, or the invocations share each row and their partial results are combined
//! afterwards. The second one is for rows along the last dimension, whose elements are consecutive, and for whole tensors.

use super::binding::{TileBinding, TileLowering};
use super::buffer::TileBuffer;
use super::fault;
use crate::TritonResult;
use crate::emit::storage_type;
use crate::ir::{TileBlock, TileElement, TileOperation, TileType, ValueId};

/// Parts of a reduction or a scan.
pub(super) struct RowOperation<'m> {
    pub operands: &'m [ValueId],
    pub block: &'m TileBlock,
    pub axis: usize,
    /// Shape of the operands.
    pub shape: Vec<u64>,
    /// Types of the elements.
    pub elements: Vec<TileElement>,
}

impl RowOperation<'_> {
    /// The shape without the dimension of the rows.
    pub fn outer_shape(&self) -> Vec<u64> {
        let mut outer = self.shape.clone();
        outer.remove(self.axis);
        outer
    }

    /// Number of elements of a row.
    pub fn row_length(&self) -> u64 {
        self.shape[self.axis]
    }

    /// The index of an element by its row and its position there.
    pub fn full_index(&self, outer: &[String], position: &str) -> Vec<String> {
        let mut index = outer.to_vec();
        index.insert(self.axis, position.to_owned());
        index
    }
}

impl<'m> TileLowering<'m, '_> {
    /// The parts of a reduction or a scan.
    pub fn describe_rows(&self, operation: &'m TileOperation) -> TritonResult<RowOperation<'m>> {
        let malformed = || fault(&operation.place, format!("malformed {}", operation.name));
        let first = *operation.operands.first().ok_or_else(malformed)?;
        let region = operation.regions.first();
        let block = region
            .and_then(|region| region.blocks.first())
            .ok_or_else(malformed)?;
        let axis = operation.integer("axis").unwrap_or(0) as usize;
        let shape = self.type_of(first).dimensions().to_vec();
        let is_well_formed = axis < shape.len()
            && block.arguments.len() == operation.operands.len() * 2
            && operation.results.len() == operation.operands.len();
        if !is_well_formed {
            return Err(malformed());
        }
        let operands = operation.operands.iter();
        let elements = operands.map(|operand| self.type_of(*operand).element.clone());
        Ok(RowOperation {
            operands: &operation.operands,
            block,
            axis,
            shape,
            elements: elements.collect(),
        })
    }

    /// Lowers `tt.reduce`.
    pub fn lower_reduce(&mut self, operation: &'m TileOperation) -> TritonResult<()> {
        let rows = self.describe_rows(operation)?;
        let width = u64::from(self.kernel.width);
        let is_scalar = self.type_of(operation.results[0]).shape.is_none();
        let is_last = rows.axis + 1 == rows.shape.len();
        let is_shared = width > 1 && rows.row_length() >= width && (is_last || is_scalar);
        if is_shared {
            return self.reduce_shared_rows(operation, &rows);
        }
        if is_scalar {
            let values = self.reduce_row(&rows, &[], rows.row_length(), 0)?;
            for (result, value) in operation.results.iter().zip(values) {
                self.bind(*result, TileBinding::Scalar(value));
            }
            return Ok(());
        }
        let results = operation.results.iter();
        let buffers = results.map(|result| self.make_buffer(self.type_of(*result)));
        let buffers: Vec<TileBuffer> = buffers.collect();
        self.kernel.emit_barrier();
        self.for_each_element(&rows.outer_shape(), &mut |lowering, outer| {
            let values = lowering.reduce_row(&rows, outer, rows.row_length(), 0)?;
            for (buffer, value) in buffers.iter().zip(values) {
                lowering.store_element(buffer, outer, &value);
            }
            Ok(())
        })?;
        self.kernel.emit_barrier();
        for (result, buffer) in operation.results.iter().zip(buffers) {
            self.bind(*result, TileBinding::Buffer(buffer));
        }
        Ok(())
    }

    /// Reduces rows whose elements all invocations share.
    fn reduce_shared_rows(
        &mut self,
        operation: &'m TileOperation,
        rows: &RowOperation<'m>,
    ) -> TritonResult<()> {
        let width = self.kernel.width;
        let outer_shape = rows.outer_shape();
        let mut partial_shape = outer_shape.clone();
        partial_shape.push(u64::from(width));
        let mut partials = Vec::new();
        for element in &rows.elements {
            partials.push(self.make_buffer(&TileType {
                shape: Some(partial_shape.clone()),
                element: element.clone(),
            }));
        }
        self.kernel.emit_barrier();
        let lane = self.kernel.lane.clone();
        self.repeat_over(&outer_shape, Vec::new(), &mut |lowering, outer| {
            let count = rows.row_length() / u64::from(width);
            let values = lowering.reduce_row(rows, outer, count, width)?;
            let mut index = outer.to_vec();
            index.push(lane.clone());
            for (buffer, value) in partials.iter().zip(values) {
                lowering.store_element(buffer, &index, &value);
            }
            Ok(())
        })?;
        self.kernel.emit_barrier();
        if self.type_of(operation.results[0]).shape.is_none() {
            let values = self.combine_partials(rows, &partials, &[])?;
            for (result, value) in operation.results.iter().zip(values) {
                self.bind(*result, TileBinding::Scalar(value));
            }
            self.kernel.emit_barrier();
            return Ok(());
        }
        let results = operation.results.iter();
        let buffers = results.map(|result| self.make_buffer(self.type_of(*result)));
        let buffers: Vec<TileBuffer> = buffers.collect();
        self.for_each_element(&outer_shape, &mut |lowering, outer| {
            let values = lowering.combine_partials(rows, &partials, outer)?;
            for (buffer, value) in buffers.iter().zip(values) {
                lowering.store_element(buffer, outer, &value);
            }
            Ok(())
        })?;
        self.kernel.emit_barrier();
        for (result, buffer) in operation.results.iter().zip(buffers) {
            self.bind(*result, TileBinding::Buffer(buffer));
        }
        Ok(())
    }

    /// Emits loops over a shape that all invocations execute alike.
    pub fn repeat_over(
        &mut self,
        shape: &[u64],
        index: Vec<String>,
        body: &mut dyn FnMut(&mut Self, &[String]) -> TritonResult<()>,
    ) -> TritonResult<()> {
        let Some((first, rest)) = shape.split_first() else {
            return body(self, &index);
        };
        self.repeat(*first, &mut |lowering, position| {
            let mut index = index.clone();
            index.push(position.to_owned());
            lowering.repeat_over(rest, index, body)
        })
    }

    /// Combines the partial results of a row.
    fn combine_partials(
        &mut self,
        rows: &RowOperation<'m>,
        partials: &[TileBuffer],
        outer: &[String],
    ) -> TritonResult<Vec<String>> {
        let mut values: Vec<String> = Vec::new();
        for number in 0..self.kernel.width {
            let mut index = outer.to_vec();
            index.push(number.to_string());
            let mut more = Vec::new();
            for buffer in partials {
                more.push(self.load_element(buffer, &index));
            }
            values = match number {
                0 => more,
                _ => self.combine(rows, &values, &more)?,
            };
        }
        Ok(values)
    }

    /// Reduces `count` elements of a row: all, or those at a distance of the width from the invocation's first one.
    fn reduce_row(
        &mut self,
        rows: &RowOperation<'m>,
        outer: &[String],
        count: u64,
        width: u32,
    ) -> TritonResult<Vec<String>> {
        let lane = if width == 0 { "0" } else { &self.kernel.lane }.to_owned();
        let first = self.read_operands(rows, &rows.full_index(outer, &lane))?;
        if count == 1 {
            return Ok(first);
        }
        let mut variables = Vec::new();
        for (element, value) in rows.elements.iter().zip(&first) {
            let variable = self.kernel.text.make_variable(&storage_type(element));
            self.store_variable(&variable, element, value);
            variables.push(variable);
        }
        self.repeat(count - 1, &mut |lowering, turn| {
            let text = &mut lowering.kernel.text;
            let mut position = text.compute(format!("add i32 {turn}, 1"));
            if width > 0 {
                position = text.compute(format!("mul i32 {position}, {width}"));
                position = text.compute(format!("add i32 {position}, {lane}"));
            }
            let more = lowering.read_operands(rows, &rows.full_index(outer, &position))?;
            let values = lowering.load_variables(rows, &variables);
            let values = lowering.combine(rows, &values, &more)?;
            for ((element, value), variable) in rows.elements.iter().zip(values).zip(&variables) {
                lowering.store_variable(variable, element, &value);
            }
            Ok(())
        })?;
        Ok(self.load_variables(rows, &variables))
    }

    fn load_variables(&mut self, rows: &RowOperation<'m>, variables: &[String]) -> Vec<String> {
        let mut values = Vec::new();
        for (element, variable) in rows.elements.iter().zip(variables) {
            values.push(self.load_variable(variable, element));
        }
        values
    }

    /// The elements of all operands at an index.
    pub fn read_operands(
        &mut self,
        rows: &RowOperation<'m>,
        index: &[String],
    ) -> TritonResult<Vec<String>> {
        let mut values = Vec::new();
        for operand in rows.operands {
            values.push(self.evaluate(*operand, index)?);
        }
        Ok(values)
    }

    /// Applies the region of a reduction or a scan to two groups of values.
    pub fn combine(
        &mut self,
        rows: &RowOperation<'m>,
        first: &[String],
        second: &[String],
    ) -> TritonResult<Vec<String>> {
        let values: Vec<String> = first.iter().chain(second).cloned().collect();
        let combined = self.apply_block(rows.block, values)?;
        if combined.len() != rows.elements.len() {
            let place = rows.block.operations.last().map(|last| &last.place);
            let place = place.unwrap_or(&self.function.place);
            return Err(fault(place, "the block returns another number of values"));
        }
        Ok(combined)
    }

    /// Lowers a block of scalars, and returns the values of the operands of its last operation.
    pub fn apply_block(
        &mut self,
        block: &'m TileBlock,
        values: Vec<String>,
    ) -> TritonResult<Vec<String>> {
        for (argument, value) in block.arguments.iter().zip(values) {
            self.bind(*argument, TileBinding::Scalar(value));
        }
        let results = self.lower_inner_block(block)?;
        results
            .iter()
            .map(|result| self.evaluate_scalar(*result))
            .collect()
    }
}
