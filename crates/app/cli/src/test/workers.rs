//! Worker pool: tests run in child processes, several at a time, each with a time limit.

use super::worker::{TestRequest, TestResponse};
use super::{TestCase, TestOutcome, group};
use crate::cli::restart::find_restart_words;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Options of a test run.
#[derive(Clone, Debug)]
pub struct TestRunOptions {
    /// Number of concurrent child processes.
    pub jobs: usize,
    /// Time limit of a test.
    pub timeout: Duration,
    /// Arguments that start this program as a worker.
    pub worker: Vec<String>,
}

/// Least time limit of the preparation of a test, which may run Futhark's compiler.
const PREPARATION: Duration = Duration::from_secs(600);

/// Number of the last bytes of a worker's standard error that are kept.
const TAIL: usize = 4096;

/// Runs all tests, and returns their outcomes and times in the same order. `done` is called when a test ends.
pub fn run_all(
    cases: &[TestCase],
    options: &TestRunOptions,
    done: &(dyn Fn(&TestCase, &TestOutcome) + Sync),
) -> Vec<(TestOutcome, Duration)> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut worker = None;
        let mut ended = Vec::new();
        loop {
            let i = next.fetch_add(1, Ordering::Relaxed);
            let Some(case) = cases.get(i) else {
                return ended;
            };
            let start = Instant::now();
            let outcome = run_test_case(case, &mut worker, options);
            done(case, &outcome);
            ended.push((i, outcome, start.elapsed()));
        }
    };
    let mut all = thread::scope(|scope| {
        let jobs = options.jobs.clamp(1, cases.len().max(1));
        let threads: Vec<_> = (0..jobs).map(|_| scope.spawn(work)).collect();
        let ended = threads
            .into_iter()
            .flat_map(|t| t.join().unwrap_or_default());
        ended.collect::<Vec<_>>()
    });
    all.sort_by_key(|(i, ..)| *i);
    all.into_iter()
        .map(|(_, outcome, time)| (outcome, time))
        .collect()
}

/// Runs a test in a worker. A missing worker is started, and a faulty one is ended.
fn run_test_case(
    case: &TestCase,
    worker: &mut Option<WorkerProcess>,
    options: &TestRunOptions,
) -> TestOutcome {
    let ready = match worker.take() {
        Some(ready) => Ok(ready),
        None => WorkerProcess::spawn_worker(&options.worker),
    };
    let mut ready = match ready {
        Ok(ready) => ready,
        Err(e) => return TestOutcome::failed(format!("no process to run it in: {e}")),
    };
    let request = TestRequest {
        folder: case.folder.clone(),
        name: case.name.clone(),
    };
    match ready.request_outcome(&request, options.timeout) {
        Ok(outcome) => {
            *worker = Some(ready);
            outcome
        }
        Err(WorkerFailure::Late(limit)) => {
            TestOutcome::failed(format!("it did not end within {} s", limit.as_secs()))
        }
        Err(WorkerFailure::Gone) => ready.into_failure_outcome(),
    }
}

enum WorkerFailure {
    /// There was no answer within the time limit.
    Late(Duration),
    /// The process ended.
    Gone,
}

struct WorkerProcess {
    process: Child,
    requests: ChildStdin,
    answers: Receiver<String>,
    tail: Arc<Mutex<Vec<u8>>>,
    errors: Option<JoinHandle<()>>,
}

impl WorkerProcess {
    fn spawn_worker(arguments: &[String]) -> io::Result<WorkerProcess> {
        let words = find_restart_words()?;
        let mut command = Command::new(&words[0]);
        command
            .args(&words[1..])
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        group::begin_process_group(&mut command);
        let mut process = command.spawn()?;
        let lost = || io::Error::other("a pipe is missing");
        let requests = process.stdin.take().ok_or_else(lost)?;
        let stdout = process.stdout.take().ok_or_else(lost)?;
        let stderr = process.stderr.take().ok_or_else(lost)?;
        let (send, answers) = channel();
        thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                if send.send(line).is_err() {
                    return;
                }
            }
        });
        let tail = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&tail);
        let errors = thread::spawn(move || keep_tail(stderr, &kept));
        Ok(WorkerProcess {
            process,
            requests,
            answers,
            tail,
            errors: Some(errors),
        })
    }

    fn request_outcome(
        &mut self,
        request: &TestRequest,
        timeout: Duration,
    ) -> Result<TestOutcome, WorkerFailure> {
        let mut line = serde_json::to_string(request).map_err(|_| WorkerFailure::Gone)?;
        line.push('\n');
        let sent = self.requests.write_all(line.as_bytes());
        sent.map_err(|_| WorkerFailure::Gone)?;
        let mut limit = timeout.max(PREPARATION);
        loop {
            let answer = match self.answers.recv_timeout(limit) {
                Ok(line) => serde_json::from_str(&line),
                Err(RecvTimeoutError::Timeout) => return Err(WorkerFailure::Late(limit)),
                Err(RecvTimeoutError::Disconnected) => return Err(WorkerFailure::Gone),
            };
            match answer {
                Ok(TestResponse::Prepared) => limit = timeout,
                Ok(TestResponse::Ended(outcome)) => return Ok(outcome),
                Err(e) => return Ok(TestOutcome::failed(format!("a garbled answer: {e}"))),
            }
        }
    }

    /// The outcome of a test whose process ended, with the last output of the process.
    fn into_failure_outcome(mut self) -> TestOutcome {
        let status = self.process.wait();
        if let Some(errors) = self.errors.take() {
            // The thread has no result. Joining it waits for the end of the stream.
            let _ = errors.join();
        }
        let tail = self
            .tail
            .lock()
            .map(|t| String::from_utf8_lossy(&t).into_owned());
        let said = tail.unwrap_or_default();
        match status {
            Ok(status) => TestOutcome::failed(format!("crashed ({status}): {said}")),
            Err(e) => TestOutcome::failed(format!("crashed ({e}): {said}")),
        }
    }
}

impl Drop for WorkerProcess {
    fn drop(&mut self) {
        group::terminate_process_group(&mut self.process);
        let _ = self.process.wait();
    }
}

/// Reads a stream and keeps its last bytes.
fn keep_tail(mut from: impl Read, tail: &Mutex<Vec<u8>>) {
    let mut chunk = [0; 1024];
    while let Ok(n @ 1..) = from.read(&mut chunk) {
        let Ok(mut kept) = tail.lock() else { return };
        kept.extend_from_slice(&chunk[..n]);
        let surplus = kept.len().saturating_sub(TAIL);
        kept.drain(..surplus);
    }
}
