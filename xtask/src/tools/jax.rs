//! JAX and a conformance harness for PJRT plugins, from Python's package index, in a virtual environment.

use anyhow::{Context, Result, ensure};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The packages: the release of JAX that the plugin is tested with, and the harness.
const PACKAGES: &[&str] = &["jax==0.10.2", "pypjrt==0.1.1"];

/// Finds a Python with JAX, or makes a virtual environment with it. Returns the path of its interpreter.
pub fn find_or_fetch_jax(target: &Path) -> Result<PathBuf> {
    let root = target.join("tools/jax");
    let python = root.join("bin/python");
    if !has_packages(&python) {
        eprintln!(
            "fetching {} (from Python's package index)",
            PACKAGES.join(", ")
        );
        let root = root.to_str().context("the folder's name is not UTF-8")?;
        run_python("python3", &["-m", "venv", "--clear", root])?;
        let install = ["-m", "pip", "install", "--quiet"];
        run_python(&python, &[&install, PACKAGES].concat())?;
        ensure!(has_packages(&python), "the packages cannot be imported");
    }
    Ok(python)
}

/// Whether a Python has the packages.
pub fn has_packages(python: &Path) -> bool {
    let mut check = Command::new(python);
    let found = check
        .args(["-c", "import jax, pypjrt"])
        .env("JAX_PLATFORMS", "cpu");
    found.output().is_ok_and(|output| output.status.success())
}

fn run_python(python: impl AsRef<OsStr>, arguments: &[&str]) -> Result<()> {
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
