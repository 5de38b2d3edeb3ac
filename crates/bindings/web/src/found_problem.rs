//! Diagnostics for the page, with lines and columns of the text that they are about.

use serde::Serialize;
use spirula_diagnostics::{
    ColumnUnit, DiagnosticSeverity, LineStarts, SourceDiagnostic, SourceLocation,
};

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
        let lines = LineStarts::new(text);
        let first = lines.find_position(text, start, ColumnUnit::Utf16);
        let last = lines.find_position(text, end.max(start), ColumnUnit::Utf16);
        LineSpan {
            line: first.line,
            column: first.column,
            end_line: last.line,
            end_column: last.column,
        }
    }
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
        let span = LineSpan::from_bytes(text, 6, 7);
        assert_eq!((span.line, span.end_column), (2, 4));
    }
}
