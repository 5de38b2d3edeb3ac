//! Loop unswitching: a branch within a loop whose condition is loop-invariant is taken once, before two copies of the
//! loop. See Allen and Cocke, "A Catalogue of Optimizing Transformations", 1972. The branches in the copies are on
//! constants, for `simplify-cfg`.
//!
//! The loop must be small and have one exit block, which nothing else leads to. Loops with barriers or group
//! operations stay, because the branch may make invocations diverge.
//!
//! Before: a loop with `OpBranchConditional %c %then %else` in it, `%c` from before the loop.
//!
//! After:
//! ```text
//!      OpSelectionMerge %merge None
//!      OpBranchConditional %c %loop %other_loop
//! ```

use crate::analyses::{AnalysisCache, FlowAnalysis};
use crate::loops::{BlockCloner, LoopPass, LoopPassContext, merges_inside, run_loop_pass};
use crate::pass::PassOutcome;
use crate::values::ModuleValues;
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::Id;
use spirula_spirv::analysis::LoopNest;
use spirula_spirv::grammar::{InstructionEffects, Op};
use spirula_spirv::ir::{Block, Func, IdWords, Inst, InstRef, SpirvModule};

/// Most words of a loop that is copied.
const MOST_WORDS: usize = 256;

pub fn run_unswitch(
    module: &mut SpirvModule,
    cache: &mut AnalysisCache,
) -> Result<PassOutcome, SourceDiagnostic> {
    run_loop_pass(module, cache, &mut LoopUnswitching, "loops unswitched")
}

struct LoopUnswitching;

impl LoopPass for LoopUnswitching {
    type Candidate = UnswitchCandidate;

    fn is_worth(
        &self,
        tools: &mut LoopPassContext,
        module: &SpirvModule,
        flow: &FlowAnalysis,
    ) -> bool {
        !self.find_candidates(tools, module, flow).is_empty()
    }

    fn find_candidates(
        &self,
        tools: &mut LoopPassContext,
        module: &SpirvModule,
        flow: &FlowAnalysis,
    ) -> Vec<UnswitchCandidate> {
        find_candidates(module, &tools.facts, flow, tools.structured)
    }

    fn candidate_blocks<'a>(&self, candidate: &'a UnswitchCandidate) -> &'a [Block] {
        &candidate.blocks
    }

    fn transform_candidate(
        &mut self,
        tools: &mut LoopPassContext,
        module: &mut SpirvModule,
        candidate: &UnswitchCandidate,
    ) -> bool {
        unswitch_loop(module, tools, candidate);
        // One loop of a nest at a time.
        tools.mark_changed(candidate.entry);
        tools.mark_changed(candidate.left);
        true
    }
}

/// A loop with an invariant branch.
struct UnswitchCandidate {
    entry: Block,
    header: Block,
    /// All blocks from the header on that are not after the loop, in reverse post-order.
    blocks: Vec<Block>,
    /// The exit block.
    left: Block,
    /// The block with the branch.
    branch: Block,
}

fn find_candidates(
    module: &SpirvModule,
    facts: &ModuleValues,
    flow: &FlowAnalysis,
    structured: bool,
) -> Vec<UnswitchCandidate> {
    let loops = LoopNest::from_cfg(&flow.cfg, &flow.dominators);
    let found = (0..loops.loops().len()).rev();
    found
        .filter_map(|at| match_candidate(module, facts, flow, &loops, at, structured))
        .collect()
}

