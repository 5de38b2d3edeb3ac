//! Memory-to-register promotion: function variables that are only loaded and stored as a whole become values and
//! phis. This is a wrapper of [`spirula_spirv::ssa`], which names the algorithm and its sources.
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

use crate::analyses::AnalysisCache;
use crate::pass::PassOutcome;
use crate::structure::has_variables;
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::ir::SpirvModule;
use spirula_spirv::ssa;

pub fn run_mem2reg(
    module: &mut SpirvModule,
    _: &mut AnalysisCache,
) -> Result<PassOutcome, SourceDiagnostic> {
    if !module.functions().iter().any(|f| has_variables(module, *f)) {
        return Ok(PassOutcome::default());
    }
    let promoted = ssa::construct_ssa(module)?;
    Ok(PassOutcome {
        statistics: vec![
            ("variables promoted", promoted.variables),
            ("phis made", promoted.phis),
        ],
    })
}
