//! Aliases of attributes and types: `#map = affine_map<…>`, `!mat = tensor<…>`.
//!
//! An alias may be defined before or after its uses (locations are usually at the end of the text).
//! A definition begins a line. So the first use of an unknown alias builds an index of all lines
//! that begin like one, and the definition is read in its place. A cycle ends at the limit of
//! nesting.

use super::cursor::MlirParseResult;
use super::parser::MlirParser;
use crate::mlir::{MlirAttr, MlirType};
use rustc_hash::FxHashMap;
use spirula_diagnostics::SourceLocation;

/// The meaning of an alias.
#[derive(Clone, Copy, Debug)]
enum AliasTarget {
    Attribute(MlirAttr),
    Type(MlirType),
}

/// Aliases that were read, and the positions of definitions; both by the name with its `#` or `!`.
#[derive(Debug, Default)]
pub(crate) struct MlirAliases<'a> {
    known: FxHashMap<&'a [u8], AliasTarget>,
    definitions: Option<FxHashMap<&'a [u8], usize>>,
}

/// Position of the value in each line that begins with `#name =` or `!name =`.
fn index_aliases(bytes: &[u8]) -> FxHashMap<&[u8], usize> {
    let mut found = FxHashMap::default();
    let mut start = 0;
    for line in bytes.split_inclusive(|&byte| byte == b'\n') {
        let indent = line.iter().take_while(|byte| byte.is_ascii_whitespace());
        let indent = indent.count();
        if matches!(line.get(indent), Some(b'#' | b'!'))
            && let Some(equals) = line.iter().position(|&byte| byte == b'=')
        {
            let name = line[indent..equals].trim_ascii_end();
            let is_name = |&byte: &u8| byte.is_ascii_alphanumeric() || b"_$-".contains(&byte);
            if name[1..].iter().all(is_name) {
                found.entry(name).or_insert(start + equals + 1);
            }
        }
        start += line.len();
    }
    found
}

impl<'a> MlirParser<'a> {
    /// `#name = attribute` or `!name = type`
    pub fn alias_definition(&mut self) -> MlirParseResult<()> {
        let start = self.cursor.skip_to_start();
        let sigil = self.cursor.current_byte();
        self.cursor.pos += 1;
        let name = self.symbol_suffix()?;
        let key = &self.cursor.bytes[start..self.cursor.pos];
        if name.contains('.') {
            let place = self.cursor.location_since(start);
            return self
                .cursor
                .error_at(place, "the name of an alias has no `.`");
        }
        self.cursor.expect_punctuation("=")?;
        let at = self.cursor.pos;
        // A definition that was read ahead is read again: the value is the same, unless there are
        // two definitions.
        let earlier = self.aliases.definitions.as_ref();
        if earlier.is_some_and(|all| all.get(key).is_some_and(|&other| other != at))
            || (earlier.is_none() && self.aliases.known.contains_key(key))
        {
            let place = self.cursor.location_since(start);
            return self
                .cursor
                .error_at(place, format!("`{}{name}` is defined twice", sigil as char));
        }
        self.alias_value(key).map(|_| ())
    }

    fn alias_value(&mut self, key: &'a [u8]) -> MlirParseResult<AliasTarget> {
        let meaning = match key[0] {
            b'#' => AliasTarget::Attribute(self.parse_attribute()?),
            _ => {
                // Older texts have the word `type` here.
                if self.cursor.peek_word() == "type" {
                    self.cursor.read_word();
                }
                AliasTarget::Type(self.parse_type()?)
            }
        };
        self.aliases.known.insert(key, meaning);
        Ok(meaning)
    }

    /// Reads the aliases of locations that stand further on, in their order: each means those before it, and chains of them
    /// are as deep as the stack of the program that wrote the module.
    fn read_location_aliases(&mut self) -> MlirParseResult<()> {
        let bytes = self.cursor.bytes;
        let definitions = self.aliases.definitions.iter().flatten();
        let is_location = |at: usize| bytes[at..].trim_ascii_start().starts_with(b"loc(");
        let locations = definitions.filter(|(_, at)| is_location(**at));
        let mut locations: Vec<(usize, &'a [u8])> =
            locations.map(|(key, at)| (*at, *key)).collect();
        locations.sort_unstable();
        let back = self.cursor.pos;
        for (at, key) in locations {
            if !self.aliases.known.contains_key(key) {
                self.cursor.pos = at;
                self.alias_value(key)?;
            }
        }
        self.cursor.pos = back;
        Ok(())
    }

    /// The meaning of an alias, read where it is defined if it was not read yet.
    fn resolve_alias(&mut self, start: usize, end: usize) -> MlirParseResult<AliasTarget> {
        let key = &self.cursor.bytes[start..end];
        if let Some(&meaning) = self.aliases.known.get(key) {
            return Ok(meaning);
        }
        if self.aliases.definitions.is_none() {
            self.aliases.definitions = Some(index_aliases(self.cursor.bytes));
            self.read_location_aliases()?;
            return self.resolve_alias(start, end);
        }
        let definitions = self.aliases.definitions.as_ref();
        let Some(&definition) = definitions.and_then(|all| all.get(key)) else {
            let name = String::from_utf8_lossy(key).into_owned();
            let place = SourceLocation::from_text_range(start, end);
            return self
                .cursor
                .error_at(place, format!("the alias `{name}` is not defined"));
        };
        self.cursor.enter_nesting()?;
        let back = std::mem::replace(&mut self.cursor.pos, definition);
        let meaning = self.alias_value(key)?;
        self.cursor.pos = back;
        self.cursor.leave_nesting();
        Ok(meaning)
    }

    /// The attribute of the alias `#name`, which begins at `start` and was read.
    pub fn attribute_alias(&mut self, start: usize) -> MlirParseResult<MlirAttr> {
        match self.resolve_alias(start, self.cursor.pos)? {
            AliasTarget::Attribute(attr) => Ok(attr),
            AliasTarget::Type(_) => self
                .cursor
                .report_error("expected an attribute, found a type"),
        }
    }

    /// The type of the alias `!name`, which begins at `start` and was read.
    pub fn type_alias(&mut self, start: usize) -> MlirParseResult<MlirType> {
        match self.resolve_alias(start, self.cursor.pos)? {
            AliasTarget::Type(ty) => Ok(ty),
            AliasTarget::Attribute(_) => self
                .cursor
                .report_error("expected a type, found an attribute"),
        }
    }
}
