//! The rule of packages: a crate that is published has licences, a page, keywords and categories.

use super::manifest::Manifest;
use std::path::Path;

/// Files that a package contains beside its sources. Links to those of the root are enough.
const FILES: &[&str] = &["LICENSE-APACHE", "LICENSE-MIT"];
/// The value that its manifest states, itself or as the workspace does.
const FIELDS: &[&str] = &[
    "description",
    "license",
    "repository",
    "rust-version",
    "readme",
    "keywords",
    "categories",
];

/// Reports what crates lack that are published.
pub fn check_packages(root: &Path, manifests: &[Manifest], breaches: &mut Vec<String>) {
    for manifest in manifests
        .iter()
        .filter(|m| m.is_crate() && m.is_published())
    {
        let path = &manifest.path;
        for field in FIELDS.iter().filter(|field| !manifest.has_field(field)) {
            breaches.push(format!("{path}: the package has no {field}"));
        }
        let folder = root.join(path);
        let folder = folder.parent().unwrap_or(root);
        for file in FILES.iter().filter(|file| !folder.join(file).is_file()) {
            breaches.push(format!("{path}: {file} is not beside it"));
        }
    }
}
