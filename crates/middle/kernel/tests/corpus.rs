//! Every program of the corpus is read.

mod dumps;

use spirula_kernel::{check, parse, print, read_futhark};

#[test]
fn every_printed_program_reads_and_checks() {
    let mut faults = Vec::new();
    for file in dumps::files() {
        let text = dumps::text(&file);
        if let Err(fault) = read_futhark(&text).and_then(|p| check(&p)) {
            let name = file.display().to_string();
            let source = spirula_diagnostics::SourceFile {
                name: &name,
                bytes: text.as_bytes(),
            };
            faults.push(spirula_diagnostics::render(&fault, source, false));
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
    for file in dumps::files() {
        let Ok(program) = read_futhark(&dumps::text(&file)) else {
            continue;
        };
        let text = print(&program);
        let again = parse(&text).unwrap_or_else(|fault| {
            let source = spirula_diagnostics::SourceFile {
                name: "printed",
                bytes: text.as_bytes(),
            };
            let shown = spirula_diagnostics::render(&fault, source, false);
            panic!("{}: {shown}", file.display())
        });
        assert!(
            print(&again) == text,
            "{} does not round-trip",
            file.display()
        );
    }
}
