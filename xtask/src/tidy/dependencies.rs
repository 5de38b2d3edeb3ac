//! The rule of dependencies: each has its reason in a table.

use super::manifest::Manifest;
use anyhow::Result;
use std::fs;
use std::path::Path;

/// The document with the reasons. It names a dependency, or its family as `cranelift-`.
const DOCUMENT: &str = "docs/dependencies.md";

/// Reports each dependency on a foreign crate that the document does not name.
pub fn check_dependency_reasons(
    root: &Path,
    manifests: &[Manifest],
    breaches: &mut Vec<String>,
) -> Result<()> {
    let text = fs::read_to_string(root.join(DOCUMENT))?;
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && !"-_".contains(c));
    for manifest in manifests {
        for dependency in manifest.list_dependencies().filter(|d| !d.is_sibling()) {
            let name = dependency.name;
            let family = name.split('-').next().unwrap_or("");
            let is_named = |word: &str| word == name || word.strip_suffix('-') == Some(family);
            if !words.clone().any(is_named) {
                breaches.push(format!(
                    "{}: {DOCUMENT} has no reason for {name}",
                    manifest.path
                ));
            }
        }
    }
    Ok(())
}
