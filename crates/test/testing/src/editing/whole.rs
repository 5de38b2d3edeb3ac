//! Edits of whole functions and modules.

use super::Outcome;
use super::spot::Spot;
use crate::Choices;
use spirula_spirv::ir::{Erased, Module};
use spirula_spirv::ssa;

/// Removes what cannot be reached in a function.
pub fn unreachable(module: &mut Module, choices: &mut Choices<'_>) -> Outcome {
    let Some(spot) = Spot::choose(module, choices) else {
        return Outcome::Nothing;
    };
    let mut erased = Erased::new();
    let changed = module.remove_unreachable(&spot.ids, spot.func, &mut erased);
    module.sweep(&erased);
    if changed {
        Outcome::Done
    } else {
        Outcome::Nothing
    }
}

/// Turns variables into values.
pub fn ssa(module: &mut Module, _: &mut Choices<'_>) -> Outcome {
    match ssa::construct(module) {
        Ok(promoted) if promoted.variables == 0 => Outcome::Nothing,
        Ok(_) => Outcome::Done,
        Err(fault) => panic!("a valid module was refused: {fault}"),
    }
}

/// Gives ids the smallest numbers.
pub fn compact(module: &mut Module, _: &mut Choices<'_>) -> Outcome {
    let count = module.all_insts().filter(|i| i.result().is_some()).count();
    module.compact_ids();
    assert_eq!(module.bound() as usize, count + 1, "ids are dense");
    Outcome::Done
}
