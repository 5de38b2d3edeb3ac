//! File tests of the assembler and the disassembler.
//!
//! Each `tests/text/NAME.spvasm` is assembled. `NAME.expected` beside it holds what comes of it:
//! the module disassembled with numbers and with friendly names, or the rendered faults.
//! `BLESS=1` writes the expected files.

use spirula_diagnostics::{SourceFile, SourceLocation, render_diagnostic};
use spirula_spirv::text::{
    ParseOptions, PrintOptions, locate_words, parse_assembly, print_assembly,
};
use spirula_testing::{GoldenFiles, list_files};
use std::fs;
use std::path::Path;

/// The outcome of a text.
fn outcome(name: &str, source: &str) -> String {
    let options = ParseOptions::default();
    let words = match parse_assembly(source, &options) {
        Ok(words) => words,
        Err(faults) => {
            let bytes = source.as_bytes();
            let shown = |fault| render_diagnostic(fault, SourceFile { name, bytes }, false);
            return faults.iter().map(shown).collect();
        }
    };
    let raw = print_assembly(&words, &PrintOptions::default()).expect("the header is sound");
    let back = parse_assembly(&raw, &options).expect("what is printed can be read");
    assert_eq!(back, words, "{name}: numbers do not read back as they are");
    let friendly = PrintOptions {
        header: false,
        indent: false,
        friendly_names: true,
        ..PrintOptions::default()
    };
    let named = print_assembly(&words, &friendly).expect("the header is sound");
    parse_assembly(&named, &options).expect("what is printed can be read");
    format!("{raw}\n; With friendly names\n{named}")
}

#[test]
fn texts_become_what_is_expected() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/text");
    let mut expected = GoldenFiles::new();
    for input in list_files(&folder, ".spvasm") {
        let source = fs::read_to_string(&input).expect("the input is readable");
        let name = input.file_name().and_then(|n| n.to_str()).unwrap_or("?");
        expected.compare_file(&input.with_extension("expected"), &outcome(name, &source));
    }
    expected.finish_comparison();
}

#[test]
fn words_have_places_in_their_text() {
    let source = "; a comment\nOpCapability Shader\n\n%void = OpTypeVoid ; another\nOpNop\n";
    let shown = |place: &SourceLocation| match *place {
        SourceLocation::Text { start, end } => &source[start as usize..end as usize],
        _ => "",
    };
    // The header has five words, the instructions two, two and one.
    let found = locate_words(source, &[0, 5, 6, 7, 8, 9, 99]);
    let found: Vec<&str> = found.iter().map(shown).collect();
    let (first, second) = ("OpCapability Shader", "%void = OpTypeVoid");
    assert_eq!(found, ["", first, first, second, second, "OpNop", "OpNop"]);
    assert_eq!(
        locate_words("OpFrobnicate\n", &[5]),
        [SourceLocation::Unknown]
    );
}
