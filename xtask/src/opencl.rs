//! OpenCL: programs by others on the OpenCL driver, and a small program through the loader.
//!
//! `cargo xtask suite opencl` builds and runs Khronos' conformance tests, whose checkouts are in the folder of the corpus.
//! `cargo xtask suite opencl-applications` runs the applications that are installed. Both write a table for each device. The test
//! command runs `smoke.py` through the loader of the tests, and clinfo and clpeak where they are installed.

use crate::suite::SuiteOptions;
use anyhow::{Context, Result, bail, ensure};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The folder of the scripts.
const SCRIPTS: &str = "crates/bindings/opencl-icd/suite";

/// The file name of the driver.
const LIBRARY: &str = "libspirula_opencl.so";

/// The checkouts of Khronos' repositories, and the options that name them.
const CHECKOUTS: [(&str, &str); 3] = [
    ("--checkout", "OpenCL-CTS"),
    ("--headers", "OpenCL-Headers"),
    ("--spirv-headers", "SPIRV-Headers"),
];

/// Applications that the test command runs where they are installed, and their programs. Nothing installs them.
const SMALL_APPLICATIONS: [(&str, &str); 2] = [("clinfo", "clinfo"), ("clpeak-in-part", "clpeak")];

/// Runs Khronos' conformance tests on each device. `corpus` is the folder of the checkouts, and the filter names suites.
///
/// # Errors
/// When a checkout or the driver is missing, or the script fails.
pub fn run_conformance_suites(root: &Path, corpus: &Path, options: &SuiteOptions) -> Result<()> {
    let mut checkouts: Vec<OsString> = Vec::new();
    for (option, name) in CHECKOUTS {
        let folder = corpus.join(name);
        ensure!(
            folder.is_dir(),
            "there is no {}; --corpus names a folder with checkouts of {}",
            folder.display(),
            CHECKOUTS.map(|row| row.1).join(", ")
        );
        checkouts.extend([option.into(), folder.into()]);
    }
    if let Some(seconds) = options.timeout {
        checkouts.extend(["--timeout".into(), seconds.to_string().into()]);
    }
    if let Some(jobs) = options.jobs {
        checkouts.extend(["--jobs".into(), jobs.to_string().into()]);
    }
    run_on_devices(root, "run_suite.py", &checkouts, options)
}

/// Runs the installed applications on each device. The filter names applications.
///
/// # Errors
/// When the driver is missing, or an application fails.
pub fn run_applications(root: &Path, options: &SuiteOptions) -> Result<()> {
    run_on_devices(root, "run_applications.py", &[], options)
}

fn run_on_devices(
    root: &Path,
    script: &str,
    arguments: &[OsString],
    options: &SuiteOptions,
) -> Result<()> {
    let command = root.join(&options.spirula);
    let library = command.with_file_name(LIBRARY);
    ensure!(
        library.is_file(),
        "there is no {}: cargo build --release -p spirula-opencl-icd makes it",
        library.display()
    );
    let state = root.join("target/opencl-suite");
    fs::create_dir_all(&state)?;
    let mut tables = String::new();
    let mut has_failed = false;
    for device in options.devices.iter().filter(|device| *device != "none") {
        let mut run = Command::new("python3");
        run.arg(root.join(SCRIPTS).join(script)).args(arguments);
        run.arg("--library")
            .arg(&library)
            .arg("--state")
            .arg(&state);
        run.args(["--device", device]);
        run.args(options.filter.split(',').filter(|name| !name.is_empty()));
        let ran = run.stderr(std::process::Stdio::inherit()).output();
        let ran = ran.context("python3 does not start")?;
        has_failed |= !ran.status.success();
        tables += &format!("On {device}:\n\n{}\n", String::from_utf8_lossy(&ran.stdout));
    }
    match &options.output {
        Some(path) => fs::write(path, tables)?,
        None => print!("{tables}"),
    }
    ensure!(!has_failed, "{script} found failures");
    Ok(())
}

/// Runs a small program through the loader, and the small applications that are installed. Returns those that are not.
///
/// # Errors
/// When one of them fails.
pub fn check_driver(
    root: &Path,
    loader: &Path,
    has_vulkan: bool,
    variables: &[(&'static str, OsString)],
) -> Result<Vec<&'static str>> {
    let library = root.join("target/debug/deps").join(LIBRARY);
    ensure!(library.is_file(), "there is no {}", library.display());
    let state = root.join("target/opencl-check");
    let vendors = state.join("vendors");
    fs::create_dir_all(&vendors)?;
    fs::write(
        vendors.join("spirula.icd"),
        format!("{}\n", library.display()),
    )?;
    let variables = variables.iter().map(|(name, value)| (*name, value.clone()));
    let mut variables: Vec<(&str, OsString)> = variables.collect();
    let devices = if has_vulkan { "cpu,vulkan:0" } else { "cpu" };
    variables.extend([
        ("OCL_ICD_VENDORS", vendors.into()),
        ("SPIRULA_OPENCL_DEVICES", devices.into()),
    ]);
    let needs_compiler = variables.iter().any(|row| row.0 == "SPIRULA_REQUIRE_CLANG");
    let scripts = root.join(SCRIPTS);
    let mut smoke = Command::new("python3");
    smoke
        .arg(scripts.join("smoke.py"))
        .arg("--loader")
        .arg(loader);
    smoke.args(needs_compiler.then_some("--needs-compiler"));
    run_step(smoke, &variables)?;
    let (installed, missing): (Vec<_>, Vec<_>) = SMALL_APPLICATIONS
        .into_iter()
        .partition(|(_, program)| is_on_path(program));
    if !installed.is_empty() {
        let mut applications = Command::new("python3");
        applications.arg(scripts.join("run_applications.py"));
        applications
            .arg("--library")
            .arg(&library)
            .arg("--state")
            .arg(&state);
        applications.args(installed.iter().map(|(name, _)| name));
        run_step(applications, &variables)?;
    }
    Ok(missing.into_iter().map(|(_, program)| program).collect())
}

fn run_step(mut command: Command, variables: &[(&str, OsString)]) -> Result<()> {
    eprintln!("$ {command:?}");
    let variables = variables.iter().map(|(name, value)| (name, value));
    let status = command.envs(variables).status();
    if !status.context("python3 does not start")?.success() {
        bail!("{command:?} failed");
    }
    Ok(())
}

fn is_on_path(name: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(name).is_file())
}

/// The loader in a folder of libraries, or that of the system.
pub fn find_loader(folder: &Path) -> PathBuf {
    let name = PathBuf::from("libOpenCL.so.1");
    let own = folder.join(&name);
    if own.is_file() { own } else { name }
}
