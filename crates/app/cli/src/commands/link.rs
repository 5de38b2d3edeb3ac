//! `spirula link`: links modules into one.

use super::compile::write_spirv_module;
use super::module::read_module;
use crate::cli::args::LinkArgs;
use crate::cli::input_file::InputFile;
use crate::cli::progress::ProgressIndicator;
use crate::cli::shader_source::read_compilable_file;
use crate::cli::{CommandFailure, CommandResult};
use spirula_diagnostics::{SourceDiagnostic, SourceLocation};
use spirula_spirv::link::{EntryNames, LinkError, LinkOptions};

/// Runs `spirula link`.
pub fn run_link(args: &LinkArgs) -> CommandResult {
    let progress = ProgressIndicator::new_spinner("linking");
    let mut inputs = Vec::new();
    let mut modules = Vec::new();
    for path in &args.paths {
        let input = read_compilable_file(path)?;
        let (input, module) = read_module(input, &args.how, Some(&args.validation))?;
        inputs.push(input);
        modules.push(module);
    }
    let settings = LinkOptions {
        ceiling: args
            .how
            .target_env
            .map_or(LinkOptions::default().ceiling, |target| target.version),
        allow_partial: args.allow_partial,
        library: args.library,
        entry_names: if args.number_entry_points {
            EntryNames::Number
        } else {
            EntryNames::Refuse
        },
    };
    let linked = spirula::link_program(modules, &settings);
    drop(progress);
    match linked {
        Ok(module) => {
            let input = inputs.swap_remove(0);
            write_spirv_module(input, &module, &args.output, args.emit)
        }
        Err(error) => Err(to_link_failure(inputs, &error)),
    }
}

/// The failure, with the place of the faulty instruction.
fn to_link_failure(mut inputs: Vec<InputFile>, error: &LinkError) -> CommandFailure {
    let text = error.describe_with(|module| match inputs.get(module) {
        Some(input) => input.name.clone(),
        None => "the definition of an intrinsic".to_owned(),
    });
    let place = match error {
        LinkError::Convert { error, .. } => error.place,
        LinkError::Import { error, .. } => SourceDiagnostic::from(error.clone()).place,
        _ => SourceLocation::Unknown,
    };
    match (error.module_index(), place) {
        (Some(module), place) if module < inputs.len() && place != SourceLocation::Unknown => {
            let fault = SourceDiagnostic::error(place, text);
            CommandFailure::from_diagnostics(inputs.swap_remove(module), vec![fault])
        }
        _ => match error.hint() {
            Some(hint) => CommandFailure::with_hint(text, hint),
            None => CommandFailure::from_message(text),
        },
    }
}
