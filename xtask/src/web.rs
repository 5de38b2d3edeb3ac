//! The playground: a page with the compiler as WebAssembly.
//!
//! `cargo xtask web` makes `target/playground` of `crates/bindings/web/page` and the module, which it builds in a target folder of its
//! own with a compiler that makes WebAssembly (`tools/cross_rust.rs`). `cargo xtask web --check` runs the tests of
//! `crates/bindings/web/tests` in Node and in Chromium.

use crate::tools::{self, CrossToolchain};
use anyhow::{Context, Result, ensure};
use clap::Args as ClapArgs;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The crate, and the folder of its page.
const PACKAGE: &str = "spirula-web";
const SOURCE: &str = "crates/bindings/web";

/// The folder that has the page with the module, in the target folder.
const PAGE: &str = "playground";

/// Most bytes of the page when it is packed.
const MOST_PACKED: usize = 6_000_000;

/// Arguments of the task.
#[derive(ClapArgs)]
pub struct WebOptions {
    /// Test the page in Node and in Chromium
    #[arg(long)]
    check: bool,
    /// Take the module that was built before
    #[arg(long)]
    no_build: bool,
}

/// Makes the page, and tests it on request.
///
/// # Errors
/// When there is no compiler for WebAssembly, the build fails, the page is too large, or a test fails.
pub fn run_web(root: &Path, options: &WebOptions) -> Result<()> {
    let target = root.join("target");
    let module = if options.no_build {
        find_module(&target)
    } else {
        build_module(root, &tools::find_or_fetch_web_rust(&target)?)?
    };
    let page = gather_page(root, &target, &module)?;
    let packed = measure_packed(&page)?;
    let megabytes = packed as f64 / 1e6;
    println!("{} ({megabytes:.2} MB packed by gzip)", page.display());
    ensure!(
        packed <= MOST_PACKED,
        "the page has more than {MOST_PACKED} bytes packed"
    );
    if options.check {
        check_page(root, &target, &page)?;
    }
    Ok(())
}

fn find_module(target: &Path) -> PathBuf {
    let folder = target.join("web").join(tools::WEB_TARGET).join("web");
    folder.join("spirula_web.wasm")
}

/// Builds the module with the profile `web`.
fn build_module(root: &Path, toolchain: &CrossToolchain) -> Result<PathBuf> {
    let target = root.join("target");
    let mut build = Command::new("cargo");
    build
        .args(["build", "--locked", "--profile", "web", "-p", PACKAGE])
        .args(["--features", "wgsl"])
        .args(["--target", tools::WEB_TARGET, "--target-dir"])
        .arg(target.join("web"))
        .current_dir(root);
    if let Some(rustc) = &toolchain.rustc {
        build.env("RUSTC", rustc);
    }
    if let Some(linker) = &toolchain.web_linker {
        build.env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER", linker);
    }
    if toolchain.builds_library {
        build
            .arg("-Zbuild-std=std,panic_abort")
            .env("RUSTC_BOOTSTRAP", "1");
    }
    let status = build.status().context("cargo does not start")?;
    ensure!(status.success(), "the WebAssembly module is not built");
    Ok(find_module(&target))
}

/// Copies the page and the module to the folder of the page.
fn gather_page(root: &Path, target: &Path, module: &Path) -> Result<PathBuf> {
    let page = target.join(PAGE);
    if page.exists() {
        fs::remove_dir_all(&page)?;
    }
    copy_folder(&root.join(SOURCE).join("page"), &page)?;
    fs::copy(module, page.join("spirula.wasm"))
        .with_context(|| format!("{}: build it first", module.display()))?;
    Ok(page)
}

fn copy_folder(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_folder(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}

/// Bytes of the files of a folder, each packed by gzip as servers send it.
fn measure_packed(folder: &Path) -> Result<usize> {
    let mut total = 0;
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            total += measure_packed(&path)?;
            continue;
        }
        let mut pack = Command::new("gzip");
        pack.args(["-9", "-c"]).arg(&path).stderr(Stdio::inherit());
        let output = pack.output().context("gzip does not start")?;
        ensure!(output.status.success(), "gzip fails");
        total += output.stdout.len();
    }
    Ok(total)
}

/// Runs the tests of the page.
fn check_page(root: &Path, target: &Path, page: &Path) -> Result<()> {
    let tests = root.join(SOURCE).join("tests");
    run_node(&tests.join("examples.mjs"), &[page])?;
    let playwright = tools::find_or_fetch_playwright(target)?;
    let chromium = tools::find_chromium()?;
    run_node(&tests.join("browser.mjs"), &[page, &playwright, &chromium])
}

fn run_node(script: &Path, arguments: &[&Path]) -> Result<()> {
    let status = Command::new("node").arg(script).args(arguments).status();
    let status = status.context("node does not start")?;
    ensure!(status.success(), "{} failed", script.display());
    Ok(())
}
