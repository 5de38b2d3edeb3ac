//! `spirula convert`: converts a module to another version of SPIR-V, or recomputes its declarations.

use super::compile::write_spirv_module;
use super::module::read_module;
use crate::cli::args::ConvertArgs;
use crate::cli::features::build_feature_ceiling;
use crate::cli::shader_source::read_compilable_file;
use crate::cli::{CommandFailure, CommandResult};
use spirula_spirv::convert::to_version;
use spirula_spirv::recompute::recompute_capabilities;

/// Runs `spirula convert`.
pub fn run_convert(args: &ConvertArgs) -> CommandResult {
    let input = read_compilable_file(&args.from.path)?;
    let (input, mut module) = read_module(input, &args.how, Some(&args.validation))?;
    if let Some(version) = args.to_version
        && let Err(error) = to_version(&mut module, version)
    {
        return Err(CommandFailure::from_diagnostics(input, vec![error.into()]));
    }
    if (args.minimal || !args.allow.is_empty())
        && let Err(error) = recompute_capabilities(&mut module, &build_feature_ceiling(&args.allow))
    {
        return Err(CommandFailure::from_diagnostics(input, vec![*error]));
    }
    write_spirv_module(input, &module, &args.output, args.emit)
}
