//! Findings: diagnostics with the files that they are about, and their form in JSON.

use super::{CommandFailure, CommandResult, files};
use serde::Serialize;
use spirula_diagnostics::{
    ColumnUnit, DiagnosticSeverity, LineColumn, SourceDiagnostic, SourceLocation, find_line_column,
};
use std::path::Path;
use std::sync::Arc;

/// A diagnostic with the file that it is about.
pub struct FileFinding {
    /// Name of the file.
    pub name: Arc<str>,
    /// Contents of the file.
    pub contents: Arc<[u8]>,
    /// The diagnostic.
    pub diagnostic: SourceDiagnostic,
}

/// Prints findings as JSON to standard output.
pub fn print_findings(findings: &[FileFinding]) -> CommandResult {
    let records: Vec<FindingRecord> = findings.iter().map(FindingRecord::new).collect();
    print_json(Path::new("-"), &records)
}

/// Writes a value as JSON to a file, or to standard output for `-`.
pub fn print_json(path: &Path, value: &impl Serialize) -> CommandResult {
    let json = serde_json::to_string_pretty(value);
    let json = json.map_err(|e| CommandFailure::from_message(e.to_string()))?;
    files::write_text(path, &(json + "\n"))
}

/// The form of a diagnostic in JSON.
#[derive(Serialize)]
struct FindingRecord<'a> {
    file: &'a str,
    severity: &'static str,
    message: &'a str,
    /// Start and end in a text; absent where the place is unknown or in a binary.
    #[serde(skip_serializing_if = "Option::is_none")]
    start: Option<TextPosition>,
    #[serde(skip_serializing_if = "Option::is_none")]
    end: Option<TextPosition>,
    /// Byte of a binary.
    #[serde(skip_serializing_if = "Option::is_none")]
    byte: Option<u64>,
    #[serde(skip_serializing_if = "str::is_empty")]
    label: &'a str,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    notes: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<&'a str>,
}

/// A position in a text. Lines and columns count from 1, columns in characters.
#[derive(Serialize)]
struct TextPosition {
    byte: usize,
    line: usize,
    column: usize,
}

impl<'a> FindingRecord<'a> {
    fn new(finding: &'a FileFinding) -> Self {
        let diagnostic = &finding.diagnostic;
        let position = |at: u32| Some(TextPosition::locate(&finding.contents, at as usize));
        let (start, end, byte) = match diagnostic.place {
            SourceLocation::Unknown => (None, None, None),
            SourceLocation::Text { start, end } => (position(start), position(end), None),
            SourceLocation::Byte(byte) => (None, None, Some(byte)),
            SourceLocation::Bit(bit) => (None, None, Some(bit / 8)),
            SourceLocation::Word(word) => (None, None, Some(u64::from(word) * 4)),
        };
        FindingRecord {
            file: &finding.name,
            severity: match diagnostic.severity {
                DiagnosticSeverity::Error => "error",
                DiagnosticSeverity::Warning => "warning",
                DiagnosticSeverity::Note => "note",
            },
            message: &diagnostic.message,
            start,
            end,
            byte,
            label: &diagnostic.label,
            notes: &diagnostic.notes,
            hint: diagnostic.hint.as_deref(),
        }
    }
}

impl TextPosition {
    fn locate(contents: &[u8], byte: usize) -> TextPosition {
        let LineColumn { line, column } = find_line_column(contents, byte, ColumnUnit::Character);
        TextPosition { byte, line, column }
    }
}
