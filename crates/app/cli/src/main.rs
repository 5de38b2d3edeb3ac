//! The `spirula` command: arguments, files, progress and reports around the libraries.

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
mod test;
mod values;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::report_outcome(commands::run_command())
}
