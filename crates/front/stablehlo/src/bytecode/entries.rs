//! Tables of attributes and types, which are read at their first use.

use super::cursor::{BytecodeCursor, BytecodeResult};
use super::file::OpName;
use crate::mlir::text::MlirParser;
use crate::mlir::{
    AttributeKind, MlirAttr, MlirLoc, MlirModule, MlirSymbol, MlirType, NamedAttribute,
};

/// Maximum length of a chain of attributes and types that refer to each other.
const MAX_DEPTH: u32 = 100;

/// Position of an attribute or type.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BytecodeEntry<'a> {
    pub dialect: &'a str,
    /// Whether its dialect has an encoding for it; otherwise it is text.
    pub custom: bool,
    pub data: BytecodeCursor<'a>,
}

/// The state of reading bytecode.
pub(crate) struct BytecodeReader<'a> {
    pub version: u64,
    pub module: MlirModule,
    pub strings: Vec<&'a [u8]>,
    pub dialect_names: Vec<&'a str>,
    pub op_names: Vec<OpName>,
    pub resource_keys: Vec<MlirSymbol>,
    pub properties: Vec<BytecodeCursor<'a>>,
    pub attribute_entries: Vec<BytecodeEntry<'a>>,
    pub type_entries: Vec<BytecodeEntry<'a>>,
    pub attributes: Vec<Option<MlirAttr>>,
    pub types: Vec<Option<MlirType>>,
    depth: u32,
}

impl<'a> BytecodeReader<'a> {
    pub fn new(version: u64) -> Self {
        BytecodeReader {
            version,
            module: MlirModule::new("builtin.module"),
            strings: Vec::new(),
            dialect_names: Vec::new(),
            op_names: Vec::new(),
            resource_keys: Vec::new(),
            properties: Vec::new(),
            attribute_entries: Vec::new(),
            type_entries: Vec::new(),
            attributes: Vec::new(),
            types: Vec::new(),
            depth: 0,
        }
    }

