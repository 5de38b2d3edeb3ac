//! The reader of Futhark's printed form: what it makes of tricky input, and damaged input.

use spirula_kernel::{check, print, read_futhark};
use spirula_testing::Expected;
use std::fs;
use std::path::Path;

#[test]
fn programs_read_as_expected() {
    let mut expected = Expected::new();
    for file in spirula_testing::files(Path::new("tests/futhark"), ".imp") {
        let text = fs::read_to_string(&file).expect("the file can be read");
        let program = read_futhark(&text).expect("the program reads");
        check(&program).expect("the program checks");
        expected.compare(&file.with_extension("expected"), &print(&program));
    }
    expected.finish();
}

/// Cut or with a byte changed, a program is refused or read, and nothing else happens.
#[test]
fn damaged_programs_do_no_harm() {
    let text = fs::read_to_string("tests/futhark/names.imp").expect("the file can be read");
    let mut refused = 0;
    for (at, _) in text.char_indices() {
        refused += usize::from(read_futhark(&text[..at]).is_err());
        for other in ["(", "}", "\n", "9", "_", "\u{3b1}"] {
            let damaged = format!(
                "{}{other}{}",
                &text[..at],
                &text[at + 1..].trim_start_matches(|c: char| !c.is_ascii())
            );
            refused += usize::from(read_futhark(&damaged).and_then(|p| check(&p)).is_err());
        }
    }
    assert!(refused > text.len());
}
