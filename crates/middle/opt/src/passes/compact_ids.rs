//! Id compaction: ids are renumbered densely in the order of their definitions, and the bound becomes the largest
//! id plus one. Consumers size tables by the bound.
//!
//! Before: `%7 = OpTypeVoid` and `%90 = OpTypeFunction %7`, bound 91. After: `%1 = OpTypeVoid` and
//! `%2 = OpTypeFunction %1`, bound 3.

use crate::analyses::AnalysisCache;
use crate::pass::PassOutcome;
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::Id;
use spirula_spirv::ir::SpirvModule;

pub fn run_compact_ids(
    module: &mut SpirvModule,
    _cache: &mut AnalysisCache,
) -> Result<PassOutcome, SourceDiagnostic> {
    let bound = module.bound();
    let new = module.compact_ids();
    let olds = (1..bound).filter_map(Id::new);
    let moved = olds
        .filter(|old| new[*old].is_some_and(|n| n != *old))
        .count();
    let saved = bound.saturating_sub(module.bound()) as usize;
    Ok(PassOutcome {
        statistics: vec![("ids renumbered", moved), ("numbers freed", saved)],
    })
}
