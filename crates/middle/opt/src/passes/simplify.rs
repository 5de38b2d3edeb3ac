//! Instruction combining: constant folding, algebraic simplification and strength reduction, by the table of
//! [`crate::rules`] and the semantics of `spirula-scalar`. One walk visits operands before their uses (Muchnick,
//! "Advanced Compiler Design and Implementation", 1997, chapter 12). Floating-point results are computed only if no
//! entry point requests another rounding mode.
//!
//! Before:
//! ```text
//! %v = OpCompositeConstruct %v2 %a %b
//! %x = OpCompositeExtract %float %v 1
//! %y = OpIAdd %int %four %three
//! ```
//! After: `%b` in the place of `%x`, `%seven` in that of `%y`.

use crate::analyses::AnalysisCache;
use crate::gvn::GvnWalker;
use crate::pass::PassOutcome;
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::ir::{ErasedIds, SpirvModule};

pub fn run_simplify(
    module: &mut SpirvModule,
    cache: &mut AnalysisCache,
) -> Result<PassOutcome, SourceDiagnostic> {
    let mut facts = cache.take_facts(module);
    facts.count_uses(module);
    let mut walker = GvnWalker::new(module, &mut facts, None);
    let mut erased = ErasedIds::new();
    for func in module.functions().to_vec() {
        let flow = cache.function_flow(module, func)?;
        walker.number_function(module, &flow, &mut erased);
    }
    module.sweep_annotations(&erased);
    let simplified = walker.counts.simplified;
    cache.put_facts(facts);
    Ok(PassOutcome {
        statistics: vec![("instructions simplified", simplified)],
    })
}
