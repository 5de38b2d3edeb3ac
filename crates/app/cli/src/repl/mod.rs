//! Interactive sessions with Futhark source: `spirula repl`.
//!
//! A session is a program: the text of the loaded file, then the declarations that were entered. An expression becomes an
//! entry point of it, which is compiled for the CPU device and called.

mod command;
mod evaluate;
mod line_source;
mod print_value;
mod session_program;

pub use line_source::LineSource;

use crate::cli::failure::has_colour;
use crate::cli::{CommandFailure, CommandResult};
use session_program::SessionProgram;
use spirula_diagnostics::{SourceFile, render_diagnostic};
use spirula_futhark::compile::{FileFault, with_large_stack};
use spirula_futhark::syntax::{SnippetKind, classify_snippet};
use spirula_runtime::{ComputeDevice, DeviceOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// State of a session.
pub struct ReplSession {
    device: ComputeDevice,
    /// The file that was loaded last.
    loaded: Option<PathBuf>,
    program: SessionProgram,
    /// The number of the input.
    count: usize,
}

/// Whether a session goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SessionState {
    Open,
    Ended,
}

impl ReplSession {
    /// A session without a file.
    ///
    /// # Errors
    /// The CPU device cannot be opened.
    pub fn open() -> Result<ReplSession, CommandFailure> {
        let device = ComputeDevice::open("cpu", &DeviceOptions::default())
            .map_err(|fault| CommandFailure::from_message(fault.to_string()))?;
        Ok(ReplSession {
            device,
            loaded: None,
            program: SessionProgram::empty(),
            count: 0,
        })
    }

    /// Reads and answers inputs until the session ends.
    ///
    /// # Errors
    /// The input or output fails.
    pub fn run(&mut self, lines: &mut LineSource) -> CommandResult {
        while let Some(input) = self.read_input(lines)? {
            let answered = self.answer_input(&input)?;
            io::stdout().flush()?;
            if answered == SessionState::Ended {
                break;
            }
            self.count += 1;
        }
        print_line("Leaving 'spirula repl'.")?;
        Ok(())
    }

    /// Reads lines until they are complete. An empty line ends an input that is not.
    fn read_input(&self, lines: &mut LineSource) -> Result<Option<String>, CommandFailure> {
        let Some(mut input) = lines.read_line(&format!("[{}]> ", self.count), &self.program)?
        else {
            return Ok(None);
        };
        while !input.starts_with(':')
            && !is_blank(&input)
            && classify_input(&input) == SnippetKind::Incomplete
        {
            match lines.read_continuation(&self.program)? {
                Some(line) if !line.trim().is_empty() => {
                    input.push('\n');
                    input.push_str(&line);
                }
                _ => break,
            }
        }
        Ok(Some(input))
    }

    fn answer_input(&mut self, input: &str) -> Result<SessionState, CommandFailure> {
        if is_blank(input) {
            return Ok(SessionState::Open);
        }
        if let Some(command) = input.strip_prefix(':') {
            return self.run_command(command);
        }
        match classify_input(input) {
            SnippetKind::Declarations(ranges) => self.declare(input, &ranges)?,
            SnippetKind::Expression => self.evaluate(input)?,
            SnippetKind::Incomplete => print_line("The input ends too early.")?,
            SnippetKind::Faulty(faults) => {
                let name = self.input_name();
                for fault in faults {
                    let source = SourceFile {
                        name: &name,
                        bytes: input.as_bytes(),
                    };
                    print_text(&render_diagnostic(&fault, source, has_colour()))?;
                }
            }
        }
        Ok(SessionState::Open)
    }

    /// The name of the input in messages.
    fn input_name(&self) -> String {
        format!("[{}]", self.count)
    }

    /// Prints the faults of a program of the session.
    fn print_faults(&self, program: &SessionProgram, faults: &[FileFault]) -> CommandResult {
        for fault in faults {
            let shown = program.locate_fault(fault);
            let source = SourceFile {
                name: &shown.name,
                bytes: shown.text.as_bytes(),
            };
            print_text(&render_diagnostic(&shown.diagnostic, source, has_colour()))?;
        }
        Ok(())
    }

    /// Loads a file, and forgets the declarations of the session. The session stays as it is if the file has faults.
    pub fn load(&mut self, path: &Path) -> CommandResult {
        self.loaded = Some(path.to_owned());
        let program = match SessionProgram::from_file(path) {
            Ok(program) => program,
            Err(message) => {
                let text = format!("cannot read `{}`: {message}", path.display());
                return print_line(&text);
            }
        };
        let faults = program.find_errors();
        if faults.is_empty() {
            self.program = program;
            Ok(())
        } else {
            self.print_faults(&program, &faults)
        }
    }
}

/// Finds out what an input is. It may be deeply nested.
fn classify_input(input: &str) -> SnippetKind {
    with_large_stack(|| classify_snippet(input))
}

/// Whether an input has no line but empty ones and comments.
fn is_blank(input: &str) -> bool {
    let mut lines = input.lines().map(str::trim);
    lines.all(|line| line.is_empty() || line.starts_with("--"))
}

/// Prints a text on standard output.
fn print_text(text: &str) -> CommandResult {
    io::stdout().write_all(text.as_bytes())?;
    Ok(())
}

/// Prints a line on standard output.
fn print_line(text: &str) -> CommandResult {
    print_text(&format!("{text}\n"))
}
