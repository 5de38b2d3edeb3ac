//! The command `spirula`, run within an interpreter.

use pyo3::prelude::*;
use std::ffi::OsString;
use std::io::Write;
use std::panic::catch_unwind;

/// The exit code of a program of Rust that panics.
const PANIC: u8 = 101;

/// Runs the command with its arguments, and returns the exit code.
///
/// `restart` are the words that begin the command again in a process of its own. The process ends where arguments are wrong or
/// the help is requested.
#[pyfunction]
pub fn run_command(py: Python<'_>, arguments: Vec<OsString>, restart: Vec<OsString>) -> u8 {
    py.detach(|| {
        let ended = catch_unwind(|| spirula_cli::run_command_line(&arguments, restart));
        // The text that a program of Rust writes at its end.
        let flushed = std::io::stdout().flush();
        match (ended, flushed) {
            (Err(_), _) => PANIC,
            (Ok(code), Err(error)) if error.kind() != std::io::ErrorKind::BrokenPipe => code.max(1),
            (Ok(code), _) => code,
        }
    })
}
