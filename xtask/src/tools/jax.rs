//! JAX and a conformance harness for PJRT plugins, from Python's package index, in a virtual environment.

use super::python::make_environment;
use anyhow::{Result, ensure};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The release of JAX that the plugin is tested with.
pub const JAX_RELEASE: &str = "jax==0.10.2";

/// The packages: JAX, and the harness.
const PACKAGES: &[&str] = &[JAX_RELEASE, "pypjrt==0.1.1"];

/// Finds a Python with JAX, or makes a virtual environment with it. Returns the path of its interpreter.
pub fn find_or_fetch_jax(target: &Path) -> Result<PathBuf> {
    let root = target.join("tools/jax");
    let python = root.join("bin/python");
    if !has_packages(&python) {
        make_environment(&root, PACKAGES)?;
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
