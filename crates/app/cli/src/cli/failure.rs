//! Why a command failed, and how that is told.
//!
//! Exit codes: 0 done; 1 the input, a check or a test is bad, or a file cannot be written; 2 the
//! command was used wrongly.

use super::stderr::{print_stderr, print_stderr_line};
use spirula::CompileError;
use spirula_diagnostics::{SourceDiagnostic, SourceFile, SourceLocation, render_diagnostic};
use spirula_spirv::text;
use std::io::{self, IsTerminal};
use std::process::ExitCode;

/// The end of a command.
pub type CommandResult = Result<(), CommandFailure>;

/// Why a command failed.
#[derive(Debug)]
pub enum CommandFailure {
    /// Something is wrong with an input.
    Input {
        /// Name of the input.
        name: String,
        /// Its contents.
        bytes: Vec<u8>,
        /// What is wrong, warnings among it.
        diagnostics: Vec<SourceDiagnostic>,
    },
    /// Something else is wrong.
    Message {
        /// One sentence without a full stop.
        text: String,
        /// What to do about it.
        hint: Option<String>,
    },
    /// The command makes no sense as it was given.
    Usage(String),
    /// Everything was told already.
    Told,
    /// Whoever read our output has left.
    BrokenPipe,
}

impl CommandFailure {
    /// Something is wrong that concerns no place in an input.
    pub fn from_message(text: impl Into<String>) -> Self {
        CommandFailure::Message {
            text: text.into(),
            hint: None,
        }
    }

    /// The same with advice.
    pub fn with_hint(text: impl Into<String>, hint: impl Into<String>) -> Self {
        CommandFailure::Message {
            text: text.into(),
            hint: Some(hint.into()),
        }
    }

    /// An input was refused.
    pub fn from_compile_error(input: super::files::InputFile, error: CompileError) -> Self {
        CommandFailure::from_diagnostics(input, error.diagnostics)
    }

    /// An input has faults.
    pub fn from_diagnostics(
        input: super::files::InputFile,
        diagnostics: Vec<SourceDiagnostic>,
    ) -> Self {
        CommandFailure::Input {
            name: input.name,
            bytes: input.bytes,
            diagnostics,
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

/// Tells a failure on standard error; the exit code of the process.
pub fn report_outcome(outcome: CommandResult) -> ExitCode {
    match outcome {
        Ok(()) | Err(CommandFailure::BrokenPipe) => ExitCode::SUCCESS,
        Err(CommandFailure::Told) => ExitCode::FAILURE,
        Err(CommandFailure::Input {
            name,
            bytes,
            diagnostics,
        }) => {
            report_diagnostics(&name, &bytes, &diagnostics);
            ExitCode::FAILURE
        }
        Err(CommandFailure::Message { text, hint }) => {
            tell_line("error", &text, hint.as_deref());
            ExitCode::FAILURE
        }
        Err(CommandFailure::Usage(text)) => {
            tell_line("error", &text, Some("see --help"));
            ExitCode::from(2)
        }
    }
}

/// Diagnostics of an input on standard error.
pub fn report_diagnostics(name: &str, bytes: &[u8], diagnostics: &[SourceDiagnostic]) {
    let colour = has_colour();
    for diagnostic in relocate_to_text(bytes, diagnostics) {
        print_stderr!(
            "{}",
            render_diagnostic(&diagnostic, SourceFile { name, bytes }, colour)
        );
    }
}

/// Diagnostics about words of a module that was assembled are about the lines of its text.
fn relocate_to_text(bytes: &[u8], diagnostics: &[SourceDiagnostic]) -> Vec<SourceDiagnostic> {
    let mut located = diagnostics.to_vec();
    let mut about: Vec<(u32, &mut SourceDiagnostic)> = Vec::new();
    for diagnostic in &mut located {
        if let SourceLocation::Word(word) = diagnostic.place {
            about.push((word, diagnostic));
        }
    }
    let source = match std::str::from_utf8(bytes) {
        Ok(source) if !about.is_empty() && text::looks_like_assembly(bytes) => source,
        _ => return located,
    };
    about.sort_by_key(|(word, _)| *word);
    let words: Vec<u32> = about.iter().map(|(word, _)| *word).collect();
    for ((_, diagnostic), place) in about.iter_mut().zip(text::locate_words(source, &words)) {
        if place != SourceLocation::Unknown {
            diagnostic.place = place;
        }
    }
    located
}

/// A sentence that concerns no input on standard error.
pub fn tell_line(severity: &str, text: &str, hint: Option<&str>) {
    if has_colour() {
        print_stderr_line!("\x1b[1;31m{severity}\x1b[0;1m: {text}\x1b[0m");
    } else {
        print_stderr_line!("{severity}: {text}");
    }
    if let Some(hint) = hint {
        print_stderr_line!("  = hint: {hint}");
    }
}

/// Whether standard error shows colours and its reader wants them (see no-color.org).
fn has_colour() -> bool {
    let unset = |name| std::env::var_os(name).is_none_or(|v| v.is_empty());
    let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    io::stderr().is_terminal() && unset("NO_COLOR") && !dumb
}
