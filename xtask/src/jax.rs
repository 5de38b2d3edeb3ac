//! JAX: checks of the PJRT plugin with JAX.
//!
//! `cargo xtask jax` runs the conformance harness of `pypjrt` on the plugin, and the tests of
//! `crates/bindings/pjrt/python/tests`. With a checkout of JAX it runs test files of it, and writes a table of the results.

use crate::tools;
use anyhow::{Context, Result, bail, ensure};
use clap::Args as ClapArgs;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// Folder of the Python module, which JAX finds as a package of `jax_plugins`.
const MODULE: &str = "crates/bindings/pjrt/python";

/// The tests in Python. Each has a process of its own, with its number of devices.
const TESTS: [&str; 3] = ["test_jax", "test_sharding", "test_host_functions"];

/// Checks of the conformance harness that pass at least. Others ask for extensions that the plugin has no use for.
const CONFORMANCE: usize = 52;

/// Runs pytest. The first argument is the device that JAX's tests believe to be on; they skip those of others.
const PYTEST: &str = "
import sys, pytest
class Device:
    def pytest_collection_modifyitems(self, items):
        import jax
        if sys.argv[1]:
            jax.config.update('jax_test_dut', sys.argv[1])
sys.exit(pytest.main(sys.argv[2:], plugins=[Device()]))
";

/// Arguments of the task.
#[derive(ClapArgs)]
pub struct JaxOptions {
    /// Python with jax and pypjrt; by default one in `target/tools/jax`, which is fetched
    #[arg(long, value_name = "PATH")]
    python: Option<PathBuf>,
    /// The plugin; by default it is built
    #[arg(long, value_name = "PATH")]
    library: Option<PathBuf>,
    /// Checkout of JAX at the tag of the installed release, whose test files are run
    #[arg(long, value_name = "FOLDER", requires = "files")]
    checkout: Option<PathBuf>,
    /// Platforms that JAX may use, the one to be tested first
    #[arg(long, value_name = "LIST", default_value = "spirula")]
    platforms: String,
    /// Device that the test files believe to be on, such as `cpu`; by default that of the platform
    #[arg(long, value_name = "NAME", default_value = "")]
    device: String,
    /// Seconds after which a test file has failed
    #[arg(long, value_name = "SECONDS", default_value_t = 3600)]
    timeout: u64,
    /// File for the table, as Markdown; by default standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// File for the names of tests that failed, with their reasons
    #[arg(long, value_name = "FILE")]
    failures: Option<PathBuf>,
    /// Test files of the checkout, such as `lax_test.py`
    files: Vec<String>,
}

/// A Python and the plugin that JAX is to use.
struct JaxRun<'a> {
    root: &'a Path,
    python: &'a Path,
    library: PathBuf,
}

/// Runs the checks, or test files of a checkout.
///
/// # Errors
/// When a check fails, or there is no Python with the packages.
pub fn run_jax(root: &Path, options: &JaxOptions) -> Result<()> {
    let python = match &options.python {
        Some(python) => python.clone(),
        None => tools::find_or_fetch_jax(&root.join("target"))?,
    };
    ensure!(
        tools::has_packages(&python),
        "{} has no jax or no pypjrt",
        python.display()
    );
    let library = match &options.library {
        Some(library) => library.clone(),
        None => build_library(root)?,
    };
    match &options.checkout {
        None => check_plugin(root, &python, &library),
        Some(checkout) => {
            let run = JaxRun::new(root, &python, &library)?;
            run.run_files(checkout, options)
        }
    }
}

/// Runs the conformance harness and the tests in Python.
///
/// # Errors
/// When one of them fails.
pub fn check_plugin(root: &Path, python: &Path, library: &Path) -> Result<()> {
    let run = JaxRun::new(root, python, library)?;
    run.check_conformance()?;
    for name in TESTS {
        let mut tests = run.start_python("spirula,cpu");
        tests.args(["-m", "unittest", name]);
        let tests = tests.current_dir(root.join(MODULE).join("tests"));
        ensure!(tests.status()?.success(), "the tests of {name} failed");
    }
    Ok(())
}

fn build_library(root: &Path) -> Result<PathBuf> {
    let mut build = Command::new("cargo");
    build
        .args(["build", "-p", "spirula-pjrt"])
        .current_dir(root);
    ensure!(build.status()?.success(), "the plugin is not built");
    Ok(root.join("target/debug/libspirula_pjrt.so"))
}

/// The numbers of a run of pytest.
#[derive(Default)]
struct FileOutcome {
    passed: usize,
    failed: usize,
    skipped: usize,
}

