//! The `spirula` command: arguments, files, progress and reports around the libraries.
//!
//! [`run_command_line`] is the command. The program `spirula` calls it, and so does the Python package of that name.
//!
//! Features:
//!
//! - `fixed-address` (default): on Linux, the command is linked at a fixed address and starts faster.
//! - `wgsl`: the command reads WGSL, by the front end of naga.

// They panic when nobody reads.
#![deny(clippy::print_stdout, clippy::print_stderr)]

mod bench;
mod cli;
mod commands;
mod literate;
mod media;
mod repl;
mod script;
mod server;
mod spirv_tools;
mod test;
mod values;

pub use spirv_tools::command_of_program;

use std::ffi::OsString;

/// Runs the command with the arguments after its name, and returns the exit code. `restart` is the program that begins the
/// command again, with its first arguments. Where it is empty, it is the program of this process.
///
/// The process ends where arguments are wrong, or the help was requested.
pub fn run_command_line(arguments: &[OsString], restart: Vec<OsString>) -> u8 {
    cli::restart::set_restart_words(restart);
    cli::report_outcome(commands::run_command(arguments))
}

/// The code in Rust of the README.
#[cfg(doctest)]
#[doc = include_str!("../../../../README.md")]
struct ReadmeCode;

/// The code of the book's chapter on SPIR-V in Rust.
#[cfg(doctest)]
#[doc = include_str!("../../../../docs/spirv-in-rust.md")]
struct BookCode;
