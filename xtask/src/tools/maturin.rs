//! Maturin, which makes wheels, from Python's package index.

use super::python::make_environment;
use anyhow::{Result, ensure};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The package.
const PACKAGE: &str = "maturin==1.16.0";

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
        make_environment(&root, &[PACKAGE])?;
        ensure!(is_there(), "maturin does not start");
    }
    Ok(programs)
}
