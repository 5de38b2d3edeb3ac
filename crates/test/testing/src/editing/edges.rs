//! Edits of edges.

use super::EditOutcome;
use super::target::{EditTarget, undefined_of};
use crate::ChoiceSequence;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::ir::SpirvModule;

/// Removes an edge.
pub fn remove_edge(module: &mut SpirvModule, choices: &mut ChoiceSequence<'_>) -> EditOutcome {
    let Some(spot) = EditTarget::choose_function(module, choices) else {
        return EditOutcome::Nothing;
    };
    let Some((from, to)) = spot.choose_edge(choices) else {
        return EditOutcome::Nothing;
    };
    let before = module.to_words();
    let result = module.remove_edge(&spot.ids, from, to);
    module.order_blocks(&spot.ids, spot.func);
    EditOutcome::from_result(&result, before)
}

/// Redirects an edge.
pub fn redirect_edge(module: &mut SpirvModule, choices: &mut ChoiceSequence<'_>) -> EditOutcome {
    let Some(spot) = EditTarget::choose_function(module, choices) else {
        return EditOutcome::Nothing;
    };
    let Some((from, to)) = spot.choose_edge(choices) else {
        return EditOutcome::Nothing;
    };
    let new = spot.cfg.block(spot.choose_block(choices));
    let Some(values) = spot.undefined_phi_values(module, new) else {
        return EditOutcome::Nothing;
    };
    let before = module.to_words();
    let value = |phi: spirula_spirv::ir::InstRef<'_>| undefined_of(&values, phi);
    let result = module.redirect_edge(&spot.ids, from, to, new, value);
    module.order_blocks(&spot.ids, spot.func);
    EditOutcome::from_result(&result, before)
}

/// Adds an edge.
pub fn add_edge(module: &mut SpirvModule, choices: &mut ChoiceSequence<'_>) -> EditOutcome {
    let Some(spot) = EditTarget::choose_function(module, choices) else {
        return EditOutcome::Nothing;
    };
    let from = spot.choose_block(choices);
    let to = spot.cfg.block(spot.choose_block(choices));
    let end = module.terminator(spot.cfg.block(from)).handle();
    let bools = spot.available_values(module, from, end).into_iter();
    let is_bool = |ty: &Id| spot.definitions.defining_op(module, *ty) == Some(Op::TypeBool);
    let bools: Vec<Id> = bools.filter(|(_, ty)| is_bool(ty)).map(|v| v.0).collect();
    let Some(&condition) = choices.choose_one(&bools) else {
        return EditOutcome::Nothing;
    };
    let Some(values) = spot.undefined_phi_values(module, to) else {
        return EditOutcome::Nothing;
    };
    let before = module.to_words();
    let from = spot.cfg.block(from);
    let value = |phi: spirula_spirv::ir::InstRef<'_>| undefined_of(&values, phi);
    let result = module.add_edge(from, to, condition, value);
    module.order_blocks(&spot.ids, spot.func);
    EditOutcome::from_result(&result, before)
}
