//! Runtime unrolling: unrolls loops by N whose trip count is known only at run time. The unrolled loop runs while N
//! iterations are left (Muchnick, "Advanced Compiler Design and Implementation", 1997, section 17.4.3; LLVM's
//! "runtime unrolling"). Then a block of half as many iterations runs if that many are left, then a quarter, and so
//! on. A remainder loop would wait for the loads of each iteration separately.
//!
//! The pass is meant for loops that read memory and accumulate: the loads of several iterations need not wait for each
//! other. It takes innermost loops with a short body of one block that reads and does not write. The counter goes up by
//! a constant while it is below a bound.
//!
//! Before:
//! ```text
//! %h = OpLabel
//! %i = OpPhi %int %zero %entry %next %body
//! %c = OpSLessThan %bool %i %n
//!      OpLoopMerge %end %body None
//!      OpBranchConditional %c %body %end
//! ```
//! After, by two:
//! ```text
//! %less = OpISub %int %n %one
//! %fits = OpSLessThan %bool %less %n
//! %most = OpSelect %int %fits %less %lowest
//! ...
//! %h1 = OpLabel
//! %i1 = OpPhi %int %zero %entry %next2 %second
//! %c1 = OpSLessThan %bool %i1 %most
//!       OpLoopMerge %end %second None
//!       OpBranchConditional %c1 %first %end
//! ...
//! %end = OpLabel
//! %c2 = OpSLessThan %bool %i1 %n
//!       OpSelectionMerge %h None
//!       OpBranchConditional %c2 %last %h
//! ```

use crate::analyses::{AnalysisCache, FlowAnalysis};
use crate::loops::{
    IterationChain, LoopPass, LoopPassContext, LoopShape, append_branch, append_inst,
    count_loop_words, find_loop_shapes, gather_accesses, replace_predecessor,
};
use crate::pass::PassOutcome;
use crate::passes::unroll::{force_loop_exit, loop_control};
use crate::values::ModuleValues;
use spirula_diagnostics::SourceDiagnostic;
use spirula_scalar::fold::FoldType;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::LoopControl;
use spirula_spirv::ir::{Block, Inst, InstRef, SpirvModule};

/// Most words of an iteration.
const MOST_WORDS: usize = 128;

pub fn run_unroll_runtime(
    module: &mut SpirvModule,
    cache: &mut AnalysisCache,
    factor: &str,
) -> Result<PassOutcome, SourceDiagnostic> {
    let factor = factor.parse().unwrap_or(2);
    crate::loops::run_loop_pass(
        module,
        cache,
        &mut RuntimeUnrolling { factor },
        "loops unrolled",
    )
}

struct RuntimeUnrolling {
    factor: u32,
}

/// The counter of a loop.
pub struct LoopCounter {
    /// The comparison by which the loop continues, signed or unsigned.
    pub less: Op,
    /// The bound that the counter is compared with.
    pub bound: Id,
    /// The step that is added to it.
    pub step: u64,
    pub ty: Id,
    pub width: u32,
    /// Its position among the phis of the header.
    pub at: usize,
}

impl LoopPass for RuntimeUnrolling {
    type Candidate = LoopShape;

    fn is_worth(
        &self,
        tools: &mut LoopPassContext,
        module: &SpirvModule,
        flow: &FlowAnalysis,
    ) -> bool {
        let mut shapes = find_loop_shapes(module, flow, tools.structured).into_iter();
        shapes.any(|s| is_short(module, &s))
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
        if !is_short(module, shape) || !reads_only(module, tools, shape) {
            return false;
        }
        let Some(counter) = find_loop_counter(module, &tools.facts, shape) else {
            return false;
        };
        let factor = self.factor;
        unroll_with_remainder(
            module,
            tools,
            shape,
            &counter,
            factor,
            |module, tools, count, values| {
                let copier = tools.block_cloner(module);
                copier.clone_iterations(module, shape, count as usize, Some(values.to_vec()))
            },
        )
    }
}

/// Whether a loop consists of a header with the exit and one short block, and may be unrolled.
fn is_short(module: &SpirvModule, shape: &LoopShape) -> bool {
    let control = loop_control(module, shape);
    let said = [LoopControl::Unroll, LoopControl::DontUnroll];
    shape.blocks.len() == 2
        && shape.exit == shape.header
        && shape.stays_when
        && !said.iter().any(|s| control.contains(*s))
        && count_loop_words(module, shape) <= MOST_WORDS
}

/// Whether a loop reads memory and has no other effect.
fn reads_only(module: &SpirvModule, tools: &mut LoopPassContext, shape: &LoopShape) -> bool {
    let (memory, facts) = tools.alias_analysis(module);
    let found = gather_accesses(module, facts, memory, &shape.blocks);
    found.is_some_and(|found| !found.reads.is_empty() && found.writes.is_empty())
}

