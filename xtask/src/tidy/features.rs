//! The rule of features: the documentation of a published crate names each of its features.

use super::manifest::Manifest;
use std::fs;
use std::path::Path;

/// Reports features that no line of `lib.rs` documents.
pub fn check_features(root: &Path, manifests: &[Manifest], breaches: &mut Vec<String>) {
    for manifest in manifests
        .iter()
        .filter(|m| m.is_crate() && m.is_published())
    {
        let folder = root.join(&manifest.path);
        let library = folder.parent().unwrap_or(root).join("src/lib.rs");
        let text = fs::read_to_string(library).unwrap_or_default();
        let features = manifest.list_features().filter(|name| *name != "default");
        for feature in features.filter(|name| !is_documented(&text, name)) {
            breaches.push(format!(
                "{}: src/lib.rs does not document the feature `{feature}`",
                manifest.path
            ));
        }
    }
}

/// Whether the documentation of a crate names a feature. A list of features is a heading and a line for each.
fn is_documented(source: &str, feature: &str) -> bool {
    let start = format!("//! - `{feature}`");
    source.lines().any(|line| line.starts_with(&start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_need_a_line() {
        let text = "//! A crate.\n//!\n//! - `wgsl`: reads WGSL.\n";
        assert!(is_documented(text, "wgsl"));
        assert!(!is_documented(text, "opencl"));
    }
}
