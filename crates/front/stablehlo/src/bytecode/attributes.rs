//! Encodings of attributes: of `builtin` (BuiltinDialectBytecode.td of MLIR), `stablehlo`
//! (StablehloBytecode.cpp) and `vhlo` (VhloBytecode.cpp). Attributes of `vhlo` are those that
//! they are versions of.

use super::cursor::{BytecodeCursor, BytecodeResult};
use super::entries::BytecodeReader;
use crate::dialect::{self, AttributeSyntax, FieldKind};
use crate::mlir::{
    AttributeKind, DialectBody, IntegerSignedness, LocationKind, MlirAttr, MlirFloat, MlirLoc,
    MlirType, MlirTypeKind, NamedAttribute,
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
];

fn named(table: &'static [(u64, &'static str)], code: u64) -> Option<&'static str> {
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
        if !matches!(dialect, "builtin" | "vhlo" | "stablehlo") {
            return self.encoded_attribute(dialect, data);
        }
        let code = data.number()?;
        let kind = match dialect {
            "builtin" => self.builtin_attribute(code, data)?,
            "vhlo" => match named(VHLO, code) {
                Some(name) => self.shared_attribute(name, data)?,
                None => self.vhlo_attribute(code, data)?,
            },
            _ => match named(STABLEHLO, code) {
                Some(name) => self.shared_attribute(name, data)?,
                None => return data.error(format!("attribute {code} of `stablehlo` is not known")),
            },
        };
        Ok(self.module.attributes.intern(kind))
    }

    /// An attribute in an encoding that is not known, such as a sharding: its bytes.
    fn encoded_attribute(
        &mut self,
        dialect: &str,
        data: &mut BytecodeCursor<'a>,
    ) -> BytecodeResult<MlirAttr> {
        let bytes = data.take(data.left())?;
        let digits: String = bytes.iter().map(|byte| format!("{byte:02X}")).collect();
        let name = self.module.intern(&format!("{dialect}.encoded"));
        let body = DialectBody::Text(self.module.intern(&format!("<\"0x{digits}\">")));
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
                self.ty(data)?;
                kind
            }
            4 => AttributeKind::SymbolRef([self.name(data)?].into()),
            5 => self.symbol_ref(data)?,
            6 => AttributeKind::Type(self.ty(data)?),
            7 => AttributeKind::Unit,
            8 => self.integer(data)?,
            9 => self.float(data)?,
            10..=15 | 22 => AttributeKind::Location(self.location_attribute(code, data)?),
            16 => {
                let ty = self.ty(data)?;
                let number = data.number()?;
                let at = usize::try_from(number).unwrap_or(usize::MAX);
                match self.resource_keys.get(at) {
                    Some(&key) => AttributeKind::Resource { key, ty },
                    None => return data.error(format!("there is no resource {number}")),
                }
            }
            17 => self.dense_array(data)?,
            18 => self.elements(data)?,
            _ => return data.error(format!("attribute {code} of `builtin` is not supported")),
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
                let value = i128::from(data.number()? != 0);
                let ty = self.module.types.integer(1);
                AttributeKind::Integer { value, ty }
            }
            5 => {
                let value = i128::from(data.number()?);
                let ty = self.module.types.integer(32);
                AttributeKind::Integer { value, ty }
            }
            6 => AttributeKind::Dictionary(self.named_list(data)?),
            8 => self.float(data)?,
            9 => self.integer(data)?,
            14 => self.string_attribute(data)?,
            15 => self.elements(data)?,
            17 => AttributeKind::Type(self.ty(data)?),
            _ => return data.error(format!("attribute {code} of `vhlo` is not supported")),
        })
    }

    /// An attribute of StableHLO: a word by its number, or fields in order.
    fn shared_attribute(
        &mut self,
        name: &str,
        data: &mut BytecodeCursor<'a>,
    ) -> BytecodeResult<AttributeKind> {
        let full = format!("stablehlo.{name}");
        let body = match dialect::structure(&full) {
            Some(AttributeSyntax::Keyword) => self.keyword(name, data)?,
            Some(AttributeSyntax::Fields(fields)) => self.fields(name, fields, data)?,
            Some(AttributeSyntax::Convolution) => {
                self.fields(name, dialect::CONVOLUTION_FIELDS, data)?
            }
            None => {
                let bounds = data.signed_list()?;
                let shown = bounds.iter().map(|&bound| match bound {
                    i64::MIN => "?".to_owned(),
                    bound => bound.to_string(),
                });
                let text = format!("<{}>", shown.collect::<Vec<_>>().join(", "));
                DialectBody::Text(self.module.intern(&text))
            }
        };
        let name = self.module.intern(&full);
        Ok(AttributeKind::Dialect { name, body })
    }

    fn keyword(
        &mut self,
        name: &str,
        data: &mut BytecodeCursor<'a>,
    ) -> BytecodeResult<DialectBody> {
        let number = data.number()?;
        // Distributions are counted from one.
        let first = u64::from(name == "rng_distribution");
        let at = number
            .checked_sub(first)
            .and_then(|at| usize::try_from(at).ok());
        match at.and_then(|at| dialect::words(name).get(at)) {
            Some(word) => Ok(DialectBody::Keyword(self.module.intern(word))),
            None => data.error(format!("`{name}` has no value {number}")),
        }
    }

    fn fields(
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
                    let value = data.signed()?;
                    (self.module.integer_attribute(value, 64), value == 0)
                }
                FieldKind::Attribute => (self.field(name, field.name, data)?, false),
            };
            if field.always || !is_default {
                named.push((self.module.intern(field.name), attr));
            }
        }
        Ok(DialectBody::Fields(named.into()))
    }

    /// A field that is neither a number nor numbers.
    fn field(
        &mut self,
        name: &str,
        field: &str,
        data: &mut BytecodeCursor<'a>,
    ) -> BytecodeResult<MlirAttr> {
        let kind = match (name, field) {
            ("dot_algorithm", "allow_imprecise_accumulation") => AttributeKind::Integer {
                value: i128::from(data.signed()? != 0),
                ty: self.module.types.integer(1),
            },
            ("dot_algorithm", _) => AttributeKind::Type(self.ty(data)?),
            ("result_accuracy", "mode") => return self.attribute(data),
            _ => {
                let bits = data.signed()? as u64;
                let ty = self.module.types.float(MlirFloat::F64);
                AttributeKind::Float { bits, ty }
            }
        };
        Ok(self.module.attributes.intern(kind))
    }

    fn symbol_ref(&mut self, data: &mut BytecodeCursor<'a>) -> BytecodeResult<AttributeKind> {
        let mut path = vec![self.name(data)?];
        let count = data.count()?;
        for _ in 0..count {
            let attr = self.attribute(data)?;
            match self.module.attributes.kind(attr) {
                AttributeKind::SymbolRef(nested) => path.extend(nested),
                _ => return data.error("a part of a symbol's path is no symbol"),
            }
        }
        Ok(AttributeKind::SymbolRef(path.into()))
    }

    /// Bits of a number of this width: a byte, or a signed number.
    fn bits(&mut self, width: u32, data: &mut BytecodeCursor<'a>) -> BytecodeResult<u64> {
        match width {
            1..=8 => Ok(u64::from(data.byte()?) & ((1 << width) - 1)),
            9..=64 => Ok(data.signed()? as u64 & (u64::MAX >> (64 - width))),
            _ => data.error(format!("numbers of {width} bits are not supported")),
        }
    }

    fn integer(&mut self, data: &mut BytecodeCursor<'a>) -> BytecodeResult<AttributeKind> {
        let ty = self.ty(data)?;
        let (width, sign) = match *self.module.types.kind(ty) {
            MlirTypeKind::Integer { width, sign } => (width, sign),
            MlirTypeKind::Index => (64, IntegerSignedness::Signless),
            _ => return data.error("an integer has another type"),
        };
        let bits = self.bits(width, data)?;
        let negative = sign != IntegerSignedness::Unsigned && width > 1 && bits >> (width - 1) == 1;
        let value = i128::from(bits) - if negative { 1 << width } else { 0 };
        Ok(AttributeKind::Integer { value, ty })
    }

    fn float(&mut self, data: &mut BytecodeCursor<'a>) -> BytecodeResult<AttributeKind> {
        let ty = self.ty(data)?;
        match *self.module.types.kind(ty) {
            MlirTypeKind::Float(float) => Ok(AttributeKind::Float {
                bits: self.bits(float.width(), data)?,
                ty,
            }),
            _ => data.error("a float has another type"),
        }
    }

    fn dense_array(&mut self, data: &mut BytecodeCursor<'a>) -> BytecodeResult<AttributeKind> {
        let element = self.ty(data)?;
        let count = data.number()?;
        let bytes = data.blob()?;
        let width = self.element_bytes(element, data)?;
        match count.checked_mul(width as u64) == Some(bytes.len() as u64) {
            true => Ok(AttributeKind::DenseArray {
                element,
                data: bytes.into(),
            }),
            false => data.error(format!("{} bytes are no {count} elements", bytes.len())),
        }
    }

    fn element_bytes(&self, element: MlirType, data: &BytecodeCursor<'a>) -> BytecodeResult<usize> {
        match self.module.types.element_bytes(element) {
            Some(width) if width > 0 => Ok(width),
            _ => data.error("elements of this type are not supported"),
        }
    }

    fn elements(&mut self, data: &mut BytecodeCursor<'a>) -> BytecodeResult<AttributeKind> {
        let ty = self.ty(data)?;
        let bytes = data.blob()?.to_vec();
        match self.module.types.elements_of_bytes(ty, bytes) {
            Ok(elements) => Ok(AttributeKind::Elements(elements)),
            Err(message) => data.error(message),
        }
    }

    fn location_attribute(
        &mut self,
        code: u64,
        data: &mut BytecodeCursor<'a>,
    ) -> BytecodeResult<MlirLoc> {
        let kind = match code {
            10 => LocationKind::CallSite {
                callee: self.location(data)?,
                caller: self.location(data)?,
            },
            11 => {
                let file = self.name(data)?;
                let point = (small(data.number()?), small(data.number()?));
                LocationKind::File {
                    file,
                    start: point,
                    end: point,
                }
            }
            12 | 13 => {
                let count = data.count()?;
                let parts: BytecodeResult<Vec<MlirLoc>> =
                    (0..count).map(|_| self.location(data)).collect();
                let metadata = match code {
                    13 => Some(self.attribute(data)?),
                    _ => None,
                };
                LocationKind::Fused {
                    parts: parts?.into(),
                    metadata,
                }
            }
            14 => LocationKind::Name {
                name: self.name(data)?,
                child: self.location(data)?,
            },
            22 => self.file_range(data)?,
            _ => LocationKind::Unknown,
        };
        Ok(self.module.locations.intern(kind))
    }

    /// A file with up to four numbers: line and column of the start, and of the end.
    fn file_range(&mut self, data: &mut BytecodeCursor<'a>) -> BytecodeResult<LocationKind> {
        let file = self.name(data)?;
        let count = data.count()?;
        let numbers: BytecodeResult<Vec<u32>> =
            (0..count).map(|_| data.number().map(small)).collect();
        let numbers = numbers?;
        let at = |position: usize| numbers.get(position).copied();
        let start = (at(0).unwrap_or(0), at(1).unwrap_or(0));
        let end = match (at(2), at(3)) {
            (Some(line), Some(column)) => (line, column),
            (Some(column), None) => (start.0, column),
            _ => start,
        };
        Ok(LocationKind::File { file, start, end })
    }
}

fn small(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
