//! The sections of a program, which versions of Futhark's compiler print in two ways.
//!
//! Up to 0.25.34 a section is a heading with indented lines below it:
//!
//! ```text
//! Function NAME:
//!   Inputs:
//!     TYPE NAME
//! ```
//!
//! Since 0.25.35 it stands in braces, after a list of the program's tuning parameters. Since 0.25.36 functions have
//! attributes, too:
//!
//! ```text
//! function NAME {
//!   inputs {
//!     TYPE NAME
//!   }
//! }
//! ```

use super::reader::{FutharkReader, SectionSyntax, TUNING_PARAMETERS};
use spirula_diagnostics::SourceDiagnostic;

impl<'a> FutharkReader<'a> {
    /// Consumes the beginning of a section with this name and indentation.
    pub(super) fn begin_section(
        &mut self,
        indentation: &str,
        name: &str,
    ) -> Result<(), SourceDiagnostic> {
        if self.eat_section(indentation, name) {
            return Ok(());
        }
        let expected = match self.syntax {
            SectionSyntax::Headings => format!("expected {name:?} and a colon"),
            SectionSyntax::Braces => format!("expected {:?} and a brace", name.to_lowercase()),
        };
        Err(self.cursor.fault_here(expected))
    }

    /// Consumes the beginning of a section if it is next.
    pub(super) fn eat_section(&mut self, indentation: &str, name: &str) -> bool {
        match self.syntax {
            SectionSyntax::Headings => {
                while self.cursor.eat_piece("\n") {}
                self.cursor.eat_piece(&format!("{indentation}{name}:\n"))
            }
            SectionSyntax::Braces => {
                self.cursor.skip_space();
                self.cursor
                    .eat_piece(&format!("{} {{\n", name.to_lowercase()))
            }
        }
    }

    /// Consumes the end of a section.
    pub(super) fn end_section(&mut self) -> Result<(), SourceDiagnostic> {
        if self.syntax == SectionSyntax::Braces {
            self.cursor.skip_space();
            self.cursor.expect_piece("}")?;
            self.cursor.eat_piece("\n");
        }
        Ok(())
    }

    /// Whether the section has another line; if so, consumes its indentation.
    pub(super) fn has_line(&mut self, indentation: &str) -> bool {
        match self.syntax {
            SectionSyntax::Headings => {
                while self.cursor.eat_piece("\n") {}
                self.cursor.eat_piece(indentation)
            }
            SectionSyntax::Braces => {
                self.cursor.skip_space();
                let rest = self.cursor.remaining_text();
                !rest.is_empty() && !rest.starts_with('}')
            }
        }
    }

    /// Consumes the heading of a function if it is next.
    pub(super) fn take_function_header(&mut self) -> Option<&'a str> {
        let line = self.cursor.remaining_line();
        let (before, after) = match self.syntax {
            SectionSyntax::Headings => ("Function ", ":"),
            SectionSyntax::Braces => ("function ", " {"),
        };
        let name = line.strip_prefix(before)?.strip_suffix(after)?;
        self.cursor.take_line();
        Some(name)
    }

    /// Skips the tuning parameters; they are described where they are read.
    pub(super) fn skip_tuning_parameters(&mut self) -> Result<(), SourceDiagnostic> {
        if self.syntax == SectionSyntax::Headings {
            return Ok(());
        }
        self.cursor.expect_piece(TUNING_PARAMETERS)?;
        while self.has_line("") {
            self.cursor.take_line();
        }
        self.end_section()
    }

    /// Skips the attributes of a function.
    pub(super) fn skip_attributes(&mut self) -> Result<(), SourceDiagnostic> {
        if self.syntax == SectionSyntax::Headings || !self.eat_section("", "attributes") {
            return Ok(());
        }
        while self.has_line("") {
            self.cursor.take_line();
        }
        self.end_section()
    }
}
