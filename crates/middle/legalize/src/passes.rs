//! Passes of the optimiser that legalisation runs.

use spirula_diagnostics::{SourceDiagnostic, SourceLocation};
use spirula_opt::PassPipeline;
use spirula_spirv::ir::SpirvModule;

/// Runs a pipeline of passes, given by its text, over a module.
///
/// # Errors
/// When the module is malformed, or the pipeline is.
pub fn run_passes(module: &mut SpirvModule, passes: &str) -> Result<(), SourceDiagnostic> {
    let broken = |text: String| SourceDiagnostic::error(SourceLocation::Unknown, text);
    let pipeline: PassPipeline = passes.parse().map_err(|e| broken(format!("{e}")))?;
    let outcome = spirula_opt::optimise_module(module, &pipeline, &mut Default::default());
    match outcome {
        Ok(_) => Ok(()),
        Err(spirula_opt::OptimiseError::Module(diagnostic)) => Err(*diagnostic),
        Err(error) => Err(broken(error.to_string())),
    }
}
