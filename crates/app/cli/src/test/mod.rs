//! Folders of tests.
//!
//! A *kind* of test is a way in which a folder describes its programs and their expected results. [`KINDS`] has one row
//! for each kind. The content of a folder decides its kind. Each test runs in a child process, so a test that crashes
//! or hangs only fails.

mod compute_manifest;
mod discover;
pub mod futhark;
mod group;
mod kernel_manifest;
mod outcome;
mod report;
pub mod session;
mod stablehlo;
pub mod worker;
mod workers;

pub use discover::{SuiteCache, TestCase, select_tests};
pub use outcome::TestOutcome;
pub use report::{AllowList, TestReport};
pub use workers::{TestRunOptions, run_all};

use crate::bench::workload::BenchWorkload;
use std::path::Path;

/// A folder of tests, loaded.
pub trait TestSuite {
    /// Names of its tests, in order. Each name is unique.
    fn test_names(&self) -> Vec<String>;

    /// Number of listed tests whose files are missing. They are left out and have no names.
    fn left_out(&self) -> usize {
        0
    }

    /// Number of tests that only read their module, because no results are expected.
    fn only_read(&self) -> usize {
        0
    }

    /// Whether a test only reads its module, because no results are expected.
    fn is_only_read(&self, _name: &str) -> bool {
        false
    }

    /// Number of specifications that are passed over, because they say something of another compiler.
    fn passed_over(&self) -> usize {
        0
    }

    /// Takes what is to be said of the passed test that was run last.
    fn take_remark(&self) -> Option<String> {
        None
    }

    /// Names of the workloads that are measured.
    fn workload_names(&self) -> Vec<String> {
        self.test_names()
    }

    /// Prepares a test by work that does not count to its time, such as running another compiler.
    ///
    /// # Errors
    /// As [`TestSuite::run_test`].
    fn prepare_test(
        &self,
        _name: &str,
        _session: &session::TestEnvironment,
    ) -> Result<(), TestOutcome> {
        Ok(())
    }

    /// Runs a test.
    ///
    /// # Errors
    /// When the test failed, or needs something that is missing.
    fn run_test(&self, name: &str, session: &session::TestEnvironment) -> Result<(), TestOutcome>;

    /// Loads the workload of a test; `None` for a test that is not measured.
    ///
    /// # Errors
    /// As [`TestSuite::run_test`], or when tests of this kind call no program.
    fn load_workload(
        &self,
        _name: &str,
        _session: &session::TestEnvironment,
    ) -> Result<Option<BenchWorkload>, TestOutcome> {
        Err(TestOutcome::unsupported("measuring kernels by themselves"))
    }
}

/// A folder of tests, or the fault of its description.
pub type SuiteResult = Result<Box<dyn TestSuite>, String>;

/// A kind of test folder.
pub struct SuiteKind {
    /// Name.
    pub name: &'static str,
    /// Loads a folder; `None` when it is not of this kind.
    pub load: fn(&Path) -> Option<SuiteResult>,
    /// Whether subfolders of such a folder belong to it.
    pub claims_below: bool,
}

/// All kinds. The first kind that accepts a folder loads it.
pub const KINDS: &[SuiteKind] = &[
    SuiteKind {
        name: "kernel manifest",
        load: kernel_manifest::load_kernel_suite,
        claims_below: true,
    },
    SuiteKind {
        name: "compute manifest",
        load: compute_manifest::load_compute_suite,
        claims_below: true,
    },
    SuiteKind {
        name: "list of Futhark programs",
        load: futhark::load_futhark_suite,
        claims_below: true,
    },
    SuiteKind {
        name: "sources of Futhark with test blocks",
        load: futhark::load_sources,
        claims_below: false,
    },
    SuiteKind {
        name: "StableHLO modules",
        load: stablehlo::load_stablehlo_suite,
        claims_below: true,
    },
];

/// The file that marks a folder of tests.
const MANIFEST: &str = "manifest.json";
