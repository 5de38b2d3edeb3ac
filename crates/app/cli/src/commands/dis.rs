//! `spirula dis`: disassembles a SPIR-V module.

use crate::cli::args::DisArgs;
use crate::cli::{CommandFailure, CommandResult, files};
use spirula_diagnostics::{SourceDiagnostic, SourceLocation};
use spirula_spirv::{binary, text};

/// Runs `spirula dis`. The module may be invalid.
pub fn run_dis(args: &DisArgs) -> CommandResult {
    super::grammar::add_grammar_files(&args.grammar)?;
    let input = files::read_input_file(&args.path)?;
    let options = text::PrintOptions {
        header: !args.no_header,
        indent: !args.no_indent,
        friendly_names: args.friendly_names,
    };
    let words =
        match check_is_module(&input.bytes).and_then(|()| binary::words_from_bytes(&input.bytes)) {
            Ok(words) => words,
            Err(error) => return Err(CommandFailure::from_diagnostics(input, vec![error])),
        };
    match text::ModuleDisassembly::new(&words, options) {
        Ok(text) => files::write_displayed(&args.output, &text),
        Err(error) => Err(CommandFailure::from_diagnostics(input, vec![error])),
    }
}

fn check_is_module(bytes: &[u8]) -> Result<(), SourceDiagnostic> {
    let format = spirula::detect_input_format(bytes)?;
    if *format == spirula::SPIRV_BINARY {
        return Ok(());
    }
    let message = format!("the input is {}, not a SPIR-V binary", format.name);
    let hint = "spirula compile --emit spvasm translates LLVM IR to assembly";
    Err(SourceDiagnostic::error(SourceLocation::Unknown, message).with_hint(hint))
}
