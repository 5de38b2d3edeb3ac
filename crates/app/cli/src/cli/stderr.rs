//! Printing to standard error without failing.
//!
//! The reader of standard error may have left, in which case `eprintln!` would panic. Such output is lost, and the
//! command goes on.

use std::fmt;
use std::io::{self, Write};

/// Prints formatted text to standard error.
macro_rules! print_stderr {
    ($($part:tt)*) => { $crate::cli::stderr::write_stderr(format_args!($($part)*)) };
}

/// Prints formatted text and a newline to standard error.
macro_rules! print_stderr_line {
    ($($part:tt)*) => { $crate::cli::stderr::print_stderr!("{}\n", format_args!($($part)*)) };
}

pub(crate) use {print_stderr, print_stderr_line};

/// Writes to standard error; the implementation of [`print_stderr`].
pub fn write_stderr(text: fmt::Arguments<'_>) {
    // A failure has no one to be reported to.
    let _ = io::stderr().write_fmt(text);
}
