//! Every program of the corpus is read, and survives a round trip through the text form.

mod printed_corpus;

use spirula_futhark::read_futhark;
use spirula_kernel::{parse_program, print_program, verify_program};

#[test]
fn every_printed_program_reads_and_checks() {
    let mut faults = Vec::new();
    for file in printed_corpus::files() {
        let text = printed_corpus::text(&file);
        if let Err(fault) = read_futhark(&text).and_then(|p| verify_program(&p)) {
            let name = file.display().to_string();
            let source = spirula_diagnostics::SourceFile {
                name: &name,
                bytes: text.as_bytes(),
            };
            faults.push(spirula_diagnostics::render_diagnostic(
                &fault, source, false,
            ));
        }
    }
    assert!(
        faults.is_empty(),
        "{} faults\n{}",
        faults.len(),
        faults.join("\n")
    );
}

#[test]
fn every_printed_program_survives_the_text_form() {
    for file in printed_corpus::files() {
        let Ok(program) = read_futhark(&printed_corpus::text(&file)) else {
            continue;
        };
        let text = print_program(&program);
        let again = parse_program(&text).unwrap_or_else(|fault| {
            let source = spirula_diagnostics::SourceFile {
                name: "printed",
                bytes: text.as_bytes(),
            };
            let shown = spirula_diagnostics::render_diagnostic(&fault, source, false);
            panic!("{}: {shown}", file.display())
        });
        assert!(
            print_program(&again) == text,
            "{} does not round-trip",
            file.display()
        );
    }
}
