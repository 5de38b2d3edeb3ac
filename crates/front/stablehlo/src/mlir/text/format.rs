//! Assembly formats: custom forms that are a row of a table, with their attributes and trailing
//! types.
//!
//! A format is read from left to right. Its items are:
//! - `%` is an operand, `%*` a list of operands with commas between, which may be empty;
//! - `<name:kind>` is an attribute of the operation, written in the syntax of its kind;
//! - `{…}` is an optional part: it is present if its first word or sign is;
//! - every other word and sign is literal.
//!
//! The dictionary of other attributes and the types follow the format ([`TrailingTypes`]).

use super::cursor::MlirParseResult;
use super::operation::OperationState;
use super::parser::MlirParser;
use crate::dialect::TrailingTypes;
use crate::mlir::{AttributeKind, MlirFloat, MlirType, MlirTypeKind};

/// An item of a format.
enum AssemblyFormatItem<'f> {
    Operand,
    Operands,
    Attribute(&'f str, &'f str),
    Optional(&'f str),
    Word(&'f str),
    Sign(&'f str),
}

/// The first item of a format and the rest; `None` at its end.
fn next_item(format: &str) -> Option<(AssemblyFormatItem<'_>, &str)> {
    let format = format.trim_start();
    let first = format.as_bytes().first()?;
    Some(match first {
        b'%' if format.starts_with("%*") => (AssemblyFormatItem::Operands, &format[2..]),
        b'%' => (AssemblyFormatItem::Operand, &format[1..]),
        b'<' => {
            let (inside, rest) = format[1..].split_once('>')?;
            let (name, kind) = inside.split_once(':')?;
            (AssemblyFormatItem::Attribute(name, kind), rest)
        }
        b'{' => {
            let (inside, rest) = format[1..].split_once('}')?;
            (AssemblyFormatItem::Optional(inside), rest)
        }
        byte if byte.is_ascii_alphabetic() => {
            let end = format.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
            let (word, rest) = format.split_at(end.unwrap_or(format.len()));
            (AssemblyFormatItem::Word(word), rest)
        }
        _ => {
            let (sign, rest) = format.split_at(1);
            (AssemblyFormatItem::Sign(sign), rest)
        }
    })
}

impl<'a> MlirParser<'a> {
    /// Parses an operation by its format, including the trailing types.
    pub fn parse_formatted_operation(
        &mut self,
        draft: &mut OperationState<'a>,
        format: &str,
        types: TrailingTypes,
    ) -> MlirParseResult<()> {
        self.parse_format(draft, format)?;
        if self.cursor.peek_byte() == b'{' {
            draft.attributes = self.parse_dictionary()?;
        }
        self.format_types(draft, types)
    }

    /// Parses the items of a format, without types.
    pub fn parse_format(
        &mut self,
        draft: &mut OperationState<'a>,
        format: &str,
    ) -> MlirParseResult<()> {
        let mut rest = format;
        while let Some((item, after)) = next_item(rest) {
            rest = after;
            match item {
                AssemblyFormatItem::Operand => {
                    let operand = self.parse_operand()?;
                    draft.operands.push(operand);
                }
                AssemblyFormatItem::Operands => self.parse_operands(draft)?,
                AssemblyFormatItem::Word(word) => self.cursor.expect_word(word)?,
                AssemblyFormatItem::Sign(sign) => self.cursor.expect_punctuation(sign)?,
                AssemblyFormatItem::Attribute(name, kind) => {
                    self.format_attribute(draft, name, kind)?
                }
                AssemblyFormatItem::Optional(inside) => {
                    if self.stands_here(inside) {
                        self.parse_format(draft, inside)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Whether the words and signs that an optional part begins with are next.
    fn stands_here(&mut self, format: &str) -> bool {
        let back = self.cursor.pos;
        let mut rest = format;
        let mut found = true;
        while let Some((item, after)) = next_item(rest) {
            found = match item {
                AssemblyFormatItem::Word(word) => self.cursor.eat_word(word),
                AssemblyFormatItem::Sign(sign) => self.cursor.eat_punctuation(sign),
                _ => break,
            };
            if !found {
                break;
            }
            rest = after;
        }
        self.cursor.pos = back;
        found
    }

    /// Operands with commas between. A comma that no operand follows is not consumed.
    fn parse_operands(&mut self, draft: &mut OperationState<'a>) -> MlirParseResult<()> {
        if self.cursor.peek_byte() != b'%' {
            return Ok(());
        }
        loop {
            let operand = self.parse_operand()?;
            draft.operands.push(operand);
            let back = self.cursor.pos;
            if !self.cursor.eat_punctuation(",") || self.cursor.peek_byte() != b'%' {
                self.cursor.pos = back;
                return Ok(());
            }
        }
    }

    fn format_attribute(
        &mut self,
        draft: &mut OperationState<'a>,
        name: &str,
        kind: &str,
    ) -> MlirParseResult<()> {
        let attr = match kind {
            "i64s" => {
                let values = self.integer_list()?;
                self.integers_attribute(&values)
            }
            "i64" => {
                let value = self.cursor.read_signed_number()?;
                self.integer_attribute(value, 64)
            }
            "i32" => {
                let value = self.cursor.read_signed_number()?;
                self.integer_attribute(value, 32)
            }
            "f64" => {
                let value = self.float_literal()?;
                let ty = self.module.types.float_type(MlirFloat::F64);
                let bits = value.to_bits();
                let kind = AttributeKind::Float { bits, ty };
                self.module.attributes.intern(kind)
            }
            "string" => {
                let kind = self.string_attribute()?;
                self.module.attributes.intern(kind)
            }
            // A name as a string: `@target` for `"target"`.
            "name" => {
                let name = self.symbol_name()?;
                self.module.attributes.intern(AttributeKind::String(name))
            }
            "symbol" | "any" => self.parse_attribute()?,
            "precisions" => self.parse_precisions()?,
            "algorithm" => self.fields_attribute("stablehlo.dot_algorithm")?,
            enumeration => match self.cursor.read_word() {
                "" => return self.cursor.report_expected("a word"),
                word => self.keyword_attribute(enumeration, word),
            },
        };
        let name = self.module.intern_text(name);
        draft.add_property(name, attr);
        Ok(())
    }

    /// The trailing types of an operation.
    pub fn format_types(
        &mut self,
        draft: &mut OperationState<'a>,
        types: TrailingTypes,
    ) -> MlirParseResult<()> {
        if types == TrailingTypes::Operands
            && draft.operands.is_empty()
            && self.cursor.peek_byte() != b':'
        {
            return Ok(());
        }
        self.cursor.expect_punctuation(":")?;
        if self.cursor.peek_byte() == b'(' {
            (draft.operand_types, draft.result_types) = self.parse_signature()?;
            return Ok(());
        }
        let written = self.type_list()?;
        if self.cursor.eat_punctuation("->") {
            draft.operand_types = written;
            draft.result_types = self.result_types()?;
            return Ok(());
        }
        self.short_types(draft, types, &written)
    }

    /// Types that are written once for several operands and results.
    fn short_types(
        &mut self,
        draft: &mut OperationState<'a>,
        types: TrailingTypes,
        written: &[MlirType],
    ) -> MlirParseResult<()> {
        let count = draft.operands.len();
        let (operands, results) = match (types, written) {
            (TrailingTypes::Same, &[ty]) => (vec![ty; count], vec![ty]),
            (TrailingTypes::Pairwise, all) => (all.to_vec(), all.to_vec()),
            (TrailingTypes::Operands, &[ty]) => (vec![ty; count], Vec::new()),
            (TrailingTypes::Operands, all) => (all.to_vec(), Vec::new()),
            (TrailingTypes::Select, &[condition, ty]) => (vec![condition, ty, ty], vec![ty]),
            (TrailingTypes::Complex, &[ty]) => (vec![self.real_type(ty); count], vec![ty]),
            (TrailingTypes::Tuple, &[ty]) => match self.module.types.kind(ty) {
                MlirTypeKind::Tuple(members) => (members.to_vec(), vec![ty]),
                _ => return self.cursor.report_error("expected the type of a tuple"),
            },
            _ => return self.cursor.report_expected("`->`"),
        };
        draft.operand_types = operands;
        draft.result_types = results;
        Ok(())
    }

    /// The type of the parts of a complex type.
    fn real_type(&mut self, ty: MlirType) -> MlirType {
        let element = self.module.types.element_type(ty);
        let part = match *self.module.types.kind(element) {
            MlirTypeKind::Complex(part) => part,
            _ => element,
        };
        match self.module.types.kind(ty).clone() {
            MlirTypeKind::Tensor {
                shape, encoding, ..
            } => self.module.types.intern(MlirTypeKind::Tensor {
                shape,
                element: part,
                encoding,
            }),
            _ => part,
        }
    }
}
