//! Stepped tensors: those that a loop carries and changes by the same number for all elements, such as pointers to the next
//! tile. They are the value before the loop and a sum, so their elements need no memory.

use super::binding::{TileBinding, TileLowering};
use super::facts::{FunctionFacts, ValueUse};
use crate::ir::{TileAttribute, TileOperation, ValueId};

/// Operands of `scf.for` before those that it carries.
const FIRST_CARRIED: usize = 3;

/// Whether a use is the first value of a stepped tensor.
pub(super) fn is_stepped(facts: &FunctionFacts<'_>, initial: &ValueUse<'_>) -> bool {
    let number = initial
        .operand
        .and_then(|operand| operand.checked_sub(FIRST_CARRIED));
    number.is_some_and(|number| find_step(facts, initial.user, number).is_some())
}

/// The tensor of equal elements that a loop adds to a value that it carries.
pub(super) fn find_step(
    facts: &FunctionFacts<'_>,
    operation: &TileOperation,
    number: usize,
) -> Option<ValueId> {
    let block = operation.regions.first()?.blocks.first()?;
    let argument = *block.arguments.get(number + 1)?;
    let next = *block.operations.last()?.operands.get(number)?;
    let (step, _) = facts.definition(next)?;
    if !matches!(step.name.as_str(), "tt.addptr" | "arith.addi") {
        return None;
    }
    let [first, second] = step.operands.as_slice() else {
        return None;
    };
    let added = match (*first == argument, *second == argument) {
        (true, false) => *second,
        (false, true) if step.name == "arith.addi" => *first,
        _ => return None,
    };
    let (source, _) = facts.definition(added)?;
    let is_uniform = match source.name.as_str() {
        "tt.splat" => true,
        "arith.constant" => matches!(source.words.first(), Some(TileAttribute::Integer(_))),
        _ => false,
    };
    is_uniform.then_some(added)
}

impl<'m> TileLowering<'m, '_> {
    /// The binding of a stepped tensor after some steps, whose sum is an `i64` in a variable.
    pub fn bind_stepped(&mut self, value: ValueId, initial: ValueId, variable: &str) {
        let offset = self
            .kernel
            .text
            .compute(format!("load i64, ptr {variable}"));
        self.bind(value, TileBinding::Stepped { initial, offset });
    }
}
