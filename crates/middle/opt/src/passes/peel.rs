//! Loop peeling: the first iteration of a loop moves before it, if this simplifies the others. That is so if a phi of
//! the header is the same from the second iteration on. It is also so if a branch or selection tests for the first
//! iteration. See Muchnick, "Advanced Compiler Design and Implementation", 1997, section 17.4. The loop must be known
//! to run, see [`crate::loops::TripCounter`].
//!
//! Before:
//! ```text
//! %h = OpLabel
//! %x = OpPhi %int %first %entry %other %body
//! ```
//! After: a copy of the iteration with `%first`, and a loop with `%other` in the place of `%x`.

use crate::analyses::{AnalysisCache, FlowAnalysis};
use crate::loops::{
    LoopPass, LoopPassContext, LoopShape, count_loop_iterations, count_loop_words,
    find_loop_shapes, run_loop_pass,
};
use crate::pass::PassOutcome;
use crate::values::ModuleValues;
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::ir::{Block, InstRef, SpirvModule};

/// Most words of an iteration.
const MOST_WORDS: usize = 256;
/// Most iterations that are evaluated to find out whether the loop runs at all.
const MOST_ITERATIONS: u32 = 1 << 12;

pub fn run_peel(
    module: &mut SpirvModule,
    cache: &mut AnalysisCache,
) -> Result<PassOutcome, SourceDiagnostic> {
    run_loop_pass(module, cache, &mut LoopPeeling, "loops peeled")
}

struct LoopPeeling;

impl LoopPass for LoopPeeling {
    type Candidate = LoopShape;

    fn find_candidates(
        &self,
        tools: &mut LoopPassContext,
        module: &SpirvModule,
        flow: &FlowAnalysis,
    ) -> Vec<LoopShape> {
        find_loop_shapes(module, flow, tools.structured)
    }

    fn candidate_blocks<'a>(&self, shape: &'a LoopShape) -> &'a [Block] {
        &shape.blocks
    }

    fn transform_candidate(
        &mut self,
        tools: &mut LoopPassContext,
        module: &mut SpirvModule,
        shape: &LoopShape,
    ) -> bool {
        if count_loop_words(module, shape) > MOST_WORDS
            || !becomes_simpler(&tools.facts, module, shape)
        {
            return false;
        }
        let trips = count_loop_iterations(tools, module, shape, MOST_ITERATIONS);
        if trips.is_none_or(|c| c < 2) {
            return false;
        }
        let chain = tools
            .block_cloner(module)
            .clone_iterations(module, shape, 1, None);
        chain.insert_before_loop(module, shape);
        tools.mark_changed(shape.entry);
        true
    }
}

fn becomes_simpler(facts: &ModuleValues, module: &SpirvModule, shape: &LoopShape) -> bool {
    let (entry, latch) = (module.label(shape.entry), module.label(shape.latch));
    let is_inside = |id: Id| {
        let mut insts = shape.blocks.iter().flat_map(|b| module.body(*b));
        insts.any(|i| i.result() == Some(id))
    };
    module.phis(shape.header).any(|phi| {
        let own = phi.result();
        let (Some(first), Some(next)) = (
            module.phi_value(phi.handle(), entry),
            module.phi_value(phi.handle(), latch),
        ) else {
            return false;
        };
        // The value is the same from the second iteration on.
        if first != next && Some(next) != own && !is_inside(next) {
            return true;
        }
        facts.is_constant(module, first)
            && own.is_some_and(|own| has_first_iteration_test(facts, module, shape, own, first))
    })
}

/// Whether a condition in the loop tests whether a counter has its initial value.
fn has_first_iteration_test(
    facts: &ModuleValues,
    module: &SpirvModule,
    shape: &LoopShape,
    counter: Id,
    first: Id,
) -> bool {
    let deciding = |i: InstRef<'_>| matches!(i.op(), Op::BranchConditional | Op::Select);
    let blocks = shape.blocks.iter().filter(|b| **b != shape.exit);
    let mut insts = blocks
        .flat_map(|b| module.body(*b))
        .filter(|i| deciding(*i));
    insts.any(|i| {
        let Some(test) = facts.definition(module, i.id_operand(0)) else {
            return false;
        };
        let compared = matches!(test.op(), Op::IEqual | Op::INotEqual);
        let value = |id| facts.scalar_constant_bits(module, id);
        let is_first = |id| id == first || value(id).is_some() && value(id) == value(first);
        compared
            && (test.id_operand(0) == counter && is_first(test.id_operand(1))
                || test.id_operand(1) == counter && is_first(test.id_operand(0)))
    })
}
