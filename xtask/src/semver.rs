//! The public interfaces of the published crates, compared with those of another revision by cargo-semver-checks.
//!
//! The task is run by hand before a release. It documents each crate twice, which takes minutes.

use crate::test::UNPUBLISHED;
use anyhow::{Context, Result, ensure};
use clap::Args as ClapArgs;
use std::path::Path;
use std::process::Command;

/// Published packages without a library for Rust.
const WITHOUT_LIBRARY: &[&str] = &["spirula-python"];

/// Arguments of the task.
#[derive(ClapArgs)]
pub struct SemverOptions {
    /// The revision to compare with, such as the tag of the last release
    #[arg(long, value_name = "REV")]
    baseline_rev: String,
    /// Compare this package alone; may be repeated. By default all that are published
    #[arg(short, long, value_name = "NAME")]
    package: Vec<String>,
}

/// Compares the interfaces, and fails where a change breaks users without a new version.
///
/// # Errors
/// When cargo-semver-checks is not installed, or finds such a change.
pub fn compare_interfaces(root: &Path, options: &SemverOptions) -> Result<()> {
    let found = Command::new("cargo")
        .args(["semver-checks", "--version"])
        .output();
    ensure!(
        found.is_ok_and(|output| output.status.success()),
        "cargo-semver-checks is not installed: `cargo install --locked cargo-semver-checks` installs it"
    );
    let mut compare = Command::new("cargo");
    compare
        .args(["semver-checks", "--baseline-rev", &options.baseline_rev])
        .current_dir(root);
    if options.package.is_empty() {
        compare.arg("--workspace");
        for package in UNPUBLISHED.iter().chain(WITHOUT_LIBRARY) {
            compare.args(["--exclude", package]);
        }
    }
    for package in &options.package {
        compare.args(["--package", package]);
    }
    let status = compare.status().context("cargo does not start")?;
    ensure!(status.success(), "the interfaces are not compatible");
    Ok(())
}
