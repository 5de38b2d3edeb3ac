//! Rules of the house that no compiler checks.
//!
//! Each rule is a file: dependencies between crates ([`arrows`]), reasons of foreign dependencies ([`dependencies`]),
//! places of unsafe code ([`unsafe_code`]), names of types ([`type_names`]), aliases and test-only files
//! ([`definitions`]), links of documents ([`documents`]), lengths of files ([`lengths`]), sentences ([`sentences`]), packages ([`packages`]), features
//! ([`features`]), recipes ([`recipes`]), workflows ([`workflows`]), and subjects of commits ([`subjects`]).

mod arrows;
mod definitions;
mod dependencies;
mod documents;
mod features;
mod lengths;
mod manifest;
mod packages;
mod recipes;
mod sentences;
pub mod source;
mod subjects;
mod type_names;
mod unsafe_code;
mod workflows;

use anyhow::{Context, Result, ensure};
use std::path::Path;
use workflows::WorkflowFacts;

/// The crates that each crate depends on (ARCHITECTURE.md, "Crates").
const ARROWS: &[(&str, &[&str])] = &[
    ("spirula-diagnostics", &[]),
    ("spirula-entity", &[]),
    ("spirula-scalar", &[]),
    ("spirula-text", &["spirula-diagnostics"]),
    ("spirula-spirv", &["spirula-diagnostics", "spirula-entity"]),
    ("spirula-program", &["spirula-scalar", "spirula-spirv"]),
    (
        "spirula-resource",
        &["spirula-diagnostics", "spirula-spirv", "spirula-scalar"],
    ),
    (
        "spirula-kernel",
        &[
            "spirula-diagnostics",
            "spirula-entity",
            "spirula-spirv",
            "spirula-scalar",
            "spirula-program",
            "spirula-text",
        ],
    ),
    (
        "spirula-tensor",
        &[
            "spirula-diagnostics",
            "spirula-entity",
            "spirula-kernel",
            "spirula-program",
            "spirula-text",
        ],
    ),
    (
        "spirula-llvm",
        &[
            "spirula-scalar",
            "spirula-diagnostics",
            "spirula-entity",
            "spirula-spirv",
            "spirula-text",
        ],
    ),
    (
        "spirula-stablehlo",
        &[
            "spirula-diagnostics",
            "spirula-entity",
            "spirula-program",
            "spirula-tensor",
            "spirula-text",
        ],
    ),
    (
        "spirula-partition",
        &["spirula-diagnostics", "spirula-entity", "spirula-stablehlo"],
    ),
    ("spirula-triton", &["spirula-diagnostics", "spirula-text"]),
    ("spirula-wgsl", &["spirula-diagnostics"]),
    ("spirula-glslang", &["spirula-diagnostics"]),
    (
        "spirula-soac",
        &["spirula-diagnostics", "spirula-entity", "spirula-program"],
    ),
    (
        "spirula-segment",
        &[
            "spirula-diagnostics",
            "spirula-entity",
            "spirula-kernel",
            "spirula-program",
            "spirula-soac",
        ],
    ),
    (
        "spirula-futhark",
        &[
            "spirula-diagnostics",
            "spirula-entity",
            "spirula-kernel",
            "spirula-program",
            "spirula-soac",
        ],
    ),
    (
        "spirula-opt",
        &[
            "spirula-scalar",
            "spirula-diagnostics",
            "spirula-entity",
            "spirula-spirv",
        ],
    ),
    (
        "spirula-legalize",
        &[
            "spirula-scalar",
            "spirula-diagnostics",
            "spirula-entity",
            "spirula-spirv",
            "spirula-opt",
        ],
    ),
    (
        "spirula-cpu",
        &[
            "spirula-diagnostics",
            "spirula-resource",
            "spirula-spirv",
            "spirula-scalar",
        ],
    ),
    (
        "spirula-interpreter",
        &[
            "spirula-diagnostics",
            "spirula-program",
            "spirula-scalar",
            "spirula-spirv",
        ],
    ),
    (
        "spirula-runtime",
        &[
            "spirula-diagnostics",
            "spirula-spirv",
            "spirula-cpu",
            "spirula-program",
            "spirula-resource",
            "spirula-scalar",
            "spirula-legalize",
            "spirula-text",
        ],
    ),
    (
        "spirula-schedule",
        &["spirula-kernel", "spirula-runtime", "spirula-tensor"],
    ),
    ("spirula-exchange", &[]),
    (
        "spirula",
        &[
            "spirula-diagnostics",
            "spirula-spirv",
            "spirula-llvm",
            "spirula-futhark",
            "spirula-kernel",
            "spirula-opt",
            "spirula-partition",
            "spirula-program",
            "spirula-segment",
            "spirula-soac",
            "spirula-stablehlo",
            "spirula-tensor",
            "spirula-text",
            "spirula-triton",
            "spirula-wgsl",
            "spirula-legalize",
        ],
    ),
    ("spirula-package", &["spirula-diagnostics"]),
    (
        "spirula-language-server",
        &["spirula-diagnostics", "spirula-futhark", "spirula-text"],
    ),
    (
        "spirula-document",
        &["spirula-diagnostics", "spirula-entity", "spirula-futhark"],
    ),
    (
        "spirula-cli",
        &[
            "spirula",
            "spirula-clang",
            "spirula-diagnostics",
            "spirula-document",
            "spirula-entity",
            "spirula-futhark",
            "spirula-glslang",
            "spirula-language-server",
            "spirula-spirv",
            "spirula-llvm",
            "spirula-kernel",
            "spirula-opt",
            "spirula-package",
            "spirula-program",
            "spirula-runtime",
            "spirula-schedule",
            "spirula-stablehlo",
            "spirula-text",
        ],
    ),
    ("spirula-c", &["spirula-diagnostics", "spirula-spirv"]),
    ("spirula-futhark-c", &["spirula-program", "spirula-runtime"]),
    ("spirula-clang", &["spirula-text"]),
    (
        "spirula-opencl-icd",
        &[
            "spirula",
            "spirula-clang",
            "spirula-diagnostics",
            "spirula-runtime",
            "spirula-spirv",
        ],
    ),
    (
        "spirula-pjrt",
        &[
            "spirula",
            "spirula-exchange",
            "spirula-program",
            "spirula-runtime",
            "spirula-schedule",
            "spirula-stablehlo",
            "spirula-text",
        ],
    ),
    (
        "spirula-python",
        &[
            "spirula",
            "spirula-cli",
            "spirula-diagnostics",
            "spirula-futhark",
            "spirula-opt",
            "spirula-pjrt",
            "spirula-program",
            "spirula-runtime",
            "spirula-schedule",
            "spirula-spirv",
            "spirula-stablehlo",
            "spirula-triton",
        ],
    ),
    (
        "spirula-web",
        &[
            "spirula",
            "spirula-diagnostics",
            "spirula-interpreter",
            "spirula-kernel",
            "spirula-opt",
            "spirula-program",
            "spirula-scalar",
            "spirula-spirv",
            "spirula-text",
        ],
    ),
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
        "spirula-mutant-futhark",
        &["spirula-entity", "spirula-futhark"],
    ),
    (
        "spirula-random-futhark",
        &[
            "spirula-futhark",
            "spirula-program",
            "spirula-segment",
            "spirula-soac",
            "spirula-testing",
        ],
    ),
    (
        "spirula-fuzz",
        &[
            "spirula-differential",
            "spirula-exchange",
            "spirula-futhark",
            "spirula-kernel",
            "spirula-llvm",
            "spirula-opt",
            "spirula-spirv",
            "spirula-stablehlo",
            "spirula-testing",
            "spirula-triton",
        ],
    ),
    ("spirula-bench", &[]),
];