fn match_candidate(
    module: &SpirvModule,
    facts: &ModuleValues,
    flow: &FlowAnalysis,
    loops: &LoopNest,
    at: usize,
    structured: bool,
) -> Option<UnswitchCandidate> {
    let (cfg, dominators) = (&flow.cfg, &flow.dominators);
    let header = loops.loops()[at].header;
    let mut outside = cfg.predecessors(header).to_vec();
    outside.retain(|p| !loops.contains(at as u32, *p));
    let [entry] = outside[..] else { return None };
    let plain = module.terminator(cfg.block(entry)).op() == Op::Branch
        && module.merge_inst(cfg.block(entry)).is_none();
    let left = find_exit_block(module, flow, loops, at, structured)?;
    let is_inside = |b: u32| {
        dominators.is_reachable(b)
            && dominators.dominates(header, b)
            && !dominators.dominates(left, b)
    };
    let order = cfg.reverse_postorder().iter().copied();
    let blocks: Vec<u32> = order.filter(|b| is_inside(*b)).collect();
    let ends = cfg.predecessors(left).iter().all(|p| is_inside(*p));
    let mut inside = vec![false; cfg.len()];
    blocks.iter().for_each(|b| inside[*b as usize] = true);
    // All exits lead to the one block.
    let closed = blocks.iter().all(|b| {
        let next = cfg.successors(*b);
        !next.is_empty() && next.iter().all(|s| inside[*s as usize] || *s == left)
    });
    let merged = !structured || merges_inside(module, flow, &blocks, header);
    if !plain || !ends || !closed || !merged || !is_copyable(module, facts, flow, &blocks) {
        return None;
    }
    let inside_defines = |id: Id| {
        let mut insts = blocks.iter().flat_map(|b| module.body(cfg.block(*b)));
        insts.any(|i| i.result() == Some(id))
    };
    let branch = blocks.iter().copied().find(|b| {
        let branch = module.terminator(cfg.block(*b));
        branch.op() == Op::BranchConditional
            && branch.id_operand(1) != branch.id_operand(2)
            && cfg.successors(*b).iter().all(|s| inside[*s as usize])
            && !facts.is_constant(module, branch.id_operand(0))
            && facts.defining_op(module, branch.id_operand(0)) != Op::Undef
            && !inside_defines(branch.id_operand(0))
    })?;
    Some(UnswitchCandidate {
        entry: cfg.block(entry),
        header: cfg.block(header),
        blocks: blocks.iter().map(|b| cfg.block(*b)).collect(),
        left: cfg.block(left),
        branch: cfg.block(branch),
    })
}

/// The single exit block of a loop.
fn find_exit_block(
    module: &SpirvModule,
    flow: &FlowAnalysis,
    loops: &LoopNest,
    at: usize,
    structured: bool,
) -> Option<u32> {
    let cfg = &flow.cfg;
    let header = loops.loops()[at].header;
    if structured {
        let merge = module.merge_inst(cfg.block(header))?;
        let left = cfg
            .block_position(merge.id_operand(0))
            .filter(|_| merge.op() == Op::LoopMerge)?;
        return flow.dominators.is_reachable(left).then_some(left);
    }
    let inside = (0..cfg.len() as u32).filter(|b| loops.contains(at as u32, *b));
    let mut left = None;
    for block in inside {
        for next in cfg.successors(block) {
            if !loops.contains(at as u32, *next) && *left.get_or_insert(*next) != *next {
                return None;
            }
        }
    }
    left.filter(|l| flow.dominators.dominates(header, *l))
}

/// Whether there are few blocks, and nothing in them depends on which invocations run together.
fn is_copyable(
    module: &SpirvModule,
    facts: &ModuleValues,
    flow: &FlowAnalysis,
    blocks: &[u32],
) -> bool {
    let mut words = 0;
    for block in blocks {
        for inst in module.body(flow.cfg.block(*block)) {
            words += 1 + inst.words().len();
            let op = inst.op();
            let effects = match op {
                Op::ExtInst => match facts.ids.ext_inst_set(inst) {
                    Some(set) if set.is_debug_info() => InstructionEffects::PURE,
                    Some(set) => set.instruction_effects(inst.operand_word(1)),
                    None => InstructionEffects::ANY,
                },
                Op::Phi | Op::LoopMerge | Op::SelectionMerge => InstructionEffects::PURE,
                op if op.is_line() || op.is_terminator() => InstructionEffects::PURE,
                op => op.effects(),
            };
            if effects.contains(InstructionEffects::CONVERGENT) || words > MOST_WORDS {
                return false;
            }
        }
    }
    true
}

fn unswitch_loop(
    module: &mut SpirvModule,
    tools: &mut LoopPassContext,
    candidate: &UnswitchCandidate,
) {
    let func = module.block(candidate.header).func;
    insert_exit_phis(module, &tools.facts.ids, func, candidate);
    // Each copy has an exit block of its own.
    let old = module.label(candidate.left);
    let ends = [(); 2].map(|()| {
        let label = module.fresh_id();
        module.create_block(func, label)
    });
    let outside = [(old, module.label(ends[1]))];
    let copier = tools.block_cloner(module);
    let copies = copier.clone_blocks(module, &candidate.blocks, &outside);
    split_loop_exits(module, candidate, copier, ends);
    let own = module.label(ends[0]);
    for block in &candidate.blocks {
        let merge = module.merge_inst(*block).map(InstRef::handle);
        let end = module.terminator(*block).handle();
        for inst in merge.into_iter().chain([end]) {
            let ids = &tools.facts.ids;
            ids.rewrite_uses(module, inst, |id| if id == old { own } else { id });
        }
    }
    let facts = &mut tools.facts;
    let condition = module.terminator(candidate.branch).id_operand(0);
    for (block, value) in [(candidate.branch, 1), (copy_of(candidate, &copies), 0)] {
        let ty = facts.type_of(module, condition);
        let known = ty.and_then(|ty| facts.intern_scalar(module, ty, value));
        let branch = module.terminator(block).handle();
        if let Some(known) = known {
            module.words_mut(branch)[0] = known.word();
        }
    }
    let other = module.label(copies[0]);
    let branch = module.terminator(candidate.entry).handle();
    if module.is_structured() {
        // No hints.
        let merge = module.create_inst(Op::SelectionMerge, &[old.word(), 0]);
        module.insert_before(branch, merge);
    }
    let words = [condition, module.label(candidate.header), other].map(Id::word);
    module.set_terminator(candidate.entry, Op::BranchConditional, &words);
}

