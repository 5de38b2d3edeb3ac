//! Matrix products of small numbers with scales: `tt.dot_scaled`. Blocks of 32 or 16 numbers along the inner dimension share a
//! scale. The formats are those of the OCP Microscaling specification 1.0.

use super::binding::TileLowering;
use super::buffer::TileBuffer;
use super::fault;
use super::product::ProductOperands;
use crate::TritonResult;
use crate::emit::convert_format;
use crate::ir::{FloatFormat, TileAttribute, TileElement, TileOperation, TileType, ValueId};

/// An operand of a product with scales.
struct ScaledOperand {
    value: ValueId,
    scale: Option<ValueId>,
    /// Name of its format.
    format: String,
    /// Dimension along which products are summed.
    inner: usize,
    /// Whether two numbers of four bits are neighbours along that dimension.
    is_packed_inside: bool,
    /// Number of rows and columns.
    shape: [u64; 2],
}

impl<'m> TileLowering<'m, '_> {
    /// Lowers `tt.dot_scaled`: operands are converted to `f32` with their scales.
    pub fn lower_scaled_dot(&mut self, operation: &'m TileOperation) -> TritonResult<()> {
        let malformed = || fault(&operation.place, "malformed tt.dot_scaled");
        let mut operands = operation.operands.iter().copied();
        let mut take_pair = |name: &str| {
            let value = operands.next().ok_or_else(malformed)?;
            let has_scale = operation.attributes.contains_key(name);
            let scale = if has_scale { operands.next() } else { None };
            Ok((value, scale))
        };
        let (left, left_scale) = take_pair("lhs_scale")?;
        let (right, right_scale) = take_pair("rhs_scale")?;
        let (Some(sum), [result]) = (operands.next(), operation.results.as_slice()) else {
            return Err(malformed());
        };
        let [rows, columns] = *self.type_of(*result).dimensions() else {
            return Err(fault(&operation.place, "tt.dot_scaled needs matrices"));
        };
        let left = self.describe_scaled(operation, left, left_scale, "lhs", 1, rows)?;
        let right = self.describe_scaled(operation, right, right_scale, "rhs", 0, columns)?;
        let depth = left.shape[1];
        if right.shape[0] != depth {
            return Err(malformed());
        }
        let operands = ProductOperands {
            left: self.fill_scaled(operation, &left)?,
            right: self.fill_scaled(operation, &right)?,
            batch: Vec::new(),
            rows,
            columns,
            depth,
        };
        self.emit_product(operation, &operands, sum, *result)
    }

    fn describe_scaled(
        &self,
        operation: &TileOperation,
        value: ValueId,
        scale: Option<ValueId>,
        side: &str,
        inner: usize,
        outer_size: u64,
    ) -> TritonResult<ScaledOperand> {
        let format = operation.word(side).unwrap_or_default().to_owned();
        let is_packed_inside = !matches!(
            operation.attributes.get(&format!("{side}_k_pack")),
            Some(TileAttribute::Word(word)) if word == "false"
        );
        let [rows, columns] = *self.type_of(value).dimensions() else {
            return Err(fault(&operation.place, "tt.dot_scaled needs matrices"));
        };
        let mut shape = [rows, columns];
        if format == "e2m1" && is_packed_inside {
            shape[inner] *= 2;
        }
        shape[1 - inner] = outer_size;
        Ok(ScaledOperand {
            value,
            scale,
            format,
            inner,
            is_packed_inside,
            shape,
        })
    }

    /// Fills a buffer with the numbers of an operand, multiplied with their scales.
    fn fill_scaled(
        &mut self,
        operation: &'m TileOperation,
        operand: &ScaledOperand,
    ) -> TritonResult<TileBuffer> {
        let buffer = self.make_buffer(&TileType {
            shape: Some(operand.shape.to_vec()),
            element: TileElement::Float(FloatFormat::Single),
        });
        self.kernel.emit_barrier();
        self.for_each_element(&operand.shape, &mut |lowering, index| {
            let mut number = lowering.emit_number(operation, operand, index)?;
            if let Some(scale) = operand.scale {
                let scale = lowering.emit_scale(operation, operand, scale, index)?;
                let product = format!("fmul float {number}, {scale}");
                number = lowering.kernel.text.compute(product);
            }
            lowering.store_element(&buffer, index, &number);
            Ok(())
        })?;
        self.kernel.emit_barrier();
        Ok(buffer)
    }

    /// Emits a number of an operand as `f32`.
    fn emit_number(
        &mut self,
        operation: &'m TileOperation,
        operand: &ScaledOperand,
        index: &[String],
    ) -> TritonResult<String> {
        if operand.format == "e2m1" {
            let axis = if operand.is_packed_inside {
                operand.inner
            } else {
                1 - operand.inner
            };
            let mut packed = index.to_vec();
            let text = &mut self.kernel.text;
            packed[axis] = text.compute(format!("lshr i32 {}, 1", index[axis]));
            let odd = text.compute(format!("and i32 {}, 1", index[axis]));
            let byte = self.evaluate(operand.value, &packed)?;
            return Ok(self.emit_nibble(&byte, &odd));
        }
        let format = match operand.format.as_str() {
            "e4m3" => FloatFormat::E4M3,
            "e5m2" => FloatFormat::E5M2,
            "bf16" => FloatFormat::Brain,
            "fp16" => FloatFormat::Half,
            other => {
                let message = format!("tt.dot_scaled of {other} is not supported");
                return Err(fault(&operation.place, message));
            }
        };
        let number = self.evaluate(operand.value, index)?;
        let text = &mut self.kernel.text;
        Ok(convert_format(
            text,
            &number,
            format,
            FloatFormat::Single,
            true,
        ))
    }

    /// Emits the number of four bits in one half of a byte as `f32`: a sign, two bits of exponent and one of mantissa.
    fn emit_nibble(&mut self, byte: &str, is_high: &str) -> String {
        let text = &mut self.kernel.text;
        let wide = text.compute(format!("zext i8 {byte} to i32"));
        let shift = text.compute(format!("shl i32 {is_high}, 2"));
        let nibble = text.compute(format!("lshr i32 {wide}, {shift}"));
        let magnitude = text.compute(format!("and i32 {nibble}, 7"));
        // The bits are those of an f32 whose exponent is too small by 126.
        let placed = text.compute(format!("shl i32 {magnitude}, 22"));
        let small = text.compute(format!("bitcast i32 {placed} to float"));
        let scale = crate::emit::write_float(126_f64.exp2());
        let number = text.compute(format!("fmul float {small}, {scale}"));
        let negated = text.compute(format!("fneg float {number}"));
        let sign = text.compute(format!("and i32 {nibble}, 8"));
        let is_negative = text.compute(format!("icmp ne i32 {sign}, 0"));
        text.compute(format!(
            "select i1 {is_negative}, float {negated}, float {number}"
        ))
    }

    /// Emits the scale of an element as `f32`: a power of two by its exponent, or a number of eight bits.
    fn emit_scale(
        &mut self,
        operation: &'m TileOperation,
        operand: &ScaledOperand,
        scale: ValueId,
        index: &[String],
    ) -> TritonResult<String> {
        let ty = self.type_of(scale);
        let Some(count) = ty.dimensions().last().copied() else {
            return Err(fault(&operation.place, "malformed tt.dot_scaled"));
        };
        let block = (operand.shape[operand.inner] / count.max(1)).max(1);
        let text = &mut self.kernel.text;
        let group = text.compute(format!("udiv i32 {}, {block}", index[operand.inner]));
        let outer = index[1 - operand.inner].clone();
        let number = self.evaluate(scale, &[outer, group])?;
        let text = &mut self.kernel.text;
        if let TileElement::Float(format) = ty.element {
            return Ok(convert_format(
                text,
                &number,
                format,
                FloatFormat::Single,
                true,
            ));
        }
        let wide = text.compute(format!("zext i8 {number} to i32"));
        let bits = text.compute(format!("shl i32 {wide}, 23"));
        let is_least = text.compute(format!("icmp eq i32 {wide}, 0"));
        let bits = text.compute(format!("select i1 {is_least}, i32 4194304, i32 {bits}"));
        let is_nan = text.compute(format!("icmp eq i32 {wide}, 255"));
        let bits = text.compute(format!("select i1 {is_nan}, i32 2143289344, i32 {bits}"));
        Ok(text.compute(format!("bitcast i32 {bits} to float")))
    }
}
