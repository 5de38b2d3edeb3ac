//! Loop fusion: merges adjacent loops of equal trip count (Kennedy and McKinley, "Maximizing Loop Parallelism and
//! Improving Data Locality via Loop Fusion and Distribution", 1993).
//!
//! The exits of both loops must be in their headers, and the trip count must be known. The second loop must not use
//! values of the first. Neither loop may write a variable that the other accesses. Loops with barriers or group
//! operations stay.
//!
//! Before: `for (i) a[i] = x[i]; for (j) b[j] = y[j];`. After: `for (i, j) { a[i] = x[i]; b[j] = y[j]; }`.

use crate::analyses::{AnalysisCache, FlowAnalysis};
use crate::gvn::AliasAnalysis;
use crate::loops::{
    LoopAccess, LoopPass, LoopPassContext, LoopShape, are_apart, count_loop_iterations,
    find_loop_shapes, gather_accesses, run_loop_pass,
};
use crate::pass::PassOutcome;
use crate::values::ModuleValues;
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::ir::{Block, IdWords, Inst, InstRef, SpirvModule};

/// Most iterations that are evaluated.
const MOST_ITERATIONS: u32 = 1 << 12;

pub fn run_fuse(
    module: &mut SpirvModule,
    cache: &mut AnalysisCache,
) -> Result<PassOutcome, SourceDiagnostic> {
    run_loop_pass(module, cache, &mut LoopFusion, "loops fused")
}

struct LoopFusion;

impl LoopPass for LoopFusion {
    type Candidate = LoopPair;

    /// A fused loop may be fused with the next one.
    const LEVELS: usize = usize::MAX;

    fn is_worth(
        &self,
        tools: &mut LoopPassContext,
        module: &SpirvModule,
        flow: &FlowAnalysis,
    ) -> bool {
        find_loop_shapes(module, flow, tools.structured).len() > 1
    }

    fn find_candidates(
        &self,
        tools: &mut LoopPassContext,
        module: &SpirvModule,
        flow: &FlowAnalysis,
    ) -> Vec<LoopPair> {
        find_fusible_pair(tools, module, flow).into_iter().collect()
    }

    fn candidate_blocks<'a>(&self, pair: &'a LoopPair) -> &'a [Block] {
        &pair.first.blocks
    }

    fn transform_candidate(
        &mut self,
        tools: &mut LoopPassContext,
        module: &mut SpirvModule,
        pair: &LoopPair,
    ) -> bool {
        fuse_loops(module, &tools.facts.ids, &pair.first, &pair.second);
        true
    }
}

/// Two adjacent loops.
struct LoopPair {
    first: LoopShape,
    second: LoopShape,
}

/// Two loops of a function that can be fused.
fn find_fusible_pair(
    tools: &mut LoopPassContext,
    module: &SpirvModule,
    flow: &FlowAnalysis,
) -> Option<LoopPair> {
    let all = find_loop_shapes(module, flow, tools.structured);
    let follows = |a: &LoopShape, b: &LoopShape| module.label(b.entry) == a.leaves;
    let at_header = |s: &LoopShape| s.exit == s.header && s.latch != s.header;
    for first in all.iter().filter(|s| at_header(s)) {
        let Some(second) = all.iter().find(|s| follows(first, s) && at_header(s)) else {
            continue;
        };
        let trips = count_loop_iterations(tools, module, first, MOST_ITERATIONS);
        let same = trips.is_some()
            && trips == count_loop_iterations(tools, module, second, MOST_ITERATIONS);
        if same && may_fuse(module, tools, flow, first, second) {
            let (first, second) = (first.clone(), second.clone());
            return Some(LoopPair { first, second });
        }
    }
    None
}

