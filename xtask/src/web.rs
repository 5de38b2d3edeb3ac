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
        let mut check = PageCheck {
            root,
            target: &target,
            page: &page,
            left_out: Vec::new(),
        };
        check.run()?;
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

/// The tests of the page, and those that could not be run.
struct PageCheck<'a> {
    root: &'a Path,
    target: &'a Path,
    page: &'a Path,
    left_out: Vec<String>,
}

impl PageCheck<'_> {
    /// Runs all tests.
    fn run(&mut self) -> Result<()> {
        if self.require_tool("Node", find_node())?.is_some() {
            self.check_examples()?;
            self.check_corpus()?;
            self.check_browser()?;
        }
        for what in &self.left_out {
            eprintln!("NOT RUN: {what}");
        }
        Ok(())
    }

    /// A tool, or none where it is missing, which is reported at the end. With `CI` set, it is a failure.
    fn require_tool<T>(&mut self, what: &str, found: Result<T>) -> Result<Option<T>> {
        match found {
            Ok(tool) => Ok(Some(tool)),
            Err(error) if std::env::var_os("CI").is_some() => {
                Err(error.context(format!("the tests of the page need {what}")))
            }
            Err(error) => {
                self.left_out
                    .push(format!("tests of the page that need {what}: {error:#}"));
                Ok(None)
            }
        }
    }

    /// Compiles and runs every example in Node.
    fn check_examples(&self) -> Result<()> {
        run_node(&self.find_test("examples.mjs"), &[self.page])
    }

    /// Runs the kernels and shaders of the corpus as WebAssembly in Node, and compares them with the CPU device.
    fn check_corpus(&mut self) -> Result<()> {
        let beside = self.root.join("../shared/corpus");
        let corpus = std::env::var_os("SPIRULA_CORPUS").map_or(beside, PathBuf::from);
        if !corpus.is_dir() {
            let text = "the corpus in Node: set SPIRULA_CORPUS to its folder";
            self.left_out.push(text.to_owned());
            return Ok(());
        }
        let mut test = Command::new("cargo");
        test.args(["test", "--locked", "-p", "spirula-interpreter"])
            .args(["--test", "corpus", "translated", "--", "--nocapture"])
            .envs([("ENGINE", "node"), ("EVERY", "1")])
            .env("SPIRULA_CORPUS", corpus)
            .current_dir(self.root);
        let status = test.status().context("cargo does not start")?;
        ensure!(status.success(), "the corpus in Node failed");
        Ok(())
    }

    /// Compiles and runs every example in Chromium.
    fn check_browser(&mut self) -> Result<()> {
        let playwright = tools::find_or_fetch_playwright(self.target);
        let playwright = self.require_tool("Playwright", playwright)?;
        let chromium = self.require_tool("Chromium", tools::find_chromium())?;
        let (Some(playwright), Some(chromium)) = (playwright, chromium) else {
            return Ok(());
        };
        let script = self.find_test("browser.mjs");
        run_node(&script, &[self.page, &playwright, &chromium])
    }

    fn find_test(&self, name: &str) -> PathBuf {
        self.root.join(SOURCE).join("tests").join(name)
    }
}

/// Checks that Node starts.
fn find_node() -> Result<()> {
    let started = Command::new("node").arg("--version").output();
    let started = started.context("node does not start: install Node 20 or newer")?;
    ensure!(started.status.success(), "node --version fails");
    Ok(())
}

fn run_node(script: &Path, arguments: &[&Path]) -> Result<()> {
    let status = Command::new("node").arg(script).args(arguments).status();
    let status = status.context("node does not start")?;
    ensure!(status.success(), "{} failed", script.display());
    Ok(())
}