impl<'a> JaxRun<'a> {
    fn new(root: &'a Path, python: &'a Path, library: &Path) -> Result<JaxRun<'a>> {
        let library = library.canonicalize();
        Ok(JaxRun {
            root,
            python,
            library: library.context("there is no plugin")?,
        })
    }

    /// A Python that finds the plugin.
    fn start_python(&self, platforms: &str) -> Command {
        let mut python = Command::new(self.python);
        python
            .env("PYTHONPATH", self.root.join(MODULE))
            .env("SPIRULA_PJRT_LIBRARY", &self.library)
            .env("JAX_PLATFORMS", platforms);
        python
    }

    /// Runs the conformance harness, none of whose checks may fail.
    fn check_conformance(&self) -> Result<()> {
        let mut harness = self.start_python("cpu");
        let output = harness
            .args(["-m", "pypjrt.conform"])
            .arg(&self.library)
            .output()?;
        let report = String::from_utf8_lossy(&output.stdout);
        let summary = report.lines().last().unwrap_or_default().trim();
        println!("conformance: {summary}");
        let passed = summary
            .split_whitespace()
            .next()
            .and_then(|word| word.parse().ok());
        let passed: usize =
            passed.with_context(|| format!("the harness ended early:\n{report}"))?;
        if !output.status.success() || passed < CONFORMANCE {
            bail!("fewer than {CONFORMANCE} checks pass, or one fails:\n{report}");
        }
        Ok(())
    }

    /// Runs test files of a checkout one after the other.
    fn run_files(&self, checkout: &Path, options: &JaxOptions) -> Result<()> {
        let folder = checkout.join("tests");
        let mut table = String::from("| File | Passed | Failed | Skipped | Seconds |\n");
        table.push_str("| --- | ---: | ---: | ---: | ---: |\n");
        let mut failures = String::new();
        for file in &options.files {
            let start = Instant::now();
            let mut tests = self.start_python(&options.platforms);
            tests.current_dir(&folder);
            tests.args(["-c", PYTEST, &options.device]).args([
                "-q",
                "-rf",
                "--tb=line",
                "-p",
                "no:cacheprovider",
            ]);
            let mut timed = Command::new("timeout");
            timed
                .arg(options.timeout.to_string())
                .arg(tests.get_program());
            timed.args(tests.get_args()).arg(file).current_dir(&folder);
            timed.envs(
                tests
                    .get_envs()
                    .filter_map(|(name, value)| Some((name, value?))),
            );
            let output = timed.output().context("timeout does not start")?;
            let report = String::from_utf8_lossy(&output.stdout);
            let outcome = read_outcome(&report)
                .with_context(|| format!("{file} ended without a summary:\n{report}"))?;
            let FileOutcome {
                passed,
                failed,
                skipped,
            } = outcome;
            let seconds = start.elapsed().as_secs();
            writeln!(
                table,
                "| {file} | {passed} | {failed} | {skipped} | {seconds} |"
            )?;
            let failed = report
                .lines()
                .filter_map(|line| line.strip_prefix("FAILED "));
            failed.for_each(|line| failures.extend([line, "\n"]));
        }
        match &options.output {
            Some(path) => fs::write(path, &table)?,
            None => print!("{table}"),
        }
        match &options.failures {
            Some(path) => fs::write(path, &failures)?,
            None => print!("{failures}"),
        }
        Ok(())
    }
}

/// Reads the last line of pytest: `1 failed, 22 passed, 5 skipped in 4.74s`.
fn read_outcome(report: &str) -> Option<FileOutcome> {
    let summary = report.lines().rfind(|line| !line.trim().is_empty())?;
    let (counts, _) = summary.trim_matches('=').rsplit_once(" in ")?;
    let mut outcome = FileOutcome::default();
    for part in counts.split(", ") {
        let (count, what) = part.trim().split_once(' ')?;
        let count = count.parse().ok()?;
        match what {
            "passed" => outcome.passed = count,
            "failed" | "error" | "errors" => outcome.failed += count,
            "skipped" => outcome.skipped = count,
            _ => {}
        }
    }
    Some(outcome)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn summaries_are_read() {
        let report =
            "..F\nFAILED a.py::T::t - E\n1 failed, 22 passed, 5 skipped, 1 warning in 4.74s\n";
        let outcome = read_outcome(report).unwrap();
        assert_eq!(
            [outcome.passed, outcome.failed, outcome.skipped],
            [22, 1, 5]
        );
        assert!(read_outcome("Segmentation fault").is_none());
    }
}
