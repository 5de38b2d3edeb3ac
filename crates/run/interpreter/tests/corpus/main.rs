//! Shaders and kernels of the corpora: the interpreter, translated code and the CPU device write the same bytes, apart from
//! payloads of NaN.
//!
//! `ONLY` names a part of the names of the tests that run.

mod contents;
#[path = "../engines/mod.rs"]
mod engines;
mod executors;
mod kernels;
mod shaders;

use executors::TestedExecutor;
use spirula_runtime::{ComputeDevice, DeviceOptions};

/// Results of a corpus.
#[derive(Default)]
struct CorpusTally {
    equal: usize,
    /// Tests that the interpreter refuses, with the reasons.
    refused: Vec<String>,
    faults: Vec<String>,
}

impl CorpusTally {
    /// Adds the result of a test. A message that begins with `refused` is no fault.
    fn add_result(&mut self, id: &str, result: Result<(), String>) {
        match result {
            Ok(()) => self.equal += 1,
            Err(message) if message.starts_with("refused") => {
                self.refused.push(format!("{id}: {message}"));
            }
            Err(message) => self.faults.push(format!("{id}: {message}")),
        }
    }

    /// Checks that no test has a fault, and that at least `least` are equal where all tests run.
    fn check(&self, tested: TestedExecutor, least: usize) {
        let (equal, refused) = (self.equal, self.refused.len());
        eprintln!(
            "{tested:?}: {equal} equal; {refused} refused:\n{}",
            self.refused.join("\n")
        );
        let faults = self.faults.join("\n");
        assert!(
            self.faults.is_empty(),
            "{} differ:\n{faults}",
            self.faults.len()
        );
        let is_whole = std::env::var_os("ONLY").is_none() && tested.is_whole();
        assert!(!is_whole || equal >= least, "only {equal} are equal");
    }
}

/// The CPU device with one thread. Some tests have results that depend on the order of their workgroups, such as where a hash table has
/// its keys.
fn open_processor() -> Result<ComputeDevice, String> {
    let options = DeviceOptions {
        threads: Some(1),
        ..DeviceOptions::default()
    };
    ComputeDevice::open("cpu", &options).map_err(|error| error.to_string())
}

/// Whether a test runs.
fn is_chosen(id: &str) -> bool {
    std::env::var("ONLY").is_ok_and(|only| id.contains(&only)) || std::env::var_os("ONLY").is_none()
}
