//! A cursor over the text.

use spirula_diagnostics::{SourceDiagnostic, SourceLocation};
use spirula_program::read_string;

/// The position of the reader in the text.
pub(super) struct FutharkCursor<'a> {
    pub text: &'a str,
    pub at: usize,
}

impl<'a> FutharkCursor<'a> {
    /// The remaining text.
    pub fn remaining_text(&self) -> &'a str {
        &self.text[self.at..]
    }

    /// The remainder of the line.
    pub fn remaining_line(&self) -> &'a str {
        let rest = self.remaining_text();
        &rest[..rest.find('\n').unwrap_or(rest.len())]
    }

    /// The source place of the remainder of the line.
    pub fn line_place(&self) -> SourceLocation {
        SourceLocation::from_text_range(self.at, self.at + self.remaining_line().len())
    }

    pub fn fault_here(&self, message: impl Into<String>) -> SourceDiagnostic {
        self.fault_at(self.at, message)
    }

    /// A fault from a byte to the end of its line.
    pub fn fault_at(&self, at: usize, message: impl Into<String>) -> SourceDiagnostic {
        let rest = &self.text[at..];
        let length = rest.find('\n').unwrap_or(rest.len());
        SourceDiagnostic::error(SourceLocation::from_text_range(at, at + length), message)
    }

    /// Consumes a piece of text if it is next.
    pub fn eat_piece(&mut self, piece: &str) -> bool {
        let found = self.remaining_text().starts_with(piece);
        if found {
            self.at += piece.len();
        }
        found
    }

    pub fn expect_piece(&mut self, piece: &str) -> Result<(), SourceDiagnostic> {
        if self.eat_piece(piece) {
            return Ok(());
        }
        Err(self.fault_here(format!("expected {piece:?}")))
    }

    /// Consumes a number of bytes, which has to end on a character.
    pub fn take_bytes(&mut self, length: usize) -> &'a str {
        let taken = &self.remaining_text()[..length];
        self.at += length;
        taken
    }

    /// Consumes the remainder of the line with its line break.
    pub fn take_line(&mut self) -> &'a str {
        let line = self.remaining_line();
        self.at += line.len();
        self.eat_piece("\n");
        line
    }

    /// Skips blanks and line breaks.
    pub fn skip_space(&mut self) {
        let rest = self.remaining_text();
        self.at += rest.len() - rest.trim_start_matches([' ', '\n', '\r', '\t']).len();
    }

    /// Skips blanks.
    pub fn skip_blanks(&mut self) {
        let rest = self.remaining_text();
        self.at += rest.len() - rest.trim_start_matches(' ').len();
    }

    /// Whether the cursor is at the beginning of a line or of the text.
    pub fn at_line_start(&self) -> bool {
        self.at == 0 || self.text.as_bytes()[self.at - 1] == b'\n'
    }

    /// Consumes letters, digits and underscores.
    pub fn take_word(&mut self) -> &'a str {
        let rest = self.remaining_text();
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        self.take_bytes(end.unwrap_or(rest.len()))
    }

    /// Consumes the name of a new variable: text that ends with `_` and digits, followed by a delimiter. The
    /// delimiter is consumed too.
    pub fn take_new_name(&mut self, delimiter: &str) -> Result<&'a str, SourceDiagnostic> {
        let line = self.remaining_line();
        let mut from = 0;
        while let Some(found) = line[from..].find(delimiter) {
            let name = &line[..from + found];
            if has_tag(name) {
                self.at += name.len() + delimiter.len();
                return Ok(name);
            }
            from += found + delimiter.len();
        }
        Err(self.fault_here(format!("expected a name before {delimiter:?}")))
    }

    /// Consumes a string literal.
    pub fn take_string(&mut self) -> Result<String, SourceDiagnostic> {
        let (text, length) =
            read_string(self.remaining_line()).map_err(|message| self.fault_here(message))?;
        self.at += length;
        Ok(text)
    }
}

/// Whether a name ends with an underscore and digits.
fn has_tag(name: &str) -> bool {
    let base = name.trim_end_matches(|c: char| c.is_ascii_digit());
    base.len() < name.len() && base.ends_with('_') && base.len() > 1
}
