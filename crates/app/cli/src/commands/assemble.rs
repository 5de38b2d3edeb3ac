//! `spirula as`: assembles SPIR-V assembly.

use crate::cli::args::AsArgs;
use crate::cli::output_form::check_output_form;
use crate::cli::{CommandFailure, CommandResult, files};
use spirula_diagnostics::{DiagnosticList, SourceDiagnostic, SourceLocation};
use spirula_spirv::{binary, text};

/// Runs `spirula as`.
pub fn run_as(args: &AsArgs) -> CommandResult {
    super::grammar::add_grammar_files(&args.grammar)?;
    check_output_form(&args.output, &["spv"])?;
    let input = files::read_input_file(&args.path)?;
    let options = text::ParseOptions {
        version: args.target_env.map(|target| target.version),
        ..text::ParseOptions::default()
    };
    match assemble_text(&input.bytes, &options) {
        Ok(words) => files::write_binary(&args.output, &binary::to_bytes(&words)),
        Err(diagnostics) => Err(CommandFailure::from_diagnostics(input, diagnostics)),
    }
}

fn assemble_text(bytes: &[u8], options: &text::ParseOptions) -> Result<Vec<u32>, DiagnosticList> {
    if binary::is_spirv(bytes) {
        let error = SourceDiagnostic::error(
            SourceLocation::Unknown,
            "the input is a SPIR-V binary already",
        );
        return Err(error.with_hint("spirula dis disassembles it").into());
    }
    let source = std::str::from_utf8(bytes).map_err(|e| {
        let place = SourceLocation::Byte(e.valid_up_to() as u64);
        SourceDiagnostic::error(place, "the text is not UTF-8 here")
    })?;
    text::parse_assembly(source, options)
}