/// Checks all rules and reports every breach. `tasks` are the names of the repository's tasks.
///
/// # Errors
/// When a rule is broken, or a file cannot be read.
pub fn check_tidiness(root: &Path, tasks: &[String]) -> Result<()> {
    let mut breaches = Vec::new();
    let manifests = manifest::read_manifests(root)?;
    let workspace = manifest::read_root_manifest(root)?;
    let state = |field| {
        let value = workspace.find_workspace_value(field);
        value.with_context(|| format!("Cargo.toml states no {field}"))
    };
    let files = source::read_source_files(root)?;
    arrows::check_arrows(ARROWS, &manifests, &mut breaches);
    dependencies::check_dependency_reasons(root, &manifests, &mut breaches)?;
    documents::check_documents(root, &mut breaches)?;
    packages::check_packages(root, &manifests, &mut breaches);
    features::check_features(root, &manifests, &mut breaches);
    recipes::check_recipes(root, state("version")?, &mut breaches)?;
    let facts = WorkflowFacts {
        tasks,
        rust_version: state("rust-version")?,
    };
    workflows::check_workflows(root, &facts, &mut breaches)?;
    unsafe_code::check_unsafe_code(root, &files, &mut breaches)?;
    type_names::check_type_names(&files, &mut breaches);
    definitions::check_definitions(&files, &mut breaches);
    lengths::check_file_lengths(&files, &mut breaches);
    sentences::check_comments(&files, &mut breaches);
    subjects::check_commit_subjects(root, &mut breaches);
    ensure!(
        breaches.is_empty(),
        "rules of the house are broken:\n  {}",
        breaches.join("\n  ")
    );
    Ok(())
}
