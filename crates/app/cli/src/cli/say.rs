//! Standard error, where the reader may have left: what is said then is lost, and the command goes on.
//! (`eprintln` would end it.)

use std::fmt;
use std::io::{self, Write};

/// Says what `format_args` makes of its arguments.
macro_rules! say {
    ($($part:tt)*) => { $crate::cli::say::write_stdout(format_args!($($part)*)) };
}

/// The same as a line.
macro_rules! say_line {
    ($($part:tt)*) => { $crate::cli::say::say!("{}\n", format_args!($($part)*)) };
}

pub(crate) use {say, say_line};

/// What [`say`] does.
pub fn write_stdout(text: fmt::Arguments<'_>) {
    // There is nobody left to tell of a failure.
    let _ = io::stderr().write_fmt(text);
}
