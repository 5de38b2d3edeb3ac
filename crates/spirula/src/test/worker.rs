//! The child process that runs tests: a request in a line of standard input, the outcome in a line
//! of standard output, until the input ends.

use super::discover::load;
use super::session::Options;
use super::{Outcome, Suite};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
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
    let mut suites: BTreeMap<PathBuf, Box<dyn Suite>> = BTreeMap::new();
    for line in io::stdin().lock().lines() {
        let outcome = match serde_json::from_str::<Request>(&line?) {
            Ok(request) => run(&request, &mut suites, options).err(),
            Err(error) => Some(Outcome::failed(error)),
        };
        let answer = serde_json::to_string(&outcome.unwrap_or(Outcome::Passed))?;
        let mut out = io::stdout().lock();
        writeln!(out, "{answer}")?;
        out.flush()?;
    }
    Ok(())
}

fn run(
    request: &Request,
    suites: &mut BTreeMap<PathBuf, Box<dyn Suite>>,
    options: &Options,
) -> Result<(), Outcome> {
    if !suites.contains_key(&request.folder) {
        let loaded = load(&request.folder).ok_or_else(|| Outcome::failed("no folder of tests"))?;
        suites.insert(request.folder.clone(), loaded.map_err(Outcome::failed)?);
    }
    suites[&request.folder].run(&request.name, options)
}
