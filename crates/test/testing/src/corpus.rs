//! Access to the corpora of test programs.

use std::fs;
use std::path::{Path, PathBuf};

/// A folder of the corpora, which are below the folder that `SPIRULA_CORPUS` names, by default `../shared/corpus`
/// beside the repository. Returns `None` and reports it if there are no corpora.
///
/// # Panics
/// If `SPIRULA_CORPUS` is set but does not contain the folder.
pub fn find_corpus(folder: &str) -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../../shared/corpus");
    let named = std::env::var_os("SPIRULA_CORPUS");
    let path = named.as_ref().map_or(beside, PathBuf::from).join(folder);
    if path.is_dir() {
        return Some(path);
    }
    assert!(named.is_none(), "SPIRULA_CORPUS holds no {folder}");
    eprintln!(
        "NOT TESTED: no corpus at {}; set SPIRULA_CORPUS",
        path.display()
    );
    None
}

/// All files below a folder, at any depth, whose names end with a suffix; ordered by path.
///
/// # Panics
/// If a folder cannot be listed.
pub fn list_files(folder: &Path, suffix: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("the folder can be listed") {
            let path = entry.expect("the folder can be listed").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.to_string_lossy().ends_with(suffix) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}
