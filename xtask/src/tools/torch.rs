//! PyTorch and PyTorch/XLA, from Python's package index, in a virtual environment.

use super::python::make_environment;
use anyhow::{Result, ensure};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The packages: PyTorch, what its list of operations needs, and types that NumPy lacks.
const PACKAGES: &[&str] = &[
    "torch==2.9.1",
    "torch_xla==2.9.0",
    "numpy",
    "expecttest",
    "ml_dtypes",
];

/// Finds a Python with PyTorch, or makes a virtual environment with it. Returns the path of its interpreter.
///
/// # Errors
/// When there is no Python, or a package cannot be installed.
pub fn find_or_fetch_torch(target: &Path) -> Result<PathBuf> {
    let root = target.join("tools/torch");
    let python = root.join("bin/python");
    if !has_torch(&python) {
        make_environment(&root, PACKAGES)?;
        ensure!(has_torch(&python), "the packages cannot be imported");
    }
    Ok(python)
}

/// Whether a Python has the packages.
fn has_torch(python: &Path) -> bool {
    let mut check = Command::new(python);
    let found = check.args(["-c", "import torch, torch_xla, expecttest"]);
    found.output().is_ok_and(|output| output.status.success())
}
