//! Tests of malformed and unsupported modules: each file has the expected diagnostic beside it.

use spirula_diagnostics::{SourceFile, render_diagnostic};
use spirula_testing::{GoldenFiles, list_files};
use spirula_triton::{PROGRAM_WIDTH, lower_module, read_module};
use std::path::Path;

#[test]
fn diagnostics_are_as_expected() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/refused");
    let mut golden = GoldenFiles::new();
    for file in list_files(&folder, ".ttir") {
        let text = std::fs::read_to_string(&file).unwrap();
        let result = read_module(&text).and_then(|module| lower_module(&module, PROGRAM_WIDTH));
        let diagnostic = match result {
            Ok(_) => panic!("{} is accepted", file.display()),
            Err(diagnostic) => diagnostic,
        };
        let source = SourceFile {
            name: "input",
            bytes: text.as_bytes(),
        };
        let rendered = render_diagnostic(&diagnostic, source, false);
        golden.compare_file(&file.with_extension("txt"), &rendered);
    }
    golden.finish_comparison();
}

#[test]
fn truncated_modules_are_refused() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/run");
    for file in list_files(&folder, ".ttir") {
        let text = std::fs::read_to_string(&file).unwrap();
        for end in (0..text.len()).filter(|end| text.is_char_boundary(*end)) {
            // Any result is right, as long as there is one.
            let _ = read_module(&text[..end]).and_then(|module| lower_module(&module, 1));
        }
    }
}
