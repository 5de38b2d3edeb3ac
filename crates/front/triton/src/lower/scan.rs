//! Scans along a dimension, and histograms.

use super::binding::{TileBinding, TileLowering};
use super::buffer::TileBuffer;
use super::fault;
use crate::TritonResult;
use crate::emit::{storage_type, value_type};
use crate::ir::{TileAttribute, TileOperation};

impl<'m> TileLowering<'m, '_> {
    /// Lowers `tt.scan`. Each row is computed by one invocation.
    pub fn lower_scan(&mut self, operation: &'m TileOperation) -> TritonResult<()> {
        let rows = self.describe_rows(operation)?;
        let is_reverse = match operation.attributes.get("reverse") {
            Some(TileAttribute::Word(word)) => word == "true" || word == "unit",
            _ => false,
        };
        let results = operation.results.iter();
        let buffers = results.map(|result| self.make_buffer(self.type_of(*result)));
        let buffers: Vec<TileBuffer> = buffers.collect();
        let length = rows.row_length();
        self.kernel.emit_barrier();
        self.for_each_element(&rows.outer_shape(), &mut |lowering, outer| {
            let start = if is_reverse { length - 1 } else { 0 };
            let index = rows.full_index(outer, &start.to_string());
            let first = lowering.read_operands(&rows, &index)?;
            let mut variables = Vec::new();
            for ((buffer, value), element) in buffers.iter().zip(&first).zip(&rows.elements) {
                lowering.store_element(buffer, &index, value);
                let variable = lowering.kernel.text.make_variable(&storage_type(element));
                lowering.store_variable(&variable, element, value);
                variables.push(variable);
            }
            if length == 1 {
                return Ok(());
            }
            lowering.repeat(length - 1, &mut |lowering, turn| {
                let text = &mut lowering.kernel.text;
                let position = if is_reverse {
                    text.compute(format!("sub i32 {}, {turn}", length - 2))
                } else {
                    text.compute(format!("add i32 {turn}, 1"))
                };
                let index = rows.full_index(outer, &position);
                let more = lowering.read_operands(&rows, &index)?;
                let mut values = Vec::new();
                for (element, variable) in rows.elements.iter().zip(&variables) {
                    values.push(lowering.load_variable(variable, element));
                }
                let values = lowering.combine(&rows, &values, &more)?;
                for (number, value) in values.iter().enumerate() {
                    lowering.store_element(&buffers[number], &index, value);
                    lowering.store_variable(&variables[number], &rows.elements[number], value);
                }
                Ok(())
            })
        })?;
        self.kernel.emit_barrier();
        for (result, buffer) in operation.results.iter().zip(buffers) {
            self.bind(*result, TileBinding::Buffer(buffer));
        }
        Ok(())
    }

    /// Lowers `tt.histogram`.
    pub fn lower_histogram(&mut self, operation: &'m TileOperation) -> TritonResult<()> {
        let ([source, masks @ ..], [result]) =
            (operation.operands.as_slice(), operation.results.as_slice())
        else {
            return Err(fault(&operation.place, "malformed tt.histogram"));
        };
        let ty = self.type_of(*result);
        let bins = ty.count_elements();
        let storage = value_type(&ty.element);
        let source_type = value_type(&self.type_of(*source).element);
        let buffer = self.make_buffer(ty);
        self.kernel.emit_barrier();
        self.for_each_element(ty.dimensions(), &mut |lowering, index| {
            lowering.store_element(&buffer, index, "0");
            Ok(())
        })?;
        self.kernel.emit_barrier();
        let shape = self.type_of(*source).dimensions();
        self.for_each_element(shape, &mut |lowering, index| {
            let mut bin = lowering.evaluate(*source, index)?;
            let text = &mut lowering.kernel.text;
            let mut is_counted = text.compute(format!("icmp ult {source_type} {bin}, {bins}"));
            if source_type == "i64" {
                bin = lowering
                    .kernel
                    .text
                    .compute(format!("trunc i64 {bin} to i32"));
            }
            if let Some(mask) = masks.first() {
                let mask = lowering.evaluate(*mask, index)?;
                let text = &mut lowering.kernel.text;
                is_counted = text.compute(format!("and i1 {is_counted}, {mask}"));
            }
            lowering.emit_if(&is_counted, &mut |lowering| {
                let address = lowering.address_element(&buffer, std::slice::from_ref(&bin));
                lowering.kernel.text.compute(format!(
                    "atomicrmw add ptr addrspace(3) {address}, {storage} 1 monotonic"
                ));
                Ok(())
            })
        })?;
        self.kernel.emit_barrier();
        self.bind(*result, TileBinding::Buffer(buffer));
        Ok(())
    }
}
