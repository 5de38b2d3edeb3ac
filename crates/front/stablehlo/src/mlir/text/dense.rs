//! Parser of elements of tensors: `dense<…>` and `dense_resource<…>`.
//!
//! The type follows the elements. So the text of the elements is skipped, the type is read, and
//! then the elements are read directly into the stored bytes. Cost: two passes over the text;
//! memory in proportion to it, whatever number of elements the type claims.

use super::cursor::MlirParseResult;
use super::number::{MlirLiteralValue, NumberStorage};
use super::parser::MlirParser;
use crate::mlir::{AttributeKind, DenseElements, MlirType, MlirTypeKind};
use spirula_text::hex::read_hex;

/// Storage of the elements of one tensor.
struct DenseLayout {
    scalar: NumberStorage,
    /// 2 for complex numbers.
    parts: usize,
    shape: Vec<u64>,
}

impl MlirParser<'_> {
    /// The part after `dense`, with its type.
    pub fn parse_dense(&mut self) -> MlirParseResult<AttributeKind> {
        let body = self.skip_dense_body()?;
        self.cursor.expect_punctuation(":")?;
        let ty = self.parse_type()?;
        self.dense_of(body, ty)
    }

    /// Skips `<…>` and returns the position of the elements.
    pub fn skip_dense_body(&mut self) -> MlirParseResult<usize> {
        self.cursor.expect_punctuation("<")?;
        let body = self.cursor.pos;
        loop {
            match self.cursor.peek_byte() {
                b'>' => break,
                b'"' => {
                    self.cursor.raw_string()?;
                }
                0 if self.cursor.at_end() => return self.cursor.report_expected("`>`"),
                _ => self.cursor.pos += 1,
            }
        }
        self.cursor.pos += 1;
        Ok(body)
    }

    /// Elements of a type, whose text begins at `body`.
    pub fn dense_of(&mut self, body: usize, ty: MlirType) -> MlirParseResult<AttributeKind> {
        let back = std::mem::replace(&mut self.cursor.pos, body);
        let Some(shape) = self.module.types.static_shape(ty) else {
            let shown = self.module.show_type(ty);
            let message = format!("elements need a static shape, not {shown}");
            return self.cursor.report_error(message);
        };
        let (scalar, parts) = self.resolve_element_storage(ty)?;
        let layout = DenseLayout {
            scalar,
            parts,
            shape,
        };
        let elements = self.dense_elements(ty, &layout)?;
        self.cursor.expect_punctuation(">")?;
        self.cursor.pos = back;
        Ok(AttributeKind::Elements(elements))
    }

    fn dense_elements(
        &mut self,
        ty: MlirType,
        layout: &DenseLayout,
    ) -> MlirParseResult<DenseElements> {
        let width = layout.scalar.byte_width() * layout.parts;
        let mut data = Vec::new();
        match self.cursor.peek_byte() {
            b'>' => {
                if !layout.shape.contains(&0) {
                    return self.cursor.report_error("the elements are missing");
                }
            }
            b'"' => return self.hexadecimal_elements(ty),
            b'[' => self.nested_elements(layout, 0, &mut data)?,
            _ => {
                self.dense_element(layout, &mut data)?;
                if !layout.shape.contains(&0) {
                    return Ok(DenseElements::from_splat(ty, &data));
                }
                data.clear();
            }
        }
        Ok(DenseElements::new(ty, width, data))
    }

    /// `[…]`, whose length is that of the dimension.
    fn nested_elements(
        &mut self,
        layout: &DenseLayout,
        level: usize,
        data: &mut Vec<u8>,
    ) -> MlirParseResult<()> {
        self.cursor.enter_nesting()?;
        let start = self.cursor.skip_to_start();
        let Some(&size) = layout.shape.get(level) else {
            return self
                .cursor
                .report_error("the elements have more dimensions than their type");
        };
        self.cursor.expect_punctuation("[")?;
        let last = level + 1 == layout.shape.len();
        let mut count = 0;
        while !self.cursor.eat_punctuation("]") {
            if count > 0 {
                self.cursor.expect_punctuation(",")?;
            }
            count += 1;
            if last {
                self.dense_element(layout, data)?
            } else {
                self.nested_elements(layout, level + 1, data)?
            }
        }
        if count != size {
            let place = self.cursor.location_since(start);
            let message = format!("a list of {count} elements stands where the type has {size}");
            return self.cursor.error_at(place, message);
        }
        self.cursor.leave_nesting();
        Ok(())
    }

    fn dense_element(&mut self, layout: &DenseLayout, data: &mut Vec<u8>) -> MlirParseResult<()> {
        if layout.parts == 1 {
            return self.scalar_element(layout.scalar, data);
        }
        self.cursor.expect_punctuation("(")?;
        self.scalar_element(layout.scalar, data)?;
        self.cursor.expect_punctuation(",")?;
        self.scalar_element(layout.scalar, data)?;
        self.cursor.expect_punctuation(")")
    }

    fn scalar_element(&mut self, scalar: NumberStorage, data: &mut Vec<u8>) -> MlirParseResult<()> {
        let mut literal = self.parse_literal()?;
        // `dense<1>` and `dense<0>` are Booleans too.
        if let (
            NumberStorage::Integer { width: 1, .. },
            MlirLiteralValue::Integer(value @ (0 | 1)),
        ) = (scalar, literal.value)
        {
            literal.value = MlirLiteralValue::Bool(value == 1);
        }
        let bits = self.literal_bits(literal, scalar)?;
        data.extend_from_slice(&bits.to_le_bytes()[..scalar.byte_width()]);
        Ok(())
    }

    /// `"0x…"`: the bytes of all elements, or those of one element for all.
    fn hexadecimal_elements(&mut self, ty: MlirType) -> MlirParseResult<DenseElements> {
        let start = self.cursor.skip_to_start();
        let bytes = self.hexadecimal_string()?;
        let place = self.cursor.location_since(start);
        match self.module.types.elements_of_bytes(ty, bytes) {
            Ok(elements) => Ok(elements),
            Err(message) => self.cursor.error_at(place, message),
        }
    }

    /// The bytes of a string `"0x…"`.
    pub fn hexadecimal_string(&mut self) -> MlirParseResult<Vec<u8>> {
        let start = self.cursor.skip_to_start();
        let text = self.cursor.raw_string()?;
        match text.strip_prefix(b"0x").and_then(read_hex) {
            Some(bytes) => Ok(bytes),
            None => {
                let place = self.cursor.location_since(start);
                self.cursor
                    .error_at(place, "expected `0x` and an even number of digits")
            }
        }
    }

    /// The part after `dense_resource`.
    pub fn parse_resource(&mut self) -> MlirParseResult<AttributeKind> {
        self.cursor.expect_punctuation("<")?;
        let key = self.word_or_string()?;
        self.cursor.expect_punctuation(">")?;
        self.cursor.expect_punctuation(":")?;
        let ty = self.parse_type()?;
        match self.module.types.kind(ty) {
            MlirTypeKind::Tensor { .. } | MlirTypeKind::Vector { .. } => {
                Ok(AttributeKind::Resource { key, ty })
            }
            _ => self
                .cursor
                .report_error("elements have the type of a tensor"),
        }
    }
}
