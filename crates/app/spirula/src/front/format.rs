//! Records of front ends and input formats.

use super::source::SourceProgram;
use crate::error::CompileError;
use spirula_diagnostics::{SourceDiagnostic, SourceLocation};
use std::fmt;

/// A front end: an input language in all of its formats.
#[derive(Debug)]
pub struct FrontEnd {
    /// Name of the language, its formats in parentheses where there are several.
    pub title: &'static str,
    /// Its formats.
    pub formats: &'static [&'static InputFormat],
}

/// A format of inputs. Formats are equal where their names are.
pub struct InputFormat {
    /// Name of the format in messages.
    pub name: &'static str,
    pub(super) marks: FormatMarks,
    pub(super) read: FormatReader,
}

/// Function that reads an input.
pub(super) enum FormatReader {
    /// From its bytes alone.
    Bytes(fn(&[u8]) -> Result<SourceProgram, CompileError>),
    /// From its bytes and its path, which the files that it imports are relative to. It appends warnings.
    Located(LocatedReader),
}

/// Function that reads an input from its bytes and its path, and appends warnings.
type LocatedReader =
    fn(&[u8], &str, &mut Vec<SourceDiagnostic>) -> Result<SourceProgram, CompileError>;

impl InputFormat {
    /// Reads an input of this format. Files that it imports are relative to its path. Warnings are appended to
    /// `diagnostics`.
    ///
    /// # Errors
    /// When the input is malformed.
    pub(crate) fn read_source(
        &self,
        bytes: &[u8],
        path: &str,
        diagnostics: &mut Vec<SourceDiagnostic>,
    ) -> Result<SourceProgram, CompileError> {
        match self.read {
            FormatReader::Bytes(read) => read(bytes),
            FormatReader::Located(read) => read(bytes, path, diagnostics),
        }
    }
}

impl PartialEq for InputFormat {
    fn eq(&self, other: &InputFormat) -> bool {
        self.name == other.name
    }
}

impl Eq for InputFormat {}

impl fmt::Debug for InputFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// How a format is recognised.
pub(super) enum FormatMarks {
    /// By its first bytes, which are one of these sequences.
    Magic(&'static [&'static [u8]]),
    /// By a predicate over the whole input.
    Predicate(fn(&[u8]) -> bool),
    /// By lines of a text.
    Text(TextMarks),
}

/// How a text format is recognised.
pub(super) struct TextMarks {
    /// Texts that a comment begins with.
    pub(super) comments: &'static [&'static str],
    /// How much a comment says for the format.
    pub(super) match_comment: fn(&str) -> LineMatch,
    /// How much any other line says for the format. Blanks around the line are removed.
    pub(super) match_line: fn(&str) -> LineMatch,
}

/// How much a line says for a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LineMatch {
    /// Nothing.
    No,
    /// The line may be of this format, or of a language that is not accepted.
    Likely,
    /// Only this format has such lines.
    Certain,
}

impl LineMatch {
    /// [`LineMatch::Certain`] where a condition holds.
    pub(super) fn certain_if(holds: bool) -> LineMatch {
        if holds {
            LineMatch::Certain
        } else {
            LineMatch::No
        }
    }

    /// [`LineMatch::Likely`] where a condition holds.
    pub(super) fn likely_if(holds: bool) -> LineMatch {
        if holds {
            LineMatch::Likely
        } else {
            LineMatch::No
        }
    }
}

/// Comments that say nothing.
pub(super) fn ignore_comment(_comment: &str) -> LineMatch {
    LineMatch::No
}

/// Whether a line begins with one of these texts.
pub(super) fn starts_with_any(line: &str, beginnings: &[&str]) -> bool {
    beginnings
        .iter()
        .any(|beginning| line.starts_with(beginning))
}

/// Decodes an input as UTF-8.
pub(super) fn decode_utf8(bytes: &[u8]) -> Result<&str, CompileError> {
    std::str::from_utf8(bytes).map_err(|error| {
        let place = SourceLocation::Byte(error.valid_up_to() as u64);
        CompileError::from_read_fault(SourceDiagnostic::error(place, "the text is not UTF-8 here"))
    })
}
