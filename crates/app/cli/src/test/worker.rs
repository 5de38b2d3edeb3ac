//! Worker process that runs tests. Each line of standard input is a request. Lines of standard output report that the
//! test is prepared, and its outcome. The worker is the first of a process group, which ends with the input. So a
//! compiler that the worker has started ends, too.

use super::discover::SuiteCache;
use super::session::TestEnvironment;
use super::{TestOutcome, group};
use serde::{Deserialize, Serialize};
use std::io::{self, BufRead, Write};
use std::path::PathBuf;
use std::sync::mpsc::channel;
use std::thread;

/// Request to run a test.
#[derive(Serialize, Deserialize)]
pub struct TestRequest {
    /// Folder of the test.
    pub folder: PathBuf,
    /// Name of the test in the folder.
    pub name: String,
}

/// Response to a request.
#[derive(Serialize, Deserialize)]
pub enum TestResponse {
    /// The test begins now.
    Prepared,
    /// The test has ended.
    Ended(TestOutcome),
}

/// Serves requests until the input ends.
pub fn serve_requests(options: &TestEnvironment) -> io::Result<()> {
    let mut suites = SuiteCache::default();
    for line in read_request_lines() {
        let outcome = match serde_json::from_str::<TestRequest>(&line?) {
            Ok(request) => run_requested_test(&mut suites, &request, options)?,
            Err(error) => TestOutcome::failed(error),
        };
        write_response(&TestResponse::Ended(outcome))?;
    }
    Ok(())
}

fn run_requested_test(
    suites: &mut SuiteCache,
    request: &TestRequest,
    options: &TestEnvironment,
) -> io::Result<TestOutcome> {
    let suite = match suites.suite_for_folder(&request.folder) {
        Ok(suite) => suite,
        Err(why) => return Ok(why),
    };
    if let Err(why) = suite.prepare_test(&request.name, options) {
        return Ok(why);
    }
    write_response(&TestResponse::Prepared)?;
    let outcome = suite.run_test(&request.name, options).err();
    Ok(outcome.unwrap_or_else(|| {
        if suite.is_only_read(&request.name) {
            TestOutcome::Read
        } else {
            TestOutcome::Passed(suite.take_remark())
        }
    }))
}

fn write_response(answer: &TestResponse) -> io::Result<()> {
    let answer = serde_json::to_string(answer)?;
    let mut out = io::stdout().lock();
    writeln!(out, "{answer}")?;
    out.flush()
}

/// The lines of standard input. A thread reads them, so the end of the input is noticed while a test runs. It means
/// that the parent is gone, and the whole process group ends.
fn read_request_lines() -> impl Iterator<Item = io::Result<String>> {
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
