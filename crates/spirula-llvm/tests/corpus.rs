//! Every LLVM IR file of the corpora is read.

use std::path::{Path, PathBuf};

/// The folder of corpora, if there is one; says so if not, and fails where it has to be.
fn corpus() -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus");
    let folder = std::env::var_os("SPIRULA_CORPUS")
        .map_or(beside, PathBuf::from)
        .join("llvm-ir");
    if folder.is_dir() {
        return Some(folder);
    }
    eprintln!(
        "NOT TESTED: no corpus at {}; set SPIRULA_CORPUS",
        folder.display()
    );
    assert!(
        std::env::var_os("CI").is_none(),
        "continuous integration needs the corpus"
    );
    None
}

/// All files below a folder that end in `suffix`, in order.
fn files(folder: &Path, suffix: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("a folder that can be listed") {
            let path = entry.expect("an entry that can be read").path();
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

/// Reads all files; gives those that are refused, with the reason.
fn refused(files: &[PathBuf]) -> Vec<String> {
    assert!(!files.is_empty());
    let mut refused = Vec::new();
    for path in files {
        let bytes = std::fs::read(path).expect("a file that can be read");
        if let Err(error) = spirula_llvm::read(&bytes) {
            refused.push(format!("{}: {error}", path.display()));
        }
    }
    refused
}

#[test]
fn kernels_are_read() {
    let Some(folder) = corpus() else { return };
    for suffix in [".bc", ".ll"] {
        assert_eq!(refused(&files(&folder.join("kernels"), suffix)), [""; 0]);
    }
}

/// Two of the 900 are no LLVM assembly: several files in one, and remarks in another style.
#[test]
fn conformance_tests_are_read() {
    let Some(folder) = corpus() else { return };
    let refused = refused(&files(&folder.join("conformance"), ".ll"));
    assert!(refused.len() <= 2, "{refused:#?}");
}
