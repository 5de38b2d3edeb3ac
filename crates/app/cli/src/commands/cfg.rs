//! `spirula cfg`: draws the control flow of a module's functions.

use super::module::read_module;
use crate::cli::args::{CfgArgs, DrawingFormat};
use crate::cli::output_form::check_output_form;
use crate::cli::shader_source::read_compilable_file;
use crate::cli::{CommandFailure, CommandResult, files};
use spirula_spirv::draw::GraphvizOptions;

/// Runs `spirula cfg`.
pub fn run_cfg(args: &CfgArgs) -> CommandResult {
    let output = args.dot.as_ref().unwrap_or(&args.output);
    let form = match args.emit {
        Some(form) => form,
        None if args.dot.is_none() && files::has_extension(output, "svg") => DrawingFormat::Svg,
        None => DrawingFormat::Dot,
    };
    let is_picture = form == DrawingFormat::Svg;
    if args.emit.is_none() {
        check_output_form(output, if is_picture { &["svg"] } else { &["dot"] })?;
    }
    let input = read_compilable_file(&args.from.path)?;
    let (input, module) = read_module(input, &args.how, None)?;
    let drawing = GraphvizOptions {
        dominators: args.dominators,
        post_dominators: args.post_dominators,
        instructions: args.instructions,
        only: args.function.clone(),
    };
    let drawn = match form {
        DrawingFormat::Dot => drawing.draw_module(&module),
        DrawingFormat::Svg => drawing.draw_module_as_svg(&module),
    };
    match drawn {
        Ok(text) => files::write_text(output, &text),
        Err(error) => Err(CommandFailure::from_diagnostics(input, vec![error])),
    }
}
