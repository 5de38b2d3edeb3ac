//! Tests of the corpus: every text is read; every form of one program is the same module.

use spirula_diagnostics::{SourceDiagnostic, SourceFile, render_diagnostic};
use spirula_stablehlo::mlir::{MlirModule, SsaNumbering, parse_text, split_sections};
use spirula_stablehlo::verify_module;
use spirula_testing::{find_corpus, list_files};
use std::path::Path;

/// The modules of a text.
fn read(path: &Path) -> Result<Vec<MlirModule>, String> {
    let bytes = std::fs::read(path).expect("the file can be read");
    let one = |range: std::ops::Range<usize>| {
        parse_text(&bytes[range.clone()]).map_err(|error| shown(path, &bytes[range], &error))
    };
    split_sections(&bytes).into_iter().map(one).collect()
}

fn shown(path: &Path, bytes: &[u8], error: &SourceDiagnostic) -> String {
    let name = &path.display().to_string();
    render_diagnostic(error, SourceFile { name, bytes }, false)
}

/// All texts of a folder are read and valid, and their printed forms read back as the same.
fn reads(folder: &str) {
    let Some(folder) = find_corpus(&format!("stablehlo/{folder}")) else {
        return;
    };
    let texts = list_files(&folder, ".mlir");
    assert!(!texts.is_empty());
    let mut faults = Vec::new();
    for path in &texts {
        match read(path) {
            Ok(modules) => modules.iter().for_each(|module| {
                if let Some(fault) = verify_module(module).first() {
                    faults.push(shown(path, &[], fault));
                }
                let printed = module.to_generic_text(SsaNumbering::Unique);
                match parse_text(printed.as_bytes()) {
                    Ok(again) if again.to_generic_text(SsaNumbering::Unique) == printed => {}
                    Ok(_) => faults.push(format!("{}: printed differently again", path.display())),
                    Err(error) => faults.push(shown(path, printed.as_bytes(), &error)),
                }
            }),
            Err(fault) => faults.push(fault),
        }
    }
    assert!(
        faults.is_empty(),
        "{} of {} texts fail\n{}",
        faults.len(),
        texts.len(),
        faults[..faults.len().min(10)].join("\n")
    );
}

#[test]
fn models_are_read() {
    reads("models");
}

#[test]
fn torch_is_read() {
    reads("torch");
}

#[test]
fn seeds_are_read() {
    reads("seeds");
}

#[test]
fn testdata_is_read() {
    reads("testdata");
}

#[test]
fn interpreter_tests_are_read() {
    reads("interpret");
}

/// The generic text is MLIR's own.
#[test]
fn syntax_is_the_same_in_every_form() {
    let Some(folder) = find_corpus("stablehlo/syntax") else {
        return;
    };
    let mut faults = Vec::new();
    let texts = list_files(&folder, ".mlir");
    for path in &texts {
        let name = path
            .file_name()
            .expect("a file")
            .to_string_lossy()
            .into_owned();
        let program = name.split('.').next().expect("a name");
        let expected = std::fs::read_to_string(folder.join(format!("{program}.generic.mlir")));
        match read(path) {
            Ok(modules) => {
                if let Some(fault) = verify_module(&modules[0]).first() {
                    faults.push(shown(path, &[], fault));
                }
                let printed = modules[0].to_generic_text(SsaNumbering::Unique);
                if let Ok(expected) = expected
                    && expected.trim_end() != printed.trim_end()
                {
                    let differs = |(a, b): &(&str, &str)| a != b;
                    let (want, got) = expected
                        .lines()
                        .zip(printed.lines())
                        .find(differs)
                        .unwrap_or(("another length", ""));
                    faults.push(format!("{name}:\n  expected {want}\n  found    {got}"));
                }
            }
            Err(fault) => faults.push(fault),
        }
    }
    assert!(
        faults.is_empty(),
        "{} of {} texts fail\n{}",
        faults.len(),
        texts.len(),
        faults.join("\n")
    );
}
