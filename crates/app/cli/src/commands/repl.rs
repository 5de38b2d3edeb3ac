//! `spirula repl`: an interactive session with Futhark source.

use crate::cli::CommandResult;
use crate::cli::args::ReplArgs;
use crate::repl::{LineSource, ReplSession};

/// Runs `spirula repl`. A file with faults is reported, and the session begins without it.
pub fn run_repl(args: &ReplArgs) -> CommandResult {
    let mut session = ReplSession::open()?;
    if let Some(path) = &args.path {
        session.load(path)?;
    }
    let mut lines = LineSource::open_standard()?;
    let outcome = session.run(&mut lines);
    lines.save_history();
    outcome
}
