//! File tests of the assembler and the disassembler.
//!
//! Each `tests/text/NAME.spvasm` is assembled. `NAME.expected` beside it holds what comes of it:
//! the module disassembled with numbers and with friendly names, or the rendered faults.
//! `BLESS=1` writes the expected files.

use spirula_source::{Source, render};
use spirula_spirv::text::{ParseOptions, PrintOptions, parse, print};
use std::fs;
use std::path::{Path, PathBuf};

/// What becomes of a text.
fn outcome(name: &str, source: &str) -> String {
    let options = ParseOptions::default();
    let words = match parse(source, &options) {
        Ok(words) => words,
        Err(faults) => {
            let bytes = source.as_bytes();
            let shown = |fault| render(fault, Source { name, bytes }, false);
            return faults.iter().map(shown).collect();
        }
    };
    let raw = print(&words, &PrintOptions::default()).expect("the header is sound");
    let back = parse(&raw, &options).expect("what is printed can be read");
    assert_eq!(back, words, "{name}: numbers do not read back as they are");
    let friendly = PrintOptions {
        header: false,
        indent: false,
        friendly_names: true,
    };
    let named = print(&words, &friendly).expect("the header is sound");
    parse(&named, &options).expect("what is printed can be read");
    format!("{raw}\n; With friendly names\n{named}")
}

#[test]
fn files() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/text");
    let entries = fs::read_dir(&folder).expect("the folder of tests is there");
    let paths = entries.map(|entry| entry.expect("a readable folder").path());
    let mut inputs: Vec<PathBuf> = paths
        .filter(|path| path.extension().is_some_and(|e| e == "spvasm"))
        .collect();
    inputs.sort();
    assert!(!inputs.is_empty());
    let bless = std::env::var_os("BLESS").is_some();
    let mut different = Vec::new();
    for input in inputs {
        let source = fs::read_to_string(&input).expect("the input is readable");
        let name = input.file_name().and_then(|n| n.to_str()).unwrap_or("?");
        let found = outcome(name, &source);
        let beside = input.with_extension("expected");
        if bless {
            fs::write(&beside, &found).expect("the expected file can be written");
        } else if fs::read_to_string(&beside).ok().as_ref() != Some(&found) {
            different.push(format!("==== {name} now gives\n{found}"));
        }
    }
    let shown = different.join("\n");
    assert!(
        different.is_empty(),
        "{shown}\nBLESS=1 accepts what is found"
    );
}
