//! `spirula cfg`.

use super::compile::options;
use crate::cli::args::Cfg;
use crate::cli::{Failure, Outcome, failure, files};
use spirula_spirv::draw::Graphviz;

/// Draws the control flow of a module's functions.
pub fn run(args: &Cfg) -> Outcome {
    let input = files::read(&args.from.path)?;
    let compiled = match spirula::compile(&input.bytes, &options(&args.how, None)) {
        Ok(compiled) => compiled,
        Err(error) => return Err(Failure::compile(input, error)),
    };
    failure::tell(&input.name, &input.bytes, &compiled.diagnostics);
    let module = match compiled.into_module() {
        Ok(module) => module,
        Err(error) => return Err(Failure::compile(input, error)),
    };
    let drawing = Graphviz {
        dominators: args.dominators,
        post_dominators: args.post_dominators,
        instructions: args.instructions,
        only: args.function.clone(),
    };
    match drawing.draw(&module) {
        Ok(text) => files::write_text(&args.dot, &text),
        Err(error) => Err(Failure::diagnostics(input, vec![error])),
    }
}
