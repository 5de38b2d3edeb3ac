//! `spirula convert`.

use super::compile::{options, write};
use crate::cli::allow::ceiling;
use crate::cli::args::Convert;
use crate::cli::{Failure, Outcome, failure, files};
use spirula_spirv::convert::to_version;
use spirula_spirv::recompute::recompute;

/// Gives a module another version, or has it declare what it needs.
pub fn run(args: &Convert) -> Outcome {
    let input = files::read(&args.from.path)?;
    let compiled = match spirula::compile(&input.bytes, &options(&args.how, None)) {
        Ok(compiled) => compiled,
        Err(error) => return Err(Failure::compile(input, error)),
    };
    failure::tell(&input.name, &input.bytes, &compiled.diagnostics);
    let mut module = match compiled.into_module() {
        Ok(module) => module,
        Err(error) => return Err(Failure::compile(input, error)),
    };
    if let Some(version) = args.to_version
        && let Err(error) = to_version(&mut module, version)
    {
        return Err(Failure::diagnostics(input, vec![error.into()]));
    }
    if (args.minimal || !args.allow.is_empty())
        && let Err(error) = recompute(&mut module, &ceiling(&args.allow))
    {
        return Err(Failure::diagnostics(input, vec![*error]));
    }
    write(input, &module, &args.output, args.emit)
}
