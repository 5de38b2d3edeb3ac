//! The test command: rules of the house, format, lints, tests and corpora.

use crate::{book, crate_files, jax, opencl, rust_version, tidy, tools, wheel};
use anyhow::{Context, Result, bail, ensure};
use serde::Deserialize;
use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::Instant;

/// Tests of the corpora that may fail or be unsupported, with reasons.
const EXCEPTIONS: &str = "tests/exceptions.tsv";

/// The command that runs the corpora. The tests of the command build it, with checks of overflow and assertions. A build
/// of its own would have other features of its crates, and take minutes.
const COMMAND: &str = "target/debug/spirula";

/// Corpus folders that `spirula test` runs: the folder, the device, and a part of the names of the tests that run.
const CORPORA: &[(&str, &str, &str)] = &[
    ("llvm-ir/kernels", "cpu", ""),
    ("llvm-ir/kernels", "opencl", ""),
    ("spirv/compute", "cpu", ""),
    ("spirv/compute", "vulkan", ""),
    // The applications take long.
    ("futhark/imp", "cpu", "imp/tests/"),
    ("futhark/imp", "vulkan", "imp/tests/"),
    ("stablehlo/testdata", "cpu", ""),
    ("stablehlo/interpret", "cpu", ""),
    ("stablehlo/syntax", "cpu", ""),
    ("stablehlo/portable", "cpu", ""),
    ("stablehlo/torch", "cpu", ""),
    ("stablehlo/seeds", "vulkan", ""),
];

/// Time limit of a test, in seconds. Some tests take a minute with a software driver on two processors.
const TIMEOUT: &str = "240";

/// Seed of random tests. It is the same in each run of the test command, so only a change can make a test fail. `cargo
/// test` alone and this variable use other seeds.
const RANDOM: (&str, &str) = ("PROPTEST_RNG_SEED", "7");

/// The report of `spirula test --json`.
#[derive(Deserialize)]
struct Report {
    tests: Vec<Outcome>,
}

#[derive(Deserialize)]
struct Outcome {
    id: String,
    outcome: String,
}

