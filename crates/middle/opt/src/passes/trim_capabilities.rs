//! Takes back the capabilities and extensions that nothing in the module needs any more, by
//! [`spirula_spirv::recompute`]. Where something is needed that no capability allows, the module stays as
//! it is.
//!
//! Before: `OpCapability Float64` in a module without numbers of 64 bits. After: it is gone.

use crate::analyses::Cache;
use crate::pass::Outcome;
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::analysis::Ceiling;
use spirula_spirv::ir::{Module, Section};
use spirula_spirv::recompute::recompute;

pub fn run(module: &mut Module, _cache: &mut Cache) -> Result<Outcome, SourceDiagnostic> {
    let before = declarations(module);
    let changed = recompute(module, &Ceiling::default()).unwrap_or(false);
    let after = if changed {
        declarations(module)
    } else {
        before
    };
    Ok(Outcome {
        statistics: vec![("declarations deleted", before.saturating_sub(after))],
    })
}

/// Number of capabilities and extensions that a module declares.
fn declarations(module: &Module) -> usize {
    let sections = [Section::Capabilities, Section::Extensions];
    sections.map(|s| module.section(s).count()).iter().sum()
}
