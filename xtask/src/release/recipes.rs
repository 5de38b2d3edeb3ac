//! Recipes of package managers, with the version and the checksum of a release.

use super::file_tree::read_file;
use anyhow::{Context, Result, ensure};
use std::path::Path;

/// The recipes that are written for a release: the source, and the name among the release's files.
const RECIPES: &[[&str; 2]] = &[["packaging/homebrew/spirula.rb", "spirula.rb"]];

/// Writes the recipes into the folder of a release.
///
/// # Errors
/// When a recipe cannot be read or written, or has another placeholder.
pub fn write_recipes(root: &Path, folder: &Path, version: &str, source_sum: &str) -> Result<()> {
    for [source, name] in RECIPES {
        let text = String::from_utf8(read_file(&root.join(source))?)
            .with_context(|| format!("{source} is not UTF-8"))?;
        let text = text
            .replace("@VERSION@", version)
            .replace("@SOURCE_SHA256@", source_sum);
        ensure!(!text.contains('@'), "{source} has an unknown placeholder");
        std::fs::write(folder.join(name), text)?;
    }
    Ok(())
}
