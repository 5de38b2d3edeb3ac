//! Verifier: the rules that every module obeys once it is read, whatever the input was.
//!
//! Consumers of the IR may rely on these rules; input that breaks one is refused. The IR cannot
//! even express most faults (see [`crate::ir`]). The remaining rules are:
//!
//! 1. Types nest less than 100 deep, and no type contains itself except through a pointer.
//! 2. Elements of vectors are integers, floating-point numbers or pointers. Fields, elements and
//!    parameters have types that values in memory or registers can have.
//! 3. Constants nest less than 200 deep, and constant expressions have operands of the right types.
//! 4. The address of a block refers to a block that exists.
//! 5. A variable's contents have the variable's type.
//! 6. Operands of instructions have the types that their opcode requires.
//! 7. A phi has one value for each edge into its block, and only phis precede it. No edge leads to
//!    the entry block.
//! 8. A definition is on every path from the entry to its uses, except for uses in unreachable
//!    blocks.
//! 9. Argument lists in debug information hold values; its expressions hold numbers and keywords.
//!
//! Cost: one pass over the module, and a dominator tree for each function.

mod dominance;
mod function;
mod metadata;
mod module;

pub(crate) use module::verify_module;

use crate::{LlvmResult, make_refusal};

/// An error unless a condition holds.
fn ensure_holds(holds: bool, why: &'static str) -> LlvmResult<()> {
    if holds {
        Ok(())
    } else {
        Err(make_refusal(why))
    }
}
