//! Programs and what they become; programs that are refused and why.

use spirula_diagnostics::{SourceDiagnostic, SourceFile, render};
use spirula_stablehlo::mlir::parse;
use spirula_stablehlo::translate::translate;
use spirula_tensor::print;
use spirula_testing::{GoldenFiles, files};
use std::path::Path;

fn translated(path: &Path) -> String {
    let bytes = std::fs::read(path).expect("the program can be read");
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let shown = |diagnostic: SourceDiagnostic| {
        let source = SourceFile {
            name: &name,
            bytes: &bytes,
        };
        render(&diagnostic, source, false)
    };
    let module = match parse(&bytes) {
        Ok(module) => module,
        Err(diagnostic) => return shown(diagnostic),
    };
    match translate(&module, "main") {
        Ok(translated) => print(&translated.function),
        Err(error) => shown(error.into()),
    }
}

fn compare(folder: &str, ending: &str) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/translation")
        .join(folder);
    let mut expected = GoldenFiles::new();
    for path in files(&folder, ".mlir") {
        expected.compare(&path.with_extension(ending), &translated(&path));
    }
    expected.finish();
}

#[test]
fn programs_become_functions() {
    compare("programs", "tensor");
}

#[test]
fn what_is_wrong_is_said() {
    compare("refused", "txt");
}
