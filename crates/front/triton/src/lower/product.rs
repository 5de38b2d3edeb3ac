//! Matrix products. Operands are stored in the type in which products are summed. A block of rows is computed at once, so
//! that each element of the second operand is used for several rows.

use super::binding::{TileBinding, TileLowering};
use super::buffer::TileBuffer;
use super::fault;
use crate::TritonResult;
use crate::emit::{ScalarUse, emit_scalar, value_type};
use crate::ir::{FloatFormat, TileElement, TileOperation, TileType, ValueId};
use std::collections::BTreeMap;

/// Rows that are computed at once.
const BLOCK_ROWS: u64 = 4;

/// Operands of a product in the type of its sums.
pub(super) struct ProductOperands {
    pub left: TileBuffer,
    pub right: TileBuffer,
    /// Sizes of the dimensions before the last two.
    pub batch: Vec<u64>,
    pub rows: u64,
    pub columns: u64,
    pub depth: u64,
}

impl<'m> TileLowering<'m, '_> {
    /// Lowers `tt.dot`.
    pub fn lower_dot(&mut self, operation: &'m TileOperation) -> TritonResult<()> {
        let ([left, right, sum], [result]) =
            (operation.operands.as_slice(), operation.results.as_slice())
        else {
            return Err(fault(&operation.place, "malformed tt.dot"));
        };
        let ty = self.type_of(*result);
        let wide = summed_type(&ty.element);
        let [batch @ .., rows, columns] = ty.dimensions() else {
            return Err(fault(&operation.place, "tt.dot needs matrices"));
        };
        let Some(depth) = self.type_of(*left).dimensions().last().copied() else {
            return Err(fault(&operation.place, "tt.dot needs matrices"));
        };
        let operands = ProductOperands {
            left: self.widen_operand(operation, *left, &wide)?,
            right: self.widen_operand(operation, *right, &wide)?,
            batch: batch.to_vec(),
            rows: *rows,
            columns: *columns,
            depth,
        };
        self.emit_product(operation, &operands, *sum, *result)
    }

    /// Emits the product of two operands, and its sum with a tensor.
    pub fn emit_product(
        &mut self,
        operation: &'m TileOperation,
        operands: &ProductOperands,
        sum: ValueId,
        result: ValueId,
    ) -> TritonResult<()> {
        let target = self.choose_target(operation, sum, self.type_of(result))?;
        self.kernel.emit_barrier();
        let block = BLOCK_ROWS.min(operands.rows);
        self.repeat_over(&operands.batch, Vec::new(), &mut |lowering, batch| {
            lowering.repeat(operands.rows / block, &mut |lowering, block_number| {
                lowering.for_each_share(operands.columns, &mut |lowering, column| {
                    lowering.emit_column(operands, &target, batch, block_number, column)
                })
            })
        })?;
        self.kernel.emit_barrier();
        self.bind(result, TileBinding::Buffer(target));
        Ok(())
    }

    /// The buffer of the sums, with the values to which products are added. It is that of the operand where nothing else uses it.
    fn choose_target(
        &mut self,
        operation: &'m TileOperation,
        sum: ValueId,
        ty: &TileType,
    ) -> TritonResult<TileBuffer> {
        if let Some(TileBinding::Buffer(buffer)) = self.binding(sum)
            && buffer.element == ty.element
            && self.is_last_use(operation, sum)
        {
            return Ok(buffer.clone());
        }
        let target = self.make_buffer(ty);
        self.fill_buffer(&target, sum)?;
        Ok(target)
    }

    /// Whether an operation is the only use of a value, in the block that defines the value.
    fn is_last_use(&self, operation: &TileOperation, value: ValueId) -> bool {
        let [only] = self.facts.uses(value) else {
            return false;
        };
        let Some(block) = self.facts.defining_block(value) else {
            return false;
        };
        std::ptr::eq(only.user, operation) && only.position.block == block
    }

    /// An operand in a buffer, with elements of the type of the sums.
    fn widen_operand(
        &mut self,
        operation: &'m TileOperation,
        operand: ValueId,
        wide: &TileElement,
    ) -> TritonResult<TileBuffer> {
        let ty = self.type_of(operand);
        if ty.element == *wide {
            return self.require_buffer(operand);
        }
        let buffer = self.make_buffer(&TileType {
            shape: ty.shape.clone(),
            element: wide.clone(),
        });
        let name = match (&ty.element, wide) {
            (TileElement::Integer(_), TileElement::Integer(_)) => "arith.extsi",
            (TileElement::Float(_), TileElement::Float(_)) => "tt.fp_to_fp",
            _ => {
                let message = format!(
                    "tt.dot of {} with sums of {wide} is not supported",
                    ty.element
                );
                return Err(fault(&operation.place, message));
            }
        };
        let conversion = TileOperation {
            name: name.to_owned(),
            operands: Vec::new(),
            results: Vec::new(),
            words: Vec::new(),
            attributes: BTreeMap::new(),
            regions: Vec::new(),
            successors: Vec::new(),
            place: operation.place.clone(),
        };
        self.kernel.emit_barrier();
        self.for_each_element(ty.dimensions(), &mut |lowering, index| {
            let element = lowering.evaluate(operand, index)?;
            let scalar = ScalarUse {
                operation: &conversion,
                operands: &[(ty.element.clone(), element)],
                number: 0,
                result: wide,
            };
            let element = emit_scalar(&mut lowering.kernel.text, &scalar)
                .map_err(|reason| fault(&operation.place, reason))?;
            lowering.store_element(&buffer, index, &element);
            Ok(())
        })?;
        self.kernel.emit_barrier();
        Ok(buffer)
    }

    /// Emits the sums of some rows in one column.
    fn emit_column(
        &mut self,
        operands: &ProductOperands,
        target: &TileBuffer,
        batch: &[String],
        block_number: &str,
        column: &str,
    ) -> TritonResult<()> {
        let wide = operands.left.element.clone();
        let ty = value_type(&wide);
        let block = BLOCK_ROWS.min(operands.rows);
        let mut sums = Vec::new();
        for number in 0..block {
            let text = &mut self.kernel.text;
            let first = text.compute(format!("mul i32 {block_number}, {block}"));
            let row = text.compute(format!("add i32 {first}, {number}"));
            let mut index = batch.to_vec();
            index.extend([row.clone(), column.to_owned()]);
            let value = self.load_element(target, &index);
            let value = self.convert_sum(&value, &target.element, &wide)?;
            let variable = self.kernel.text.make_variable(&ty);
            self.kernel
                .text
                .act(format!("store {ty} {value}, ptr {variable}"));
            sums.push((row, index, variable));
        }
        let is_float = matches!(wide, TileElement::Float(_));
        let (multiply, add) = if is_float {
            ("fmul", "fadd")
        } else {
            ("mul", "add")
        };
        self.repeat(operands.depth, &mut |lowering, position| {
            let mut index = batch.to_vec();
            index.extend([position.to_owned(), column.to_owned()]);
            let right = lowering.load_element(&operands.right, &index);
            for (row, _, variable) in &sums {
                let mut index = batch.to_vec();
                index.extend([row.clone(), position.to_owned()]);
                let left = lowering.load_element(&operands.left, &index);
                let text = &mut lowering.kernel.text;
                let product = text.compute(format!("{multiply} {ty} {left}, {right}"));
                let sum = text.compute(format!("load {ty}, ptr {variable}"));
                let sum = text.compute(format!("{add} {ty} {sum}, {product}"));
                text.act(format!("store {ty} {sum}, ptr {variable}"));
            }
            Ok(())
        })?;
        for (_, index, variable) in &sums {
            let sum = self
                .kernel
                .text
                .compute(format!("load {ty}, ptr {variable}"));
            let sum = self.convert_sum(&sum, &wide, &target.element)?;
            self.store_element(target, index, &sum);
        }
        Ok(())
    }

    /// Converts a sum between the type of the result and that in which it is computed.
    fn convert_sum(
        &mut self,
        value: &str,
        from: &TileElement,
        to: &TileElement,
    ) -> TritonResult<String> {
        let (TileElement::Float(from), TileElement::Float(to)) = (from, to) else {
            return Ok(value.to_owned());
        };
        Ok(crate::emit::convert_format(
            &mut self.kernel.text,
            value,
            *from,
            *to,
            true,
        ))
    }
}

/// The type in which products are summed.
fn summed_type(element: &TileElement) -> TileElement {
    match element {
        TileElement::Float(FloatFormat::Double) | TileElement::Integer(_) => element.clone(),
        _ => TileElement::Float(FloatFormat::Single),
    }
}
