//! Aggressive dead-code elimination: every instruction is assumed dead until a live one needs it. See Cytron et al.,
//! "Efficiently Computing Static Single Assignment Form and the Control Dependence Graph", 1991, section 7.1.
//!
//! The roots are effects that others can observe: writes to shared memory, atomics, barriers, calls of functions
//! with effects, and leaving a function. Instructions become live by their uses, branches by the blocks that they
//! decide on, functions by calls, and globals by uses. A store to a function variable becomes live when the
//! variable is read. Unused interface variables leave the entry points, except outputs. In compute shaders
//! variables with a binding stay, too, so that a launch that fits the module still does; `adce-bindings` deletes
//! them as well. Loops without effects are assumed to terminate.
//!
//! Before:
//! ```text
//!       OpSelectionMerge %m None
//!       OpBranchConditional %c %a %m
//! %a  = OpLabel
//! %k  = OpFMul %float %x %x
//!       OpBranch %m
//! %m  = OpLabel
//!       OpReturn
//! ```
//! After:
//! ```text
//!       OpBranch %m
//! %m  = OpLabel
//!       OpReturn
//! ```

use crate::adce::{marks::LivenessMarks, sweep};
use crate::analyses::AnalysisCache;
use crate::pass::PassOutcome;
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::ExecutionModel;
use spirula_spirv::ir::{ErasedIds, ModuleSection, SpirvModule};

pub fn run_adce(
    module: &mut SpirvModule,
    cache: &mut AnalysisCache,
) -> Result<PassOutcome, SourceDiagnostic> {
    let launched = is_launched(module);
    run_dead_code_elimination(module, cache, launched)
}

/// Whether the module is launched with arguments for its bindings. The alternative is a pipeline stage whose
/// layout the host knows.
fn is_launched(module: &SpirvModule) -> bool {
    let models = [ExecutionModel::GLCompute.0, ExecutionModel::Kernel.0];
    let entries = module.section_insts(ModuleSection::EntryPoints);
    let mut entries = entries.filter(|e| e.op() == Op::EntryPoint).peekable();
    entries.peek().is_none() || entries.any(|e| models.contains(&e.operand_word(0)))
}

/// Deletes unused variables with a binding as well. Launches need fewer arguments then.
pub fn run_bindings(
    module: &mut SpirvModule,
    cache: &mut AnalysisCache,
) -> Result<PassOutcome, SourceDiagnostic> {
    run_dead_code_elimination(module, cache, false)
}

fn run_dead_code_elimination(
    module: &mut SpirvModule,
    cache: &mut AnalysisCache,
    bindings: bool,
) -> Result<PassOutcome, SourceDiagnostic> {
    let ids = cache.id_words(module);
    let mut erased = ErasedIds::new();
    let mut unreachable = 0;
    for func in module.functions().to_vec() {
        if !cache.function_flow(module, func)?.is_all_reachable()
            && module.remove_unreachable(&ids, func, &mut erased)
        {
            unreachable += 1;
            cache.drop_flow(func);
        }
    }
    if unreachable > 0 {
        module.sweep_annotations(&erased);
        cache.retain_analyses(crate::AnalysisSet::FLOW);
    }
    let marks = LivenessMarks::compute_marks(module, cache, bindings)?;
    let mut outcome = sweep::sweep_unmarked(module, &marks);
    outcome
        .statistics
        .push(("functions freed of unreachable blocks", unreachable));
    Ok(outcome)
}
