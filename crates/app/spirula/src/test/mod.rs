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

pub use discover::{Case, Suites, find};
pub use outcome::Outcome;
pub use report::{AllowList, Report};
pub use workers::{Options, run_all};

use crate::bench::Workload;
use std::path::Path;

/// A folder of tests, loaded.
pub trait Suite {
    /// Names of its tests, in order, each once.
    fn names(&self) -> Vec<String>;

    /// How many tests of a list need files that are not there. They are left out, and have no names.
    fn left_out(&self) -> usize {
        0
    }

    /// How many tests only read their module: nothing says what it gives.
    fn only_read(&self) -> usize {
        0
    }

    /// Names of what is measured.
    fn workloads(&self) -> Vec<String> {
        self.names()
    }

    /// Does what takes time before a test runs and is none of its own, as having another compiler print a program.
    ///
    /// # Errors
    /// As [`Suite::run`].
    fn prepare(&self, _name: &str, _session: &session::Options) -> Result<(), Outcome> {
        Ok(())
    }

    /// Runs a test.
    ///
    /// # Errors
    /// When it failed, or needs something that is missing.
    fn run(&self, name: &str, session: &session::Options) -> Result<(), Outcome>;

    /// What a test calls, to measure it; `None` of one that is not to be measured.
    ///
    /// # Errors
    /// As [`Suite::run`], or when tests of this kind call no program.
    fn workload(
        &self,
        _name: &str,
        _session: &session::Options,
    ) -> Result<Option<Workload>, Outcome> {
        Err(Outcome::unsupported("measuring kernels by themselves"))
    }
}

/// A folder of tests, or what is wrong with its description.
pub type Loaded = Result<Box<dyn Suite>, String>;

/// A way of describing tests.
pub struct Kind {
    /// Name.
    pub name: &'static str,
    /// Loads a folder, `None` when it is not of this kind.
    pub load: fn(&Path) -> Option<Loaded>,
    /// Whether folders below one of this kind are a part of it.
    pub claims_below: bool,
}

/// All kinds. The first that takes a folder has it.
pub const KINDS: &[Kind] = &[
    Kind {
        name: "kernel manifest",
        load: kernel_manifest::load,
        claims_below: true,
    },
    Kind {
        name: "compute manifest",
        load: compute_manifest::load,
        claims_below: true,
    },
    Kind {
        name: "list of Futhark programs",
        load: futhark::load,
        claims_below: true,
    },
    Kind {
        name: "sources of Futhark with test blocks",
        load: futhark::load_sources,
        claims_below: false,
    },
    Kind {
        name: "StableHLO modules",
        load: stablehlo::load,
        claims_below: true,
    },
];

/// The file by which a folder says that it holds tests.
const MANIFEST: &str = "manifest.json";
