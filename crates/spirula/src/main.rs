//! The `spirula` command: arguments, files, progress and reports around the libraries.

mod bench;
mod cli;
mod commands;
mod test;
mod values;

use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    cli::finish(commands::run(cli::args::Args::parse()))
}
