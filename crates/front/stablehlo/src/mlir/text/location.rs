//! Parser of locations.

use super::cursor::MlirParseResult;
use super::parser::MlirParser;
use crate::mlir::{AttributeKind, LocationKind, MlirLoc};

impl MlirParser<'_> {
    /// `loc(…)`, if it is next.
    pub fn optional_location(&mut self) -> MlirParseResult<MlirLoc> {
        if self.cursor.peek_word() == "loc" {
            self.parse_location()
        } else {
            Ok(MlirLoc::UNKNOWN)
        }
    }

    /// `loc(…)`
    pub fn parse_location(&mut self) -> MlirParseResult<MlirLoc> {
        self.cursor.expect_word("loc")?;
        self.cursor.expect_punctuation("(")?;
        let loc = self.location_body()?;
        self.cursor.expect_punctuation(")")?;
        Ok(loc)
    }

    fn location_body(&mut self) -> MlirParseResult<MlirLoc> {
        self.cursor.enter_nesting()?;
        let kind = match self.cursor.peek_byte() {
            b'#' => {
                let loc = self.location_alias()?;
                self.cursor.leave_nesting();
                return Ok(loc);
            }
            b'"' => self.named_location()?,
            _ => match self.cursor.read_word() {
                "unknown" => LocationKind::Unknown,
                "callsite" => {
                    let loc = self.parse_call_sites()?;
                    self.cursor.leave_nesting();
                    return Ok(loc);
                }
                "fused" => {
                    let mut metadata = None;
                    if self.cursor.eat_punctuation("<") {
                        metadata = Some(self.parse_attribute()?);
                        self.cursor.expect_punctuation(">")?;
                    }
                    self.cursor.expect_punctuation("[")?;
                    let parts = self.parse_list("]", Self::location_body)?.into();
                    LocationKind::Fused { parts, metadata }
                }
                _ => return self.cursor.report_expected("a location"),
            },
        };
        self.cursor.leave_nesting();
        Ok(self.module.locations.intern(kind))
    }

    /// The places after a first `callsite`. The callers, which form long chains, are read in a loop.
    fn parse_call_sites(&mut self) -> MlirParseResult<MlirLoc> {
        let mut callees = Vec::new();
        loop {
            self.cursor.expect_punctuation("(")?;
            callees.push(self.location_body()?);
            self.cursor.expect_word("at")?;
            if !self.cursor.eat_word("callsite") {
                break;
            }
        }
        let mut location = self.location_body()?;
        for callee in callees.into_iter().rev() {
            self.cursor.expect_punctuation(")")?;
            let caller = location;
            let kind = LocationKind::CallSite { callee, caller };
            location = self.module.locations.intern(kind);
        }
        Ok(location)
    }

    fn location_alias(&mut self) -> MlirParseResult<MlirLoc> {
        let attr = self.parse_attribute()?;
        match *self.module.attributes.kind(attr) {
            AttributeKind::Location(loc) => Ok(loc),
            _ => self.cursor.report_error("the alias is not a location"),
        }
    }

    /// `"file":1:2`, `"file":1:2 to 3:4`, `"name"` or `"name"(child)`
    fn named_location(&mut self) -> MlirParseResult<LocationKind> {
        let bytes = self.cursor.read_string()?;
        let name = self.module.intern_text(&String::from_utf8_lossy(&bytes));
        if self.cursor.eat_punctuation(":") {
            let start = self.line_and_column()?;
            let mut end = start;
            if self.cursor.eat_word("to") {
                end = if self.cursor.eat_punctuation(":") {
                    (start.0, self.small_number()?)
                } else {
                    self.line_and_column()?
                };
            }
            return Ok(LocationKind::File {
                file: name,
                start,
                end,
            });
        }
        let mut child = MlirLoc::UNKNOWN;
        if self.cursor.eat_punctuation("(") {
            child = self.location_body()?;
            self.cursor.expect_punctuation(")")?;
        }
        Ok(LocationKind::Name { name, child })
    }

    fn line_and_column(&mut self) -> MlirParseResult<(u32, u32)> {
        let line = self.small_number()?;
        self.cursor.expect_punctuation(":")?;
        Ok((line, self.small_number()?))
    }

    fn small_number(&mut self) -> MlirParseResult<u32> {
        let number = self.cursor.read_number()?;
        Ok(u32::try_from(number).unwrap_or(u32::MAX))
    }
}
