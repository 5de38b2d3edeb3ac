//! Seeds: files of the repository's tests and, if present, of the corpora.

use crate::FuzzTarget;
use spirula_spirv::{binary, text};
use spirula_testing::{find_corpus, list_files};
use std::path::{Path, PathBuf};

/// Largest seed file in bytes.
const LARGEST: u64 = 16_000;

/// Most files of one folder.
const MOST: usize = 40;

/// The seeds of a target, in a fixed order; there is at least one.
///
/// # Panics
/// If a file cannot be read.
pub fn load_seeds(target: &FuzzTarget) -> Vec<Vec<u8>> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut found: Vec<PathBuf> = Vec::new();
    for (folder, ending) in target.own {
        let own = sample_files(&crates.join(folder), ending);
        assert!(!own.is_empty(), "{folder} has no file {ending}");
        found.extend(own);
    }
    for (folder, ending) in target.corpus {
        if let Some(folder) = find_corpus(folder) {
            found.extend(sample_files(&folder, ending));
        }
    }
    let read = |path: &PathBuf| std::fs::read(path).expect("a seed can be read");
    let mut seeds: Vec<Vec<u8>> = found.iter().map(read).collect();
    if ["read", "verify", "optimise"].contains(&target.name) {
        seeds = seeds.into_iter().map(assemble_if_text).collect();
    }
    if seeds.is_empty() {
        seeds.push((0..64).collect());
    }
    seeds
}

/// A sample of the small files of a folder, evenly distributed.
fn sample_files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    if !folder.is_dir() {
        return Vec::new();
    }
    let mut all = list_files(folder, ending);
    all.retain(|path| path.metadata().is_ok_and(|m| m.len() < LARGEST));
    let step = all.len().div_ceil(MOST).max(1);
    all.into_iter().step_by(step).collect()
}

/// Assembles text to a module; other files are returned as they are.
fn assemble_if_text(bytes: Vec<u8>) -> Vec<u8> {
    let words = std::str::from_utf8(&bytes)
        .ok()
        .and_then(|source| text::parse_assembly(source, &text::ParseOptions::default()).ok());
    words.map_or(bytes, |words| binary::to_bytes(&words))
}
