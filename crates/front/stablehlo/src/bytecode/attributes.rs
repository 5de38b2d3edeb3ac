//! Encodings of attributes: of `builtin` (BuiltinDialectBytecode.td of MLIR), `stablehlo`
//! (StablehloBytecode.cpp) and `vhlo` (VhloBytecode.cpp). Attributes of `vhlo` are those that
//! they are versions of.

use super::cursor::{BytecodeCursor, BytecodeResult};
use super::entries::BytecodeReader;
use crate::dialect::{self, AttributeSyntax, FieldKind};
use crate::mlir::{
    AttributeKind, DialectBody, IntegerSignedness, MlirAttr, MlirFloat, MlirType, MlirTypeKind,
    NamedAttribute,
};

/// Attributes of StableHLO by their codes.
const STABLEHLO: &[(u64, &str)] = &[
    (1, "channel_handle"),
    (2, "comparison_direction"),
    (3, "comparison_type"),
    (4, "conv"),
    (5, "dot"),
    (6, "fft_type"),
    (7, "gather"),
    (8, "precision"),
    (9, "rng_algorithm"),
    (10, "rng_distribution"),
    (11, "scatter"),
    (12, "transpose"),
    (13, "bounds"),
    (14, "output_operand_alias"),
    (15, "dot_algorithm"),
    (16, "result_accuracy_mode"),
    (17, "result_accuracy"),
];

/// Attributes of `vhlo` that are versions of StableHLO's, by their codes.
const VHLO: &[(u64, &str)] = &[
    (3, "comparison_direction"),
    (4, "comparison_type"),
    (7, "fft_type"),
    (10, "output_operand_alias"),
    (11, "precision"),
    (12, "rng_algorithm"),
    (13, "rng_distribution"),
    (16, "transpose"),
    (18, "bounds"),
    (19, "result_accuracy_mode"),
    (20, "result_accuracy"),
    (21, "sub_axis_info"),
    (22, "axis_ref"),
    (23, "replica_group_mesh_axes"),
    (24, "mesh_axis"),
    (25, "mesh"),
];

fn find_code_name(table: &'static [(u64, &'static str)], code: u64) -> Option<&'static str> {
    let mut rows = table.iter();
    rows.find(|(row, _)| *row == code).map(|(_, name)| *name)
}

impl<'a> BytecodeReader<'a> {
    /// An attribute in the encoding of its dialect.
    pub fn custom_attribute(
        &mut self,
        dialect: &str,
        data: &mut BytecodeCursor<'a>,
    ) -> BytecodeResult<MlirAttr> {
        if dialect == "sdy" {
            let mut ahead = *data;
            if let Some(kind) = self.sharding_attribute(&mut ahead)? {
                *data = ahead;
                return Ok(self.module.attributes.intern(kind));
            }
        }
        if !matches!(dialect, "builtin" | "vhlo" | "stablehlo") {
            return self.encoded_attribute(dialect, data);
        }
        let code = data.read_varint()?;
        let kind = match dialect {
            "builtin" => self.builtin_attribute(code, data)?,
            "vhlo" => match find_code_name(VHLO, code) {
                Some(name) => self.shared_attribute(name, data)?,
                None => self.vhlo_attribute(code, data)?,
            },
            _ => match find_code_name(STABLEHLO, code) {
                Some(name) => self.shared_attribute(name, data)?,
                None => {
                    return data
                        .report_error(format!("attribute {code} of `stablehlo` is not known"));
                }
            },
        };
        Ok(self.module.attributes.intern(kind))
    }

    /// An attribute in an unknown encoding, as its bytes.
    fn encoded_attribute(
        &mut self,
        dialect: &str,
        data: &mut BytecodeCursor<'a>,
    ) -> BytecodeResult<MlirAttr> {
        let bytes = data.take_bytes(data.remaining_bytes())?;
        let digits: String = bytes.iter().map(|byte| format!("{byte:02X}")).collect();
        let name = self.module.intern_text(&format!("{dialect}.encoded"));
        let body = DialectBody::Text(self.module.intern_text(&format!("<\"0x{digits}\">")));
        let kind = AttributeKind::Dialect { name, body };
        Ok(self.module.attributes.intern(kind))
    }