/// The counter of a loop that runs while the counter is below a bound.
pub fn find_loop_counter(
    module: &SpirvModule,
    facts: &ModuleValues,
    shape: &LoopShape,
) -> Option<LoopCounter> {
    let condition = facts.definition(module, module.terminator(shape.header).id_operand(0))?;
    let (less, [value, bound]) = match condition.op() {
        Op::SLessThan | Op::ULessThan => (
            condition.op(),
            [condition.id_operand(0), condition.id_operand(1)],
        ),
        Op::SGreaterThan => (
            Op::SLessThan,
            [condition.id_operand(1), condition.id_operand(0)],
        ),
        Op::UGreaterThan => (
            Op::ULessThan,
            [condition.id_operand(1), condition.id_operand(0)],
        ),
        _ => return None,
    };
    let mut phis = module.phis(shape.header);
    let at = phis.position(|p| p.result() == Some(value))?;
    let phi = facts.definition(module, value)?.handle();
    let next = facts.definition(module, module.phi_value(phi, module.label(shape.latch))?)?;
    let steps = match [next.get_id(0)?, next.get_id(1)?] {
        [of, step] if of == value => facts.scalar_constant_bits(module, step),
        [step, of] if of == value => facts.scalar_constant_bits(module, step),
        _ => None,
    };
    let ty = facts.type_of(module, value)?;
    let Some(FoldType::Int { width }) = facts.scalar_type(module, ty) else {
        return None;
    };
    let step = steps?.bits;
    let inside = |id: Id| {
        let mut insts = shape.blocks.iter().flat_map(|b| module.body(*b));
        insts.any(|i| i.result() == Some(id))
    };
    let counts = next.op() == Op::IAdd && step > 0 && step < 1 << (width.min(32) - 8);
    (counts && facts.type_of(module, bound) == Some(ty) && !inside(bound)).then_some(LoopCounter {
        less,
        bound,
        step,
        ty,
        width,
        at,
    })
}

/// The powers of two below a factor, largest first; every smaller number is a sum of some of them.
fn remainder_factors(factor: u32) -> impl Iterator<Item = u32> {
    let most = (factor - 1).checked_ilog2();
    most.into_iter()
        .flat_map(|most| (0..=most).rev())
        .map(|bit| 1 << bit)
}

/// The bound of the counter while n iterations are left, computed before the loop.
fn compute_unrolled_bound(
    module: &mut SpirvModule,
    facts: &mut ModuleValues,
    shape: &LoopShape,
    counter: &LoopCounter,
    factor: u32,
) -> Option<Id> {
    let LoopCounter {
        less, bound, ty, ..
    } = *counter;
    if factor == 1 {
        return Some(bound);
    }
    let before = module.terminator(shape.entry).handle();
    let ahead = facts.intern_scalar(module, ty, counter.step * u64::from(factor - 1))?;
    let lowest = match less {
        Op::SLessThan => 1 << (counter.width - 1),
        _ => 0,
    };
    let lowest = facts.intern_scalar(module, ty, lowest)?;
    let bool = facts.intern_type(module, Op::TypeBool, &[]);
    let mut insert = |op, ty, operands: &[Id]| {
        let words: Vec<u32> = operands.iter().map(|id| id.word()).collect();
        facts.insert_inst(module, before, op, ty, &words)
    };
    let reduced = insert(Op::ISub, ty, &[bound, ahead]);
    // The subtraction wraps for the lowest bounds.
    let fits = insert(less, bool, &[reduced, bound]);
    Some(insert(Op::Select, ty, &[fits, reduced, lowest]))
}

