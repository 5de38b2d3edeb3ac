//! `spirula compile`.

use crate::cli::args::{Compile, Emit, How};
use crate::cli::files::Input;
use crate::cli::progress::Progress;
use crate::cli::{Failure, Outcome, failure, files};
use spirula::CompileOptions;
use spirula_spirv::ir::Module;
use spirula_spirv::text;
use std::path::Path;

/// Compiles the input and writes the module.
pub fn run(args: &Compile) -> Outcome {
    let input = files::read(&args.from.path)?;
    let progress = Progress::spinner("compiling");
    let compiled = match spirula::compile(&input.bytes, &options(&args.how)) {
        Ok(compiled) => compiled,
        Err(error) => return Err(Failure::compile(input, error)),
    };
    drop(progress);
    failure::tell(&input.name, &input.bytes, &compiled.diagnostics);
    write(input, &compiled.module, &args.output, args.emit)
}

/// Writes a module in the form that was asked for, or that the output's name asks for.
pub fn write(input: Input, module: &Module, output: &Path, emit: Option<Emit>) -> Outcome {
    match emit.unwrap_or_else(|| form(output)) {
        Emit::Spv => files::write_binary(output, &module.to_bytes()),
        Emit::Spvasm => match text::print(&module.to_words(), &text::PrintOptions::default()) {
            Ok(text) => files::write_text(output, &text),
            Err(error) => Err(Failure::diagnostics(input, vec![error])),
        },
    }
}

/// The options of a compilation from those of the command line.
pub fn options(how: &How) -> CompileOptions {
    CompileOptions {
        target: how.target_env,
        triple: how.triple.clone(),
    }
}

fn form(output: &Path) -> Emit {
    match output.extension() {
        Some(end) if end == "spvasm" => Emit::Spvasm,
        _ => Emit::Spv,
    }
}