fn may_fuse(
    module: &SpirvModule,
    tools: &mut LoopPassContext,
    flow: &FlowAnalysis,
    first: &LoopShape,
    second: &LoopShape,
) -> bool {
    let (memory, facts) = tools.alias_analysis(module);
    let func = module.block(first.header).func;
    let between = second.entry;
    let joins = flow.cfg.block_position(module.label(between));
    let alone = joins.is_some_and(|at| flow.cfg.predecessors(at).len() == 1);
    let kept = |i: InstRef<'_>| i.op() == Op::Branch || i.op().effects().is_pure();
    let mut values: Vec<Id> = Vec::new();
    for block in &first.blocks {
        values.extend(module.body(*block).filter_map(InstRef::result));
    }
    values.sort_unstable();
    let uses = |i: InstRef<'_>| {
        let mut found = false;
        facts
            .ids
            .visit_uses(i, |_, id| found |= values.binary_search(&id).is_ok());
        found
    };
    let uses_after = || {
        let blocks = second.blocks.iter().chain([&between]);
        blocks.flat_map(|b| module.body(*b))
    };
    // Uses of values of the second header after the loop get the copies in the first header.
    let own: Vec<Id> = module
        .body(second.header)
        .filter(|i| i.op() != Op::Phi)
        .filter_map(InstRef::result)
        .collect();
    let stays_in = module.function(func).blocks.iter().all(|b| {
        second.blocks.contains(b)
            || module.body(*b).all(|i| {
                let mut inside = true;
                facts
                    .ids
                    .visit_uses(i, |_, id| inside &= !own.contains(&id));
                inside
            })
    });
    alone
        && stays_in
        && module.body(between).all(kept)
        && module.body(second.header).all(|i| {
            let op = i.op();
            op == Op::Phi || op == Op::LoopMerge || op.is_terminator() || op.effects().is_pure()
        })
        && !uses_after().any(uses)
        && are_independent(module, facts, memory, &first.blocks, &second.blocks)
}

fn are_independent(
    module: &SpirvModule,
    facts: &ModuleValues,
    memory: &AliasAnalysis,
    a: &[Block],
    b: &[Block],
) -> bool {
    let found =
        gather_accesses(module, facts, memory, a).zip(gather_accesses(module, facts, memory, b));
    let Some((a, b)) = found else {
        return false;
    };
    let all = |xs: &[LoopAccess], ys: &[LoopAccess]| {
        let apart = |x: &LoopAccess, y: &LoopAccess| are_apart(module, facts, memory, x, y);
        xs.iter().all(|x| ys.iter().all(|y| apart(x, y)))
    };
    all(&a.writes, &b.writes) && all(&a.writes, &b.reads) && all(&a.reads, &b.writes)
}

fn fuse_loops(module: &mut SpirvModule, ids: &IdWords, first: &LoopShape, second: &LoopShape) {
    // Instructions between the loops move before both.
    let between: Vec<Inst> = module.body(second.entry).map(InstRef::handle).collect();
    let end = module.before_end(first.entry);
    for inst in between {
        if !module.inst(inst).op().is_terminator() {
            module.move_before(end, inst);
        }
    }
    let [head, other] = [first, second].map(|s| module.label(s.header));
    let [latch, last] = [first, second].map(|s| module.label(s.latch));
    let [entry, between] = [first, second].map(|s| module.label(s.entry));
    let rename = |module: &mut SpirvModule, phi: Inst, pairs: [(Id, Id); 2]| {
        for pair in module.words_mut(phi)[2..].chunks_exact_mut(2) {
            let new = pairs.iter().find(|(old, _)| old.word() == pair[1]);
            if let Some((_, new)) = new {
                pair[1] = new.word();
            }
        }
    };
    for phi in gather_phis(module, first.header) {
        rename(module, phi, [(latch, last), (entry, entry)]);
    }
    let place = module.first_after_phis(first.header);
    for phi in gather_phis(module, second.header) {
        rename(module, phi, [(between, entry), (last, last)]);
        module.move_before(place, phi);
    }
    // The merge instruction of the second loop is deleted; that of the first gets its blocks.
    let merges = [first, second].map(|s| module.merge_inst(s.header).map(InstRef::handle));
    if let [Some(merge), Some(gone)] = merges {
        let words = module.inst(gone).words()[..2].to_vec();
        module.words_mut(merge)[..2].copy_from_slice(&words);
        module.remove_inst(gone);
    }
    let leave = module.terminator(first.header).handle();
    let between_or = |id: Id| {
        if id == first.leaves {
            second.leaves
        } else {
            id
        }
    };
    ids.rewrite_uses(module, leave, between_or);
    let func = module.block(first.header).func;
    if let Some(left) = module.find_block(func, second.leaves) {
        module.rename_phi_parent(left, other, head);
    }
    module.branch_to(second.header, Some(second.stays));
    let back = module.terminator(first.latch).handle();
    ids.rewrite_uses(module, back, |id| if id == head { other } else { id });
    let back = module.terminator(second.latch).handle();
    ids.rewrite_uses(module, back, |id| if id == other { head } else { id });
    // The block between the loops has no predecessor any more.
    module.branch_to(second.entry, None);
}

fn gather_phis(module: &SpirvModule, block: Block) -> Vec<Inst> {
    module.phis(block).map(InstRef::handle).collect()
}
