//! Attributes and types, each read when something refers to it.

use super::cursor::{Cursor, Result};
use super::file::OpName;
use crate::mlir::text::Parser;
use crate::mlir::{Attr, AttributeKind, Loc, Module, Named, Symbol, Type};

/// Attributes and types that refer to each other in a chain.
const MAX_DEPTH: u32 = 100;

/// Where an attribute or type is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry<'a> {
    pub dialect: &'a str,
    /// Whether its dialect has an encoding for it; otherwise it is text.
    pub custom: bool,
    pub data: Cursor<'a>,
}

/// The state of reading bytecode.
pub(crate) struct Reader<'a> {
    pub version: u64,
    pub module: Module,
    pub strings: Vec<&'a [u8]>,
    pub dialect_names: Vec<&'a str>,
    pub op_names: Vec<OpName>,
    pub resource_keys: Vec<Symbol>,
    pub properties: Vec<Cursor<'a>>,
    pub attribute_entries: Vec<Entry<'a>>,
    pub type_entries: Vec<Entry<'a>>,
    pub attributes: Vec<Option<Attr>>,
    pub types: Vec<Option<Type>>,
    depth: u32,
}

impl<'a> Reader<'a> {
    pub fn new(version: u64) -> Self {
        Reader {
            version,
            module: Module::new("builtin.module"),
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

    /// One level deeper; an error if there are too many.
    pub fn enter(&mut self, data: &Cursor<'a>) -> Result<()> {
        self.depth += 1;
        match self.depth > MAX_DEPTH {
            true => data.error(format!("nested more than {MAX_DEPTH} levels deep")),
            false => Ok(()),
        }
    }

    /// The reverse of [`Reader::enter`].
    pub fn leave(&mut self) {
        self.depth -= 1;
    }

    /// The attribute that a number refers to.
    pub fn attribute(&mut self, data: &mut Cursor<'a>) -> Result<Attr> {
        let number = data.number()?;
        self.attribute_number(data, number)
    }

    /// The attribute that a number refers to, if its flag says that there is one.
    pub fn optional_attribute(&mut self, data: &mut Cursor<'a>) -> Result<Option<Attr>> {
        match data.flagged()? {
            (number, true) => self.attribute_number(data, number).map(Some),
            _ => Ok(None),
        }
    }

    fn attribute_number(&mut self, data: &Cursor<'a>, number: u64) -> Result<Attr> {
        let at = usize::try_from(number).unwrap_or(usize::MAX);
        let Some(&entry) = self.attribute_entries.get(at) else {
            return data.error(format!("there is no attribute {number}"));
        };
        if let Some(attr) = self.attributes[at] {
            return Ok(attr);
        }
        self.enter(data)?;
        let mut data = entry.data;
        let attr = match entry.custom {
            true => self.custom_attribute(entry.dialect, &mut data)?,
            false => self.textual(&mut data, Parser::parse_attribute)?,
        };
        self.leave();
        self.attributes[at] = Some(attr);
        Ok(attr)
    }

    /// The type that a number refers to.
    pub fn ty(&mut self, data: &mut Cursor<'a>) -> Result<Type> {
        let number = data.number()?;
        self.type_number(data, number)
    }

    pub fn type_number(&mut self, data: &Cursor<'a>, number: u64) -> Result<Type> {
        let at = usize::try_from(number).unwrap_or(usize::MAX);
        let Some(&entry) = self.type_entries.get(at) else {
            return data.error(format!("there is no type {number}"));
        };
        if let Some(ty) = self.types[at] {
            return Ok(ty);
        }
        self.enter(data)?;
        let mut data = entry.data;
        let ty = match entry.custom {
            true => self.custom_type(entry.dialect, &mut data)?,
            false => self.textual(&mut data, Parser::parse_type)?,
        };
        self.leave();
        self.types[at] = Some(ty);
        Ok(ty)
    }

    pub fn types_list(&mut self, data: &mut Cursor<'a>) -> Result<Box<[Type]>> {
        let count = data.count()?;
        (0..count).map(|_| self.ty(data)).collect()
    }

    pub fn attributes_list(&mut self, data: &mut Cursor<'a>) -> Result<Box<[Attr]>> {
        let count = data.count()?;
        (0..count).map(|_| self.attribute(data)).collect()
    }

    /// An attribute or type that is kept as text.
    fn textual<T>(
        &mut self,
        data: &mut Cursor<'a>,
        parse: impl FnOnce(&mut Parser<'a>) -> Result<T>,
    ) -> Result<T> {
        let start = *data;
        let text = data.terminated()?;
        let mut parser = Parser::new(text);
        std::mem::swap(&mut parser.module, &mut self.module);
        let parsed = parse(&mut parser);
        std::mem::swap(&mut parser.module, &mut self.module);
        match parsed {
            Ok(value) if parser.cursor.at_end() => Ok(value),
            Ok(_) => start.error("text stands behind an attribute or type"),
            // Places are within the text, which is within the input.
            Err(error) => start.error(error.message),
        }
    }

    /// A string of the table as an attribute.
    pub fn string_attribute(&mut self, data: &mut Cursor<'a>) -> Result<AttributeKind> {
        let number = data.number()?;
        let bytes = self.raw_string(data, number)?;
        Ok(match std::str::from_utf8(bytes) {
            Ok(text) => AttributeKind::String(self.module.intern(text)),
            Err(_) => AttributeKind::Bytes(bytes.into()),
        })
    }

    /// An attribute that has to be a string, as the name of something is.
    pub fn name(&mut self, data: &mut Cursor<'a>) -> Result<Symbol> {
        let attr = self.attribute(data)?;
        match *self.module.attributes.kind(attr) {
            AttributeKind::String(name) => Ok(name),
            _ => data.error("a name is no string"),
        }
    }

    /// An attribute that has to be a location.
    pub fn location(&mut self, data: &mut Cursor<'a>) -> Result<Loc> {
        let attr = self.attribute(data)?;
        match *self.module.attributes.kind(attr) {
            AttributeKind::Location(loc) => Ok(loc),
            _ => data.error("an attribute stands where a location should"),
        }
    }

    /// Names with their attributes, ordered by name.
    pub fn named_list(&mut self, data: &mut Cursor<'a>) -> Result<Box<[Named]>> {
        let count = data.count()?;
        let mut named = Vec::with_capacity(count);
        for _ in 0..count {
            named.push((self.name(data)?, self.attribute(data)?));
        }
        self.module.sort_named(&mut named);
        match named.windows(2).any(|pair| pair[0].0 == pair[1].0) {
            true => data.error("a name stands twice in a dictionary"),
            false => Ok(named.into()),
        }
    }
}
