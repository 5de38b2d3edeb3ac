//! JAX: checks of the PJRT plugin with JAX.
//!
//! `cargo xtask jax` runs the conformance harness of `pypjrt` on the plugin, and the tests of
//! `crates/bindings/pjrt/python/tests`. With a checkout of JAX it runs test files of it, and writes a table of the results.

use crate::tools;
use anyhow::{Context, Result, bail, ensure};
use clap::Args as ClapArgs;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Folder of the Python module, which JAX finds as a package of `jax_plugins`.
const MODULE: &str = "crates/bindings/pjrt/python";

/// The tests in Python. Each has a process of its own, with its number of devices.
const TESTS: [&str; 12] = [
    "test_jax",
    "test_sharding",
    "test_partition",
    DEVICE_TESTS,
    "test_processes",
    "test_layouts",
    "test_profiles",
    "test_linear_algebra",
    "test_memories",
    "test_faults",
    "test_functions",
    "test_host_functions",
];

/// The tests of several devices with queues of their own.
const DEVICE_TESTS: &str = "test_devices";

/// The tests of launchers of processes.
const LAUNCHER_TESTS: &str = "test_launchers";

/// Those that also run on a Vulkan device, where there is one.
const VULKAN_TESTS: [&str; 4] = [
    "test_memories",
    "test_faults",
    "test_functions",
    "test_profiles",
];

/// The variable that names the Vulkan driver.
const VULKAN_DRIVER: &str = "VK_DRIVER_FILES";

/// Checks of the conformance harness that pass at least. Others ask for extensions that the plugin has no use for.
const CONFORMANCE: usize = 52;

/// The script that runs test files of a checkout.
const SUITE: &str = "crates/bindings/pjrt/python/suite/run_suite.py";

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
    #[arg(long, value_name = "FOLDER")]
    checkout: Option<PathBuf>,
    /// Runs the tests of MPI, Ray and Dask, which the Python must have
    #[arg(long)]
    launchers: bool,
    /// Platforms that JAX may use, the one to be tested first
    #[arg(long, value_name = "LIST", default_value = "spirula")]
    platforms: String,
    /// Device that the test files believe to be on, such as `cpu`; by default that of the platform
    #[arg(long, value_name = "NAME", default_value = "")]
    device: String,
    /// Seconds after which a test of the checkout has failed
    #[arg(long, value_name = "SECONDS", default_value_t = 150)]
    timeout: u64,
    /// Processes that run tests of the checkout at a time
    #[arg(long, value_name = "N", default_value_t = 1)]
    jobs: usize,
    /// Folder for the outcomes of tests of the checkout, by default `target/jax-suite`; tests with an outcome are left out
    #[arg(long, value_name = "FOLDER")]
    state: Option<PathBuf>,
    /// Folder with the outcomes on another platform; tests that pass there count
    #[arg(long, value_name = "FOLDER")]
    baseline: Option<PathBuf>,
    /// File for the table, as Markdown; by default standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// File for the names of tests that failed, with their reasons
    #[arg(long, value_name = "FILE")]
    failures: Option<PathBuf>,
    /// Test files of the checkout, such as `lax_test.py`; by default all that run programs on a device
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
    if options.launchers {
        let run = JaxRun::new(root, &python, &library)?;
        return run.run_tests(LAUNCHER_TESTS, "spirula", &[]);
    }
    match &options.checkout {
        None => check_plugin(root, &python, &library, &[]),
        Some(checkout) => {
            let run = JaxRun::new(root, &python, &library)?;
            run.run_files(checkout, options)
        }
    }
}

