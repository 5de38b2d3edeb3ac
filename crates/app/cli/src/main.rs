//! The `spirula` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    ExitCode::from(spirula_cli::run_command_line(&arguments, Vec::new()))
}
