//! Verbosity: how much a command reports on standard error.
//!
//! Errors are always reported. `-q` leaves out warnings, notes and progress; `-v` adds what is read, done and written.

use super::failure::report_line;
use clap::{Arg, ArgAction, ArgMatches};
use std::sync::atomic::{AtomicI8, Ordering};

/// The verbosity of this process: negative for `-q`, positive for `-v`.
static VERBOSITY: AtomicI8 = AtomicI8::new(0);

/// Adds `-v` and `-q` to a command.
pub fn add_verbosity_arguments(command: clap::Command) -> clap::Command {
    let verbose = Arg::new("verbose")
        .short('v')
        .long("verbose")
        .action(ArgAction::SetTrue)
        .help("Report on standard error what is read, done and written");
    let quiet = Arg::new("quiet")
        .short('q')
        .long("quiet")
        .action(ArgAction::SetTrue)
        .conflicts_with("verbose")
        .help("Report errors only: no warnings, notes or progress");
    command.arg(verbose).arg(quiet)
}

/// Records the verbosity that the arguments of a command ask for.
pub fn record_verbosity(given: &ArgMatches) {
    let is_set = |name| matches!(given.try_get_one::<bool>(name), Ok(Some(true)));
    VERBOSITY.store(
        i8::from(is_set("verbose")) - i8::from(is_set("quiet")),
        Ordering::Relaxed,
    );
}

/// Whether only errors are reported.
pub fn is_quiet() -> bool {
    VERBOSITY.load(Ordering::Relaxed) < 0
}

/// Whether work is reported.
pub fn is_verbose() -> bool {
    VERBOSITY.load(Ordering::Relaxed) > 0
}

/// Reports work, where that is requested.
pub fn report_work(text: impl FnOnce() -> String) {
    if is_verbose() {
        report_line("note", &text(), None);
    }
}
