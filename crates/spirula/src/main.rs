//! The `spirula` command: arguments, files, progress and reports around the libraries.

mod bench;
mod cli;
mod commands;
mod test;
mod values;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::finish(commands::run())
}