    fn builtin_attribute(
        &mut self,
        code: u64,
        data: &mut BytecodeCursor<'a>,
    ) -> BytecodeResult<AttributeKind> {
        Ok(match code {
            0 => AttributeKind::Array(self.attributes_list(data)?),
            1 => AttributeKind::Dictionary(self.named_list(data)?),
            2 => self.string_attribute(data)?,
            3 => {
                let kind = self.string_attribute(data)?;
                self.read_type(data)?;
                kind
            }
            4 => AttributeKind::SymbolRef([self.read_name(data)?].into()),
            5 => self.symbol_ref(data)?,
            6 => AttributeKind::Type(self.read_type(data)?),
            7 => AttributeKind::Unit,
            8 => self.read_integer_attribute(data)?,
            9 => self.read_float_attribute(data)?,
            10..=15 | 22 => AttributeKind::Location(self.location_attribute(code, data)?),
            16 => {
                let ty = self.read_type(data)?;
                let number = data.read_varint()?;
                let at = usize::try_from(number).unwrap_or(usize::MAX);
                match self.resource_keys.get(at) {
                    Some(&key) => AttributeKind::Resource { key, ty },
                    None => return data.report_error(format!("there is no resource {number}")),
                }
            }
            17 => self.dense_array(data)?,
            18 => self.read_elements_attribute(data)?,
            _ => {
                return data
                    .report_error(format!("attribute {code} of `builtin` is not supported"));
            }
        })
    }

    fn vhlo_attribute(
        &mut self,
        code: u64,
        data: &mut BytecodeCursor<'a>,
    ) -> BytecodeResult<AttributeKind> {
        Ok(match code {
            1 => AttributeKind::Array(self.attributes_list(data)?),
            2 => {
                let value = i128::from(data.read_varint()? != 0);
                let ty = self.module.types.integer_type(1);
                AttributeKind::Integer { value, ty }
            }
            5 => {
                let value = i128::from(data.read_varint()?);
                let ty = self.module.types.integer_type(32);
                AttributeKind::Integer { value, ty }
            }
            6 => AttributeKind::Dictionary(self.named_list(data)?),
            8 => self.read_float_attribute(data)?,
            9 => self.read_integer_attribute(data)?,
            14 => self.string_attribute(data)?,
            15 => self.read_elements_attribute(data)?,
            17 => AttributeKind::Type(self.read_type(data)?),
            _ => return data.report_error(format!("attribute {code} of `vhlo` is not supported")),
        })
    }

    /// An attribute of StableHLO: a word by its number, or fields in order.
    fn shared_attribute(
        &mut self,
        name: &str,
        data: &mut BytecodeCursor<'a>,
    ) -> BytecodeResult<AttributeKind> {
        let full = format!("stablehlo.{name}");
        let body = match dialect::find_attribute_structure(&full) {
            Some(AttributeSyntax::Keyword) => self.read_keyword(name, data)?,
            Some(AttributeSyntax::Fields(fields)) => self.read_fields(name, fields, data)?,
            Some(AttributeSyntax::Convolution) => {
                self.read_fields(name, dialect::CONVOLUTION_FIELDS, data)?
            }
            None => {
                let bounds = data.signed_list()?;
                let shown = bounds.iter().map(|&bound| match bound {
                    i64::MIN => "?".to_owned(),
                    bound => bound.to_string(),
                });
                let text = format!("<{}>", shown.collect::<Vec<_>>().join(", "));
                DialectBody::Text(self.module.intern_text(&text))
            }
        };
        let name = self.module.intern_text(&full);
        Ok(AttributeKind::Dialect { name, body })
    }

    fn read_keyword(
        &mut self,
        name: &str,
        data: &mut BytecodeCursor<'a>,
    ) -> BytecodeResult<DialectBody> {
        let number = data.read_varint()?;
        // Distributions are counted from one.
        let first = u64::from(name == "rng_distribution");
        let at = number
            .checked_sub(first)
            .and_then(|at| usize::try_from(at).ok());
        match at.and_then(|at| dialect::list_keywords(name).get(at)) {
            Some(word) => Ok(DialectBody::Keyword(self.module.intern_text(word))),
            None => data.report_error(format!("`{name}` has no value {number}")),
        }
    }

    fn read_fields(
        &mut self,
        name: &str,
        fields: &[dialect::AttributeField],
        data: &mut BytecodeCursor<'a>,
    ) -> BytecodeResult<DialectBody> {
        let mut named: Vec<NamedAttribute> = Vec::new();
        for field in fields {
            let (attr, is_default) = match field.kind {
                FieldKind::Integers => {
                    let values = data.signed_list()?;
                    (self.module.integers_attribute(&values), values.is_empty())
                }
                FieldKind::Integer => {
                    let value = data.read_signed_varint()?;
                    (self.module.integer_attribute(value, 64), value == 0)
                }
                FieldKind::Attribute => match self.read_field(name, field.name, data)? {
                    Some(attr) => (attr, false),
                    None => continue,
                },
            };
            if field.always || !is_default {
                named.push((self.module.intern_text(field.name), attr));
            }
        }
        Ok(DialectBody::Fields(named.into()))
    }

