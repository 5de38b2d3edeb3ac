//! The test command: format, lints, tests, corpora.

use crate::{tidy, tools};
use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// What the corpora may leave unsupported, with reasons.
const ALLOWED: &str = "tests/unsupported.tsv";

/// Corpus folders that `spirula test` runs.
const CORPORA: &[&str] = &["llvm-ir/kernels", "spirv/compute"];

/// Runs everything that must hold before a change lands. With `CI` set, what cannot be run is a
/// failure; otherwise it is said aloud at the end.
pub fn run() -> Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("..")
        .canonicalize()?;
    let ci = std::env::var_os("CI").is_some();
    let mut left_out = Vec::new();
    tidy::check(&root)?;
    let validator = match tools::validator(&root.join("target")) {
        Ok(path) => Some(path),
        Err(error) if ci => return Err(error.context("the tests need the SPIR-V validator")),
        Err(error) => {
            left_out.push(format!(
                "validation of the modules that we write: {error:#}"
            ));
            None
        }
    };
    step(
        &root,
        validator.as_deref(),
        "cargo",
        &["fmt", "--all", "--check"],
    )?;
    let lints = [
        "clippy",
        "--workspace",
        "--all-targets",
        "--",
        "-D",
        "warnings",
    ];
    step(&root, validator.as_deref(), "cargo", &lints)?;
    step(
        &root,
        validator.as_deref(),
        "cargo",
        &["test", "--workspace"],
    )?;
    step(
        &root,
        validator.as_deref(),
        "cargo",
        &["build", "--release", "--bin", "spirula"],
    )?;
    match corpus(&root) {
        Some(corpus) => corpora(&root, &corpus)?,
        None => left_out.push("the corpora: set SPIRULA_CORPUS to their folder".to_owned()),
    }
    for what in &left_out {
        eprintln!("NOT RUN: {what}");
    }
    eprintln!("everything that was run passed");
    Ok(())
}

fn corpora(root: &Path, corpus: &Path) -> Result<()> {
    for folder in CORPORA {
        let path = corpus.join(folder);
        let path = path
            .to_str()
            .context("the corpus folder's name is no UTF-8")?;
        let arguments = ["test", path, "--strict", "--allow", ALLOWED];
        step(root, None, "target/release/spirula", &arguments)?;
    }
    Ok(())
}

/// The folder of the corpora: `SPIRULA_CORPUS`, else beside the repository.
fn corpus(root: &Path) -> Option<PathBuf> {
    let beside = root.join("../shared/corpus");
    let folder = std::env::var_os("SPIRULA_CORPUS").map_or(beside, PathBuf::from);
    folder.is_dir().then_some(folder)
}

fn step(root: &Path, validator: Option<&Path>, program: &str, arguments: &[&str]) -> Result<()> {
    eprintln!("$ {program} {}", arguments.join(" "));
    let start = Instant::now();
    let mut command = Command::new(program);
    command.args(arguments).current_dir(root);
    if let Some(validator) = validator {
        command.env("SPIRV_VAL", validator);
    }
    let status = command
        .status()
        .with_context(|| format!("{program} does not start"))?;
    eprintln!("  {:.1} s", start.elapsed().as_secs_f64());
    if !status.success() {
        bail!("{program} {} failed", arguments.join(" "));
    }
    Ok(())
}
