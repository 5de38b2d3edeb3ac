//! Memory to SSA: variables of functions that are only loaded and stored as a whole become values
//! and phis. A wrapper of [`spirula_spirv::ssa`], which says how and by which sources.
//!
//! Before:
//! ```text
//! %x = OpVariable %ptr Function
//!      OpStore %x %one
//! %v = OpLoad %int %x
//! %w = OpIAdd %int %v %two
//! ```
//! After:
//! ```text
//! %w = OpIAdd %int %one %two
//! ```

use crate::analyses::Cache;
use crate::pass::Outcome;
use spirula_source::Diagnostic;
use spirula_spirv::ir::{Erased, Module};
use spirula_spirv::ssa::Promoter;

pub fn run(module: &mut Module, _cache: &mut Cache) -> Result<Outcome, Diagnostic> {
    let mut promoter = Promoter::new(module);
    let mut erased = Erased::new();
    let (mut variables, mut phis) = (0, 0);
    for func in module.functions().to_vec() {
        let promoted = promoter.promote(module, func, |_| true, &mut erased)?;
        variables += promoted.variables;
        phis += promoted.phis;
    }
    module.sweep(&erased);
    Ok(Outcome {
        statistics: vec![("variables promoted", variables), ("phis made", phis)],
    })
}
