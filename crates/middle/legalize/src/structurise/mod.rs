//! Structured control flow for any control-flow graph.
//!
//! Shaders must have structured control flow (SPIR-V specification, section 2.11); kernels have what the optimiser left of their
//! source. The steps:
//! 1. [`reducible_graph`]: loops get a single entry, so that the graph is reducible.
//! 2. [`structurise_function`]: the dominator tree is walked. A loop becomes a loop construct, left by branches to its merge block. Of a
//!    branch, the blocks that it alone leads to become its arms; the blocks that its arms lead to follow its merge block. Where several
//!    blocks may follow, or a loop has several exits, a variable names the target, and each target is put after a test of it. This is the
//!    restructuring with predicates of Bahmann, Reissmann, Jahre and Meyer ("Perfect Reconstructability of Control Flow from Demand
//!    Dependence Graphs", 2015), with two differences: branches out of loops stay where the innermost loop is meant, as SPIR-V
//!    allows, and tests are only made where several blocks may follow.
//! 3. [`demotion`]: values whose definitions no longer dominate their uses go through variables, as phis do. All of these become values
//!    again.
//!
//! Blocks are never copied. Reconvergence is kept: code that the arms of a branch share is run by all of their invocations together.

mod block_writer;
mod demotion;
mod emit;
mod reducible_graph;
mod target_numbers;

use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::analysis::{FlowGraph, IdDefinitions};
use spirula_spirv::ir::{ErasedIds, IdWords, SpirvModule};
use spirula_spirv::ssa::VariablePromoter;

/// Gives all functions of a module structured control flow.
///
/// # Errors
/// When a function is malformed, or constructs would nest deeper than [`DEEPEST`].
pub fn structurise_module(module: &mut SpirvModule) -> Result<(), SourceDiagnostic> {
    let mut variables = Vec::new();
    let ids = IdWords::new(module);
    let mut erased = ErasedIds::new();
    for func in module.functions().to_vec() {
        if module.function(func).blocks.is_empty() {
            continue;
        }
        module.remove_unreachable(&ids, func, &mut erased);
        let definitions = IdDefinitions::from_module(module);
        let cfg = FlowGraph::from_function(module, &definitions, func)?;
        let mut slots = demotion::DemotionSlots::new(module);
        emit::structurise_function(module, &ids, func, &cfg, &mut slots)?;
        demotion::demote_values(module, func, &mut slots)?;
        variables.extend(slots.insert_variables(module, func));
    }
    let mut promoter = VariablePromoter::new(module);
    for func in module.functions().to_vec() {
        let mine = |id| variables.contains(&id);
        promoter.promote_variables(module, func, mine, &mut erased)?;
    }
    module.sweep_annotations(&erased);
    Ok(())
}

/// Deepest nesting of constructs.
pub const DEEPEST: u32 = 400;