/// Unrolls a loop by a factor, with blocks for the remaining iterations, or declines. The iterations are created
/// with values for the phis of the header.
pub fn unroll_with_remainder(
    module: &mut SpirvModule,
    tools: &mut LoopPassContext,
    shape: &LoopShape,
    counter: &LoopCounter,
    factor: u32,
    mut iterations: impl FnMut(&mut SpirvModule, &mut LoopPassContext, u32, &[Id]) -> IterationChain,
) -> bool {
    let counts: Vec<u32> = std::iter::once(factor)
        .chain(remainder_factors(factor))
        .collect();
    let bounds = counts
        .iter()
        .map(|count| compute_unrolled_bound(module, &mut tools.facts, shape, counter, *count));
    let Some(bounds) = bounds.collect::<Option<Vec<Id>>>() else {
        return false;
    };
    let entry = module.label(shape.entry);
    let phis = module.phis(shape.header);
    let begun = phis.filter_map(|phi| module.phi_value(phi.handle(), entry));
    let mut values: Vec<Id> = begun.collect();
    let mut at = new_block(module, shape);
    let start = module.label(at);
    module.branch_to(shape.entry, Some(start));
    for (count, most) in counts.into_iter().zip(bounds) {
        let place = UnrollTarget {
            shape,
            counter,
            most,
            is_loop: count == factor,
        };
        let iterations = |module: &mut SpirvModule, tools: &mut LoopPassContext, values: &[Id]| {
            iterations(module, tools, count, values)
        };
        (at, values) = place.emit_guarded_iterations(module, tools, at, values, iterations);
    }
    append_branch(module, at, module.label(shape.header));
    replace_predecessor(module, shape.header, [shape.entry, at], &values);
    let merge = module.merge_inst(shape.header).map(InstRef::handle);
    merge
        .into_iter()
        .for_each(|merge| module.remove_inst(merge));
    force_loop_exit(module, shape);
    tools.mark_changed(shape.entry);
    true
}

/// A new block of the loop's function, outside of the loop.
fn new_block(module: &mut SpirvModule, shape: &LoopShape) -> Block {
    let func = module.block(shape.header).func;
    let label = module.fresh_id();
    module.create_block(func, label)
}

/// A destination of copied iterations: they run while the counter is below a bound, or once if it is.
struct UnrollTarget<'a> {
    shape: &'a LoopShape,
    counter: &'a LoopCounter,
    most: Id,
    is_loop: bool,
}

impl UnrollTarget<'_> {
    /// Emits iterations after a block without a terminator, for given values of the header's phis. Returns the
    /// block after them, and the values there.
    fn emit_guarded_iterations(
        &self,
        module: &mut SpirvModule,
        tools: &mut LoopPassContext,
        at: Block,
        values: Vec<Id>,
        iterations: impl FnOnce(&mut SpirvModule, &mut LoopPassContext, &[Id]) -> IterationChain,
    ) -> (Block, Vec<Id>) {
        let made: Vec<Id> = values.iter().map(|_| module.fresh_id()).collect();
        let end = new_block(module, self.shape);
        let (head, joined) = if self.is_loop {
            let head = new_block(module, self.shape);
            append_branch(module, at, module.label(head));
            (head, head)
        } else {
            (at, end)
        };
        let before = if self.is_loop { &made } else { &values };
        let chain = iterations(module, tools, before);
        self.create_join_phis(
            module,
            joined,
            &made,
            [(&values, at), (&chain.values, chain.last)],
        );
        self.emit_entry_guard(module, tools, &chain, [head, end], before[self.counter.at]);
        append_branch(module, chain.last, module.label(joined));
        (end, made)
    }

    /// Creates phis at the beginning of a block that join values of two predecessors.
    fn create_join_phis(
        &self,
        module: &mut SpirvModule,
        block: Block,
        made: &[Id],
        from: [(&[Id], Block); 2],
    ) {
        let phis: Vec<Inst> = module
            .phis(self.shape.header)
            .map(InstRef::handle)
            .collect();
        for (at, phi) in phis.into_iter().enumerate() {
            let ty = module.inst(phi).result_type().unwrap_or(self.counter.ty);
            let [one, other] = from.map(|(values, from)| [values[at], module.label(from)]);
            let words = [ty, made[at], one[0], one[1], other[0], other[1]];
            let inst = module.create_inst(Op::Phi, &words.map(Id::word));
            module.append_inst(module.block(block).body, inst);
        }
    }

    /// Makes a block enter the iterations if the counter is below the bound.
    fn emit_entry_guard(
        &self,
        module: &mut SpirvModule,
        tools: &mut LoopPassContext,
        chain: &IterationChain,
        [head, end]: [Block; 2],
        value: Id,
    ) {
        let body = module.block(head).body;
        let bool = tools.facts.intern_type(module, Op::TypeBool, &[]);
        let condition = append_inst(module, head, self.counter.less, bool, &[value, self.most]);
        let [first, last, exit] = [chain.first, chain.last, end].map(|b| module.label(b));
        if tools.structured {
            let merge = if self.is_loop {
                let words = [exit.word(), last.word(), LoopControl::DontUnroll.0];
                module.create_inst(Op::LoopMerge, &words)
            } else {
                module.create_inst(Op::SelectionMerge, &[exit.word(), 0])
            };
            module.append_inst(body, merge);
        }
        let words = [condition, first, exit].map(Id::word);
        let branch = module.create_inst(Op::BranchConditional, &words);
        module.append_inst(body, branch);
    }
}
