//! Capability trimming: deletes the capabilities and extensions that the module does not need, by
//! [`spirula_spirv::recompute`]. If a need is met by no capability that is allowed, the module does not change.
//!
//! Before: `OpCapability Float64` in a module without numbers of 64 bits. After: it is gone.

use crate::analyses::AnalysisCache;
use crate::pass::PassOutcome;
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::analysis::RequirementCeiling;
use spirula_spirv::ir::{ModuleSection, SpirvModule};
use spirula_spirv::recompute::recompute_capabilities;

pub fn run_trim_capabilities(
    module: &mut SpirvModule,
    _cache: &mut AnalysisCache,
) -> Result<PassOutcome, SourceDiagnostic> {
    let before = count_declarations(module);
    let changed = recompute_capabilities(module, &RequirementCeiling::default()).unwrap_or(false);
    let after = if changed {
        count_declarations(module)
    } else {
        before
    };
    Ok(PassOutcome {
        statistics: vec![("declarations deleted", before.saturating_sub(after))],
    })
}

/// The number of declared capabilities and extensions.
fn count_declarations(module: &SpirvModule) -> usize {
    let sections = [ModuleSection::Capabilities, ModuleSection::Extensions];
    sections
        .map(|s| module.section_insts(s).count())
        .iter()
        .sum()
}
