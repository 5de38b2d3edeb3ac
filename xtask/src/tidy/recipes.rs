//! The rule of recipes: the files of package managers state the version of the workspace.

use anyhow::Result;
use std::fs;
use std::path::Path;

/// Files, and the lines that state a version, with `@` in its place.
const LINES: &[[&str; 2]] = &[
    ["packaging/nix/package.nix", "  version = \"@\";"],
    ["crates/bindings/c/spirula_c.pc", "Version: @"],
    [
        "crates/bindings/futhark-c/spirula_futhark_c.pc",
        "Version: @",
    ],
    [
        "packaging/compiler-explorer/spirv.properties",
        "compiler.spirula-opt-@.name=spirula spirv-opt (@)",
    ],
    [
        "packaging/compiler-explorer/spirv.properties",
        "compiler.spirula-val-@.name=spirula spirv-val (@)",
    ],
];

/// Reports files with another version.
///
/// # Errors
/// When a file cannot be read.
pub fn check_recipes(root: &Path, version: &str, breaches: &mut Vec<String>) -> Result<()> {
    for [file, line] in LINES {
        let text = fs::read_to_string(root.join(file))?;
        let expected = line.replace('@', version);
        if !text.lines().any(|line| line == expected) {
            breaches.push(format!("{file}: there is no line `{expected}`"));
        }
    }
    Ok(())
}
