//! Wheels: the Python package in the form that pip installs.
//!
//! `cargo xtask wheel` makes `target/wheels/spirula-*.whl` with maturin. `cargo xtask wheel --check` makes one in the dev profile,
//! installs it beside JAX into a virtual environment, and runs the tests of `crates/bindings/python/tests` there.

use crate::tools;
use crate::wheel_features::check_wheel_features;
use anyhow::{Context, Result, ensure};
use clap::Args as ClapArgs;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Folder of the package.
const PACKAGE: &str = "crates/bindings/python";

/// Folder of wheels in the target folder.
const WHEELS: &str = "wheels";

/// Arguments of the task.
#[derive(ClapArgs)]
pub struct WheelOptions {
    /// Build in the dev profile, into `target/wheels/dev`
    #[arg(long)]
    dev: bool,
    /// Build in the dev profile, and test the package in a virtual environment
    #[arg(long)]
    check: bool,
}

/// Makes a wheel, and tests it on request.
///
/// # Errors
/// When there is no Python with pip, the build fails, or a test fails.
pub fn run_wheel(root: &Path, options: &WheelOptions) -> Result<()> {
    let programs = tools::find_or_fetch_maturin(&root.join("target"))
        .context("a wheel needs Python with pip")?;
    if options.check {
        return check_wheel(root, &programs, &[]);
    }
    let wheel = build_wheel(root, &programs, options.dev, &[])?;
    let megabytes = fs::metadata(&wheel)?.len() as f64 / 1e6;
    println!("{} ({megabytes:.1} MB)", wheel.display());
    Ok(())
}

/// Makes a wheel in the dev profile, and runs the tests of the package with it. `programs` is the folder of maturin, and
/// `environment` names the drivers.
///
/// # Errors
/// When the build or a test fails, or the build needs packages with other features than the tests.
pub fn check_wheel(root: &Path, programs: &Path, environment: &[(&str, OsString)]) -> Result<()> {
    check_wheel_features(root)?;
    let wheel = build_wheel(root, programs, true, environment)?;
    let wheel = wheel.to_str().context("the folder's name is not UTF-8")?;
    let python = tools::install_wheel(&root.join("target"), wheel)?;
    let mut tests = Command::new(&python);
    tests
        .args(["-m", "unittest", "discover"])
        .current_dir(root.join(PACKAGE).join("tests"))
        .envs(environment.iter().map(|(name, value)| (name, value)))
        .env_remove("SPIRULA_PJRT_LIBRARY")
        .env_remove("SPIRULA_DEVICE")
        .env_remove("PYTHONPATH");
    let status = tests.status().context("Python does not start")?;
    ensure!(status.success(), "the tests of the Python package failed");
    Ok(())
}

/// Makes a wheel, and returns its path. Older ones in its folder are removed. `environment` is added to that of the build.
///
/// # Errors
/// When the build fails.
pub fn build_wheel(
    root: &Path,
    programs: &Path,
    is_dev: bool,
    environment: &[(&str, OsString)],
) -> Result<PathBuf> {
    let wheels = root.join("target").join(WHEELS);
    let output = if is_dev { wheels.join("dev") } else { wheels };
    for old in list_wheels(&output) {
        fs::remove_file(old)?;
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = [programs.to_owned()]
        .into_iter()
        .chain(std::env::split_paths(&path));
    let mut build = Command::new(programs.join("maturin"));
    build
        .args(["build", "--locked", "--out"])
        .arg(&output)
        .args(match is_dev {
            true => ["--profile", "dev"].as_slice(),
            false => &["--release", "--strip"],
        })
        .current_dir(root.join(PACKAGE))
        .envs(environment.iter().map(|(name, value)| (name, value)))
        .env("PATH", std::env::join_paths(path)?);
    let status = build.status().context("maturin does not start")?;
    ensure!(status.success(), "the wheel is not built");
    let mut made = list_wheels(&output);
    made.pop().context("maturin has made no wheel")
}

/// The wheels in a folder.
fn list_wheels(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    paths
        .filter(|path| path.extension().is_some_and(|extension| extension == "whl"))
        .collect()
}
