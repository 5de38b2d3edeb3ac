//! Loop unrolling: copies the iterations of a loop with a known trip count one after the other. See Muchnick, "Advanced
//! Compiler Design and Implementation", 1997, section 17.4.3.
//!
//! `unroll` takes the loops that request it (`Unroll`). `unroll-small` also takes loops with few and short
//! iterations. `unroll-by=N` merges N iterations into one if N divides the trip count. The loop must be left by one
//! branch that every iteration reaches, and must not be continued from within constructs. Trip counts are computed,
//! see [`crate::loops::TripCounter`].
//!
//! Before:
//! ```text
//! %h = OpLabel
//! %i = OpPhi %int %zero %entry %j %body
//! %c = OpSLessThan %bool %i %two
//!      OpLoopMerge %m %body Unroll
//!      OpBranchConditional %c %body %m
//! %body = OpLabel
//!      OpStore %x %i
//! %j = OpIAdd %int %i %one
//!      OpBranch %h
//! ```
//! After:
//! ```text
//!      OpStore %x %zero
//! %j1 = OpIAdd %int %zero %one
//!      OpStore %x %j1
//! ```

use crate::analyses::{AnalysisCache, FlowAnalysis};
use crate::loops::{
    BlockCloner, LoopPass, LoopPassContext, LoopShape, count_loop_iterations, count_loop_words,
    find_loop_shapes, run_loop_pass,
};
use crate::pass::PassOutcome;
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::LoopControl;
use spirula_spirv::ir::{Block, Inst, InstRef, SpirvModule};

/// Most iterations of a loop that requests unrolling.
const MOST_ITERATIONS: u32 = 1024;
/// Most words of all iterations of such a loop.
const MOST_WORDS: usize = 1 << 14;
/// Most words of all iterations of any other loop.
const SMALL: usize = 192;
/// Highest trip count of a loop that is partially unrolled.
const MOST_COUNTED: u32 = 1 << 12;

/// Unrolls loops that request it.
pub fn run_unroll(
    module: &mut SpirvModule,
    cache: &mut AnalysisCache,
) -> Result<PassOutcome, SourceDiagnostic> {
    run_full_unrolling(module, cache, 0)
}

/// Unrolls small loops as well.
pub fn run_small(
    module: &mut SpirvModule,
    cache: &mut AnalysisCache,
) -> Result<PassOutcome, SourceDiagnostic> {
    run_full_unrolling(module, cache, SMALL)
}

/// Whether a text is an unrolling factor.
pub fn is_factor(text: &str) -> bool {
    matches!(text.parse(), Ok(2..=64u32))
}

/// The loop control mask of a loop.
pub fn loop_control(module: &SpirvModule, shape: &LoopShape) -> LoopControl {
    let merge = module.merge_inst(shape.header);
    let merge = merge.filter(|m| m.op() == Op::LoopMerge);
    LoopControl(merge.map_or(0, |m| m.operand_word(2)))
}

fn run_full_unrolling(
    module: &mut SpirvModule,
    cache: &mut AnalysisCache,
    small: usize,
) -> Result<PassOutcome, SourceDiagnostic> {
    let mut pass = FullUnrolling {
        small,
        iterations: 0,
    };
    let mut outcome = run_loop_pass(module, cache, &mut pass, "loops unrolled")?;
    outcome
        .statistics
        .push(("iterations copied", pass.iterations));
    Ok(outcome)
}

/// Full unrolling.
struct FullUnrolling {
    /// Most words of all iterations of a loop that does not request unrolling.
    small: usize,
    iterations: usize,
}

impl LoopPass for FullUnrolling {
    type Candidate = LoopShape;

    /// Most levels of nested loops that are unrolled.
    const LEVELS: usize = 6;

