//! The `spirula` command.

use std::ffi::OsString;
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut words = std::env::args_os();
    let program = words.next().unwrap_or_default();
    let tool = spirula_cli::command_of_program(&program).map(OsString::from);
    let arguments: Vec<_> = tool.into_iter().chain(words).collect();
    ExitCode::from(spirula_cli::run_command_line(&arguments, Vec::new()))
}
