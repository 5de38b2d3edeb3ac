//! Scalar replacement of aggregates: a function variable of a structure or array type becomes a variable for each
//! member. It must only be accessed whole or at constant indices. See Muchnick, "Advanced Compiler Design and
//! Implementation", 1997, section 12.2. Accesses to components of vectors and matrices become accesses to the whole, if
//! no other address of the variable is needed. `mem2reg` turns the results into values.
//!
//! Before:
//! ```text
//! %s = OpVariable %structp Function
//! %p = OpAccessChain %floatp %s %one
//!      OpStore %p %x
//! ```
//! After:
//! ```text
//! %s.1 = OpVariable %floatp Function
//!      OpStore %s.1 %x
//! ```

use crate::analyses::AnalysisCache;
use crate::pass::PassOutcome;
use crate::sroa::{AggregateAccesses, AggregateSplitter, vectorise_accesses};
use crate::structure::has_variables;
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::ir::{ErasedIds, SpirvModule};

pub fn run_sroa(
    module: &mut SpirvModule,
    cache: &mut AnalysisCache,
) -> Result<PassOutcome, SourceDiagnostic> {
    if !module.functions().iter().any(|f| has_variables(module, *f)) {
        return Ok(PassOutcome::default());
    }
    let mut facts = cache.take_facts(module);
    let mut accesses = AggregateAccesses::new(module);
    let mut erased = ErasedIds::new();
    let (mut split, mut widened) = (0, 0);
    for func in module.functions().to_vec() {
        let found = accesses.gather_variables(&facts, module, func);
        if found.is_empty() {
            continue;
        }
        let mut splitter = AggregateSplitter {
            facts: &mut facts,
            accesses: &mut accesses,
            split: 0,
        };
        let mut whole = Vec::new();
        for variable in found {
            splitter.split_variable(module, variable, &mut whole, &mut erased);
        }
        split += splitter.split;
        for variable in whole {
            widened += vectorise_accesses(&mut facts, &accesses, module, &variable, &mut erased);
        }
    }
    module.sweep_annotations(&erased);
    cache.put_facts(facts);
    Ok(PassOutcome {
        statistics: vec![("variables split", split), ("accesses widened", widened)],
    })
}
