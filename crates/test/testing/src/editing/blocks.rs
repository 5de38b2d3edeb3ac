//! Edits of blocks.

use super::EditOutcome;
use super::target::EditTarget;
use crate::ChoiceSequence;
use spirula_spirv::analysis::LoopNest;
use spirula_spirv::ir::{Block, ErasedIds, InstRef, SpirvModule};
use spirula_spirv::{Id, IdMap};

/// Splits a block at a random instruction.
pub fn split_block(module: &mut SpirvModule, choices: &mut ChoiceSequence<'_>) -> EditOutcome {
    let Some(spot) = EditTarget::choose_function(module, choices) else {
        return EditOutcome::Nothing;
    };
    let block = spot.cfg.block(spot.choose_block(choices));
    let body: Vec<_> = module.body(block).map(InstRef::handle).collect();
    let at = body[choices.choose_below(body.len())];
    let before = module.to_words();
    EditOutcome::from_result(&module.split_block(&spot.ids, block, at), before)
}

/// Inserts a block on an edge.
pub fn on_edge(module: &mut SpirvModule, choices: &mut ChoiceSequence<'_>) -> EditOutcome {
    let spot = EditTarget::choose_function(module, choices);
    let Some((spot, (from, to))) =
        spot.and_then(|s| Some((s.choose_edge(choices)?, s)).map(|(e, s)| (s, e)))
    else {
        return EditOutcome::Nothing;
    };
    let before = module.to_words();
    EditOutcome::from_result(&module.insert_on_edge(&spot.ids, from, to), before)
}

/// Inserts a pre-header before a loop.
pub fn pre_header(module: &mut SpirvModule, choices: &mut ChoiceSequence<'_>) -> EditOutcome {
    let Some(spot) = EditTarget::choose_function(module, choices) else {
        return EditOutcome::Nothing;
    };
    let loops = LoopNest::from_cfg(&spot.cfg, &spot.dominators);
    let Some(l) = choices.choose_one(loops.loops()) else {
        return EditOutcome::Nothing;
    };
    let sources = spot.cfg.predecessors(l.header).iter();
    let mut outside: Vec<Block> = sources
        .filter(|p| !l.latches.contains(p))
        .map(|p| spot.cfg.block(*p))
        .collect();
    outside.sort_unstable();
    outside.dedup();
    let before = module.to_words();
    let header = spot.cfg.block(l.header);
    EditOutcome::from_result(
        &module.create_pre_header(&spot.ids, header, &outside),
        before,
    )
}

/// Merges blocks of a function that always follow each other.
pub fn join_blocks(module: &mut SpirvModule, choices: &mut ChoiceSequence<'_>) -> EditOutcome {
    let Some(spot) = EditTarget::choose_function(module, choices) else {
        return EditOutcome::Nothing;
    };
    let mut new: IdMap<Option<Id>> = IdMap::new(module.bound(), None);
    let mut erased = ErasedIds::new();
    let rename = |old, value| new.set(old, Some(value));
    if module.join_blocks(&spot.ids, spot.func, rename, &mut erased) == 0 {
        return EditOutcome::Nothing;
    }
    let resolve = |mut id: Id| {
        while let Some(next) = new[id] {
            id = next;
        }
        id
    };
    let users: Vec<_> = module
        .function_insts(spot.func)
        .map(InstRef::handle)
        .collect();
    for inst in users {
        spot.ids.rewrite_uses(module, inst, resolve);
    }
    module.sweep_annotations(&erased);
    EditOutcome::Done
}

/// Deletes a block with all edges to it.
pub fn delete_block(module: &mut SpirvModule, choices: &mut ChoiceSequence<'_>) -> EditOutcome {
    let Some(spot) = EditTarget::choose_function(module, choices) else {
        return EditOutcome::Nothing;
    };
    let at = spot.choose_block(choices);
    let block = spot.cfg.block(at);
    let mut sources = spot.cfg.predecessors(at).to_vec();
    sources.sort_unstable();
    sources.dedup();
    let before = module.to_words();
    let whole = module.clone();
    for source in sources {
        if module
            .remove_edge(&spot.ids, spot.cfg.block(source), block)
            .is_err()
        {
            *module = whole;
            return EditOutcome::Refused(before);
        }
    }
    let mut erased = ErasedIds::new();
    module.remove_unreachable(&spot.ids, spot.func, &mut erased);
    module.order_blocks(&spot.ids, spot.func);
    module.sweep_annotations(&erased);
    EditOutcome::Done
}
