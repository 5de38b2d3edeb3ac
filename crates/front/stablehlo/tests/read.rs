//! Texts in every custom form and what they are in the generic one: `read/NAME.mlir` and
//! `read/NAME.generic`. What is printed reads back as itself.

use spirula_diagnostics::{SourceFile, render};
use spirula_stablehlo::mlir::{SsaNumbering, parse};
use spirula_testing::{GoldenFiles, files};
use std::path::Path;

fn show(name: &str, bytes: &[u8], numbering: SsaNumbering) -> String {
    match parse(bytes) {
        Ok(module) => module.show(numbering),
        Err(error) => panic!("{}", render(&error, SourceFile { name, bytes }, false)),
    }
}

#[test]
fn custom_forms_become_generic() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/read");
    let mut expected = GoldenFiles::new();
    for path in files(&folder, ".mlir") {
        let name = path.file_name().expect("a file").to_string_lossy();
        let bytes = std::fs::read(&path).expect("the file can be read");
        let shown = show(&name, &bytes, SsaNumbering::Scoped);
        assert_eq!(shown, show(&name, shown.as_bytes(), SsaNumbering::Scoped));
        expected.compare(&path.with_extension("generic"), &shown);
    }
    expected.finish();
}
