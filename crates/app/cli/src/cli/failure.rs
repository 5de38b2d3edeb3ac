//! Command failures, their reports and exit codes.
//!
//! The exit code is 0 for success. It is 1 for a bad input, a failed check or test, and a file that cannot be written.
//! It is 2 for wrong usage.

use super::input_file::InputFile;
use super::stderr::{print_stderr, print_stderr_line};
use super::verbosity;
use spirula::CompileError;
use spirula_diagnostics::{DiagnosticSeverity, SourceDiagnostic, SourceFile, render_diagnostic};
use std::io::{self, IsTerminal};

/// Result of a command.
pub type CommandResult = Result<(), CommandFailure>;

/// Failure of a command.
#[derive(Debug)]
pub enum CommandFailure {
    /// An input has faults.
    Input {
        /// Name of the input.
        name: String,
        /// Contents of the input.
        bytes: Vec<u8>,
        /// Errors and warnings.
        diagnostics: Vec<SourceDiagnostic>,
    },
    /// Another failure.
    Message {
        /// One sentence without a full stop.
        text: String,
        /// Advice.
        hint: Option<String>,
    },
    /// The command line is invalid.
    Usage(String),
    /// The failure was reported already.
    Reported,
    /// The reader of the output has closed it.
    BrokenPipe,
}

impl CommandFailure {
    /// A failure without a place in an input.
    pub fn from_message(text: impl Into<String>) -> Self {
        CommandFailure::Message {
            text: text.into(),
            hint: None,
        }
    }

    /// A failure without a place in an input, with advice.
    pub fn with_hint(text: impl Into<String>, hint: impl Into<String>) -> Self {
        CommandFailure::Message {
            text: text.into(),
            hint: Some(hint.into()),
        }
    }

    /// An input was refused.
    pub fn from_compile_error(input: InputFile, error: CompileError) -> Self {
        CommandFailure::from_diagnostics(input, error.diagnostics)
    }

    /// An input has faults.
    pub fn from_diagnostics(
        input: InputFile,
        diagnostics: impl Into<Vec<SourceDiagnostic>>,
    ) -> Self {
        CommandFailure::Input {
            name: input.name,
            bytes: input.bytes,
            diagnostics: diagnostics.into(),
        }
    }
}

impl From<io::Error> for CommandFailure {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => CommandFailure::BrokenPipe,
            _ => CommandFailure::from_message(error.to_string()),
        }
    }
}

/// The exit code for a bad input, a failed check, or a file that cannot be written.
pub const FAILURE: u8 = 1;

/// The exit code for wrong usage.
pub const WRONG_USAGE: u8 = 2;

/// Reports a failure on standard error, and returns the exit code of the process.
pub fn report_outcome(outcome: CommandResult) -> u8 {
    match outcome {
        Ok(()) | Err(CommandFailure::BrokenPipe) => 0,
        Err(CommandFailure::Reported) => FAILURE,
        Err(CommandFailure::Input {
            name,
            bytes,
            diagnostics,
        }) => {
            report_diagnostics(&name, &bytes, &diagnostics);
            FAILURE
        }
        Err(CommandFailure::Message { text, hint }) => {
            report_line("error", &text, hint.as_deref());
            FAILURE
        }
        Err(CommandFailure::Usage(text)) => {
            report_line("error", &text, Some("see --help"));
            WRONG_USAGE
        }
    }
}

/// Prints diagnostics of an input to standard error.
pub fn report_diagnostics(name: &str, bytes: &[u8], diagnostics: &[SourceDiagnostic]) {
    let colour = has_colour();
    let is_quiet = verbosity::is_quiet();
    for diagnostic in spirula::relocate_to_text(bytes, diagnostics) {
        if is_quiet && diagnostic.severity != DiagnosticSeverity::Error {
            continue;
        }
        print_stderr!(
            "{}",
            render_diagnostic(&diagnostic, SourceFile { name, bytes }, colour)
        );
    }
}

/// Prints a message without a place to standard error.
pub fn report_line(severity: &str, text: &str, hint: Option<&str>) {
    if verbosity::is_quiet() && severity != "error" {
        return;
    }
    if has_colour() {
        print_stderr_line!("\x1b[1;31m{severity}\x1b[0;1m: {text}\x1b[0m");
    } else {
        print_stderr_line!("{severity}: {text}");
    }
    if let Some(hint) = hint {
        print_stderr_line!("  = hint: {hint}");
    }
}

/// Whether standard error is a terminal with colours, and colours are wanted (see no-color.org).
pub fn has_colour() -> bool {
    let unset = |name| std::env::var_os(name).is_none_or(|v| v.is_empty());
    let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    io::stderr().is_terminal() && unset("NO_COLOR") && !dumb
}
