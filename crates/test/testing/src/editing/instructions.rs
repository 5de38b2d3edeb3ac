//! Edits of single instructions. The chains of definitions and uses are updated and compared with recomputed ones.

use super::EditOutcome;
use super::target::EditTarget;
use crate::ChoiceSequence;
use spirula_spirv::Id;
use spirula_spirv::analysis::DefUse;
use spirula_spirv::grammar::Op;
use spirula_spirv::ir::{ErasedIds, Inst, InstRef, SpirvModule};

/// Inserts a copy of a value, or a sum, where its operands are available.
pub fn insert_value(module: &mut SpirvModule, choices: &mut ChoiceSequence<'_>) -> EditOutcome {
    let Some(spot) = EditTarget::choose_function(module, choices) else {
        return EditOutcome::Nothing;
    };
    let block = spot.choose_block(choices);
    let places = spot.insertion_points(module, block);
    let Some(&place) = choices.choose_one(&places) else {
        return EditOutcome::Nothing;
    };
    let values = spot.available_values(module, block, place);
    let Some(&(value, ty)) = choices.choose_one(&values) else {
        return EditOutcome::Nothing;
    };
    let is_int = spot.definitions.defining_op(module, ty) == Some(Op::TypeInt);
    let others: Vec<Id> = values.iter().filter(|v| v.1 == ty).map(|v| v.0).collect();
    let mut chains = DefUse::from_module(module);
    let id = module.fresh_id();
    let inst = match choices.choose_one(&others) {
        Some(&other) if is_int => {
            module.create_inst(Op::IAdd, &[ty, id, value, other].map(Id::word))
        }
        _ => module.create_inst(Op::CopyObject, &[ty, id, value].map(Id::word)),
    };
    if choices.choose_below(2) == 0 {
        module.insert_before(place, inst);
    } else {
        // After the instruction that was inserted for it.
        let first = module.create_inst(Op::Undef, &[ty.word(), module.bound()]);
        _ = module.fresh_id();
        module.insert_before(place, first);
        module.insert_after(first, inst);
        chains.add_inst(module.inst(first));
    }
    chains.add_inst(module.inst(inst));
    assert!(
        chains == DefUse::from_module(module),
        "the chains are kept up"
    );
    EditOutcome::Done
}

/// Deletes an instruction whose result is unused.
pub fn delete_instruction(
    module: &mut SpirvModule,
    choices: &mut ChoiceSequence<'_>,
) -> EditOutcome {
    let Some(spot) = EditTarget::choose_function(module, choices) else {
        return EditOutcome::Nothing;
    };
    let mut chains = DefUse::from_module(module);
    let body = module.body(spot.cfg.block(spot.choose_block(choices)));
    let dead = |i: &InstRef<'_>| {
        let is_fixed =
            i.op().is_terminator() || matches!(i.op(), Op::SelectionMerge | Op::LoopMerge);
        !is_fixed && i.result().is_none_or(|id| is_unused(module, &chains, id))
    };
    let dead: Vec<Inst> = body.filter(dead).map(InstRef::handle).collect();
    let Some(&inst) = choices.choose_one(&dead) else {
        return EditOutcome::Nothing;
    };
    chains.remove_inst(module.inst(inst));
    let mut erased = ErasedIds::new();
    module.erase_inst(inst, &mut erased);
    if erased.is_empty() {
        assert!(
            chains == DefUse::from_module(module),
            "the chains are kept up"
        );
    }
    module.sweep_annotations(&erased);
    EditOutcome::Done
}

fn is_unused(module: &SpirvModule, chains: &DefUse, id: Id) -> bool {
    chains
        .uses(id)
        .all(|u| module.inst(u.inst).op().is_about_ids())
}

/// Replaces all uses of a value by an undefined value or by a copy.
pub fn replace_value(module: &mut SpirvModule, choices: &mut ChoiceSequence<'_>) -> EditOutcome {
    let Some(spot) = EditTarget::choose_function(module, choices) else {
        return EditOutcome::Nothing;
    };
    let block = spot.choose_block(choices);
    let body = module.body(spot.cfg.block(block));
    let values = body.filter_map(|i| Some((i.handle(), spot.scalar_result(module, i)?)));
    let values: Vec<(Inst, (Id, Id))> = values.collect();
    let Some(&(inst, (value, ty))) = choices.choose_one(&values) else {
        return EditOutcome::Nothing;
    };
    if choices.choose_below(2) == 0 {
        let new = module.ensure_undef(ty);
        let mut chains = DefUse::from_module(module);
        chains.replace_all(module, value, new);
        assert!(
            chains == DefUse::from_module(module),
            "the chains are kept up"
        );
        return EditOutcome::Done;
    }
    let places = spot.insertion_points(module, block);
    let after = module.next(inst).filter(|next| places.contains(next));
    let Some(place) = after.or_else(|| {
        let is_phi = module.inst(inst).op() == Op::Phi;
        places.first().copied().filter(|_| is_phi)
    }) else {
        return EditOutcome::Nothing;
    };
    let mut chains = DefUse::from_module(module);
    let new = module.fresh_id();
    chains.replace_all(module, value, new);
    let copy = module.create_inst(Op::CopyObject, &[ty, new, value].map(Id::word));
    module.insert_before(place, copy);
    chains.add_inst(module.inst(copy));
    assert!(
        chains == DefUse::from_module(module),
        "the chains are kept up"
    );
    EditOutcome::Done
}
