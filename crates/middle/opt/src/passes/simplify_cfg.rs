//! Control-flow simplification: decides branches on constants, deletes unreachable blocks, joins blocks that always
//! follow each other, and replaces phis of one value by that value.
//!
//! A decided selection loses its merge instruction, which is right only if its merge block is reached from directly
//! within it. A selection that is left from further inside keeps it, and the edges that it cannot take are removed.
//!
//! Before:
//! ```text
//!      OpSelectionMerge %m None
//!      OpBranchConditional %true %a %m
//! %a = OpLabel
//!      OpBranch %m
//! %m = OpLabel
//!      OpReturn
//! ```
//! After:
//! ```text
//!      OpReturn
//! ```

use crate::analyses::{AnalysisCache, FlowAnalysis};
use crate::pass::PassOutcome;
use crate::replacements::ValueReplacements;
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::Id;
use spirula_spirv::analysis::{ConstructTree, IdDefinitions};
use spirula_spirv::grammar::Op;
use spirula_spirv::ir::{Block, ErasedIds, Func, IdWords, InstRef, SpirvModule, switch_cases};

pub fn run_simplify_cfg(
    module: &mut SpirvModule,
    cache: &mut AnalysisCache,
) -> Result<PassOutcome, SourceDiagnostic> {
    let ids = cache.id_words(module);
    let mut erased = ErasedIds::new();
    let mut new = ValueReplacements::new(module);
    let (mut decided, mut removed, mut joined, mut phis) = (0, 0, 0, 0);
    for func in module.functions().to_vec() {
        let definitions = cache.definitions(module);
        let flow = cache.function_flow(module, func)?;
        let here = fold_known_branches(module, &ids, &definitions, &flow);
        decided += here;
        let gone = (here > 0 || !flow.is_all_reachable())
            && module.remove_unreachable(&ids, func, &mut erased);
        removed += usize::from(gone);
        if here > 0 {
            module.order_blocks(&ids, func);
        }
        let single = fold_single_value_phis(module, func, &mut new, &mut erased);
        let merged = new.join_blocks(module, &ids, func, &mut erased);
        if single + merged > 0 {
            new.rewrite_uses(module, &ids, func);
        }
        phis += single;
        joined += merged;
        if here + merged > 0 || gone {
            cache.drop_flow(func);
        }
    }
    module.sweep_annotations(&erased);
    Ok(PassOutcome {
        statistics: vec![
            ("branches decided", decided),
            ("functions freed of unreachable blocks", removed),
            ("blocks joined", joined),
            ("phis of one value", phis),
        ],
    })
}

/// Replaces branches whose target is known.
fn fold_known_branches(
    module: &mut SpirvModule,
    ids: &IdWords,
    definitions: &IdDefinitions,
    flow: &FlowAnalysis,
) -> usize {
    let cfg = &flow.cfg;
    let known: Vec<(u32, Id)> = (0..cfg.len() as u32)
        .filter(|at| flow.dominators.is_reachable(*at))
        .filter_map(|at| Some((at, known_target(module, ids, definitions, cfg.block(at))?)))
        .collect();
    if known.is_empty() {
        return 0;
    }
    let structured = module.is_structured();
    let constructs = ConstructTree::from_cfg(module, cfg, &flow.dominators);
    let mut decided = 0;
    for (at, target) in known {
        let block = cfg.block(at);
        let merge = module
            .merge_inst(block)
            .map(|m| (m.op(), m.id_operand(0), m.handle()));
        // A loop must keep its back edge.
        let mut lost = cfg
            .successors(at)
            .iter()
            .filter(|s| module.label(cfg.block(**s)) != target);
        if structured && lost.any(|s| flow.dominators.dominates(*s, at)) {
            continue;
        }
        let can_go = || constructs.is_left_directly(module, cfg, &flow.dominators, at);
        if structured && merge.is_some() && !can_go() {
            decided += usize::from(narrow_selection(module, flow, at, target));
            continue;
        }
        remove_stale_phi_values(module, flow, at, target);
        module.branch_to(block, Some(target));
        if let Some((Op::LoopMerge, left, inst)) = merge
            && left == target
        {
            module.remove_inst(inst);
        }
        decided += 1;
    }
    decided
}

/// Removes the values of a block from the phis of targets that it no longer leads to.
fn remove_stale_phi_values(module: &mut SpirvModule, flow: &FlowAnalysis, at: u32, target: Id) {
    let label = module.label(flow.cfg.block(at));
    for &old in flow.cfg.successors(at) {
        let old = flow.cfg.block(old);
        if module.label(old) != target {
            module.remove_phi_parent(old, label);
        }
    }
}

