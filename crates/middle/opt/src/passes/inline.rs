//! Inlining: copies of functions replace calls. Callees come first, so that each function is copied in its final
//! form (Scheifler, "An Analysis of Inline Substitution for a Structured Programming Language", 1977).
//!
//! `inline-all` takes every function that can be copied. This excludes recursive and imported functions, and
//! kernels with arguments by value. `inline` takes functions with internal linkage that do not ask to stay, and
//! others that are called once or are hardly longer than their call. `inline-small` takes those whose copies are
//! not expected to enlarge the module.
//!
//! Functions of structured modules get a single return first, as by `merge-return`. Functions without remaining
//! calls are deleted at once, so that later passes see each body once. Variables remain for `sroa` and `mem2reg`.
//!
//! Before:
//! ```text
//! %r = OpFunctionCall %int %twice %x
//! ```
//! After:
//! ```text
//! %r = OpIAdd %int %x %x
//! ```

use crate::analyses::AnalysisCache;
use crate::inline::{CallInliner, CalleeTable, InlinePolicy};
use crate::pass::PassOutcome;
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::ir::{ErasedIds, SpirvModule};

/// Most words by which a call may be expected to enlarge the module.
const SLACK: usize = 12;

/// Inlines functions with internal linkage, and others by cost.
pub fn run_inline(
    module: &mut SpirvModule,
    cache: &mut AnalysisCache,
) -> Result<PassOutcome, SourceDiagnostic> {
    run_with_policy(module, cache, InlinePolicy::Hidden(SLACK))
}

/// Inlines where the module does not grow.
pub fn run_small(
    module: &mut SpirvModule,
    cache: &mut AnalysisCache,
) -> Result<PassOutcome, SourceDiagnostic> {
    run_with_policy(module, cache, InlinePolicy::Words(0))
}

/// Inlines regardless of cost.
pub fn run_all(
    module: &mut SpirvModule,
    cache: &mut AnalysisCache,
) -> Result<PassOutcome, SourceDiagnostic> {
    run_with_policy(module, cache, InlinePolicy::All)
}

fn run_with_policy(
    module: &mut SpirvModule,
    cache: &mut AnalysisCache,
    policy: InlinePolicy,
) -> Result<PassOutcome, SourceDiagnostic> {
    let calls = cache.call_graph(module);
    if module
        .functions()
        .iter()
        .all(|f| calls.callees(*f).is_empty())
    {
        return Ok(PassOutcome::default());
    }
    let callees = CalleeTable::new(module, &calls, policy);
    let mut splicer = CallInliner::new(module, callees);
    let mut erased = ErasedIds::new();
    for func in calls.bottom_up() {
        splicer.inline_calls(module, *func, &mut erased)?;
    }
    let dropped = splicer.drop_uncalled(module, &mut erased);
    module.sweep_annotations(&erased);
    Ok(PassOutcome {
        statistics: vec![
            ("calls replaced", splicer.inlined),
            ("functions deleted", dropped),
            ("functions given one return", splicer.merger.merged),
            (
                "functions freed of unreachable blocks",
                splicer.merger.trimmed,
            ),
        ],
    })
}
