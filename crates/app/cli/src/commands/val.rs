//! `spirula val`: verifies a SPIR-V module.

use crate::cli::args::ValArgs;
use crate::cli::finding::{FileFinding, print_findings};
use crate::cli::input_file::InputFile;
use crate::cli::verbosity::report_work;
use crate::cli::{CommandFailure, CommandResult, files};
use spirula_diagnostics::{DiagnosticList, SourceDiagnostic, SourceLocation};
use spirula_spirv::verify::{self, VerifyOptions, VerifyRule};
use spirula_spirv::{binary, text};
use std::path::Path;
use std::sync::Arc;

/// Runs `spirula val`: verifies a module, or explains a rule.
pub fn run_val(args: &ValArgs) -> CommandResult {
    super::grammar::add_grammar_files(&args.grammar)?;
    if let Some(number) = args.explain {
        return explain_rule(number);
    }
    let input = files::read_input_file(&args.path)?;
    let mut options = VerifyOptions {
        scalar_block_layout: args.scalar_block_layout,
        ..VerifyOptions::default()
    };
    if let Some(target) = args.target_env {
        options.target = target;
    }
    let verified =
        parse_module_words(&input.bytes, &options).and_then(|w| verify::verify_words(w, &options));
    if args.json {
        return print_faults(input, verified.err().map_or_else(Vec::new, Vec::from));
    }
    match verified {
        Ok(_) => {
            report_work(|| format!("{} is valid for {}", input.name, options.target));
            Ok(())
        }
        Err(faults) => Err(CommandFailure::from_diagnostics(input, faults)),
    }
}

/// Prints faults as JSON. The result is a failure where there are some.
fn print_faults(input: InputFile, faults: Vec<SourceDiagnostic>) -> CommandResult {
    let name: Arc<str> = Arc::from(input.name.as_str());
    let contents: Arc<[u8]> = Arc::from(input.bytes);
    let findings = faults.into_iter().map(|diagnostic| FileFinding {
        name: Arc::clone(&name),
        contents: Arc::clone(&contents),
        diagnostic,
    });
    let findings: Vec<_> = findings.collect();
    print_findings(&findings)?;
    if findings.is_empty() {
        Ok(())
    } else {
        Err(CommandFailure::Reported)
    }
}

/// The words of a binary or a text. A text has the version of its header comment, or else that of the environment.
fn parse_module_words(bytes: &[u8], options: &VerifyOptions) -> Result<Vec<u32>, DiagnosticList> {
    if binary::is_spirv(bytes) {
        return Ok(binary::words_from_bytes(bytes)?);
    }
    let source = std::str::from_utf8(bytes).map_err(|e| {
        let place = SourceLocation::Byte(e.valid_up_to() as u64);
        SourceDiagnostic::error(place, "the input is neither a SPIR-V binary nor a text")
    })?;
    let options = text::ParseOptions {
        default_version: options.target.version,
        ..text::ParseOptions::default()
    };
    text::parse_assembly(source, &options)
}

fn explain_rule(number: u8) -> CommandResult {
    let Some(rule) = VerifyRule::by_number(number) else {
        let message = format!("there is no rule {number}");
        let hint = format!("rules have the numbers 1 to {}", VerifyRule::ALL.len());
        return Err(CommandFailure::with_hint(message, hint));
    };
    let text = format!("{rule}\n{}\n", rule.text());
    files::write_text(Path::new("-"), &text)
}
