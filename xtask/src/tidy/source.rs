//! Source files of the repository, each read once.

use anyhow::Result;
use std::fs;
use std::path::{Path, PathBuf};

/// A Rust file that is written by hand.
pub struct SourceFile {
    /// Path from the root of the repository, with slashes.
    pub name: String,
    /// Contents.
    pub text: String,
}

impl SourceFile {
    /// Whether the file is part of a crate's library or program: no test, benchmark or example.
    pub fn is_product(&self) -> bool {
        self.name.starts_with("crates/") && self.name.contains("/src/")
    }
}

/// Reads the files of all crates and of the tasks, in a fixed order.
pub fn read_source_files(root: &Path) -> Result<Vec<SourceFile>> {
    let mut paths = Vec::new();
    gather_paths(&root.join("crates"), &mut paths)?;
    gather_paths(&root.join("xtask"), &mut paths)?;
    let mut files = Vec::new();
    for path in paths {
        let name = path.strip_prefix(root).unwrap_or(&path).display();
        files.push(SourceFile {
            name: name.to_string().replace('\\', "/"),
            text: fs::read_to_string(&path)?,
        });
    }
    Ok(files)
}

fn gather_paths(folder: &Path, paths: &mut Vec<PathBuf>) -> Result<()> {
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
            gather_paths(&path, paths)?;
        } else if path.extension().is_some_and(|e| e == "rs") {
            paths.push(path);
        }
    }
    Ok(())
}
