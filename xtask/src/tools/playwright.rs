//! Playwright, which drives a browser, from the registry of Node's packages. The browser is an installed Chromium.

use anyhow::{Context, Result, ensure};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The package.
const PACKAGE: &str = "playwright-core@1.65.1";

/// Finds Playwright, or fetches it into `target/tools`. Returns the folder that has it.
///
/// # Errors
/// When there is no `npm`, or the package cannot be fetched.
pub fn find_or_fetch_playwright(target: &Path) -> Result<PathBuf> {
    let folder = target.join("tools/playwright");
    let is_there = || {
        folder
            .join("node_modules/playwright-core/package.json")
            .is_file()
    };
    if !is_there() {
        std::fs::create_dir_all(&folder)?;
        let mut install = Command::new("npm");
        install
            .args(["install", "--silent", "--no-save", "--prefix"])
            .arg(&folder)
            .arg(PACKAGE);
        let status = install.status().context("npm does not start")?;
        ensure!(
            status.success() && is_there(),
            "{PACKAGE} cannot be fetched"
        );
    }
    Ok(folder)
}

/// Finds Chromium: `CHROMIUM`, or the installed one.
///
/// # Errors
/// When there is none.
pub fn find_chromium() -> Result<PathBuf> {
    let named = std::env::var_os("CHROMIUM").map(PathBuf::from).into_iter();
    let usual = [
        "/usr/bin/chromium",
        "/usr/bin/chromium-browser",
        "/usr/bin/google-chrome",
    ];
    let mut paths = named.chain(usual.map(PathBuf::from));
    paths
        .find(|path| path.is_file())
        .context("no Chromium is installed: set CHROMIUM to its path, or install Debian's chromium")
}
