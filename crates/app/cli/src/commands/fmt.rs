//! `spirula fmt`: formats Futhark source.

use crate::cli::args::FmtArgs;
use crate::cli::failure::report_line;
use crate::cli::{CommandFailure, CommandResult, failure, files};
use spirula_futhark::format::format_source;
use std::path::Path;

/// Runs `spirula fmt`. Without files, standard input is formatted to standard output.
pub fn run_fmt(args: &FmtArgs) -> CommandResult {
    if args.paths.is_empty() {
        let is_formatted = format_file(Path::new("-"), args.check)?;
        return if is_formatted {
            Ok(())
        } else {
            Err(CommandFailure::Reported)
        };
    }
    let mut is_bad = false;
    for path in &args.paths {
        match format_file(path, args.check) {
            Ok(is_formatted) => is_bad |= !is_formatted,
            Err(CommandFailure::Input {
                name,
                bytes,
                diagnostics,
            }) => {
                failure::report_diagnostics(&name, &bytes, &diagnostics);
                is_bad = true;
            }
            Err(other) => return Err(other),
        }
    }
    if is_bad {
        Err(CommandFailure::Reported)
    } else {
        Ok(())
    }
}

/// Formats a file in place, or only checks it. The result is false for a file that is checked and not formatted.
fn format_file(path: &Path, is_check: bool) -> Result<bool, CommandFailure> {
    let input = files::read_input_file(path)?;
    let Ok(text) = std::str::from_utf8(&input.bytes) else {
        let text = format!("{} is not UTF-8", input.name);
        return Err(CommandFailure::from_message(text));
    };
    let formatted = match format_source(text) {
        Ok(formatted) => formatted,
        Err(faults) => return Err(CommandFailure::from_diagnostics(input, faults)),
    };
    let is_formatted = formatted == text;
    if is_check {
        if !is_formatted {
            report_line("error", &format!("{} is not formatted", input.name), None);
        }
        return Ok(is_formatted);
    }
    if !is_formatted || path == Path::new("-") {
        files::write_text(path, &formatted)?;
    }
    Ok(true)
}
