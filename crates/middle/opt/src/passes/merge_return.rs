//! Return merging: gives each function of a structured module a single return, outside of all constructs. In this
//! form a function can be inlined.
//!
//! The body goes into a switch of one case. A return within selections becomes a branch to the merge block of the
//! switch. A return within a loop or a further switch records that the function has returned and leaves that construct.
//! The merge block of the construct then continues to the next construct around it. Exits become predicates in the same
//! way in Bahmann et al., "Perfect Reconstructability of Control Flow from Demand Dependence Graphs", 2015, section 4.
//! Values that no longer reach their uses go through variables, for `mem2reg`.
//!
//! Before:
//! ```text
//!      OpSelectionMerge %m None
//!      OpBranchConditional %c %a %m
//! %a = OpLabel
//!      OpReturnValue %one
//! %m = OpLabel
//!      OpReturnValue %two
//! ```
//! After:
//! ```text
//!      OpSelectionMerge %end None
//!      OpSwitch %zero %body
//! %body = OpLabel
//!      OpSelectionMerge %m None
//!      OpBranchConditional %c %a %m
//! %a = OpLabel
//!      OpStore %value %one
//!      OpBranch %end
//! %m = OpLabel
//!      OpStore %value %two
//!      OpBranch %end
//! %end = OpLabel
//! %v = OpLoad %int %value
//!      OpReturnValue %v
//! ```

use crate::analyses::AnalysisCache;
use crate::merge_return::ReturnMerger;
use crate::pass::PassOutcome;
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::ir::{ErasedIds, SpirvModule};

pub fn run_merge_return(
    module: &mut SpirvModule,
    cache: &mut AnalysisCache,
) -> Result<PassOutcome, SourceDiagnostic> {
    let ids = cache.id_words(module);
    let mut merger = ReturnMerger::new(module);
    let mut erased = ErasedIds::new();
    if module.is_structured() {
        for func in module.functions().to_vec() {
            merger.merge_returns(module, &ids, func, &mut erased)?;
        }
    }
    module.sweep_annotations(&erased);
    Ok(PassOutcome {
        statistics: vec![
            ("functions given one return", merger.merged),
            ("functions freed of unreachable blocks", merger.trimmed),
        ],
    })
}
