//! `spirula compile --server`: an executable file that serves a program.
//!
//! The file is a script that runs `spirula server` on the program where it is now. Futhark's tools start such files.

use crate::cli::restart::find_restart_words;
use crate::cli::{CommandFailure, CommandResult, files};
use std::ffi::OsStr;
use std::path::Path;

/// Writes the script for a program, and makes it executable.
pub fn write_server_script(program: &Path, output: &Path) -> CommandResult {
    let failure = |what: &str, error: std::io::Error| {
        CommandFailure::from_message(format!("{what}: {error}"))
    };
    let command = find_restart_words().map_err(|e| failure("the path of the command", e))?;
    let whole = program
        .canonicalize()
        .map_err(|e| failure(&program.display().to_string(), e))?;
    let quote = |word: &OsStr| quote_for_shell(&word.to_string_lossy());
    let command: Vec<String> = command.iter().map(|word| quote(word)).collect();
    let (command, whole) = (command.join(" "), quote(whole.as_os_str()));
    files::write_text(
        output,
        &format!("#!/bin/sh\nexec {command} server {whole} \"$@\"\n"),
    )?;
    make_executable(output).map_err(|e| failure(&output.display().to_string(), e))
}

/// A word that a shell reads as this text.
fn quote_for_shell(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(unix)]
fn make_executable(path: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755))
}

#[cfg(not(unix))]
fn make_executable(_path: &Path) -> std::io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::quote_for_shell;

    #[test]
    fn quotes_are_kept() {
        assert_eq!(quote_for_shell("a b"), "'a b'");
        assert_eq!(quote_for_shell("it's"), r"'it'\''s'");
    }
}
