//! Virtual environments of Python, with packages from its index.

use anyhow::{Context, Result, ensure};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Makes a virtual environment with packages, and returns the path of its interpreter. Files of the folder are removed.
///
/// # Errors
/// When there is no Python, or a package cannot be installed.
pub fn make_environment(root: &Path, packages: &[&str]) -> Result<PathBuf> {
    let listed = packages.join(", ");
    eprintln!("fetching {listed} (from Python's package index)");
    let python = root.join("bin/python");
    let root = root.to_str().context("the folder's name is not UTF-8")?;
    run_python("python3", &["-m", "venv", "--clear", root])
        .context("Python 3.11 or newer with the module venv is needed")?;
    let install = ["-m", "pip", "install", "--quiet"];
    run_python(&python, &[&install, packages].concat())
        .context("pip cannot install the packages")?;
    Ok(python)
}

/// Runs Python with arguments.
///
/// # Errors
/// When it does not start, or fails.
pub fn run_python(python: impl AsRef<OsStr>, arguments: &[&str]) -> Result<()> {
    let python = python.as_ref();
    let status = Command::new(python).args(arguments).status();
    let status = status.with_context(|| format!("{} does not start", python.display()))?;
    ensure!(
        status.success(),
        "{} {} failed",
        python.display(),
        arguments.join(" ")
    );
    Ok(())
}
