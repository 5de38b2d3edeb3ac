//! Tests of bytecode: it is read as the same module as its text.

use spirula_diagnostics::SourceLocation;
use spirula_stablehlo::mlir::{SsaNumbering, parse_text};
use spirula_stablehlo::{bytecode, verify_module};
use spirula_testing::{GoldenFiles, find_corpus, list_files};
use std::path::{Path, PathBuf};

fn inputs() -> Vec<PathBuf> {
    let folder = find_corpus("stablehlo");
    folder.map_or_else(Vec::new, |folder| list_files(&folder, ".mlirbc"))
}

/// The generic form of a module in bytecode, which has to be valid.
fn show(path: &Path) -> String {
    let bytes = std::fs::read(path).expect("the file can be read");
    let module =
        bytecode::parse_bytecode(&bytes).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let faults = verify_module(&module);
    assert!(faults.is_empty(), "{}: {}", path.display(), faults[0]);
    module.to_generic_text(SsaNumbering::Unique)
}

fn show_text(path: &Path) -> String {
    let bytes = std::fs::read(path).expect("the file can be read");
    let module = parse_text(&bytes).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    module.to_generic_text(SsaNumbering::Unique)
}

#[test]
fn bytecode_is_read_as_its_text() {
    let Some(folder) = find_corpus("stablehlo/syntax") else {
        return;
    };
    let all = list_files(&folder, ".mlirbc");
    assert!(!all.is_empty());
    for path in all {
        assert_eq!(show(&path), show_text(&path.with_extension("mlir")));
    }
}

/// Some models were exported by a version of JAX that did not say what the default is.
fn without_precision(text: &str) -> String {
    const DEFAULT: &str = "#stablehlo<precision DEFAULT>";
    text.replace(&format!(", precision_config = [{DEFAULT}, {DEFAULT}]"), "")
}

#[test]
fn artifacts_are_read_as_the_models_they_are_made_of() {
    let Some(folder) = find_corpus("stablehlo") else {
        return;
    };
    let all = list_files(&folder.join("portable"), ".mlirbc");
    assert!(!all.is_empty());
    for path in all {
        let name = path.file_stem().expect("a name").to_string_lossy();
        let text = show_text(&folder.join(format!("models/{name}.mlir")));
        let shown = show(&path);
        assert!(!shown.contains("vhlo"), "{name}");
        // Artifacts have no operations of chlo.
        if !text.contains("\"chlo.") {
            let same = without_precision(&shown) == without_precision(&text);
            assert!(same, "{name} differs:\n{shown}");
        }
    }
}

/// Artifacts with attributes and operations of other dialects, and their expected generic forms.
#[test]
fn artifacts_with_other_dialects_are_read() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/portable");
    let mut expected = GoldenFiles::new();
    for path in list_files(&folder, ".mlirbc") {
        expected.compare_file(&path.with_extension("generic"), &show(&path));
    }
    expected.finish_comparison();
}

fn survives(bytes: &[u8]) {
    match bytecode::parse_bytecode(bytes) {
        Ok(module) => {
            verify_module(&module);
            module.to_generic_text(SsaNumbering::Scoped);
        }
        Err(error) => assert_ne!(error.place, SourceLocation::Unknown, "{error}"),
    }
}

#[test]
fn truncated_bytecode_is_survived() {
    for path in inputs() {
        let bytes = std::fs::read(&path).expect("the file can be read");
        for end in (0..bytes.len()).step_by(1 + bytes.len() / 400) {
            survives(&bytes[..end]);
        }
    }
}

#[test]
fn damaged_bytecode_is_survived() {
    let mut state = 1u64;
    let mut random = |limit: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % limit
    };
    for path in inputs() {
        let bytes = std::fs::read(&path).expect("the file can be read");
        for _ in 0..600 {
            let mut damaged = bytes.clone();
            for _ in 0..1 + random(3) {
                let at = random(damaged.len());
                damaged[at] = match random(3) {
                    0 => 0,
                    1 => 0xFF,
                    _ => random(256) as u8,
                };
            }
            survives(&damaged);
        }
    }
}

#[test]
fn other_inputs_are_refused() {
    for bytes in [
        &b""[..],
        b"ML",
        b"ML\xEFR",
        b"module {}",
        b"ML\xEFR\xFF\x00",
    ] {
        let error = bytecode::parse_bytecode(bytes).expect_err("there is no module");
        assert_ne!(error.place, SourceLocation::Unknown, "{error}");
    }
}
