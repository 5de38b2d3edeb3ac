//! Zig and the programs that build with it, from Python's package index.
//!
//! `zig cc` links for other processors, and against older versions of glibc than the machine's. cargo-zigbuild makes it the linker
//! of a build with Cargo, and maturin that of a wheel.

use super::maturin::MATURIN_RELEASE;
use super::python::make_environment;
use anyhow::{Result, ensure};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The packages beside maturin.
const PACKAGES: &[&str] = &["cargo-zigbuild==0.24.1", "ziglang==0.17.1"];

/// Finds the programs, or makes a virtual environment with them. Returns the folder that has `cargo-zigbuild` and `maturin`.
///
/// # Errors
/// When there is no Python, or a package cannot be installed.
pub fn find_or_fetch_zig(target: &Path) -> Result<PathBuf> {
    let root = target.join("tools/zig");
    let programs = root.join("bin");
    let starts = |name: &str, arguments: &[&str]| {
        let output = Command::new(programs.join(name)).args(arguments).output();
        output.is_ok_and(|output| output.status.success())
    };
    let are_there = || {
        starts("cargo-zigbuild", &["--version"])
            && starts("maturin", &["--version"])
            && starts("python", &["-m", "ziglang", "version"])
    };
    if !are_there() {
        make_environment(&root, &[PACKAGES, &[MATURIN_RELEASE]].concat())?;
        ensure!(are_there(), "cargo-zigbuild, maturin or Zig does not start");
    }
    Ok(programs)
}