    /// Enters one level of nesting; an error if there are too many.
    pub fn enter_nesting(&mut self, data: &BytecodeCursor<'a>) -> BytecodeResult<()> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            data.report_error(format!("nested more than {MAX_DEPTH} levels deep"))
        } else {
            Ok(())
        }
    }

    /// The reverse of [`BytecodeReader::enter_nesting`].
    pub fn leave_nesting(&mut self) {
        self.depth -= 1;
    }

    /// The attribute that a number refers to.
    pub fn read_attribute(&mut self, data: &mut BytecodeCursor<'a>) -> BytecodeResult<MlirAttr> {
        let number = data.read_varint()?;
        self.attribute_number(data, number)
    }

    /// The attribute that a number refers to, if its flag says that there is one.
    pub fn optional_attribute(
        &mut self,
        data: &mut BytecodeCursor<'a>,
    ) -> BytecodeResult<Option<MlirAttr>> {
        match data.read_flagged_varint()? {
            (number, true) => self.attribute_number(data, number).map(Some),
            _ => Ok(None),
        }
    }

    fn attribute_number(
        &mut self,
        data: &BytecodeCursor<'a>,
        number: u64,
    ) -> BytecodeResult<MlirAttr> {
        let at = usize::try_from(number).unwrap_or(usize::MAX);
        let Some(&entry) = self.attribute_entries.get(at) else {
            return data.report_error(format!("there is no attribute {number}"));
        };
        if let Some(attr) = self.attributes[at] {
            return Ok(attr);
        }
        self.enter_nesting(data)?;
        let mut data = entry.data;
        let attr = if entry.custom {
            self.custom_attribute(entry.dialect, &mut data)?
        } else {
            self.parse_textual_entry(&mut data, MlirParser::parse_attribute)?
        };
        self.leave_nesting();
        self.attributes[at] = Some(attr);
        Ok(attr)
    }

    /// The type that a number refers to.
    pub fn read_type(&mut self, data: &mut BytecodeCursor<'a>) -> BytecodeResult<MlirType> {
        let number = data.read_varint()?;
        self.type_number(data, number)
    }

    pub fn type_number(
        &mut self,
        data: &BytecodeCursor<'a>,
        number: u64,
    ) -> BytecodeResult<MlirType> {
        let at = usize::try_from(number).unwrap_or(usize::MAX);
        let Some(&entry) = self.type_entries.get(at) else {
            return data.report_error(format!("there is no type {number}"));
        };
        if let Some(ty) = self.types[at] {
            return Ok(ty);
        }
        self.enter_nesting(data)?;
        let mut data = entry.data;
        let ty = if entry.custom {
            self.custom_type(entry.dialect, &mut data)?
        } else {
            self.parse_textual_entry(&mut data, MlirParser::parse_type)?
        };
        self.leave_nesting();
        self.types[at] = Some(ty);
        Ok(ty)
    }

    pub fn types_list(&mut self, data: &mut BytecodeCursor<'a>) -> BytecodeResult<Box<[MlirType]>> {
        let count = data.read_count()?;
        (0..count).map(|_| self.read_type(data)).collect()
    }

    pub fn attributes_list(
        &mut self,
        data: &mut BytecodeCursor<'a>,
    ) -> BytecodeResult<Box<[MlirAttr]>> {
        let count = data.read_count()?;
        (0..count).map(|_| self.read_attribute(data)).collect()
    }

    /// An attribute or type that is kept as text.
    fn parse_textual_entry<T>(
        &mut self,
        data: &mut BytecodeCursor<'a>,
        parse: impl FnOnce(&mut MlirParser<'a>) -> BytecodeResult<T>,
    ) -> BytecodeResult<T> {
        let start = *data;
        let text = data.read_terminated_bytes()?;
        let mut parser = MlirParser::new(text);
        std::mem::swap(&mut parser.module, &mut self.module);
        let parsed = parse(&mut parser);
        std::mem::swap(&mut parser.module, &mut self.module);
        match parsed {
            Ok(value) if parser.cursor.at_end() => Ok(value),
            Ok(_) => start.report_error("text follows an attribute or type"),
            // Places are within the text, which is within the input.
            Err(error) => start.report_error(error.message),
        }
    }

    /// A string of the table as an attribute.
    pub fn string_attribute(
        &mut self,
        data: &mut BytecodeCursor<'a>,
    ) -> BytecodeResult<AttributeKind> {
        let number = data.read_varint()?;
        let bytes = self.raw_string(data, number)?;
        Ok(match std::str::from_utf8(bytes) {
            Ok(text) => AttributeKind::String(self.module.intern_text(text)),
            Err(_) => AttributeKind::Bytes(bytes.into()),
        })
    }

    /// An attribute that has to be a string, such as a name.
    pub fn read_name(&mut self, data: &mut BytecodeCursor<'a>) -> BytecodeResult<MlirSymbol> {
        let attr = self.read_attribute(data)?;
        match *self.module.attributes.kind(attr) {
            AttributeKind::String(name) => Ok(name),
            _ => data.report_error("a name is not a string"),
        }
    }

    /// An attribute that has to be a location.
    pub fn read_location(&mut self, data: &mut BytecodeCursor<'a>) -> BytecodeResult<MlirLoc> {
        let attr = self.read_attribute(data)?;
        match *self.module.attributes.kind(attr) {
            AttributeKind::Location(loc) => Ok(loc),
            _ => data.report_error("expected a location, found an attribute"),
        }
    }

    /// Names with their attributes, ordered by name.
    pub fn named_list(
        &mut self,
        data: &mut BytecodeCursor<'a>,
    ) -> BytecodeResult<Box<[NamedAttribute]>> {
        let count = data.read_count()?;
        let mut named = Vec::with_capacity(count);
        for _ in 0..count {
            named.push((self.read_name(data)?, self.read_attribute(data)?));
        }
        self.module.sort_named(&mut named);
        if named.windows(2).any(|pair| pair[0].0 == pair[1].0) {
            data.report_error("a name occurs twice in a dictionary")
        } else {
            Ok(named.into())
        }
    }
}
