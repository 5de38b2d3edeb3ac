//! Tests that need a process of their own.

use std::io::Read;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The variable that is set in processes of one test.
const CHILD: &str = "SPIRULA_TEST_ALONE";

/// Longest time of such a process.
const PATIENCE: Duration = Duration::from_secs(300);

/// Runs a test of this program in a process of its own, with some variables. Returns whether this is that process.
pub fn run_alone(name: &str, variables: &[(&str, &str)]) -> bool {
    if std::env::var_os(CHILD).is_some() {
        return true;
    }
    let program = std::env::current_exe().expect("tests are programs");
    let child = Command::new(program)
        .args(["--exact", name, "--test-threads", "1", "--nocapture"])
        .env(CHILD, "1")
        .envs(variables.iter().copied())
        .stdout(Stdio::piped())
        .spawn();
    let mut child = child.expect("it starts again");
    let mut output = child.stdout.take().expect("it is piped");
    let reader = std::thread::spawn(move || {
        let mut text = String::new();
        output.read_to_string(&mut text).map(|_| text)
    });
    let start = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().expect("it is a child") {
            break status;
        }
        if start.elapsed() > PATIENCE {
            child.kill().expect("it runs");
            panic!("{name} does not end");
        }
        std::thread::sleep(Duration::from_millis(10));
    };
    let told = reader.join().expect("it reads");
    let told = told.expect("tests write text");
    assert!(status.success(), "{name}: {status}\n{told}");
    assert!(told.contains("running 1 test\n"), "{told}");
    false
}
