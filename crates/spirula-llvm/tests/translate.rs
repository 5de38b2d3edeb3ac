//! LLVM IR to SPIR-V: files with the disassembly expected of them beside, and the corpora.

use spirula_llvm::{Options, read, translate};
use spirula_source::Diagnostic;
use spirula_spirv::text::{PrintOptions, print};
use spirula_testing::{Expected, Validator, corpus, files};
use std::path::{Path, PathBuf};

const ENVIRONMENT: &str = "spv1.4";

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/translate")
}

/// What becomes of an input: a module's bytes, or what was refused.
fn translated(bytes: &[u8]) -> Result<Vec<u8>, Vec<Diagnostic>> {
    let module = read(bytes).map_err(|fault| vec![fault])?;
    let module = translate(&module, &Options::default())?;
    Ok(module.to_bytes())
}

fn words(bytes: &[u8]) -> Vec<u32> {
    let chunks = bytes.chunks_exact(4);
    chunks
        .map(|c| u32::from_le_bytes([c[0], c[1], c[2], c[3]]))
        .collect()
}

fn lines(diagnostics: &[Diagnostic]) -> String {
    let lines = diagnostics.iter().map(|d| format!("{}\n", d.message));
    lines.collect()
}

#[test]
fn files_give_what_stands_beside_them() {
    let validator = Validator::find();
    let mut expected = Expected::new();
    for path in files(&folder(), ".ll") {
        let bytes = std::fs::read(&path).expect("the file can be read");
        let text = match translated(&bytes) {
            Ok(module) => {
                let checked = validator.as_ref().map(|v| v.check(&module, ENVIRONMENT));
                if let Some(Err(fault)) = checked {
                    panic!("{}: {fault}", path.display());
                }
                let options = PrintOptions::default();
                print(&words(&module), &options).expect("the module can be printed")
            }
            Err(diagnostics) => lines(&diagnostics),
        };
        expected.compare(&path.with_extension("spvasm"), &text);
    }
    expected.finish();
}

#[test]
fn kernels_of_the_corpus_are_valid() {
    let (Some(kernels), Some(validator)) = (corpus("llvm-ir/kernels"), Validator::find()) else {
        return;
    };
    let mut paths = files(&kernels, ".bc");
    paths.extend(files(&kernels, ".ll"));
    assert!(paths.len() > 200, "the corpus is there");
    let mut faults = Vec::new();
    for path in paths {
        let bytes = std::fs::read(&path).expect("the file can be read");
        match translated(&bytes) {
            Ok(module) => {
                if let Err(fault) = validator.check(&module, ENVIRONMENT) {
                    faults.push(format!("{}: {fault}", path.display()));
                }
            }
            Err(refused) => faults.push(format!("{}: {}", path.display(), lines(&refused))),
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// What upstream's tests contain is much more than Spirula takes; none of it may do harm.
#[test]
fn conformance_tests_are_translated_or_refused() {
    let Some(folder) = corpus("llvm-ir/conformance") else {
        return;
    };
    let (mut taken, mut all) = (0, 0);
    for path in files(&folder, ".ll") {
        let bytes = std::fs::read(&path).expect("the file can be read");
        all += 1;
        match translated(&bytes) {
            Ok(_) => taken += 1,
            Err(diagnostics) => assert!(!diagnostics.is_empty(), "{}", path.display()),
        }
    }
    eprintln!("{taken} of {all} conformance tests are translated");
    assert!(taken * 10 > all * 6, "only {taken} of {all} are translated");
}

/// Damaged inputs that can still be read give a module or diagnostics.
#[test]
fn damaged_inputs_do_no_harm() {
    let mut state = 1u64;
    let mut random = |below: usize| {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        (state >> 33) as usize % below.max(1)
    };
    let mut read_again = 0;
    for path in files(&folder(), ".ll") {
        let text = std::fs::read_to_string(&path).expect("the file can be read");
        let lines: Vec<&str> = text.lines().collect();
        for _ in 0..60 {
            let mut damaged = lines.clone();
            let (at, from) = (random(lines.len()), random(lines.len()));
            match random(3) {
                0 => {
                    damaged.remove(at);
                }
                1 => damaged[at] = lines[from],
                _ => damaged.swap(at, from),
            }
            let text = damaged.join("\n");
            let types = ["i1", "i8", "i24", "i64", "i128", "float", "ptr", "<5 x i8>"];
            let text = match random(3) {
                0 => text.replacen("i32", types[random(types.len())], 1 + random(3)),
                1 => text.replacen("float", types[random(types.len())], 1 + random(3)),
                _ => text,
            };
            if let Ok(module) = read(text.as_bytes()) {
                read_again += 1;
                _ = translate(&module, &Options::default());
            }
        }
    }
    assert!(read_again > 0, "no damaged input could be read");
}
