//! Locations.

use super::cursor::MlirParseResult;
use super::parser::MlirParser;
use crate::mlir::{AttributeKind, LocationKind, MlirLoc};

impl MlirParser<'_> {
    /// `loc(…)`, if it stands next.
    pub fn optional_location(&mut self) -> MlirParseResult<MlirLoc> {
        match self.cursor.peek_word() == "loc" {
            true => self.location(),
            false => Ok(MlirLoc::UNKNOWN),
        }
    }

    /// `loc(…)`
    pub fn location(&mut self) -> MlirParseResult<MlirLoc> {
        self.cursor.expect_word("loc")?;
        self.cursor.expect("(")?;
        let loc = self.location_body()?;
        self.cursor.expect(")")?;
        Ok(loc)
    }

    fn location_body(&mut self) -> MlirParseResult<MlirLoc> {
        self.cursor.enter()?;
        let kind = match self.cursor.peek() {
            b'#' => {
                let loc = self.location_alias()?;
                self.cursor.leave();
                return Ok(loc);
            }
            b'"' => self.named_location()?,
            _ => match self.cursor.word() {
                "unknown" => LocationKind::Unknown,
                "callsite" => {
                    self.cursor.expect("(")?;
                    let callee = self.location_body()?;
                    self.cursor.expect_word("at")?;
                    let caller = self.location_body()?;
                    self.cursor.expect(")")?;
                    LocationKind::CallSite { callee, caller }
                }
                "fused" => {
                    let mut metadata = None;
                    if self.cursor.eat("<") {
                        metadata = Some(self.parse_attribute()?);
                        self.cursor.expect(">")?;
                    }
                    self.cursor.expect("[")?;
                    let parts = self.list("]", Self::location_body)?.into();
                    LocationKind::Fused { parts, metadata }
                }
                _ => return self.cursor.expected("a location"),
            },
        };
        self.cursor.leave();
        Ok(self.module.locations.intern(kind))
    }

    fn location_alias(&mut self) -> MlirParseResult<MlirLoc> {
        let attr = self.parse_attribute()?;
        match *self.module.attributes.kind(attr) {
            AttributeKind::Location(loc) => Ok(loc),
            _ => self.cursor.error("the alias stands for no location"),
        }
    }

    /// `"file":1:2`, `"file":1:2 to 3:4`, `"name"` or `"name"(child)`
    fn named_location(&mut self) -> MlirParseResult<LocationKind> {
        let bytes = self.cursor.string()?;
        let name = self.module.intern(&String::from_utf8_lossy(&bytes));
        if self.cursor.eat(":") {
            let start = self.line_and_column()?;
            let mut end = start;
            if self.cursor.eat_word("to") {
                end = match self.cursor.eat(":") {
                    true => (start.0, self.small_number()?),
                    false => self.line_and_column()?,
                };
            }
            return Ok(LocationKind::File {
                file: name,
                start,
                end,
            });
        }
        let mut child = MlirLoc::UNKNOWN;
        if self.cursor.eat("(") {
            child = self.location_body()?;
            self.cursor.expect(")")?;
        }
        Ok(LocationKind::Name { name, child })
    }

    fn line_and_column(&mut self) -> MlirParseResult<(u32, u32)> {
        let line = self.small_number()?;
        self.cursor.expect(":")?;
        Ok((line, self.small_number()?))
    }

    fn small_number(&mut self) -> MlirParseResult<u32> {
        let number = self.cursor.number()?;
        Ok(u32::try_from(number).unwrap_or(u32::MAX))
    }
}
