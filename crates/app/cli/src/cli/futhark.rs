//! Futhark programs of files, for commands that work on source.

use super::{CommandFailure, failure};
use spirula_diagnostics::{SourceDiagnostic, SourceLocation};
use spirula_futhark::compile::{CheckedSource, FileFault, check_files};
use std::fs;
use std::path::Path;
use std::sync::Arc;

/// Reads and checks a program with the files that it imports.
///
/// # Errors
/// The faults of the program, at least one.
pub fn check_program_file(path: &Path) -> Result<CheckedSource, Vec<FileFault>> {
    let Some(main) = path.to_str() else {
        return Err(vec![FileFault {
            name: Arc::from(&*path.to_string_lossy()),
            text: Arc::from(""),
            is_main: true,
            diagnostic: SourceDiagnostic::error(SourceLocation::Unknown, "the path is not UTF-8"),
        }]);
    };
    check_files(main, &mut |file| {
        fs::read_to_string(file).map_err(|error| error.to_string())
    })
}

/// Reports faults of a program on standard error, each with its file.
pub fn report_file_faults(faults: Vec<FileFault>) -> CommandFailure {
    for fault in faults {
        let diagnostic = std::slice::from_ref(&fault.diagnostic);
        failure::report_diagnostics(&fault.name, fault.text.as_bytes(), diagnostic);
    }
    CommandFailure::Reported
}
