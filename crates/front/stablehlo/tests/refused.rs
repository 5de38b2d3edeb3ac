//! Tests of faults in texts: `refused/NAME.mlir` and the expected report `NAME.txt`.

use spirula_diagnostics::{SourceFile, render_diagnostic};
use spirula_stablehlo::mlir::parse_text;
use spirula_testing::{GoldenFiles, list_files};
use std::path::Path;

#[test]
fn faults_are_named() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/refused");
    let mut expected = GoldenFiles::new();
    for path in list_files(&folder, ".mlir") {
        let bytes = std::fs::read(&path).expect("the file can be read");
        let found = match parse_text(&bytes) {
            Ok(_) => "accepted\n".to_owned(),
            Err(error) => {
                let name = path.file_name().expect("a file").to_string_lossy();
                render_diagnostic(
                    &error,
                    SourceFile {
                        name: &name,
                        bytes: &bytes,
                    },
                    false,
                )
            }
        };
        expected.compare_file(&path.with_extension("txt"), &found);
    }
    expected.finish_comparison();
}
