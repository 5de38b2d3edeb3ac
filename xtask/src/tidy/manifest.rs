//! Manifests of the crates.

use anyhow::{Context, Result};
use std::fs;
use std::path::Path;

/// A `Cargo.toml`.
pub struct Manifest {
    /// Path from the root of the repository.
    pub path: String,
    text: String,
}

/// A dependency that a manifest names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ManifestDependency<'a> {
    /// The head of its section, such as `[dev-dependencies]`.
    pub section: &'a str,
    /// Name of the package.
    pub name: &'a str,
}

impl ManifestDependency<'_> {
    /// Whether the package is a crate of the workspace.
    pub fn is_sibling(&self) -> bool {
        self.name.starts_with("spirula")
    }
}

impl Manifest {
    /// Whether the manifest is of a crate in `crates`.
    pub fn is_crate(&self) -> bool {
        self.path.starts_with("crates/")
    }

    /// Whether the package may be published.
    pub fn is_published(&self) -> bool {
        !self.text.lines().any(|line| line == "publish = false")
    }

    /// Whether the manifest states a field of the package.
    pub fn has_field(&self, field: &str) -> bool {
        let own = self.text.split("\n[").next().unwrap_or_default();
        own.lines()
            .filter_map(|line| line.strip_prefix(field))
            .any(|rest| rest.starts_with(".workspace = true") || rest.starts_with(" = "))
    }

    /// Name of the package.
    pub fn package_name(&self) -> &str {
        let name = self
            .text
            .lines()
            .find_map(|line| line.strip_prefix("name = "));
        name.unwrap_or_default().trim_matches('"')
    }

    /// A value that the root's manifest states for all crates, such as `rust-version`.
    pub fn find_workspace_value(&self, field: &str) -> Option<&str> {
        let (_, section) = self.text.split_once("[workspace.package]\n")?;
        let section = section.split("\n[").next().unwrap_or_default();
        let start = format!("{field} = \"");
        let value = section.lines().find_map(|line| line.strip_prefix(&start));
        value?.strip_suffix('"')
    }

    /// The names of the features, in their order.
    pub fn list_features(&self) -> impl Iterator<Item = &str> {
        let section = self.text.split("\n[features]\n").nth(1).unwrap_or_default();
        let section = section.split("\n[").next().unwrap_or_default();
        let names = section.lines().filter_map(|line| line.split_once(" = "));
        names
            .map(|(name, _)| name)
            .filter(|name| !name.starts_with('#'))
    }

    /// All dependencies, in their order.
    pub fn list_dependencies(&self) -> impl Iterator<Item = ManifestDependency<'_>> {
        let mut section = "";
        self.text.lines().filter_map(move |line| {
            if line.starts_with('[') {
                section = line;
                return None;
            }
            let name = line.split(['.', ' ', '=', '#']).next().unwrap_or("");
            let is_dependency = section.ends_with("dependencies]") && !name.is_empty();
            is_dependency.then_some(ManifestDependency { section, name })
        })
    }
}

/// Reads the manifests of all crates and of the tasks, in a fixed order.
pub fn read_manifests(root: &Path) -> Result<Vec<Manifest>> {
    let mut paths = vec!["xtask/Cargo.toml".to_owned()];
    for role in fs::read_dir(root.join("crates"))? {
        let role = role?;
        if !role.file_type()?.is_dir() {
            continue;
        }
        for entry in fs::read_dir(role.path())? {
            let (role, name) = (role.file_name(), entry?.file_name());
            paths.push(format!(
                "crates/{}/{}/Cargo.toml",
                role.display(),
                name.display()
            ));
        }
    }
    paths.sort();
    let read = |path: String| read_manifest(root, path);
    paths.into_iter().map(read).collect()
}

/// Reads the manifest of the workspace.
pub fn read_root_manifest(root: &Path) -> Result<Manifest> {
    read_manifest(root, "Cargo.toml".to_owned())
}

fn read_manifest(root: &Path, path: String) -> Result<Manifest> {
    let text =
        fs::read_to_string(root.join(&path)).with_context(|| format!("cannot read {path}"))?;
    Ok(Manifest { path, text })
}
