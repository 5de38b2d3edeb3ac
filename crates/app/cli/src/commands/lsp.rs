//! `spirula lsp`: serves editors of Futhark source.

use crate::cli::args::LspArgs;
use crate::cli::{CommandFailure, CommandResult};
use spirula_language_server::{ServerEnd, ServerOptions, serve_editor};
use spirula_runtime::find_cache_folder;
use std::io::{self, BufReader};

/// Runs `spirula lsp` on standard input and output.
pub fn run_lsp(_: &LspArgs) -> CommandResult {
    let folder = find_cache_folder().map(|folder| folder.join("prelude"));
    let options = ServerOptions {
        prelude_folder: folder,
    };
    match serve_editor(BufReader::new(io::stdin()), &mut io::stdout(), options)? {
        ServerEnd::Regular => Ok(()),
        ServerEnd::Sudden => Err(CommandFailure::Reported),
    }
}
