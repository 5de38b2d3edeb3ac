//! Diagnostics as objects of Python: messages with their places in a source.

use crate::failure::NamedSource;
use pyo3::prelude::*;
use spirula_diagnostics::{DiagnosticSeverity, SourceDiagnostic, SourceLocation};

/// An error, a warning or a note about a source.
#[pyclass(name = "Diagnostic", module = "spirula", frozen, get_all)]
pub struct PythonDiagnostic {
    /// "error", "warning" or "note".
    severity: &'static str,
    /// One sentence.
    message: String,
    /// A short text about the place; may be empty.
    label: String,
    /// Further facts.
    notes: Vec<String>,
    /// Advice, or None.
    hint: Option<String>,
    /// Name of the source.
    file: String,
    /// Line, counted from 1; None where the source is no text or the place is unknown.
    line: Option<usize>,
    /// Column in characters, counted from 1.
    column: Option<usize>,
    /// Line of the end.
    end_line: Option<usize>,
    /// Column after the last character.
    end_column: Option<usize>,
    /// The text of the line.
    source_line: Option<String>,
    /// Offset in bytes of the place in a binary source.
    offset: Option<u64>,
}

#[pymethods]
impl PythonDiagnostic {
    fn __repr__(&self) -> String {
        format!("<spirula.Diagnostic: {}>", self.__str__())
    }

    fn __str__(&self) -> String {
        let place = match (self.line, self.column, self.offset) {
            (Some(line), Some(column), _) => format!("{}:{line}:{column}", self.file),
            (_, _, Some(offset)) => format!("{}: byte {offset}", self.file),
            _ => self.file.clone(),
        };
        format!("{place}: {}: {}", self.severity, self.message)
    }
}

/// A line with its number and a column, both counted from 1.
struct LinePosition<'a> {
    line: usize,
    column: usize,
    text: &'a str,
}

/// The position of a byte of a text.
fn find_position(text: &str, at: u32) -> LinePosition<'_> {
    let mut at = (at as usize).min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    let start = text[..at].rfind('\n').map_or(0, |before| before + 1);
    let end = text[at..].find('\n').map_or(text.len(), |more| at + more);
    LinePosition {
        line: text[..start].matches('\n').count() + 1,
        column: text[start..at].chars().count() + 1,
        text: text[start..end].trim_end_matches('\r'),
    }
}

/// The objects of diagnostics.
pub fn make_diagnostics(
    py: Python<'_>,
    diagnostics: &[SourceDiagnostic],
    source: &NamedSource,
) -> PyResult<Vec<Py<PythonDiagnostic>>> {
    let located = spirula::relocate_to_text(&source.bytes, diagnostics);
    let text = String::from_utf8_lossy(&source.bytes);
    let made = located
        .into_iter()
        .map(|diagnostic| Py::new(py, describe(diagnostic, source, &text)));
    made.collect()
}

fn describe(diagnostic: SourceDiagnostic, source: &NamedSource, text: &str) -> PythonDiagnostic {
    let range = match diagnostic.place {
        SourceLocation::Text { start, end } => {
            Some((find_position(text, start), find_position(text, end)))
        }
        _ => None,
    };
    let (start, end) = range.unzip();
    let offset = match diagnostic.place {
        SourceLocation::Byte(at) => Some(at),
        SourceLocation::Bit(at) => Some(at / 8),
        SourceLocation::Word(at) => Some(u64::from(at) * 4),
        SourceLocation::Unknown | SourceLocation::Text { .. } => None,
    };
    PythonDiagnostic {
        severity: match diagnostic.severity {
            DiagnosticSeverity::Error => "error",
            DiagnosticSeverity::Warning => "warning",
            DiagnosticSeverity::Note => "note",
        },
        message: diagnostic.message,
        label: diagnostic.label,
        notes: diagnostic.notes,
        hint: diagnostic.hint,
        file: source.name.clone(),
        line: start.as_ref().map(|position| position.line),
        column: start.as_ref().map(|position| position.column),
        end_line: end.as_ref().map(|position| position.line),
        end_column: end.as_ref().map(|position| position.column),
        source_line: start.map(|position| position.text.to_owned()),
        offset,
    }
}
