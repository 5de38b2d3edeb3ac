//! Rules of the house that no compiler checks: who may depend on whom, where `unsafe` may stand,
//! how long a file may be.

mod type_names;

use anyhow::{Result, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use type_names::check_type_names;

/// What each crate may use of the others (ARCHITECTURE.md, "The crates").
const ARROWS: &[(&str, &[&str])] = &[
    ("spirula-diagnostics", &[]),
    ("spirula-scalar", &[]),
    ("spirula-spirv", &["spirula-diagnostics"]),
    ("spirula-program", &["spirula-scalar"]),
    (
        "spirula-kernel",
        &[
            "spirula-diagnostics",
            "spirula-spirv",
            "spirula-scalar",
            "spirula-program",
        ],
    ),
    (
        "spirula-tensor",
        &["spirula-diagnostics", "spirula-kernel", "spirula-program"],
    ),
    (
        "spirula-llvm",
        &["spirula-scalar", "spirula-diagnostics", "spirula-spirv"],
    ),
    (
        "spirula-stablehlo",
        &["spirula-diagnostics", "spirula-program", "spirula-tensor"],
    ),
    (
        "spirula-futhark",
        &["spirula-diagnostics", "spirula-kernel", "spirula-program"],
    ),
    (
        "spirula-opt",
        &["spirula-scalar", "spirula-diagnostics", "spirula-spirv"],
    ),
    (
        "spirula-legalize",
        &[
            "spirula-scalar",
            "spirula-diagnostics",
            "spirula-spirv",
            "spirula-opt",
        ],
    ),
    (
        "spirula-cpu",
        &["spirula-diagnostics", "spirula-spirv", "spirula-scalar"],
    ),
    (
        "spirula-runtime",
        &[
            "spirula-diagnostics",
            "spirula-spirv",
            "spirula-cpu",
            "spirula-program",
            "spirula-scalar",
            "spirula-legalize",
        ],
    ),
    (
        "spirula",
        &[
            "spirula-diagnostics",
            "spirula-spirv",
            "spirula-llvm",
            "spirula-futhark",
            "spirula-kernel",
            "spirula-opt",
            "spirula-program",
            "spirula-stablehlo",
            "spirula-tensor",
            "spirula-legalize",
        ],
    ),
    (
        "spirula-cli",
        &[
            "spirula",
            "spirula-diagnostics",
            "spirula-spirv",
            "spirula-llvm",
            "spirula-kernel",
            "spirula-opt",
            "spirula-program",
            "spirula-runtime",
            "spirula-stablehlo",
        ],
    ),
    ("spirula-c", &["spirula-diagnostics", "spirula-spirv"]),
    ("spirula-testing", &["spirula-diagnostics", "spirula-spirv"]),
    (
        "spirula-differential",
        &[
            "spirula-diagnostics",
            "spirula-legalize",
            "spirula-llvm",
            "spirula-opt",
            "spirula-runtime",
            "spirula-spirv",
            "spirula-testing",
        ],
    ),
    (
        "spirula-fuzz",
        &[
            "spirula-differential",
            "spirula-futhark",
            "spirula-kernel",
            "spirula-llvm",
            "spirula-opt",
            "spirula-spirv",
            "spirula-stablehlo",
            "spirula-testing",
        ],
    ),
    (
        "spirula-bench",
        &[
            "spirula",
            "spirula-spirv",
            "spirula-llvm",
            "spirula-runtime",
        ],
    ),
];

/// Where `unsafe` may stand (ARCHITECTURE.md, "Unsafe code").
const UNSAFE: &[&str] = &[
    "crates/run/cpu/",
    "crates/run/runtime/src/cpu",
    "crates/run/runtime/src/opencl",
    "crates/run/runtime/src/vulkan",
    "crates/test/bench",
    "crates/bindings/c/",
];

/// Most lines of a file that is written by hand.
const LINES: usize = 800;

/// Checks all rules and reports every breach.
pub fn check_tidiness(root: &Path) -> Result<()> {
    let mut breaches = Vec::new();
    for manifest in list_crate_manifests(root)? {
        check_arrows(&manifest, &mut breaches)?;
    }
    let mut files = Vec::new();
    gather_source_files(&root.join("crates"), &mut files)?;
    gather_source_files(&root.join("xtask"), &mut files)?;
    check_type_names(root, &files, &mut breaches)?;
    for file in files {
        let text = fs::read_to_string(&file)?;
        let name = file
            .strip_prefix(root)
            .unwrap_or(&file)
            .display()
            .to_string();
        let lines = text.lines().count();
        if lines > LINES {
            breaches.push(format!(
                "{name}: {lines} lines; split it by subject above {LINES}"
            ));
        }
        let is_unsafe = text.contains("unsafe {") || text.contains("unsafe fn");
        if is_unsafe && name != "xtask/src/tidy.rs" && !UNSAFE.iter().any(|u| name.starts_with(u)) {
            breaches.push(format!(
                "{name}: unsafe code outside of the modules that may have it"
            ));
        }
    }
    check_dependency_reasons(root, &mut breaches)?;
    ensure!(
        breaches.is_empty(),
        "rules of the house are broken:\n  {}",
        breaches.join("\n  ")
    );
    Ok(())
}

/// The manifests of all crates, in a fixed order: each stands in a folder that says what it is for.
fn list_crate_manifests(root: &Path) -> Result<Vec<PathBuf>> {
    let mut manifests = Vec::new();
    for role in fs::read_dir(root.join("crates"))? {
        let role = role?;
        if !role.file_type()?.is_dir() {
            continue;
        }
        for entry in fs::read_dir(role.path())? {
            manifests.push(entry?.path().join("Cargo.toml"));
        }
    }
    manifests.sort();
    Ok(manifests)
}

/// Dependencies of a crate on its siblings, development dependencies left out. Each crate has a row.
fn check_arrows(manifest: &Path, breaches: &mut Vec<String>) -> Result<()> {
    let text = fs::read_to_string(manifest)?;
    let name = text.lines().find_map(|line| line.strip_prefix("name = "));
    let name = name.unwrap_or_default().trim_matches('"');
    let Some((_, allowed)) = ARROWS.iter().find(|(of, _)| *of == name) else {
        let manifest = manifest.display();
        breaches.push(format!("{manifest}: {name} has no row of what it may use"));
        return Ok(());
    };
    for (section, dependency) in parse_dependencies(&text) {
        let sibling = section == "[dependencies]" && dependency.starts_with("spirula");
        if sibling && !allowed.contains(&dependency) {
            breaches.push(format!("{name} must not depend on {dependency}"));
        }
    }
    Ok(())
}

/// Every dependency on others' crates has its reason in ARCHITECTURE.md, by name or by family
/// (`cranelift-`).
fn check_dependency_reasons(root: &Path, breaches: &mut Vec<String>) -> Result<()> {
    let text = fs::read_to_string(root.join("ARCHITECTURE.md"))?;
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && !"-_".contains(c));
    let mut all = list_crate_manifests(root)?;
    all.push(root.join("xtask/Cargo.toml"));
    for manifest in all {
        let text = fs::read_to_string(&manifest)?;
        for (_, name) in parse_dependencies(&text).filter(|(_, n)| !n.starts_with("spirula")) {
            let family = name.split('-').next().unwrap_or("");
            let known = |w: &str| w == name || w.strip_suffix('-') == Some(family);
            if !words.clone().any(known) {
                let manifest = manifest.display();
                breaches.push(format!(
                    "{manifest}: no reason for {name} in ARCHITECTURE.md"
                ));
            }
        }
    }
    Ok(())
}

/// The dependencies that a manifest names, each with the head of its section.
fn parse_dependencies(manifest: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut section = "";
    manifest.lines().filter_map(move |line| {
        if line.starts_with('[') {
            section = line;
            return None;
        }
        let name = line.split(['.', ' ', '=', '#']).next().unwrap_or("");
        (section.ends_with("dependencies]") && !name.is_empty()).then_some((section, name))
    })
}

/// Rust files written by hand, in a fixed order.
fn gather_source_files(folder: &Path, out: &mut Vec<PathBuf>) -> Result<()> {
    let mut entries = Vec::new();
    for entry in fs::read_dir(folder)? {
        entries.push(entry?.path());
    }
    entries.sort();
    for path in entries {
        if path.is_symlink() {
            continue;
        }
        if path.is_dir() && !path.ends_with("generated") && !path.ends_with("target") {
            gather_source_files(&path, out)?;
        } else if path.extension().is_some_and(|e| e == "rs") {
            out.push(path);
        }
    }
    Ok(())
}
