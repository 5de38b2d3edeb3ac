//! Inputs of commands that take a module: they are read, verified and compiled to SPIR-V.

use super::compile::compile_options;
use crate::cli::args::{InputValidation, LoweringArgs};
use crate::cli::input_file::InputFile;
use crate::cli::{CommandFailure, failure};
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::ir::SpirvModule;
use spirula_spirv::verify;

/// Compiles an input to a module. A SPIR-V module is verified first, where that is requested.
///
/// # Errors
/// When the input is malformed, breaks a rule, or becomes no module.
pub fn read_module(
    input: InputFile,
    how: &LoweringArgs,
    validation: Option<&InputValidation>,
) -> Result<(InputFile, SpirvModule), CommandFailure> {
    let read = match spirula::read_located_input(&input.bytes, &input.name) {
        Ok(read) => read,
        Err(error) => return Err(CommandFailure::from_compile_error(input, error)),
    };
    if let Some(module) = read.as_spirv()
        && validation.is_some_and(|validation| !validation.skip_validation)
        && let Err(faults) = verify_for_any_consumer(module)
    {
        return Err(CommandFailure::from_diagnostics(input, faults));
    }
    let compiled = match read.compile_with(&compile_options(how, None)) {
        Ok(compiled) => compiled,
        Err(error) => return Err(CommandFailure::from_compile_error(input, error)),
    };
    failure::report_diagnostics(&input.name, &input.bytes, &compiled.diagnostics);
    match compiled.into_module() {
        Ok(module) => Ok((input, module)),
        Err(error) => Err(CommandFailure::from_compile_error(input, error)),
    }
}

/// Verifies a module for any consumer. The rules of the environment apply to the output only.
fn verify_for_any_consumer(module: &SpirvModule) -> Result<(), Vec<SourceDiagnostic>> {
    let options = verify::VerifyOptions {
        scalar_block_layout: true,
        ..verify::VerifyOptions::default()
    };
    verify::as_read(module, &options).map_err(|faults| {
        let mut faults = faults.into_vec();
        if let Some(last) = faults.last_mut() {
            let note = "--skip-validation takes the module as it is";
            last.notes.push(note.to_owned());
        }
        faults
    })
}