    fn is_worth(
        &self,
        tools: &mut LoopPassContext,
        module: &SpirvModule,
        flow: &FlowAnalysis,
    ) -> bool {
        let asks =
            |s: &LoopShape| self.small > 0 || loop_control(module, s).contains(LoopControl::Unroll);
        find_loop_shapes(module, flow, tools.structured)
            .iter()
            .any(asks)
    }

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
        let Some(trips) = count_loop_iterations(tools, module, shape, MOST_ITERATIONS) else {
            return false;
        };
        let control = loop_control(module, shape);
        let most = if control.contains(LoopControl::Unroll) {
            MOST_WORDS
        } else {
            self.small
        };
        let size = count_loop_words(module, shape) * trips as usize;
        if control.contains(LoopControl::DontUnroll) || size > most {
            return false;
        }
        unroll_all_iterations(module, tools, shape, trips);
        tools.mark_changed(shape.entry);
        self.iterations += trips as usize;
        true
    }
}

/// Copies all iterations before the loop, and makes the remaining loop exit at once.
fn unroll_all_iterations(
    module: &mut SpirvModule,
    tools: &mut LoopPassContext,
    shape: &LoopShape,
    count: u32,
) {
    if count > 0 {
        let copier = tools.block_cloner(module);
        let chain = copier.clone_iterations(module, shape, count as usize, None);
        chain.insert_before_loop(module, shape);
    }
    let merge = module.merge_inst(shape.header).map(InstRef::handle);
    if let Some(merge) = merge.filter(|m| module.inst(*m).op() == Op::LoopMerge) {
        module.remove_inst(merge);
    }
    force_loop_exit(module, shape);
}

/// Makes the exit branch of a loop unconditional.
pub fn force_loop_exit(module: &mut SpirvModule, shape: &LoopShape) {
    let func = module.block(shape.header).func;
    if let Some(stays) = module.find_block(func, shape.stays) {
        module.remove_phi_parent(stays, module.label(shape.exit));
    }
    module.branch_to(shape.exit, Some(shape.leaves));
}

/// Unrolls partially.
pub fn run_by(
    module: &mut SpirvModule,
    cache: &mut AnalysisCache,
    factor: &str,
) -> Result<PassOutcome, SourceDiagnostic> {
    let factor = factor.parse().unwrap_or(2);
    run_loop_pass(
        module,
        cache,
        &mut PartialUnrolling { factor },
        "loops unrolled",
    )
}

/// Partial unrolling by a factor.
struct PartialUnrolling {
    factor: u32,
}

impl LoopPass for PartialUnrolling {
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
        let kept = loop_control(module, shape).contains(LoopControl::DontUnroll);
        if kept || count_loop_words(module, shape) * self.factor as usize > MOST_WORDS {
            return false;
        }
        let trips = count_loop_iterations(tools, module, shape, MOST_COUNTED);
        if !trips.is_some_and(|c| c > 0 && c.is_multiple_of(self.factor)) {
            return false;
        }
        unroll_by_factor(module, tools.block_cloner(module), shape, self.factor);
        true
    }
}

fn unroll_by_factor(
    module: &mut SpirvModule,
    copier: &mut BlockCloner,
    shape: &LoopShape,
    factor: u32,
) {
    let latch = module.label(shape.latch);
    let phis: Vec<Inst> = module.phis(shape.header).map(InstRef::handle).collect();
    let values = phis.iter().filter_map(|p| module.phi_value(*p, latch));
    let values: Vec<_> = values.collect();
    let chain = copier.clone_iterations(module, shape, factor as usize - 1, Some(values));
    let merge = module.merge_inst(shape.header);
    let merge = merge.filter(|m| m.op() == Op::LoopMerge);
    let continues = merge.map(|m| copier.resolve_clone(m.id_operand(1)));
    chain.insert_at_latch(module, shape, continues);
    disable_unrolling(module, shape.header);
}

/// Sets the hint against unrolling on a loop. Its hints about the trip count are no longer valid.
pub fn disable_unrolling(module: &mut SpirvModule, header: Block) {
    let merge = module.merge_inst(header).map(InstRef::handle);
    if let Some(merge) = merge.filter(|m| module.inst(*m).op() == Op::LoopMerge) {
        let words = module.inst(merge).words();
        let words = [words[0], words[1], LoopControl::DontUnroll.0];
        module.replace_words(merge, &words);
    }
}
