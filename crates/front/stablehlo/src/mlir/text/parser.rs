//! State of the parser, and the functions that the parsers of types, attributes and operations
//! share.

use super::alias::MlirAliases;
use super::cursor::{MlirCursor, MlirParseResult};
use super::operation::RegionLabels;
use super::scope::MlirScope;
use crate::dialect;
use crate::mlir::{AttributeKind, MlirModule, MlirSymbol};
use std::borrow::Cow;

/// Reads one text into a module.
pub(crate) struct MlirParser<'a> {
    pub cursor: MlirCursor<'a>,
    pub module: MlirModule,
    pub aliases: MlirAliases<'a>,
    pub scope: MlirScope<'a>,
    pub labels: RegionLabels<'a>,
}

impl<'a> MlirParser<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        MlirParser {
            cursor: MlirCursor::new(bytes),
            module: MlirModule::new("builtin.module"),
            aliases: MlirAliases::default(),
            scope: MlirScope::default(),
            labels: RegionLabels::default(),
        }
    }

    /// A list with commas between, up to the closing punctuation; the opening one was read.
    pub fn parse_list<T>(
        &mut self,
        close: &str,
        mut item: impl FnMut(&mut Self) -> MlirParseResult<T>,
    ) -> MlirParseResult<Vec<T>> {
        let mut all = Vec::new();
        if self.cursor.eat_punctuation(close) {
            return Ok(all);
        }
        loop {
            all.push(item(self)?);
            if self.cursor.eat_punctuation(close) {
                return Ok(all);
            }
            if !self.cursor.eat_punctuation(",") {
                return self.cursor.report_expected(&format!("`,` or `{close}`"));
            }
        }
    }

    /// A string that has to be UTF-8, such as a name.
    pub fn parse_text_string(&mut self) -> MlirParseResult<MlirSymbol> {
        let start = self.cursor.skip_to_start();
        let bytes = self.cursor.read_string()?;
        match std::str::from_utf8(&bytes) {
            Ok(text) => Ok(self.module.intern_text(text)),
            Err(_) => {
                let place = self.cursor.location_since(start);
                self.cursor.error_at(place, "the name is not UTF-8")
            }
        }
    }

    /// A string as an attribute.
    pub fn string_attribute(&mut self) -> MlirParseResult<AttributeKind> {
        let bytes = self.cursor.read_string()?;
        Ok(match std::str::from_utf8(&bytes) {
            Ok(text) => AttributeKind::String(self.module.intern_text(text)),
            Err(_) => AttributeKind::Bytes(bytes.into()),
        })
    }

    /// A word or a string.
    pub fn word_or_string(&mut self) -> MlirParseResult<MlirSymbol> {
        if self.cursor.peek_byte() == b'"' {
            return self.parse_text_string();
        }
        match self.cursor.read_word() {
            "" => self.cursor.report_expected("a name"),
            word => Ok(self.module.intern_text(word)),
        }
    }

    /// `@name` or `@"name"`
    pub fn symbol_name(&mut self) -> MlirParseResult<MlirSymbol> {
        self.cursor.expect_punctuation("@")?;
        if self.cursor.current_byte() == b'"' {
            return self.parse_text_string();
        }
        let name = self.symbol_suffix()?;
        Ok(self.module.intern_text(name))
    }

    /// The name after `@`, `#` or `!`.
    pub fn symbol_suffix(&mut self) -> MlirParseResult<&'a str> {
        match std::str::from_utf8(self.cursor.read_suffix()) {
            Ok(name) if !name.is_empty() => Ok(name),
            _ => self.cursor.report_expected("a name"),
        }
    }

    /// `name` if it has a dialect, otherwise the dialect `name` and the word after `<`; the cursor
    /// is left as if the text were `#dialect.word<`.
    pub fn full_name(&mut self, name: &'a str) -> MlirParseResult<Cow<'a, str>> {
        if name.contains('.') {
            return Ok(name.into());
        }
        let mut ahead = self.cursor;
        ahead.pos += 1;
        let full = format!("{name}.{}", ahead.read_word());
        if !dialect::is_known_attribute(&full) {
            return Ok(name.into());
        }
        self.cursor.pos = ahead.pos;
        Ok(full.into())
    }

    /// Text in angle brackets directly at the position, including them; empty if there is none.
    pub fn balanced_body(&mut self) -> MlirParseResult<&'a str> {
        if self.cursor.current_byte() != b'<' {
            return Ok("");
        }
        self.balanced_text()
    }

    /// Text from the bracket at the position up to the one that matches it.
    pub fn balanced_text(&mut self) -> MlirParseResult<&'a str> {
        let start = self.cursor.pos;
        let mut open = Vec::new();
        loop {
            let byte = self.cursor.current_byte();
            match byte {
                b'<' | b'(' | b'[' | b'{' => open.push(byte),
                b'-' if self.cursor.byte_at_offset(1) == b'>' => self.cursor.pos += 1,
                b'>' | b')' | b']' | b'}' => {
                    let opening = match byte {
                        b'>' => b'<',
                        b')' => b'(',
                        b']' => b'[',
                        _ => b'{',
                    };
                    if open.pop() != Some(opening) {
                        return self.cursor.report_error("the brackets do not match");
                    }
                }
                b'"' => {
                    self.cursor.raw_string()?;
                    continue;
                }
                0 if self.cursor.at_end() => return self.cursor.report_expected("`>`"),
                _ => {}
            }
            self.cursor.pos += 1;
            if open.is_empty() {
                break;
            }
        }
        match std::str::from_utf8(&self.cursor.bytes[start..self.cursor.pos]) {
            Ok(text) => Ok(text),
            Err(_) => {
                let place = self.cursor.location_since(start);
                self.cursor.error_at(place, "the text is not UTF-8")
            }
        }
    }
}
