//! Maturin, which makes wheels, and an environment for their tests, from Python's package index.

use super::jax::JAX_RELEASE;
use super::python::{make_environment, run_python};
use anyhow::{Result, ensure};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The package.
pub const MATURIN_RELEASE: &str = "maturin==1.16.0";

/// Finds maturin, or makes a virtual environment with it. Returns the folder of its programs.
///
/// # Errors
/// When there is no Python, or the package cannot be installed.
pub fn find_or_fetch_maturin(target: &Path) -> Result<PathBuf> {
    let root = target.join("tools/maturin");
    let programs = root.join("bin");
    let is_there = || {
        let mut check = Command::new(programs.join("maturin"));
        let found = check.arg("--version").output();
        found.is_ok_and(|output| output.status.success())
    };
    if !is_there() {
        make_environment(&root, &[MATURIN_RELEASE])?;
        ensure!(is_there(), "maturin does not start");
    }
    Ok(programs)
}

/// Installs a wheel beside JAX into a virtual environment for tests, and returns the path of its interpreter. The environment
/// is kept, as JAX takes a minute to fetch; the wheel replaces the one before.
///
/// # Errors
/// When there is no Python, or a package cannot be installed.
pub fn install_wheel(target: &Path, wheel: &str) -> Result<PathBuf> {
    let root = target.join("tools/wheel");
    let python = root.join("bin/python");
    let has_jax = Command::new(&python)
        .args(["-m", "pip", "freeze"])
        .output()
        .is_ok_and(|output| {
            let packages = String::from_utf8_lossy(&output.stdout);
            packages.lines().any(|line| line == JAX_RELEASE)
        });
    if !has_jax {
        return make_environment(&root, &[JAX_RELEASE, wheel]);
    }
    let options = ["--quiet", "--force-reinstall", "--no-deps"];
    run_python(
        &python,
        &[&["-m", "pip", "install"], &options[..], &[wheel]].concat(),
    )?;
    Ok(python)
}
