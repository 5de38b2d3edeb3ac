//! The parts of a program, which versions of Futhark's compiler print in two ways.
//!
//! Up to 0.25.34 a part is a heading and what is indented below it:
//!
//! ```text
//! Function NAME:
//!   Inputs:
//!     TYPE NAME
//! ```
//!
//! Since 0.25.35 it stands in braces, after a list of the program's tuning parameters; since 0.25.36 functions have
//! attributes, too:
//!
//! ```text
//! function NAME {
//!   inputs {
//!     TYPE NAME
//!   }
//! }
//! ```

use super::FutharkReader;
use spirula_diagnostics::SourceDiagnostic;

/// How the parts of a program are printed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum PartForm {
    /// As headings.
    Headings,
    /// In braces.
    Braces,
}

/// With what a program in braces begins.
const PARAMETERS: &str = "tuning params {\n";

impl PartForm {
    /// The form of a text that looks like a program.
    pub fn from_text(text: &str) -> Option<PartForm> {
        if text.starts_with("types {") && text.contains("\nInitialisation:\n") {
            return Some(PartForm::Headings);
        }
        let is_new = text.starts_with(PARAMETERS) && text.contains("\ninitialisation {\n");
        is_new.then_some(PartForm::Braces)
    }
}

impl<'a> FutharkReader<'a> {
    /// Begins the part of this name, which stands so far to the right.
    pub(super) fn begin_part(
        &mut self,
        indentation: &str,
        name: &str,
    ) -> Result<(), SourceDiagnostic> {
        if self.has_part(indentation, name) {
            return Ok(());
        }
        let expected = match self.form {
            PartForm::Headings => format!("expected {name:?} and a colon"),
            PartForm::Braces => format!("expected {:?} and a brace", name.to_lowercase()),
        };
        Err(self.cursor.fault_here(expected))
    }

    /// Begins it if it is next.
    pub(super) fn has_part(&mut self, indentation: &str, name: &str) -> bool {
        match self.form {
            PartForm::Headings => {
                while self.cursor.eat_piece("\n") {}
                self.cursor.eat_piece(&format!("{indentation}{name}:\n"))
            }
            PartForm::Braces => {
                self.cursor.skip_space();
                self.cursor
                    .eat_piece(&format!("{} {{\n", name.to_lowercase()))
            }
        }
    }

    /// Ends a part.
    pub(super) fn end_part(&mut self) -> Result<(), SourceDiagnostic> {
        if self.form == PartForm::Braces {
            self.cursor.skip_space();
            self.cursor.expect_piece("}")?;
            self.cursor.eat_piece("\n");
        }
        Ok(())
    }

    /// Whether a part goes on with another line, which is so far to the right; what follows is its text.
    pub(super) fn has_line(&mut self, indentation: &str) -> bool {
        match self.form {
            PartForm::Headings => {
                while self.cursor.eat_piece("\n") {}
                self.cursor.eat_piece(indentation)
            }
            PartForm::Braces => {
                self.cursor.skip_space();
                let rest = self.cursor.remaining_text();
                !rest.is_empty() && !rest.starts_with('}')
            }
        }
    }

    /// The heading of a function, if it is next.
    pub(super) fn function_header(&mut self) -> Option<&'a str> {
        let line = self.cursor.remaining_line();
        let (before, after) = match self.form {
            PartForm::Headings => ("Function ", ":"),
            PartForm::Braces => ("function ", " {"),
        };
        let name = line.strip_prefix(before)?.strip_suffix(after)?;
        self.cursor.take_line();
        Some(name)
    }

    /// Passes over the tuning parameters, which are described where they are asked for.
    pub(super) fn tuning_parameters(&mut self) -> Result<(), SourceDiagnostic> {
        if self.form == PartForm::Headings {
            return Ok(());
        }
        self.cursor.expect_piece(PARAMETERS)?;
        while self.has_line("") {
            self.cursor.take_line();
        }
        self.end_part()
    }

    /// Passes over the attributes of a function.
    pub(super) fn skip_attributes(&mut self) -> Result<(), SourceDiagnostic> {
        if self.form == PartForm::Headings || !self.has_part("", "attributes") {
            return Ok(());
        }
        while self.has_line("") {
            self.cursor.take_line();
        }
        self.end_part()
    }
}
