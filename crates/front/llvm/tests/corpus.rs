//! Corpus tests: every LLVM IR file of the corpora is read, and both forms of a module are equal.

use spirula_testing::{find_corpus, list_files};
use std::path::{Path, PathBuf};

fn read(path: &Path) -> Result<spirula_llvm::ir::LlvmModule, String> {
    let bytes = std::fs::read(path).expect("the input can be read");
    spirula_llvm::read_module(&bytes).map_err(|error| format!("{}: {error}", path.display()))
}

fn printed(path: &Path) -> String {
    spirula_llvm::print_assembly(&read(path).unwrap_or_else(|error| panic!("{error}")))
}

#[test]
fn kernels_are_read_and_read_back() {
    let Some(folder) = find_corpus("llvm-ir/kernels") else {
        return;
    };
    let files = list_files(&folder, ".bc");
    assert!(!files.is_empty());
    for path in files {
        let printed = printed(&path);
        match spirula_llvm::read_module(printed.as_bytes()) {
            Ok(module) => assert!(
                spirula_llvm::print_assembly(&module) == printed,
                "{}",
                path.display()
            ),
            Err(error) => panic!("{} printed: {error}", path.display()),
        }
    }
}

/// Each text file is LLVM's own output for the bitcode beside it, with the attributes of intrinsics
/// updated.
#[test]
fn text_and_bitcode_are_the_same() {
    let Some(folder) = find_corpus("llvm-ir/kernels") else {
        return;
    };
    let files = list_files(&folder, ".ll");
    assert!(!files.is_empty());
    let plain = |path: PathBuf| printed(&path).replace(" mustprogress", "");
    for path in files {
        assert!(
            plain(path.clone()) == plain(path.with_extension("bc")),
            "{}",
            path.display()
        );
    }
}

/// Two of the 900 files are not LLVM assembly: several files in one, and comments in another style.
#[test]
fn conformance_tests_are_read() {
    let Some(folder) = find_corpus("llvm-ir/conformance") else {
        return;
    };
    let files = list_files(&folder, ".ll");
    assert!(!files.is_empty());
    let refused: Vec<String> = files.iter().filter_map(|path| read(path).err()).collect();
    assert!(refused.len() <= 2, "{refused:#?}");
}
