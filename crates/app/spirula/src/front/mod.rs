//! Front ends: one record for each input language, with its formats and how they are read.
//!
//! A front end reads bytes into a [`SourceProgram`]. Its variant is the representation at which the input enters the
//! pipeline; everything after that is shared ([`crate::compile`]). A new front end is a file beside these and a row of
//! [`FRONT_ENDS`]: detection, messages and the help of the command follow from the row.

mod archive;
mod detect;
mod foreign;
mod futhark_printed;
mod kernel_text;
mod llvm;
mod source;
mod spirv;
mod stablehlo;

pub use detect::detect_input_format;
pub(crate) use source::{ModuleSource, SourceProgram, TensorProgram, TensorSource};
pub use spirv::{SPIRV_BINARY, SPIRV_TEXT};

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

/// All front ends.
pub static FRONT_ENDS: &[&FrontEnd] = &[
    &spirv::FRONT_END,
    &llvm::FRONT_END,
    &stablehlo::FRONT_END,
    &kernel_text::FRONT_END,
    &futhark_printed::FRONT_END,
    &archive::FRONT_END,
];

/// The titles of all front ends as a list in a sentence.
pub fn list_accepted_inputs() -> String {
    let titles: Vec<&str> = FRONT_ENDS.iter().map(|front_end| front_end.title).collect();
    match titles.split_last() {
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
        None => String::new(),
    }
}

/// The formats of all front ends.
fn all_formats() -> impl Iterator<Item = &'static InputFormat> {
    FRONT_ENDS
        .iter()
        .flat_map(|front_end| front_end.formats.iter().copied())
}

/// A format of inputs. Formats are equal where their names are.
pub struct InputFormat {
    /// Name of the format in messages.
    pub name: &'static str,
    marks: FormatMarks,
    read: fn(&[u8]) -> Result<SourceProgram, CompileError>,
}

impl InputFormat {
    /// Reads an input of this format.
    ///
    /// # Errors
    /// When the input is malformed.
    pub(crate) fn read_source(&self, bytes: &[u8]) -> Result<SourceProgram, CompileError> {
        (self.read)(bytes)
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
enum FormatMarks {
    /// By its first bytes, which are one of these sequences.
    Magic(&'static [&'static [u8]]),
    /// By a predicate over the whole input.
    Predicate(fn(&[u8]) -> bool),
    /// By lines of a text.
    Text(TextMarks),
}

/// How a text format is recognised.
struct TextMarks {
    /// What a comment begins with.
    comments: &'static [&'static str],
    /// How much a comment says for the format.
    match_comment: fn(&str) -> LineMatch,
    /// How much any other line says for the format. Blanks around the line are removed.
    match_line: fn(&str) -> LineMatch,
}

/// How much a line says for a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LineMatch {
    /// Nothing.
    No,
    /// The line may be of this format, or of a language that is not accepted.
    Likely,
    /// Only this format has such lines.
    Certain,
}

impl LineMatch {
    /// [`LineMatch::Certain`] where a condition holds.
    fn certain_if(holds: bool) -> LineMatch {
        if holds {
            LineMatch::Certain
        } else {
            LineMatch::No
        }
    }

    /// [`LineMatch::Likely`] where a condition holds.
    fn likely_if(holds: bool) -> LineMatch {
        if holds {
            LineMatch::Likely
        } else {
            LineMatch::No
        }
    }
}

/// Comments that say nothing.
fn ignore_comment(_comment: &str) -> LineMatch {
    LineMatch::No
}

/// Whether a line begins with one of these texts.
fn starts_with_any(line: &str, beginnings: &[&str]) -> bool {
    beginnings
        .iter()
        .any(|beginning| line.starts_with(beginning))
}

/// Decodes an input as UTF-8.
fn decode_utf8(bytes: &[u8]) -> Result<&str, CompileError> {
    std::str::from_utf8(bytes).map_err(|error| {
        let place = SourceLocation::Byte(error.valid_up_to() as u64);
        CompileError::from_read_fault(SourceDiagnostic::error(place, "the text is not UTF-8 here"))
    })
}