/// A run of the test command.
struct Run {
    root: PathBuf,
    /// Environment of all steps: the paths of the external tools.
    environment: Vec<(&'static str, OsString)>,
    /// Steps that could not be run, with the reasons.
    left_out: Vec<String>,
    /// The folder of the loader of OpenCL.
    loader_folder: Option<PathBuf>,
}

/// Packages of the workspace that are not published.
pub const UNPUBLISHED: &[&str] = &[
    "spirula-bench",
    "spirula-differential",
    "spirula-fuzz",
    "spirula-mutant-futhark",
    "spirula-random-futhark",
    "spirula-testing",
    "spirula-web",
    "xtask",
];

/// Runs all checks that a change must pass. With `CI` set, a missing tool is a failure. Otherwise it is reported at the
/// end. The corpora are no part of the repository, and are run where they are present. `tasks` are the names of all tasks.
pub fn run_all_checks(root: PathBuf, tasks: &[String]) -> Result<()> {
    tidy::check_tidiness(&root, tasks)?;
    let mut run = Run {
        root,
        environment: Vec::new(),
        left_out: Vec::new(),
        loader_folder: None,
    };
    if std::env::var_os(RANDOM.0).is_none() {
        run.environment.push((RANDOM.0, RANDOM.1.into()));
    }
    if std::env::var_os("CI").is_some() {
        // A build from nothing does not use what an incremental build would keep: gigabytes.
        run.environment.push(("CARGO_INCREMENTAL", "0".into()));
    }
    run.check_compiler()?;
    let drivers = run.find_tools()?;
    run.run_step("cargo", &["fmt", "--all", "--check"])?;
    run.run_step(
        "cargo",
        &[
            "clippy",
            "--workspace",
            "--all-targets",
            "--",
            "-D",
            "warnings",
        ],
    )?;
    run.run_step("cargo", &["test", "--workspace"])?;
    run.make_packages()?;
    run.check_book()?;
    run.check_opencl(&drivers)?;
    run.check_jax()?;
    run.check_wheel()?;
    run.test_corpora(&drivers)?;
    for what in &run.left_out {
        eprintln!("NOT RUN: {what}");
    }
    eprintln!("everything that was run passed");
    Ok(())
}

impl Run {
    /// Finds or fetches the external tools, and returns the kinds of devices with drivers.
    fn find_tools(&mut self) -> Result<Vec<&'static str>> {
        let target = self.root.join("target");
        if let Some(path) = self.require_tool(
            "the SPIR-V validator",
            tools::find_or_fetch_validator(&target),
        )? {
            self.environment.push(("SPIRV_VAL", path.into()));
        }
        let mut drivers = vec!["cpu"];
        let mut libraries = Vec::new();
        let lavapipe = tools::find_or_fetch_lavapipe(&target);
        if let Some(lavapipe) = self.require_tool("the Vulkan driver lavapipe", lavapipe)? {
            drivers.push("vulkan");
            libraries.extend(std::env::split_paths(&lavapipe.libraries));
            self.environment.extend([
                ("VK_DRIVER_FILES", lavapipe.driver.clone().into()),
                ("VK_ICD_FILENAMES", lavapipe.driver.into()),
                ("SPIRULA_REQUIRE_VULKAN", "1".into()),
            ]);
        }
        let opencl = tools::find_or_fetch_opencl(&target);
        if let Some(opencl) = self.require_tool("Intel's OpenCL runtime", opencl)? {
            drivers.push("opencl");
            self.loader_folder = Some(PathBuf::from(&opencl.libraries));
            libraries.push(opencl.libraries.into());
            self.environment.extend([
                ("OCL_ICD_VENDORS", opencl.vendors.into()),
                ("SPIRULA_REQUIRE_OPENCL", "1".into()),
            ]);
        }
        let clang = tools::find_or_fetch_clang(&target);
        if let Some(clang) = self.require_tool("Clang", clang)? {
            self.environment.extend([
                ("SPIRULA_CLANG", clang.into()),
                ("SPIRULA_REQUIRE_CLANG", "1".into()),
            ]);
        }
        let libraries = std::env::join_paths(libraries)?;
        self.environment.push(("LD_LIBRARY_PATH", libraries));
        Ok(drivers)
    }

    fn require_tool<T>(&mut self, what: &str, found: Result<T>) -> Result<Option<T>> {
        match found {
            Ok(tool) => Ok(Some(tool)),
            Err(error) if std::env::var_os("CI").is_some() => {
                Err(error.context(format!("the tests need {what}")))
            }
            Err(error) => {
                self.left_out.push(format!("what needs {what}: {error:#}"));
                Ok(None)
            }
        }
    }

    /// Runs programs on the OpenCL driver, which the tests have built, through a loader.
    fn check_opencl(&mut self, drivers: &[&str]) -> Result<()> {
        let Some(folder) = self.loader_folder.clone() else {
            return Ok(());
        };
        let has_vulkan = drivers.contains(&"vulkan");
        let loader = opencl::find_loader(&folder);
        let missing = opencl::check_driver(&self.root, &loader, has_vulkan, &self.environment)?;
        for name in missing {
            let text = format!("{name} on the OpenCL driver: it is not installed");
            self.left_out.push(text);
        }
        Ok(())
    }

    /// Checks the PJRT plugin, which the tests have built, with JAX.
    fn check_jax(&mut self) -> Result<()> {
        let python = tools::find_or_fetch_jax(&self.root.join("target"));
        let Some(python) = self.require_tool("JAX", python)? else {
            return Ok(());
        };
        let library = self.root.join("target/debug/deps/libspirula_pjrt.so");
        jax::check_plugin(&self.root, &python, &library, &self.environment)
    }

    /// Makes the packages of all crates that are published, without building them, and checks their content. Their dependencies
    /// are known since the build.
    fn make_packages(&mut self) -> Result<()> {
        let mut arguments = vec!["package", "--workspace", "--offline", "--quiet"];
        arguments.extend(["--no-verify", "--allow-dirty"]);
        for package in UNPUBLISHED {
            arguments.extend(["--exclude", package]);
        }
        let folder = self.root.join("target/package");
        crate_files::remove_crate_files(&folder)?;
        self.run_step("cargo", &arguments)?;
        crate_files::check_crate_files(&folder)
    }