    /// A field that is neither a number nor numbers; `None` if it is optional and missing.
    fn read_field(
        &mut self,
        name: &str,
        field: &str,
        data: &mut BytecodeCursor<'a>,
    ) -> BytecodeResult<Option<MlirAttr>> {
        let kind = match (name, field) {
            ("dot_algorithm", "allow_imprecise_accumulation") => AttributeKind::Integer {
                value: i128::from(data.read_signed_varint()? != 0),
                ty: self.module.types.integer_type(1),
            },
            ("dot_algorithm", _) => AttributeKind::Type(self.read_type(data)?),
            ("mesh", "device_ids") => return self.optional_attribute(data),
            ("axis_ref", "sub_axis_info") if data.read_varint()? == 0 => return Ok(None),
            ("result_accuracy", "mode")
            | ("axis_ref" | "mesh_axis" | "mesh" | "replica_group_mesh_axes", _) => {
                return self.read_attribute(data).map(Some);
            }
            _ => {
                let bits = data.read_signed_varint()? as u64;
                let ty = self.module.types.float_type(MlirFloat::F64);
                AttributeKind::Float { bits, ty }
            }
        };
        Ok(Some(self.module.attributes.intern(kind)))
    }

    fn symbol_ref(&mut self, data: &mut BytecodeCursor<'a>) -> BytecodeResult<AttributeKind> {
        let mut path = vec![self.read_name(data)?];
        let count = data.read_count()?;
        for _ in 0..count {
            let attr = self.read_attribute(data)?;
            match self.module.attributes.kind(attr) {
                AttributeKind::SymbolRef(nested) => path.extend(nested),
                _ => return data.report_error("a part of a symbol's path is not a symbol"),
            }
        }
        Ok(AttributeKind::SymbolRef(path.into()))
    }

    /// Bits of a number of this width: a byte, or a signed number.
    fn read_bits(&mut self, width: u32, data: &mut BytecodeCursor<'a>) -> BytecodeResult<u64> {
        match width {
            1..=8 => Ok(u64::from(data.read_byte()?) & ((1 << width) - 1)),
            9..=64 => Ok(data.read_signed_varint()? as u64 & (u64::MAX >> (64 - width))),
            _ => data.report_error(format!("numbers of {width} bits are not supported")),
        }
    }

    fn read_integer_attribute(
        &mut self,
        data: &mut BytecodeCursor<'a>,
    ) -> BytecodeResult<AttributeKind> {
        let ty = self.read_type(data)?;
        let (width, sign) = match *self.module.types.kind(ty) {
            MlirTypeKind::Integer { width, sign } => (width, sign),
            MlirTypeKind::Index => (64, IntegerSignedness::Signless),
            _ => return data.report_error("an integer has another type"),
        };
        let bits = self.read_bits(width, data)?;
        let negative = sign != IntegerSignedness::Unsigned && width > 1 && bits >> (width - 1) == 1;
        let value = i128::from(bits) - if negative { 1 << width } else { 0 };
        Ok(AttributeKind::Integer { value, ty })
    }

    fn read_float_attribute(
        &mut self,
        data: &mut BytecodeCursor<'a>,
    ) -> BytecodeResult<AttributeKind> {
        let ty = self.read_type(data)?;
        match *self.module.types.kind(ty) {
            MlirTypeKind::Float(float) => Ok(AttributeKind::Float {
                bits: self.read_bits(float.width(), data)?,
                ty,
            }),
            _ => data.report_error("a float has another type"),
        }
    }

    fn dense_array(&mut self, data: &mut BytecodeCursor<'a>) -> BytecodeResult<AttributeKind> {
        let element = self.read_type(data)?;
        let count = data.read_varint()?;
        let bytes = data.read_blob()?;
        let width = self.element_bytes(element, data)?;
        if count.checked_mul(width as u64) == Some(bytes.len() as u64) {
            Ok(AttributeKind::DenseArray {
                element,
                data: bytes.into(),
            })
        } else {
            data.report_error(format!("{} bytes are not {count} elements", bytes.len()))
        }
    }

    fn element_bytes(&self, element: MlirType, data: &BytecodeCursor<'a>) -> BytecodeResult<usize> {
        match self.module.types.element_bytes(element) {
            Some(width) if width > 0 => Ok(width),
            _ => data.report_error("elements of this type are not supported"),
        }
    }

    fn read_elements_attribute(
        &mut self,
        data: &mut BytecodeCursor<'a>,
    ) -> BytecodeResult<AttributeKind> {
        let ty = self.read_type(data)?;
        let bytes = data.read_blob()?.to_vec();
        match self.module.types.elements_of_bytes(ty, bytes) {
            Ok(elements) => Ok(AttributeKind::Elements(elements)),
            Err(message) => data.report_error(message),
        }
    }
}
