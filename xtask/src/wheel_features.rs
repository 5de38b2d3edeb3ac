//! Features of the packages of the wheel, beside those that the tests use.
//!
//! Cargo compiles a package, and all above it, once for each set of features. The wheel's build uses the crates that the tests have
//! built only where their packages have the same features in both.

use anyhow::{Context, Result, ensure};
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

/// Checks that each package of the wheel has the features that it has in the workspace.
///
/// # Errors
/// When one lacks a feature or has another, or `cargo tree` fails.
pub fn check_wheel_features(root: &Path) -> Result<()> {
    let workspace = list_packages(root, &["--workspace", "--edges", "normal,build,dev"])?;
    let wheel = list_packages(
        root,
        &["--package", "spirula-python", "--edges", "normal,build"],
    )?;
    let different: Vec<&str> = wheel.difference(&workspace).map(String::as_str).collect();
    ensure!(
        different.is_empty(),
        "the tests use these packages with other features, and compile them twice with all crates above; \
         crates/bindings/python/Cargo.toml can name the features:\n  {}",
        different.join("\n  ")
    );
    Ok(())
}

/// The packages of a build, each with its version and features.
fn list_packages(root: &Path, selection: &[&str]) -> Result<BTreeSet<String>> {
    let output = Command::new("cargo")
        .args(["tree", "--locked", "--no-dedupe", "--prefix", "none"])
        .args(["--format", "{p} [{f}]"])
        .args(selection)
        .current_dir(root)
        .output()
        .context("cargo does not start")?;
    ensure!(
        output.status.success(),
        "cargo tree failed: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    let lines = String::from_utf8(output.stdout)?;
    Ok(lines.lines().map(str::to_owned).collect())
}
