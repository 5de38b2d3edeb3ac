//! Edits of single instructions. Chains of definitions and uses are kept up and compared.

use super::EditOutcome;
use super::spot::EditTarget;
use crate::ChoiceSequence;
use spirula_spirv::Id;
use spirula_spirv::analysis::DefUse;
use spirula_spirv::grammar::Op;
use spirula_spirv::ir::{ErasedIds, Inst, InstRef, SpirvModule};

/// Puts a copy of a value, or a sum, somewhere where it is available.
pub fn insert(module: &mut SpirvModule, choices: &mut ChoiceSequence<'_>) -> EditOutcome {
    let Some(spot) = EditTarget::choose(module, choices) else {
        return EditOutcome::Nothing;
    };
    let block = spot.block(choices);
    let places = spot.places(module, block);
    let Some(&place) = choices.one(&places) else {
        return EditOutcome::Nothing;
    };
    let values = spot.values(module, block, place);
    let Some(&(value, ty)) = choices.one(&values) else {
        return EditOutcome::Nothing;
    };
    let is_int = spot.definitions.op(module, ty) == Some(Op::TypeInt);
    let others: Vec<Id> = values.iter().filter(|v| v.1 == ty).map(|v| v.0).collect();
    let mut chains = DefUse::compute(module);
    let id = module.fresh_id();
    let inst = match choices.one(&others) {
        Some(&other) if is_int => module.create(Op::IAdd, &[ty, id, value, other].map(Id::word)),
        _ => module.create(Op::CopyObject, &[ty, id, value].map(Id::word)),
    };
    if choices.below(2) == 0 {
        module.insert_before(place, inst);
    } else {
        // Behind another one made for it.
        let first = module.create(Op::Undef, &[ty.word(), module.bound()]);
        _ = module.fresh_id();
        module.insert_before(place, first);
        module.insert_after(first, inst);
        chains.add(module.inst(first));
    }
    chains.add(module.inst(inst));
    assert!(chains == DefUse::compute(module), "the chains are kept up");
    EditOutcome::Done
}

/// Deletes an instruction whose result nobody uses.
pub fn delete(module: &mut SpirvModule, choices: &mut ChoiceSequence<'_>) -> EditOutcome {
    let Some(spot) = EditTarget::choose(module, choices) else {
        return EditOutcome::Nothing;
    };
    let mut chains = DefUse::compute(module);
    let body = module.body(spot.cfg.block(spot.block(choices)));
    let dead = |i: &InstRef<'_>| {
        let is_fixed =
            i.op().is_terminator() || matches!(i.op(), Op::SelectionMerge | Op::LoopMerge);
        !is_fixed && i.result().is_none_or(|id| is_unused(module, &chains, id))
    };
    let dead: Vec<Inst> = body.filter(dead).map(InstRef::handle).collect();
    let Some(&inst) = choices.one(&dead) else {
        return EditOutcome::Nothing;
    };
    chains.remove(module.inst(inst));
    let mut erased = ErasedIds::new();
    module.erase(inst, &mut erased);
    if erased.is_empty() {
        assert!(chains == DefUse::compute(module), "the chains are kept up");
    }
    module.sweep(&erased);
    EditOutcome::Done
}

fn is_unused(module: &SpirvModule, chains: &DefUse, id: Id) -> bool {
    chains
        .uses(id)
        .all(|u| module.inst(u.inst).op().is_about_ids())
}

/// Has all uses of a value use an undefined one, or a copy.
pub fn replace(module: &mut SpirvModule, choices: &mut ChoiceSequence<'_>) -> EditOutcome {
    let Some(spot) = EditTarget::choose(module, choices) else {
        return EditOutcome::Nothing;
    };
    let block = spot.block(choices);
    let body = module.body(spot.cfg.block(block));
    let values = body.filter_map(|i| Some((i.handle(), spot.scalar(module, i)?)));
    let values: Vec<(Inst, (Id, Id))> = values.collect();
    let Some(&(inst, (value, ty))) = choices.one(&values) else {
        return EditOutcome::Nothing;
    };
    if choices.below(2) == 0 {
        let new = module.undef(ty);
        let mut chains = DefUse::compute(module);
        chains.replace_all(module, value, new);
        assert!(chains == DefUse::compute(module), "the chains are kept up");
        return EditOutcome::Done;
    }
    let places = spot.places(module, block);
    let behind = module.next(inst).filter(|next| places.contains(next));
    let Some(place) = behind.or_else(|| {
        let is_phi = module.inst(inst).op() == Op::Phi;
        places.first().copied().filter(|_| is_phi)
    }) else {
        return EditOutcome::Nothing;
    };
    let mut chains = DefUse::compute(module);
    let new = module.fresh_id();
    chains.replace_all(module, value, new);
    let copy = module.create(Op::CopyObject, &[ty, new, value].map(Id::word));
    module.insert_before(place, copy);
    chains.add(module.inst(copy));
    assert!(chains == DefUse::compute(module), "the chains are kept up");
    EditOutcome::Done
}
