//! Diagnostics for the page, with lines and columns of the text that they are about.

use serde::Serialize;
use spirula_diagnostics::{DiagnosticSeverity, SourceDiagnostic, SourceLocation};

/// A diagnostic.
#[derive(Debug, Serialize)]
pub(crate) struct FoundProblem {
    severity: &'static str,
    message: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    label: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
    /// The place in a text.
    #[serde(skip_serializing_if = "Option::is_none")]
    span: Option<LineSpan>,
    /// The place in words, where it is in no text.
    #[serde(skip_serializing_if = "Option::is_none")]
    place: Option<String>,
}

/// A place in a text. Lines and columns count from 1, columns in UTF-16 units as JavaScript counts them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct LineSpan {
    line: usize,
    column: usize,
    #[serde(rename = "endLine")]
    end_line: usize,
    #[serde(rename = "endColumn")]
    end_column: usize,
}

impl LineSpan {
    /// The whole of a line.
    pub(crate) fn from_line(line: usize) -> LineSpan {
        LineSpan {
            line,
            column: 1,
            end_line: line + 1,
            end_column: 1,
        }
    }

    /// The bytes of a range of a text. Positions beyond its end are its end.
    fn from_bytes(text: &[u8], start: usize, end: usize) -> LineSpan {
        let (line, column) = locate_byte(text, start);
        let (end_line, end_column) = locate_byte(text, end.max(start));
        LineSpan {
            line,
            column,
            end_line,
            end_column,
        }
    }
}

/// Line and column of a byte.
fn locate_byte(text: &[u8], at: usize) -> (usize, usize) {
    let before = &text[..at.min(text.len())];
    let line_start = before.iter().rposition(|byte| *byte == b'\n');
    let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
    let row = String::from_utf8_lossy(&before[line_start.map_or(0, |at| at + 1)..]);
    (line, row.encode_utf16().count() + 1)
}

impl FoundProblem {
    /// A diagnostic about an input.
    pub(crate) fn from_input(diagnostic: &SourceDiagnostic, input: &[u8]) -> FoundProblem {
        let (span, place) = match diagnostic.place {
            SourceLocation::Unknown => (None, None),
            SourceLocation::Text { start, end } => {
                let span = LineSpan::from_bytes(input, start as usize, end as usize);
                (Some(span), None)
            }
            place => (None, Some(place.to_string())),
        };
        FoundProblem {
            span,
            place,
            ..FoundProblem::from_diagnostic(diagnostic)
        }
    }

    /// A diagnostic about a line of a text.
    pub(crate) fn from_line(diagnostic: &SourceDiagnostic, line: Option<usize>) -> FoundProblem {
        FoundProblem {
            span: line.map(LineSpan::from_line),
            ..FoundProblem::from_diagnostic(diagnostic)
        }
    }

    fn from_diagnostic(diagnostic: &SourceDiagnostic) -> FoundProblem {
        FoundProblem {
            severity: match diagnostic.severity {
                DiagnosticSeverity::Error => "error",
                DiagnosticSeverity::Warning => "warning",
                DiagnosticSeverity::Note => "note",
            },
            message: diagnostic.message.clone(),
            label: diagnostic.label.clone(),
            notes: diagnostic.notes.clone(),
            hint: diagnostic.hint.clone(),
            span: None,
            place: None,
        }
    }

    /// The message.
    pub(crate) fn message(&self) -> &str {
        &self.message
    }
}

/// The diagnostics about an input. Those about words of an assembled module have places in its text.
pub(crate) fn locate_problems(diagnostics: &[SourceDiagnostic], input: &[u8]) -> Vec<FoundProblem> {
    let located = spirula::relocate_to_text(input, diagnostics);
    located
        .iter()
        .map(|diagnostic| FoundProblem::from_input(diagnostic, input))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_as_in_javascript() {
        let text = "a\n\u{1F600}b\n".as_bytes();
        assert_eq!(locate_byte(text, 0), (1, 1));
        assert_eq!(locate_byte(text, 6), (2, 3));
        assert_eq!(locate_byte(text, 99), (3, 1));
        let span = LineSpan::from_bytes(text, 6, 7);
        assert_eq!((span.line, span.end_column), (2, 4));
    }
}
