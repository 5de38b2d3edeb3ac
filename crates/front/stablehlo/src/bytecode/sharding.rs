//! Encodings of Shardy's attributes (bytecode.td of Shardy). Each becomes the text that MLIR prints.

use super::cursor::{BytecodeCursor, BytecodeResult};
use super::entries::BytecodeReader;
use crate::mlir::{AttributeKind, DialectBody, MlirAttr};

/// Codes of the attributes.
mod code {
    pub const MANUAL_AXES: u64 = 0;
    pub const MESH_AXIS: u64 = 1;
    pub const MESH: u64 = 2;
    pub const AXIS_PART: u64 = 3;
    pub const AXIS: u64 = 4;
    pub const DIMENSION: u64 = 5;
    pub const TENSOR: u64 = 6;
    pub const VALUES: u64 = 7;
    pub const TENSOR_WITH_SUMS: u64 = 15;
    pub const VALUES_WITH_SUMS: u64 = 16;
    pub const TENSOR_WITH_REDUCTION: u64 = 17;
}

impl<'a> BytecodeReader<'a> {
    /// An attribute of Shardy; `None` for one whose encoding is not known.
    pub fn sharding_attribute(
        &mut self,
        data: &mut BytecodeCursor<'a>,
    ) -> BytecodeResult<Option<AttributeKind>> {
        let number = data.read_varint()?;
        let (name, text) = match number {
            code::MANUAL_AXES => {
                let axes = self.join_attributes(data)?;
                ("sdy", format!("<manual_axes{{{axes}}}>"))
            }
            code::MESH_AXIS => {
                let name = self.quoted_name(data)?;
                (
                    "sdy.mesh_axis",
                    format!("{name}={}", data.read_signed_varint()?),
                )
            }
            code::MESH => ("sdy.mesh", self.mesh_text(data)?),
            code::AXIS_PART => {
                let before = data.read_signed_varint()?;
                let size = data.read_signed_varint()?;
                ("sdy.sub_axis_info", format!("({before}){size}"))
            }
            code::AXIS => ("sdy.axis_ref", self.axis_text(data)?),
            code::DIMENSION => ("sdy.dimension_sharding", self.dimension_text(data)?),
            code::TENSOR | code::TENSOR_WITH_SUMS | code::TENSOR_WITH_REDUCTION => {
                ("sdy.sharding", self.sharding_text(number, data)?)
            }
            code::VALUES | code::VALUES_WITH_SUMS => {
                let values = self.join_attributes(data)?;
                ("sdy.sharding_per_value", format!("<[{values}]>"))
            }
            _ => return Ok(None),
        };
        let name = self.module.intern_text(name);
        let body = DialectBody::Text(self.module.intern_text(&text));
        Ok(Some(AttributeKind::Dialect { name, body }))
    }

    /// A string as it is printed.
    fn quoted_name(&mut self, data: &mut BytecodeCursor<'a>) -> BytecodeResult<String> {
        match self.string_attribute(data)? {
            AttributeKind::String(name) => Ok(format!("\"{}\"", self.module.symbol_text(name))),
            _ => data.report_error("the name of an axis is not UTF-8"),
        }
    }

    /// A list of attributes as it is printed, without brackets.
    fn join_attributes(&mut self, data: &mut BytecodeCursor<'a>) -> BytecodeResult<String> {
        let count = data.read_count()?;
        let mut texts = Vec::new();
        for _ in 0..count {
            let attr = self.read_attribute(data)?;
            texts.push(self.sharding_part(attr, data)?);
        }
        Ok(texts.join(", "))
    }

    /// A part of an attribute as it is printed.
    fn sharding_part(&self, attr: MlirAttr, data: &BytecodeCursor<'a>) -> BytecodeResult<String> {
        match self.module.attributes.kind(attr) {
            AttributeKind::String(text) => Ok(format!("\"{}\"", self.module.symbol_text(*text))),
            AttributeKind::Dialect {
                body: DialectBody::Text(text),
                ..
            } => Ok(self.module.symbol_text(*text).to_owned()),
            _ => data.report_error("a part of a sharding is another attribute"),
        }
    }

    fn mesh_text(&mut self, data: &mut BytecodeCursor<'a>) -> BytecodeResult<String> {
        let axes = self.join_attributes(data)?;
        let ids = data.signed_list()?;
        let ids: Vec<String> = ids.iter().map(ToString::to_string).collect();
        Ok(if ids.is_empty() {
            format!("<[{axes}]>")
        } else {
            format!("<[{axes}], device_ids=[{}]>", ids.join(", "))
        })
    }

    fn axis_text(&mut self, data: &mut BytecodeCursor<'a>) -> BytecodeResult<String> {
        let name = self.quoted_name(data)?;
        Ok(match self.optional_attribute(data)? {
            Some(part) => format!("{name}:{}", self.sharding_part(part, data)?),
            None => name,
        })
    }

    fn dimension_text(&mut self, data: &mut BytecodeCursor<'a>) -> BytecodeResult<String> {
        let axes = self.join_attributes(data)?;
        let is_closed = data.read_byte()? != 0;
        let priority = match data.read_flagged_varint()? {
            (priority, true) => format!("p{priority}"),
            _ => String::new(),
        };
        let open = match (is_closed, axes.is_empty()) {
            (true, _) => "",
            (false, true) => "?",
            (false, false) => ", ?",
        };
        Ok(format!("{{{axes}{open}}}{priority}"))
    }

    fn sharding_text(
        &mut self,
        number: u64,
        data: &mut BytecodeCursor<'a>,
    ) -> BytecodeResult<String> {
        let mesh = self.read_attribute(data)?;
        let mesh = match self.module.attributes.kind(mesh) {
            AttributeKind::SymbolRef(path) => {
                let names = path.iter().map(|name| self.module.symbol_text(*name));
                format!("@{}", names.collect::<Vec<_>>().join("::@"))
            }
            _ => format!("mesh{}", self.sharding_part(mesh, data)?),
        };
        let dimensions = self.join_attributes(data)?;
        let mut text = format!("<{mesh}, [{dimensions}]");
        let replicated = self.join_attributes(data)?;
        if !replicated.is_empty() {
            text += &format!(", replicated={{{replicated}}}");
        }
        if number != code::TENSOR {
            let unreduced = self.join_attributes(data)?;
            let kind = match number {
                code::TENSOR_WITH_REDUCTION => reduction_word(data)?,
                _ => "",
            };
            if !unreduced.is_empty() {
                text += &format!(", unreduced={kind}{{{unreduced}}}");
            }
        }
        Ok(text + ">")
    }
}

/// The word for the reduction of the axes that are not reduced; none for a sum.
fn reduction_word(data: &mut BytecodeCursor<'_>) -> BytecodeResult<&'static str> {
    match data.read_signed_varint()? {
        0 => Ok(""),
        1 => Ok("max"),
        2 => Ok("min"),
        _ => data
            .report_error("shardings with unreduced axes of another reduction are not supported"),
    }
}
