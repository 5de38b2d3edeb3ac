//! The child process that runs tests: a request in a line of standard input, answers in lines of standard output, that
//! it is prepared and its outcome, until the input ends. It is the first of a process group, which ends with the input:
//! so does a compiler that it has started.

use super::discover::Suites;
use super::session::Options;
use super::{Outcome, group};
use serde::{Deserialize, Serialize};
use std::io::{self, BufRead, Write};
use std::path::PathBuf;
use std::sync::mpsc::channel;
use std::thread;

/// Which test to run.
#[derive(Serialize, Deserialize)]
pub struct Request {
    /// The folder that has it.
    pub folder: PathBuf,
    /// Its name there.
    pub name: String,
}

/// What a worker says of a request.
#[derive(Serialize, Deserialize)]
pub enum Answer {
    /// The test begins now.
    Prepared,
    /// It has ended.
    Ended(Outcome),
}

/// Serves requests.
pub fn serve(options: &Options) -> io::Result<()> {
    let mut suites = Suites::default();
    for line in requests() {
        let outcome = match serde_json::from_str::<Request>(&line?) {
            Ok(request) => attempt(&mut suites, &request, options)?,
            Err(error) => Outcome::failed(error),
        };
        say(&Answer::Ended(outcome))?;
    }
    Ok(())
}

fn attempt(suites: &mut Suites, request: &Request, options: &Options) -> io::Result<Outcome> {
    let suite = match suites.of(&request.folder) {
        Ok(suite) => suite,
        Err(why) => return Ok(why),
    };
    if let Err(why) = suite.prepare(&request.name, options) {
        return Ok(why);
    }
    say(&Answer::Prepared)?;
    let outcome = suite.run(&request.name, options).err();
    Ok(outcome.unwrap_or(Outcome::Passed))
}

fn say(answer: &Answer) -> io::Result<()> {
    let answer = serde_json::to_string(answer)?;
    let mut out = io::stdout().lock();
    writeln!(out, "{answer}")?;
    out.flush()
}

/// The lines of standard input. A thread reads them, so that their end is seen while a test runs: then who asked is
/// gone, and everything that was started for it ends.
fn requests() -> impl Iterator<Item = io::Result<String>> {
    let (send, lines) = channel();
    thread::spawn(move || {
        for line in io::stdin().lock().lines() {
            if send.send(line).is_err() {
                return;
            }
        }
        drop(send);
        group::end_own();
    });
    lines.into_iter()
}
