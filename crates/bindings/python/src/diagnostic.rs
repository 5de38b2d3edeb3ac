//! Diagnostics as objects of Python: messages with their places in a source.

use crate::failure::NamedSource;
use pyo3::prelude::*;
use spirula_diagnostics::{
    ColumnUnit, DiagnosticSeverity, LineStarts, SourceDiagnostic, SourceLocation,
};

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

/// The objects of diagnostics.
pub fn make_diagnostics(
    py: Python<'_>,
    diagnostics: &[SourceDiagnostic],
    source: &NamedSource,
) -> PyResult<Vec<Py<PythonDiagnostic>>> {
    let located = spirula::relocate_to_text(&source.bytes, diagnostics);
    let lines = LineStarts::new(&source.bytes);
    let made = located
        .into_iter()
        .map(|diagnostic| Py::new(py, describe(diagnostic, source, &lines)));
    made.collect()
}

fn describe(
    diagnostic: SourceDiagnostic,
    source: &NamedSource,
    lines: &LineStarts,
) -> PythonDiagnostic {
    let range = match diagnostic.place {
        SourceLocation::Text { start, end } => Some(
            [start, end]
                .map(|at| lines.find_position(&source.bytes, at as usize, ColumnUnit::Character)),
        ),
        _ => None,
    };
    let (start, end) = range.map(|[start, end]| (start, end)).unzip();
    let source_line = start.and_then(|start| lines.find_line(&source.bytes, start.line));
    let source_line = source_line.map(|line| String::from_utf8_lossy(&source.bytes[line]));
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
        line: start.map(|position| position.line),
        column: start.map(|position| position.column),
        end_line: end.map(|position| position.line),
        end_column: end.map(|position| position.column),
        source_line: source_line.map(|line| line.trim_end_matches('\r').to_owned()),
        offset,
    }
}
