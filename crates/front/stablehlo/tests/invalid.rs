//! Tests of the verifier: `invalid/NAME.mlir` has invalid modules, `NAME.txt` the faults of each.
//! Every module has a fault.

use spirula_diagnostics::{SourceFile, render_diagnostic};
use spirula_stablehlo::mlir::{parse_text, split_sections};
use spirula_stablehlo::verify_module;
use spirula_testing::{GoldenFiles, list_files};
use std::path::Path;

#[test]
fn faults_are_found() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/invalid");
    let mut expected = GoldenFiles::new();
    for path in list_files(&folder, ".mlir") {
        let bytes = std::fs::read(&path).expect("the file can be read");
        let name = path.file_name().expect("a file").to_string_lossy();
        let mut found = String::new();
        for range in split_sections(&bytes) {
            let bytes = &bytes[range.clone()];
            let source = SourceFile { name: &name, bytes };
            let module = parse_text(bytes)
                .unwrap_or_else(|e| panic!("{}", render_diagnostic(&e, source, false)));
            let faults = verify_module(&module);
            let text = String::from_utf8_lossy(bytes);
            assert!(!faults.is_empty(), "{name} has a valid section:\n{text}");
            for fault in faults {
                found.push_str(&render_diagnostic(&fault, source, false));
            }
            found.push('\n');
        }
        expected.compare_file(&path.with_extension("txt"), &found);
    }
    expected.finish_comparison();
}
