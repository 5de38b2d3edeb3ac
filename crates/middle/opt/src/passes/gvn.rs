//! Global value numbering: values that a dominating block has computed are reused (Briggs, Cooper and Simpson,
//! "Value Numbering", 1997, section 4, dominator-based). Instructions are simplified during the walk, as by
//! `simplify`. A remainder whose quotient was computed is a product and a difference.
//!
//! Loads are replaced by the value that was loaded or stored at the same address, if nothing on any path between
//! may have written there. Stores of the value that is already there are deleted, and so are stores that are
//! overwritten or lost in the same block. Variables without `Aliased` do not alias, nor do constant indices that
//! differ. Barriers, atomics with an order, and calls invalidate knowledge of shared memory. Volatile and coherent
//! memory is left alone.
//!
//! `gvn-hoist` also hoists a computation that two blocks share into the block that dominates both, at its end, if
//! neither of them dominates the other. This is smaller, but it may run where neither of the two does. Only
//! instructions without effects that may run anywhere are hoisted.
//!
//! Before:
//! ```text
//! %a = OpAccessChain %ptr %buffer %zero %i
//!      OpStore %a %x
//! %b = OpAccessChain %ptr %buffer %zero %i
//! %y = OpLoad %int %b
//! ```
//! After: `%x` in the place of `%y`.

use crate::analyses::AnalysisCache;
use crate::gvn::GvnWalker;
use crate::pass::PassOutcome;
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::ir::{ErasedIds, SpirvModule};

pub fn run_gvn(
    module: &mut SpirvModule,
    cache: &mut AnalysisCache,
) -> Result<PassOutcome, SourceDiagnostic> {
    run_value_numbering(module, cache, false)
}

/// With hoisting of computations that two blocks share.
pub fn run_hoist(
    module: &mut SpirvModule,
    cache: &mut AnalysisCache,
) -> Result<PassOutcome, SourceDiagnostic> {
    run_value_numbering(module, cache, true)
}

fn run_value_numbering(
    module: &mut SpirvModule,
    cache: &mut AnalysisCache,
    hoist: bool,
) -> Result<PassOutcome, SourceDiagnostic> {
    let mut facts = cache.take_facts(module);
    facts.count_uses(module);
    let mut memory = cache.take_memory(module, &facts);
    let mut walker = GvnWalker::new(module, &mut facts, Some(&mut memory));
    if hoist {
        walker = walker.with_hoisting();
    }
    let mut erased = ErasedIds::new();
    for func in module.functions().to_vec() {
        let flow = cache.function_flow(module, func)?;
        walker.number_function(module, &flow, &mut erased);
    }
    module.sweep_annotations(&erased);
    let counts = walker.counts;
    cache.put_facts(facts);
    cache.put_memory(memory);
    Ok(PassOutcome {
        statistics: vec![
            ("instructions simplified", counts.simplified),
            ("instructions computed before", counts.redundant),
            ("instructions hoisted", counts.hoisted),
            ("loads answered", counts.loads),
            ("stores deleted", counts.stores),
        ],
    })
}
