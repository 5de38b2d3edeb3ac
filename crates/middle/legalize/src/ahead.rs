//! Reads of loops that wait for the workgroup, asked for some rounds ahead: graphics cards have registers for what was read,
//! and otherwise wait for memory in every round.

use spirula_opt::{PassPipeline, PipelineOptions, optimise_module};
use spirula_spirv::ir::SpirvModule;

/// What a module passes through: four rounds are made one behind the other.
const PASSES: &str = "read-ahead=4";

/// A shader with what it reads in such loops asked for ahead; `None` where there is nothing of that kind. What it computes is the
/// same.
pub fn with_reads_ahead(module: &SpirvModule) -> Option<SpirvModule> {
    let pipeline: PassPipeline = PASSES.parse().ok()?;
    let mut changed = module.clone();
    let report = optimise_module(&mut changed, &pipeline, &mut PipelineOptions::default()).ok()?;
    report.has_changed().then_some(changed)
}
