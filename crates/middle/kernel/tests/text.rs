//! Round trips of programs through the text form, and rejected programs.

use spirula_diagnostics::{SourceFile, render_diagnostic};
use spirula_kernel::{parse_program, print_program, verify_program};
use spirula_testing::GoldenFiles;
use std::fs;
use std::path::Path;

#[test]
fn programs_print_to_themselves() {
    let mut seen = 0;
    for file in spirula_testing::list_files(Path::new("tests/text"), ".kernel") {
        let text = fs::read_to_string(&file).expect("the file can be read");
        let program = parse_program(&text).expect("the program parses");
        verify_program(&program).expect("the program checks");
        let code: Vec<&str> = text.lines().filter(|l| !l.starts_with(';')).collect();
        assert_eq!(print_program(&program).trim(), code.join("\n").trim());
        seen += 1;
    }
    assert!(seen > 0);
}

/// Each file holds programs between lines of `---`; the expected diagnostic of each is in the file beside it.
#[test]
fn broken_programs_are_refused() {
    let mut expected = GoldenFiles::new();
    for file in spirula_testing::list_files(Path::new("tests/reject"), ".kernel") {
        let text = fs::read_to_string(&file).expect("the file can be read");
        let mut found = String::new();
        for part in text.split("---\n") {
            let fault = match parse_program(part).and_then(|program| verify_program(&program)) {
                Ok(()) => panic!("{}: accepted:\n{part}", file.display()),
                Err(fault) => fault,
            };
            let source = SourceFile {
                name: "input",
                bytes: part.as_bytes(),
            };
            found += &render_diagnostic(&fault, source, false);
        }
        expected.compare_file(&file.with_extension("expected"), &found);
    }
    expected.finish_comparison();
}

/// A program that is cut anywhere is read or refused, without a panic.
#[test]
fn cut_programs_do_no_harm() {
    let text = fs::read_to_string("tests/text/add_all.kernel").expect("the file can be read");
    let mut refused = 0;
    for end in 0..text.len() {
        refused += usize::from(
            parse_program(&text[..end])
                .and_then(|p| verify_program(&p))
                .is_err(),
        );
    }
    assert!(refused > text.len() / 2);
}
