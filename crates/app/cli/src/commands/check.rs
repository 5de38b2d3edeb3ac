//! `spirula check`: checks inputs without compiling them.

use crate::cli::args::CheckArgs;
use crate::cli::finding::{FileFinding, print_findings};
use crate::cli::futhark::check_program_file;
use crate::cli::{CommandFailure, CommandResult, failure, files};
use spirula::{FUTHARK_SOURCE, detect_input_format};
use spirula_diagnostics::DiagnosticSeverity;
use spirula_spirv::verify::{VerifyOptions, verify_words};
use std::ffi::OsStr;
use std::path::Path;
use std::sync::Arc;

/// Runs `spirula check`. All inputs are checked, also after one that is refused.
pub fn run_check(args: &CheckArgs) -> CommandResult {
    let mut findings = Vec::new();
    for path in &args.paths {
        findings.extend(check_input(path)?);
    }
    if args.json {
        print_findings(&findings)?;
    } else {
        for finding in &findings {
            let diagnostic = std::slice::from_ref(&finding.diagnostic);
            failure::report_diagnostics(&finding.name, &finding.contents, diagnostic);
        }
    }
    let severities = findings.iter().map(|finding| finding.diagnostic.severity);
    match severities.max() {
        Some(DiagnosticSeverity::Error) => Err(CommandFailure::Reported),
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
                Some(Err(faults)) => faults.into_vec(),
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
