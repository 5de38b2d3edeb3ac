//! `spirula cfg`: draws the control flow of a module's functions.

use super::module::read_module;
use crate::cli::args::CfgArgs;
use crate::cli::{CommandFailure, CommandResult, files};
use spirula_spirv::draw::GraphvizOptions;

/// Runs `spirula cfg`.
pub fn run_cfg(args: &CfgArgs) -> CommandResult {
    let input = files::read_input_file(&args.from.path)?;
    let (input, module) = read_module(input, &args.how, None)?;
    let drawing = GraphvizOptions {
        dominators: args.dominators,
        post_dominators: args.post_dominators,
        instructions: args.instructions,
        only: args.function.clone(),
    };
    match drawing.draw_module(&module) {
        Ok(text) => files::write_text(&args.dot, &text),
        Err(error) => Err(CommandFailure::from_diagnostics(input, vec![error])),
    }
}
