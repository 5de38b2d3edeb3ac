//! `spirula check`: checks inputs without compiling them.

use crate::cli::args::CheckArgs;
use crate::cli::futhark::check_program_file;
use crate::cli::{CommandFailure, CommandResult, failure, files};
use serde::Serialize;
use spirula::{FUTHARK_SOURCE, detect_input_format};
use spirula_diagnostics::{DiagnosticSeverity, SourceDiagnostic, SourceLocation};
use spirula_spirv::verify::{VerifyOptions, verify_words};
use std::ffi::OsStr;
use std::path::Path;
use std::sync::Arc;

/// A diagnostic with the file that it is about.
struct FileFinding {
    name: Arc<str>,
    contents: Arc<[u8]>,
    diagnostic: SourceDiagnostic,
}

/// Runs `spirula check`. All inputs are checked, also after one that is refused.
pub fn run_check(args: &CheckArgs) -> CommandResult {
    let mut findings = Vec::new();
    for path in &args.paths {
        findings.extend(check_input(path)?);
    }
    if args.json {
        let records: Vec<FindingRecord> = findings.iter().map(FindingRecord::new).collect();
        let json = serde_json::to_string_pretty(&records)
            .map_err(|e| CommandFailure::from_message(e.to_string()))?;
        files::write_text(Path::new("-"), &(json + "\n"))?;
    } else {
        for finding in &findings {
            let diagnostic = std::slice::from_ref(&finding.diagnostic);
            failure::report_diagnostics(&finding.name, &finding.contents, diagnostic);
        }
    }
    let severities = findings.iter().map(|finding| finding.diagnostic.severity);
    match severities.max() {
        Some(DiagnosticSeverity::Error) => Err(CommandFailure::Told),
        _ => Ok(()),
    }
}

/// The diagnostics of an input. A Futhark program of a file is checked with the files that it imports.
fn check_input(path: &Path) -> Result<Vec<FileFinding>, CommandFailure> {
    let input = files::read_input_file(path)?;
    let is_program = path.extension() == Some(OsStr::new("fut"))
        || detect_input_format(&input.bytes).is_ok_and(|format| *format == FUTHARK_SOURCE);
    if is_program && path != Path::new("-") {
        return Ok(check_program(path));
    }
    let name: Arc<str> = Arc::from(input.name.as_str());
    let contents: Arc<[u8]> = Arc::from(input.bytes);
    let diagnostics = match spirula::read_located_input(&contents, &name) {
        Err(error) => error.diagnostics,
        Ok(read) => {
            let words = read.as_spirv().map(|module| module.to_words());
            let verified = words.map(|words| verify_words(words, &VerifyOptions::default()));
            match verified {
                Some(Err(faults)) => faults,
                _ => Vec::new(),
            }
        }
    };
    let findings = diagnostics.into_iter().map(|diagnostic| FileFinding {
        name: Arc::clone(&name),
        contents: Arc::clone(&contents),
        diagnostic,
    });
    Ok(findings.collect())
}

fn check_program(path: &Path) -> Vec<FileFinding> {
    let faults = match check_program_file(path) {
        Ok(checked) => checked.warnings,
        Err(faults) => faults,
    };
    let findings = faults.into_iter().map(|fault| FileFinding {
        name: fault.name,
        contents: fault.text.into(),
        diagnostic: fault.diagnostic,
    });
    findings.collect()
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
        let before = String::from_utf8_lossy(&contents[..byte.min(contents.len())]);
        let last = before.rsplit('\n').next().unwrap_or_default();
        TextPosition {
            byte,
            line: before.matches('\n').count() + 1,
            column: last.chars().count() + 1,
        }
    }
}
