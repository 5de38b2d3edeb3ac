//! `--grammar`: instructions that the user defines.

use crate::cli::args::GrammarArgs;
use crate::cli::{CommandFailure, CommandResult, files};
use spirula_diagnostics::{SourceDiagnostic, SourceLocation};
use spirula_spirv::grammar::GrammarAdditions;
use std::path::Path;

/// Adds the contents of grammar files to the grammar, before anything is read by it.
pub fn add_grammar_files(args: &GrammarArgs) -> CommandResult {
    for file in &args.grammar {
        let (name, path) = match file.split_once('=') {
            Some((name, path)) => (Some(name), path),
            None => (None, file.as_str()),
        };
        let input = files::read_input_file(Path::new(path))?;
        if let Err(fault) = register_grammar(&input.bytes, name) {
            return Err(CommandFailure::from_diagnostics(input, vec![fault]));
        }
    }
    Ok(())
}

fn register_grammar(bytes: &[u8], name: Option<&str>) -> Result<(), SourceDiagnostic> {
    let text = std::str::from_utf8(bytes).map_err(|e| {
        let place = SourceLocation::Byte(e.valid_up_to() as u64);
        SourceDiagnostic::error(place, "the grammar is not UTF-8")
    })?;
    let additions = GrammarAdditions::from_json(text, name)?;
    let added = additions.register_all();
    added.map_err(|e| SourceDiagnostic::error(SourceLocation::Unknown, e.to_string()))
}
