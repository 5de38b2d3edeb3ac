//! Tests of `spirula doc`.

use crate::harness::{ScratchFolder, spirula};
use std::fs;

#[test]
fn a_folder_gets_a_page_for_each_file() {
    let scratch = ScratchFolder::new();
    scratch.file(
        "lib/a.fut",
        "-- | First file.\n\n-- | One.\nimport \"x/b\"\ndef one : number = 1\n",
    );
    scratch.file("lib/x/b.fut", "-- | Numbers.\ntype number = i32\n");
    scratch.file("lib/c.fut", "-- | ignore\n\n-- | A test.\ndef c = 1\n");
    let (lib, pages) = (scratch.text("lib"), scratch.text("pages"));
    let told = spirula(&["doc", &lib, "-o", &pages]).ok();
    assert!(told.err.contains("no documentation of one"), "{}", told.err);
    let read = |name: &str| fs::read_to_string(scratch.path(&format!("pages/{name}")));
    let index = read("index.html").expect("a list of files");
    assert!(index.contains("<a href=\"a.html\">a</a>"), "{index}");
    assert!(index.contains("<a href=\"prelude/soacs.html\">"), "{index}");
    let a = read("a.html").expect("a page");
    assert!(
        a.contains("<a href=\"x/b.html#type:number\">number</a>"),
        "{a}"
    );
    assert!(
        read("names.html")
            .expect("an index")
            .contains("a.html#term:one")
    );
    assert!(read("c.html").is_err());
}

#[test]
fn a_file_is_documented_with_its_imports() {
    let scratch = ScratchFolder::new();
    let path = scratch.file("a.fut", "-- | One.\ndef one = 1i32\n");
    scratch.file("b.fut", "def faulty = true + 1\n");
    let pages = scratch.text("pages");
    spirula(&["doc", &path, "-o", &pages]).ok();
    assert!(scratch.path("pages/a.html").exists());
    assert!(!scratch.path("pages/b.html").exists());
}

#[test]
fn faults_are_reported() {
    let scratch = ScratchFolder::new();
    scratch.file("lib/a.fut", "def a = true + 1\n");
    let (lib, pages) = (scratch.text("lib"), scratch.text("pages"));
    spirula(&["doc", &lib, "-o", &pages]).fails(1, "a.fut:1:");
    spirula(&["doc", &scratch.text("none"), "-o", &pages]).fails(1, "cannot read");
    fs::create_dir(scratch.path("empty")).expect("a folder");
    spirula(&["doc", &scratch.text("empty"), "-o", &pages]).fails(1, "has no .fut file");
    spirula(&["doc", &lib]).fails(2, "--output");
    assert!(!scratch.path("pages").exists());
}
