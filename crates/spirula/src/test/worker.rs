//! The child process that runs tests: a request in a line of standard input, the outcome in a line
//! of standard output, until the input ends.

use super::Outcome;
use super::discover::Suites;
use super::session::Options;
use serde::{Deserialize, Serialize};
use std::io::{self, BufRead, Write};
use std::path::PathBuf;

/// Which test to run.
#[derive(Serialize, Deserialize)]
pub struct Request {
    /// The folder that has it.
    pub folder: PathBuf,
    /// Its name there.
    pub name: String,
}

/// Serves requests.
pub fn serve(options: &Options) -> io::Result<()> {
    let mut suites = Suites::default();
    for line in io::stdin().lock().lines() {
        let outcome = match serde_json::from_str::<Request>(&line?) {
            Ok(request) => {
                let suite = suites.of(&request.folder);
                suite
                    .and_then(|suite| suite.run(&request.name, options))
                    .err()
            }
            Err(error) => Some(Outcome::failed(error)),
        };
        let answer = serde_json::to_string(&outcome.unwrap_or(Outcome::Passed))?;
        let mut out = io::stdout().lock();
        writeln!(out, "{answer}")?;
        out.flush()?;
    }
    Ok(())
}
