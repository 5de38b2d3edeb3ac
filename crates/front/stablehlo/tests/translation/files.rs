//! File tests of the translation: programs with their tensor IR, and rejected programs with the
//! reason.

use spirula_diagnostics::{SourceDiagnostic, SourceFile, render_diagnostic};
use spirula_stablehlo::mlir::parse_text;
use spirula_stablehlo::translate::translate_entry;
use spirula_tensor::print_function;
use spirula_testing::{GoldenFiles, list_files};
use std::path::Path;

fn translated(path: &Path) -> String {
    let bytes = std::fs::read(path).expect("the program can be read");
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let shown = |diagnostic: SourceDiagnostic| {
        let source = SourceFile {
            name: &name,
            bytes: &bytes,
        };
        render_diagnostic(&diagnostic, source, false)
    };
    let module = match parse_text(&bytes) {
        Ok(module) => module,
        Err(diagnostic) => return shown(diagnostic),
    };
    match translate_entry(&module, "main") {
        Ok(translated) => print_function(&translated.function),
        Err(error) => shown(error.into()),
    }
}

fn compare(folder: &str, ending: &str) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/translation")
        .join(folder);
    let mut expected = GoldenFiles::new();
    for path in list_files(&folder, ".mlir") {
        expected.compare_file(&path.with_extension(ending), &translated(&path));
    }
    expected.finish_comparison();
}

#[test]
fn programs_become_functions() {
    compare("programs", "tensor");
}

#[test]
fn what_is_wrong_is_said() {
    compare("refused", "txt");
}