/// Reduces a selection that must stay to the target that is taken. A switch loses its cases, and the other side
/// of a branch becomes the merge block. Returns whether this changes anything.
fn narrow_selection(module: &mut SpirvModule, flow: &FlowAnalysis, at: u32, target: Id) -> bool {
    let cfg = &flow.cfg;
    let block = cfg.block(at);
    let position = |label| {
        cfg.successors(at)
            .iter()
            .find(|s| module.label(cfg.block(**s)) == label)
    };
    let within =
        position(target).is_some_and(|t| flow.dominators.immediate_dominator(*t) == Some(at));
    let Some(merge) = module
        .merge_inst(block)
        .map(|m| m.id_operand(0))
        .filter(|_| within)
    else {
        return false;
    };
    let terminator = module.terminator(block);
    let (op, value, first) = (
        terminator.op(),
        terminator.operand_word(0),
        terminator.id_operand(1),
    );
    if op == Op::Switch {
        if terminator.words().len() == 2 {
            return false;
        }
        remove_stale_phi_values(module, flow, at, target);
        module.set_terminator(block, op, &[value, target.word()]);
        return true;
    }
    let func = module.block(block).func;
    let merge_block = module.find_block(func, merge);
    let Some(merge_block) = merge_block.filter(|_| position(merge).is_none() && merge != target)
    else {
        return false;
    };
    remove_stale_phi_values(module, flow, at, target);
    let label = module.label(block);
    let phis: Vec<_> = module.phis(merge_block).map(InstRef::handle).collect();
    for phi in phis {
        if let Some(ty) = module.inst(phi).result_type() {
            let undef = module.ensure_undef(ty);
            module.set_phi_value(phi, label, undef);
        }
    }
    let sides = if first == target {
        [target, merge]
    } else {
        [merge, target]
    };
    module.set_terminator(block, op, &[value, sides[0].word(), sides[1].word()]);
    true
}

fn known_target(
    module: &SpirvModule,
    ids: &IdWords,
    definitions: &IdDefinitions,
    block: Block,
) -> Option<Id> {
    let terminator = module.terminator(block);
    match terminator.op() {
        Op::BranchConditional if terminator.id_operand(1) == terminator.id_operand(2) => {
            Some(terminator.id_operand(1))
        }
        Op::BranchConditional => {
            let value = definitions.constant_value(module, terminator.id_operand(0))?;
            Some(terminator.id_operand(if value != 0 { 1 } else { 2 }))
        }
        Op::Switch => {
            let words = ids.switch_literal_words(terminator);
            let mask = if words == 2 { u64::MAX } else { 0xffff_ffff };
            let value = definitions.constant_value(module, terminator.id_operand(0))? & mask;
            let mut cases = switch_cases(terminator, words);
            let case = cases.find(|(literal, _)| *literal == value);
            Some(case.map_or(terminator.id_operand(1), |(_, label)| label))
        }
        _ => None,
    }
}

/// Finds and deletes phis of a single value.
fn fold_single_value_phis(
    module: &mut SpirvModule,
    func: Func,
    new: &mut ValueReplacements,
    erased: &mut ErasedIds,
) -> usize {
    let blocks = module.function(func).blocks.clone();
    let mut found = 0;
    // A replaced phi may give other phis a single value. Three iterations find nearly all.
    for _ in 0..3 {
        let before = found;
        for block in &blocks {
            let mut next = module.body(*block).next().map(InstRef::handle);
            while let Some(phi) = next {
                next = module.next(phi);
                let inst = module.inst(phi);
                if inst.op() != Op::Phi {
                    if inst.op().is_line() {
                        continue;
                    }
                    break;
                }
                let Some(id) = inst.result() else { continue };
                if let Some(value) = only_value(inst, id, new) {
                    new.set_replacement(id, value);
                    module.erase_inst(phi, erased);
                    found += 1;
                }
            }
        }
        if found == before {
            break;
        }
    }
    found
}

fn only_value(phi: InstRef<'_>, own: Id, new: &ValueReplacements) -> Option<Id> {
    let mut only = None;
    for pair in phi.operands().chunks_exact(2) {
        let value = new.resolve_replacement(Id::new(pair[0])?);
        if value != own && *only.get_or_insert(value) != value {
            return None;
        }
    }
    only
}
