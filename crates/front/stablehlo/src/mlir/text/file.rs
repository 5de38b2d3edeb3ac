//! Parser of whole texts.

use super::cursor::MlirParseResult;
use super::parser::MlirParser;
use crate::mlir::{MlirModule, ResourceBlob};
use spirula_diagnostics::{SourceDiagnostic, SourceLocation};
use std::ops::Range;

/// Reads a module. Operations outside of a module are put into one.
///
/// Everything is read and kept except comments and the names of values. The meaning of operations
/// is not checked, but the types of operands are those of their definitions.
///
/// # Errors
/// The first fault, with its place.
pub fn parse_text(bytes: &[u8]) -> Result<MlirModule, SourceDiagnostic> {
    if u32::try_from(bytes.len()).is_err() {
        let message = "the text is larger than 4 GiB";
        return Err(SourceDiagnostic::error(SourceLocation::Unknown, message));
    }
    let mut parser = MlirParser::new(bytes);
    match parser.parse_file() {
        Ok(()) => Ok(parser.module),
        Err(error) => Err(*error),
    }
}

/// The parts of a text between lines `// -----`, each of which is a module.
pub fn split_sections(bytes: &[u8]) -> Vec<Range<usize>> {
    let mut all = Vec::new();
    let (mut start, mut at) = (0, 0);
    for line in bytes.split_inclusive(|&byte| byte == b'\n') {
        if line.trim_ascii().starts_with(b"// -----") {
            all.push(start..at);
            start = at + line.len();
        }
        at += line.len();
    }
    all.push(start..at);
    all
}

impl MlirParser<'_> {
    fn parse_file(&mut self) -> MlirParseResult<()> {
        let mark = self.enter_scope(true);
        let mut ops = Vec::new();
        loop {
            match self.cursor.peek_byte() {
                0 if self.cursor.at_end() => break,
                b'#' | b'!' => self.alias_definition()?,
                b'{' if self.cursor.eat_punctuation("{-#") => self.parse_metadata()?,
                _ => ops.push(self.parse_operation()?),
            }
        }
        self.leave_scope(mark)?;
        self.replace_placeholders();
        self.module.adopt_operations(&ops);
        self.module.index_functions();
        Ok(())
    }

    /// `{-# dialect_resources: {…}, external_resources: {…} #-}`, whose first token was read.
    fn parse_metadata(&mut self) -> MlirParseResult<()> {
        self.parse_list("#-}", |parser| {
            let section = parser.cursor.read_word();
            parser.cursor.expect_punctuation(":")?;
            parser.cursor.expect_punctuation("{")?;
            let is_blobs = section == "dialect_resources";
            parser.parse_list("}", |parser| parser.metadata_group(is_blobs))?;
            Ok(())
        })?;
        Ok(())
    }

    /// `builtin: {key: "0x…", …}`
    fn metadata_group(&mut self, is_blobs: bool) -> MlirParseResult<()> {
        let dialect = self.word_or_string()?;
        self.cursor.expect_punctuation(":")?;
        self.cursor.expect_punctuation("{")?;
        self.parse_list("}", |parser| {
            let key = parser.word_or_string()?;
            parser.cursor.expect_punctuation(":")?;
            if !is_blobs || parser.cursor.peek_byte() != b'"' {
                // External resources are for tools; they contain no part of the program.
                return parser.parse_attribute().map(|_| ());
            }
            let start = parser.cursor.skip_to_start();
            let mut data = parser.hexadecimal_string()?;
            if data.len() < 4 {
                let place = parser.cursor.location_since(start);
                let message = "a blob begins with four bytes, its alignment";
                return parser.cursor.error_at(place, message);
            }
            let rest = data.split_off(4);
            let alignment = u32::from_le_bytes([data[0], data[1], data[2], data[3]]);
            parser.module.resources.push(ResourceBlob {
                dialect,
                key,
                alignment,
                data: rest.into(),
            });
            Ok(())
        })?;
        Ok(())
    }
}