    /// Checks that the compiler is the oldest one that the crates state. Another compiler tests no statement.
    fn check_compiler(&mut self) -> Result<()> {
        let checked = rust_version::check_compiler(&self.root);
        let subject = "the oldest version of Rust that is stated";
        self.require_tool(subject, checked).map(drop)
    }

    /// Builds the book, and checks its links.
    fn check_book(&mut self) -> Result<()> {
        let program = tools::find_or_fetch_mdbook(&self.root.join("target"));
        match self.require_tool("mdBook", program)? {
            Some(_) => book::build_book(&self.root),
            None => Ok(()),
        }
    }

    /// Makes the Python package in the dev profile, and tests it.
    fn check_wheel(&mut self) -> Result<()> {
        let programs = tools::find_or_fetch_maturin(&self.root.join("target"));
        let Some(programs) = self.require_tool("maturin", programs)? else {
            return Ok(());
        };
        wheel::check_wheel(&self.root, &programs, &self.environment)
    }

    fn test_corpora(&mut self, drivers: &[&str]) -> Result<()> {
        let beside = self.root.join("../shared/corpus");
        let corpus = std::env::var_os("SPIRULA_CORPUS").map_or(beside, PathBuf::from);
        if !corpus.is_dir() {
            self.left_out
                .push("the corpora: set SPIRULA_CORPUS to their folder".to_owned());
            return Ok(());
        }
        for (folder, device, part) in CORPORA {
            if !drivers.contains(device) {
                continue;
            }
            let path = corpus.join(folder);
            let path = path
                .to_str()
                .context("the corpus folder's name is not UTF-8")?;
            self.test_corpus(path, device, part)?;
        }
        Ok(())
    }

    /// Runs a folder of tests. Tests that do not pass must be among the exceptions.
    fn test_corpus(&self, path: &str, device: &str, part: &str) -> Result<()> {
        let report = self.root.join("target/corpus.json");
        _ = fs::remove_file(&report);
        let json = report.to_str().context("the folder's name is not UTF-8")?;
        let mut arguments = vec!["test", path, "--device", device, "--filter", part];
        arguments.extend(["--json", json, "--timeout", TIMEOUT, "--reading"]);
        let passed = self.run_step(COMMAND, &arguments);
        let report: Report = serde_json::from_str(&fs::read_to_string(&report)?)?;
        if passed.is_err() && report.tests.iter().all(|t| t.outcome == "passed") {
            return passed;
        }
        let exceptions = fs::read_to_string(self.root.join(EXCEPTIONS))?;
        let on_device = |name: &str, id: &str| {
            let (of, rest) = name.split_once(' ').unwrap_or(("", name));
            (of == device || of.is_empty()) && rest == id
        };
        let excused = |id: &str| {
            exceptions.lines().any(|l| {
                l.split_once('\t')
                    .is_some_and(|(name, _)| on_device(name, id))
            })
        };
        let bad: Vec<_> = report
            .tests
            .iter()
            .filter(|t| t.outcome != "passed")
            .collect();
        let worst: Vec<_> = bad
            .iter()
            .filter(|t| !excused(&t.id))
            .map(|t| &*t.id)
            .collect();
        ensure!(
            worst.is_empty(),
            "neither passed nor in {EXCEPTIONS}: {}",
            worst.join(", ")
        );
        eprintln!(
            "  {} tests, {} of them excused",
            report.tests.len(),
            bad.len()
        );
        Ok(())
    }

    fn run_step(&self, program: &str, arguments: &[&str]) -> Result<()> {
        eprintln!("$ {program} {}", arguments.join(" "));
        let start = Instant::now();
        let status = Command::new(program)
            .args(arguments)
            .current_dir(&self.root)
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .status()
            .with_context(|| format!("{program} does not start"))?;
        eprintln!("  {:.1} s", start.elapsed().as_secs_f64());
        if !status.success() {
            bail!("{program} {} failed", arguments.join(" "));
        }
        Ok(())
    }
}
