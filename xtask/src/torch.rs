//! PyTorch: checks of the backend of `torch.compile`, and of the plugin for PyTorch/XLA.
//!
//! `cargo xtask torch` makes a wheel in the dev profile, and runs the tests of `crates/bindings/python/torch_tests` with it.
//! `--operations` compares PyTorch's own list of operations instead. PyTorch takes 6 GB of disk, so CI does not run this.

use crate::{tools, wheel};
use anyhow::{Context, Result, ensure};
use clap::Args as ClapArgs;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Folder of the tests.
const TESTS: &str = "crates/bindings/python/torch_tests";

/// Test files, each of which has a process of its own.
const FILES: [&str; 2] = ["test_compile", "test_xla"];

/// Arguments of the task.
#[derive(ClapArgs)]
pub struct TorchOptions {
    /// Python with torch and torch_xla; by default one in `target/tools/torch`, which is fetched
    #[arg(long, value_name = "PATH")]
    python: Option<PathBuf>,
    /// Device that compiled functions run on; by default the processor
    #[arg(long, value_name = "NAME")]
    device: Option<String>,
    /// Compare PyTorch's list of operations
    #[arg(long)]
    operations: bool,
}

/// Runs the tests, or compares the operations.
///
/// # Errors
/// When a test fails, or there is no Python with the packages.
pub fn run_torch(root: &Path, options: &TorchOptions) -> Result<()> {
    let target = root.join("target");
    let python = match &options.python {
        Some(python) => python.clone(),
        None => tools::find_or_fetch_torch(&target)?,
    };
    let programs = tools::find_or_fetch_maturin(&target)?;
    let package = wheel::build_wheel(root, &programs, true, &[])?;
    let site = target.join("torch-site");
    install_package(&python, &package, &site)?;
    let start = || {
        let mut command = Command::new(&python);
        command
            .current_dir(root.join(TESTS))
            .env("PYTHONPATH", &site)
            .env_remove("SPIRULA_PJRT_LIBRARY");
        if let Some(device) = &options.device {
            command.env("SPIRULA_DEVICE", device);
        }
        command
    };
    if options.operations {
        let status = start().arg("compare_operations.py").status()?;
        ensure!(status.success(), "operations have wrong results");
        return Ok(());
    }
    for file in FILES {
        let status = start().args(["-m", "unittest", file]).status()?;
        ensure!(status.success(), "the tests of {file} failed");
    }
    Ok(())
}

/// Installs a wheel into a folder of its own, in which nothing else is left.
fn install_package(python: &Path, wheel: &Path, site: &Path) -> Result<()> {
    if site.exists() {
        fs::remove_dir_all(site)?;
    }
    let mut install = Command::new(python);
    install
        .args(["-m", "pip", "install", "--quiet", "--no-deps", "--target"])
        .arg(site)
        .arg(wheel);
    let status = install.status().context("Python does not start")?;
    ensure!(status.success(), "pip cannot install the wheel");
    Ok(())
}
