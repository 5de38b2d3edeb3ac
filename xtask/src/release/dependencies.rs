//! The packages that the programs of a release consist of, as Cargo states them.

use anyhow::{Context, Result, ensure};
use serde::Deserialize;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A package of a release.
#[derive(Clone, Debug, Deserialize)]
pub struct CargoPackage {
    id: String,
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// The licences, as an expression of SPDX.
    pub license: Option<String>,
    /// Its description.
    pub description: Option<String>,
    /// Its authors; packages of today name none.
    pub authors: Vec<String>,
    /// Where it is developed.
    pub repository: Option<String>,
    /// The registry that it is from; none for those of this repository.
    pub source: Option<String>,
    manifest_path: PathBuf,
}

impl CargoPackage {
    /// The folder with its files.
    pub fn folder(&self) -> &Path {
        self.manifest_path.parent().unwrap_or(Path::new("."))
    }

    /// The licences in today's syntax. Old packages have `/` in place of `OR`.
    pub fn license_expression(&self) -> Option<String> {
        let text = self.license.as_ref()?;
        let words: Vec<_> = text.split('/').map(str::trim).collect();
        Some(words.join(" OR "))
    }
}

/// The packages of a release in the order of their names, and the ones that each depends on, by indices.
#[derive(Debug)]
pub struct PackageGraph {
    /// The packages.
    pub packages: Vec<CargoPackage>,
    /// Indices of the dependencies of each package, without those for builds and tests.
    pub dependencies: Vec<BTreeSet<usize>>,
}

#[derive(Deserialize)]
struct CargoMetadata {
    packages: Vec<CargoPackage>,
    resolve: CargoResolve,
}

#[derive(Deserialize)]
struct CargoResolve {
    nodes: Vec<ResolvedNode>,
}

#[derive(Deserialize)]
struct ResolvedNode {
    id: String,
    deps: Vec<NodeDependency>,
}

#[derive(Deserialize)]
struct NodeDependency {
    pkg: String,
    dep_kinds: Vec<DependencyKind>,
}

#[derive(Deserialize)]
struct DependencyKind {
    kind: Option<String>,
}

/// Reads the packages that some packages of the repository consist of, for a target. `selection` are Cargo's options for packages
/// and features.
///
/// # Errors
/// When Cargo fails, for example because the lock file is out of date.
pub fn read_dependencies(root: &Path, triple: &str, selection: &[&str]) -> Result<PackageGraph> {
    let filter = ["--filter-platform", triple, "--locked"];
    let text = run_cargo(
        root,
        &[&["metadata", "--format-version", "1"], &filter[..]].concat(),
    )?;
    let metadata: CargoMetadata = serde_json::from_str(&text)?;
    // The metadata has features of the whole workspace. The tree is that of the selection.
    let form = ["--edges", "normal", "--prefix", "none", "--format", "{p}"];
    let target = ["--target", triple, "--locked"];
    let tree = run_cargo(root, &[&["tree"], selection, &form, &target].concat())?;
    let selected: BTreeSet<(&str, &str)> = tree.lines().filter_map(read_tree_line).collect();
    let mut packages: Vec<_> = metadata
        .packages
        .into_iter()
        .filter(|package| selected.contains(&(&*package.name, &*package.version)))
        .collect();
    packages.sort_by(|a, b| (&a.name, &a.version).cmp(&(&b.name, &b.version)));
    ensure!(
        packages.len() == selected.len(),
        "cargo tree and cargo metadata state different packages"
    );
    let find = |id: &str| packages.iter().position(|package| package.id == id);
    let mut dependencies = vec![BTreeSet::new(); packages.len()];
    for node in &metadata.resolve.nodes {
        let Some(index) = find(&node.id) else {
            continue;
        };
        let used = node.deps.iter().filter(|dependency| {
            let mut kinds = dependency.dep_kinds.iter();
            kinds.any(|kind| kind.kind.is_none())
        });
        dependencies[index].extend(used.filter_map(|dependency| find(&dependency.pkg)));
    }
    Ok(PackageGraph {
        packages,
        dependencies,
    })
}

/// Name and version in a line such as `libm v0.2.16 (*)`.
fn read_tree_line(line: &str) -> Option<(&str, &str)> {
    let mut words = line.split_whitespace();
    let name = words.next()?;
    Some((name, words.next()?.strip_prefix('v')?))
}

fn run_cargo(root: &Path, arguments: &[&str]) -> Result<String> {
    let mut cargo = Command::new("cargo");
    let output = cargo.args(arguments).current_dir(root).output();
    let output = output.context("cargo does not start")?;
    let reason = String::from_utf8_lossy(&output.stderr);
    ensure!(
        output.status.success(),
        "cargo {} fails: {reason}",
        arguments.join(" ")
    );
    Ok(String::from_utf8(output.stdout)?)
}
