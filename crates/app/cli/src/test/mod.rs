//! Folders of tests.
//!
//! A *kind* of test is a way in which a folder describes what is to be run and what must come out.
//! [`KINDS`] has one row for each; which of them a folder is, is found from its content. Each test
//! runs in a child process, so that one that crashes or hangs is a failed test and no more.

mod compute_manifest;
mod discover;
mod futhark;
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

use crate::bench::BenchWorkload;
use std::path::Path;

/// A folder of tests, loaded.
pub trait TestSuite {
    /// Names of its tests, in order, each once.
    fn test_names(&self) -> Vec<String>;

    /// How many tests of a list need files that are not there. They are left out, and have no names.
    fn left_out(&self) -> usize {
        0
    }

    /// How many tests only read their module: nothing says what it gives.
    fn only_read(&self) -> usize {
        0
    }

    /// Names of what is measured.
    fn workload_names(&self) -> Vec<String> {
        self.test_names()
    }

    /// Does what takes time before a test runs and is none of its own, as having another compiler print a program.
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
    /// When it failed, or needs something that is missing.
    fn run_test(&self, name: &str, session: &session::TestEnvironment) -> Result<(), TestOutcome>;

    /// What a test calls, to measure it; `None` of one that is not to be measured.
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

/// A folder of tests, or what is wrong with its description.
pub type SuiteResult = Result<Box<dyn TestSuite>, String>;

/// A way of describing tests.
pub struct SuiteKind {
    /// Name.
    pub name: &'static str,
    /// Loads a folder, `None` when it is not of this kind.
    pub load: fn(&Path) -> Option<SuiteResult>,
    /// Whether folders below one of this kind are a part of it.
    pub claims_below: bool,
}

/// All kinds. The first that takes a folder has it.
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

/// The file by which a folder says that it holds tests.
const MANIFEST: &str = "manifest.json";
