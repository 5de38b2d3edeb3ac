//! Edits of whole functions and modules.

use super::EditOutcome;
use super::target::EditTarget;
use crate::ChoiceSequence;
use spirula_spirv::ir::{ErasedIds, SpirvModule};
use spirula_spirv::ssa;

/// Removes unreachable blocks of a function.
pub fn remove_unreachable(
    module: &mut SpirvModule,
    choices: &mut ChoiceSequence<'_>,
) -> EditOutcome {
    let Some(spot) = EditTarget::choose_function(module, choices) else {
        return EditOutcome::Nothing;
    };
    let mut erased = ErasedIds::new();
    let changed = module.remove_unreachable(&spot.ids, spot.func, &mut erased);
    module.sweep_annotations(&erased);
    if changed {
        EditOutcome::Done
    } else {
        EditOutcome::Nothing
    }
}

/// Promotes variables to SSA values.
pub fn construct_ssa(module: &mut SpirvModule, _: &mut ChoiceSequence<'_>) -> EditOutcome {
    match ssa::construct_ssa(module) {
        Ok(promoted) if promoted.variables == 0 => EditOutcome::Nothing,
        Ok(_) => EditOutcome::Done,
        Err(fault) => panic!("a valid module was refused: {fault}"),
    }
}

/// Renumbers ids densely.
pub fn compact_ids(module: &mut SpirvModule, _: &mut ChoiceSequence<'_>) -> EditOutcome {
    let count = module.all_insts().filter(|i| i.result().is_some()).count();
    module.compact_ids();
    assert_eq!(module.bound() as usize, count + 1, "ids are dense");
    EditOutcome::Done
}
