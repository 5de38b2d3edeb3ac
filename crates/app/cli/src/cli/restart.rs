//! The words that begin this command again, in a process of its own.

use std::ffi::OsString;
use std::io;
use std::sync::OnceLock;

/// The words that the caller of the command gave.
static RESTART: OnceLock<Vec<OsString>> = OnceLock::new();

/// Sets the words, once for the process. None are those of the program of this process.
pub fn set_restart_words(words: Vec<OsString>) {
    if !words.is_empty() {
        let _ = RESTART.set(words);
    }
}

/// The program that begins the command again, and its first arguments.
///
/// # Errors
/// When the path of this process's program is unknown.
pub fn find_restart_words() -> io::Result<Vec<OsString>> {
    match RESTART.get() {
        Some(words) => Ok(words.clone()),
        None => Ok(vec![std::env::current_exe()?.into_os_string()]),
    }
}