/// Runs the conformance harness and the tests in Python, some of them also on the Vulkan driver that the variables name.
///
/// # Errors
/// When one of them fails.
pub fn check_plugin(
    root: &Path,
    python: &Path,
    library: &Path,
    variables: &[(&'static str, OsString)],
) -> Result<()> {
    let run = JaxRun::new(root, python, library)?;
    run.check_conformance()?;
    for name in TESTS {
        run.run_tests(name, "spirula,cpu", &[])?;
    }
    let named = variables.iter().any(|(name, _)| *name == VULKAN_DRIVER);
    if named || std::env::var_os(VULKAN_DRIVER).is_some() {
        for name in VULKAN_TESTS {
            run.run_tests(name, "spirula_vulkan,cpu", variables)?;
        }
        let mut variables = variables.to_vec();
        variables.push((VULKAN_DRIVER, list_driver_twice(root, &variables)?));
        variables.push(("SPIRULA_DEVICE", "vulkan:all".into()));
        run.run_tests(DEVICE_TESTS, "spirula_vulkan,cpu", &variables)?;
    }
    Ok(())
}

/// The Vulkan driver that the variables or the environment name, and a copy of its description: two devices that are alike.
fn list_driver_twice(root: &Path, variables: &[(&'static str, OsString)]) -> Result<OsString> {
    let named = variables.iter().find(|(name, _)| *name == VULKAN_DRIVER);
    let named = named.map(|(_, value)| value.clone());
    let named = named.or_else(|| std::env::var_os(VULKAN_DRIVER));
    let named = named.context("no Vulkan driver is named")?;
    let drivers: Vec<PathBuf> = std::env::split_paths(&named).collect();
    let [driver] = &drivers[..] else {
        return Ok(named);
    };
    let second = root.join("target/second-vulkan-driver.json");
    fs::copy(driver, &second).with_context(|| driver.display().to_string())?;
    Ok(std::env::join_paths([driver, &second])?)
}

fn build_library(root: &Path) -> Result<PathBuf> {
    let mut build = Command::new("cargo");
    build
        .args(["build", "-p", "spirula-pjrt"])
        .current_dir(root);
    ensure!(build.status()?.success(), "the plugin is not built");
    Ok(root.join("target/debug/libspirula_pjrt.so"))
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

    /// Runs a file of tests with platforms and variables of the environment.
    fn run_tests(
        &self,
        name: &str,
        platforms: &str,
        variables: &[(&'static str, OsString)],
    ) -> Result<()> {
        let mut tests = self.start_python(platforms);
        tests.args(["-m", "unittest", name]);
        tests.envs(variables.iter().map(|(name, value)| (name, value)));
        let tests = tests.current_dir(self.root.join(MODULE).join("tests"));
        let success = tests.status()?.success();
        ensure!(success, "the tests of {name} with {platforms} failed");
        Ok(())
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

    /// Runs test files of a checkout, and writes a table of the outcomes of the tests.
    fn run_files(&self, checkout: &Path, options: &JaxOptions) -> Result<()> {
        let script = self.root.join(SUITE);
        let state = match &options.state {
            Some(state) => state.clone(),
            None => self.root.join("target/jax-suite"),
        };
        let start = |arguments: &[&OsStr]| {
            let mut python = self.start_python(&options.platforms);
            python.arg(&script).arg("--checkout").arg(checkout);
            python.arg("--state").arg(&state).args(arguments);
            python
        };
        let mut tests = start(&[]);
        tests.env("SUITE_DEVICE", &options.device);
        tests.args(["--jobs", &options.jobs.to_string()]);
        tests.args(["--timeout", &options.timeout.to_string()]);
        ensure!(
            tests.args(&options.files).status()?.success(),
            "the tests did not end"
        );
        let table = state.join("table.md");
        let mut report = start(&[OsStr::new("--report"), table.as_os_str()]);
        if let Some(path) = &options.failures {
            report.arg("--failures").arg(path);
        }
        if let Some(baseline) = &options.baseline {
            report.arg("--baseline").arg(baseline);
        }
        ensure!(report.status()?.success(), "there is no report");
        match &options.output {
            Some(path) => drop(fs::copy(&table, path)?),
            None => print!("{}", fs::read_to_string(&table)?),
        }
        Ok(())
    }
}
