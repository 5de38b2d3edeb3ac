//! A cursor over the text, and the names that are bound where it stands.

use rustc_hash::FxHashMap;
use spirula_diagnostics::{SourceDiagnostic, SourceLocation};
use spirula_kernel::ir::VarId;
use spirula_program::read_string;

/// Where the reader is.
pub(super) struct FutharkCursor<'a> {
    pub text: &'a str,
    pub at: usize,
}

impl<'a> FutharkCursor<'a> {
    /// What is left.
    pub fn remaining_text(&self) -> &'a str {
        &self.text[self.at..]
    }

    /// What is left of the line.
    pub fn remaining_line(&self) -> &'a str {
        let rest = self.remaining_text();
        &rest[..rest.find('\n').unwrap_or(rest.len())]
    }

    /// The place of what is left of the line.
    pub fn line_place(&self) -> SourceLocation {
        SourceLocation::from_text_range(self.at, self.at + self.remaining_line().len())
    }

    pub fn fault_here(&self, message: impl Into<String>) -> SourceDiagnostic {
        self.fault_at(self.at, message)
    }

    /// A fault in what is left of the line from a byte on.
    pub fn fault_at(&self, at: usize, message: impl Into<String>) -> SourceDiagnostic {
        let rest = &self.text[at..];
        let length = rest.find('\n').unwrap_or(rest.len());
        SourceDiagnostic::error(SourceLocation::from_text_range(at, at + length), message)
    }

    /// Takes a piece of text if it is next.
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

    /// Takes so many bytes, which have to end on a character.
    pub fn take_bytes(&mut self, length: usize) -> &'a str {
        let taken = &self.remaining_text()[..length];
        self.at += length;
        taken
    }

    /// Takes the rest of the line and the end of the line.
    pub fn take_line(&mut self) -> &'a str {
        let line = self.remaining_line();
        self.at += line.len();
        self.eat_piece("\n");
        line
    }

    /// Skips blanks and ends of lines.
    pub fn skip_space(&mut self) {
        let rest = self.remaining_text();
        self.at += rest.len() - rest.trim_start_matches([' ', '\n', '\r', '\t']).len();
    }

    /// Skips blanks.
    pub fn skip_blanks(&mut self) {
        let rest = self.remaining_text();
        self.at += rest.len() - rest.trim_start_matches(' ').len();
    }

    /// Whether the cursor stands at the beginning of a line, or of the text.
    pub fn at_line_start(&self) -> bool {
        self.at == 0 || self.text.as_bytes()[self.at - 1] == b'\n'
    }

    /// Takes letters, digits and underscores.
    pub fn take_word(&mut self) -> &'a str {
        let rest = self.remaining_text();
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        self.take_bytes(end.unwrap_or(rest.len()))
    }

    /// Takes text up to a delimiter that follows `_` and digits: a name that is being bound. The
    /// delimiter is taken too.
    pub fn new_name(&mut self, delimiter: &str) -> Result<&'a str, SourceDiagnostic> {
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

    /// Takes a literal of a string.
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

/// The names that are bound, innermost last.
#[derive(Default)]
pub(super) struct FutharkScopes<'a> {
    bound: FxHashMap<&'a str, Vec<VarId>>,
    /// Names in the order they were bound.
    log: Vec<&'a str>,
    /// Length of the log where each scope began.
    starts: Vec<usize>,
    /// Length of the longest name that holds more than letters, digits, underscores and dots.
    longest_odd: usize,
}

impl<'a> FutharkScopes<'a> {
    pub fn push_scope(&mut self) {
        self.starts.push(self.log.len());
    }

    pub fn pop_scope(&mut self) {
        let start = self.starts.pop().unwrap_or(0);
        for name in self.log.drain(start..) {
            if let Some(vars) = self.bound.get_mut(name) {
                vars.pop();
            }
        }
    }

    pub fn bind_var(&mut self, name: &'a str, var: VarId) {
        if plain_end(name) != name.len() {
            self.longest_odd = self.longest_odd.max(name.len());
        }
        self.bound.entry(name).or_default().push(var);
        self.log.push(name);
    }

    pub fn get(&self, name: &str) -> Option<VarId> {
        self.bound.get(name).and_then(|vars| vars.last()).copied()
    }

    /// The longest bound name that the text begins with: its variable and its length.
    pub fn find_longest_prefix(&self, text: &str) -> Option<(VarId, usize)> {
        let end = plain_end(text);
        let mut found = self.get(&text[..end]).map(|var| (var, end));
        let limit = self.longest_odd.min(text.len());
        let bytes = text.as_bytes();
        let mut at = if limit > 0 { 0 } else { limit };
        while at < limit {
            if bytes[at] == b'_' {
                let digits = bytes[at + 1..]
                    .iter()
                    .take_while(|b| b.is_ascii_digit())
                    .count();
                let end = at + 1 + digits;
                if digits > 0 && found.is_none_or(|(_, length)| end > length) {
                    found = self.get(&text[..end]).map(|var| (var, end)).or(found);
                }
                at = end;
            } else {
                at += 1;
            }
        }
        found
    }
}

/// Where the letters, digits, underscores and dots at the beginning end.
fn plain_end(text: &str) -> usize {
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '\'');
    text.find(|c: char| !is_plain(c)).unwrap_or(text.len())
}