fn copy_of(candidate: &UnswitchCandidate, copies: &[Block]) -> Block {
    let at = candidate.blocks.iter().position(|b| *b == candidate.branch);
    copies[at.unwrap_or(0)]
}

/// Inserts phis in the exit block for values of the loop that are used after it.
fn insert_exit_phis(
    module: &mut SpirvModule,
    ids: &IdWords,
    func: Func,
    candidate: &UnswitchCandidate,
) {
    let mut defined: Vec<(Id, Id)> = Vec::new();
    for block in &candidate.blocks {
        for inst in module.body(*block) {
            defined.extend(inst.result().zip(inst.result_type()));
        }
    }
    defined.sort_unstable();
    let label = module.label(candidate.left);
    let mut sources: Vec<Id> = Vec::new();
    for block in &candidate.blocks {
        if module
            .block_targets(ids, *block)
            .iter()
            .any(|t| t.1 == label)
        {
            sources.push(module.label(*block));
        }
    }
    let phis: Vec<Inst> = module.phis(candidate.left).map(InstRef::handle).collect();
    let mut users = Vec::new();
    let mut used: Vec<(Id, Id)> = Vec::new();
    for block in &module.function(func).blocks {
        if candidate.blocks.contains(block) {
            continue;
        }
        for inst in module.body(*block).filter(|i| !phis.contains(&i.handle())) {
            let mut uses = false;
            ids.visit_uses(inst, |_, id| {
                if let Ok(at) = defined.binary_search_by_key(&id, |d| d.0) {
                    used.push(defined[at]);
                    uses = true;
                }
            });
            if uses {
                users.push(inst.handle());
            }
        }
    }
    used.sort_unstable();
    used.dedup();
    let mut through = Vec::with_capacity(used.len());
    for (id, ty) in used {
        let new = module.fresh_id();
        let pairs = sources.iter().flat_map(|s| [id.word(), s.word()]);
        let words: Vec<u32> = [ty.word(), new.word()].into_iter().chain(pairs).collect();
        let phi = module.create_inst(Op::Phi, &words);
        let first = module.body(candidate.left).next().map(InstRef::handle);
        if let Some(first) = first {
            module.insert_before(first, phi);
        }
        through.push((id, new));
    }
    for user in users {
        ids.rewrite_uses(module, user, |id| {
            let found = through.binary_search_by_key(&id, |t| t.0);
            found.map_or(id, |at| through[at].1)
        });
    }
}

/// Gives both loops exit blocks of their own, which lead to the former exit block.
fn split_loop_exits(
    module: &mut SpirvModule,
    candidate: &UnswitchCandidate,
    copier: &BlockCloner,
    ends: [Block; 2],
) {
    let labels = ends.map(|b| module.label(b));
    let phis: Vec<Inst> = module.phis(candidate.left).map(InstRef::handle).collect();
    for phi in phis {
        let words = module.inst(phi).words().to_vec();
        let mut joined = words[..2].to_vec();
        for (n, end) in ends.iter().enumerate() {
            let new = |word: u32| match (n, Id::new(word)) {
                (1, Some(id)) => copier.resolve_clone(id).word(),
                _ => word,
            };
            let id = module.fresh_id();
            let pairs = words[2..].iter().map(|w| new(*w));
            let own: Vec<u32> = [words[0], id.word()].into_iter().chain(pairs).collect();
            let own = module.create_inst(Op::Phi, &own);
            module.append_inst(module.block(*end).body, own);
            joined.extend([id.word(), labels[n].word()]);
        }
        module.replace_words(phi, &joined);
    }
    let target = module.label(candidate.left);
    for end in ends {
        let branch = module.create_inst(Op::Branch, &[target.word()]);
        module.append_inst(module.block(end).body, branch);
    }
}
