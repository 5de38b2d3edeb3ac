//! Programs in Futhark's printed form, from the corpus.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Files of the corpus; none if there is no corpus.
pub fn files() -> Vec<PathBuf> {
    let Some(folder) = spirula_testing::find_corpus("futhark/imp") else {
        return Vec::new();
    };
    let mut files = spirula_testing::list_files(&folder, ".imp");
    files.extend(spirula_testing::list_files(&folder, ".imp.gz"));
    assert!(
        files.len() >= 200,
        "the corpus has {} programs",
        files.len()
    );
    files
}

/// The text of a file.
pub fn text(file: &Path) -> String {
    let bytes = fs::read(file).expect("the file can be read");
    let mut text = String::new();
    if file.extension().is_some_and(|e| e == "gz") {
        flate2::read::GzDecoder::new(&bytes[..])
            .read_to_string(&mut text)
            .expect("the file can be decompressed");
        return text;
    }
    String::from_utf8(bytes).expect("the file is text")
}
