//! Rules that every module obeys once it is read, whatever its bytes were.
//!
//! Who reads the IR may rely on them; input that breaks one is refused. Most of what could be
//! wrong cannot be written down in the IR in the first place (see [`crate::ir`]). The rest:
//!
//! 1. Types nest less than 100 deep, and none contains itself other than through a pointer.
//! 2. Elements of vectors are integers, floating-point numbers or pointers; fields, elements
//!    and parameters are types that values in memory or registers can have.
//! 3. Constants nest less than 200 deep; constant expressions have operands of the right types.
//! 4. The address of a block is that of a block that is there.
//! 5. A variable's contents are of its type.
//! 6. Operands of instructions have the types that their opcode asks for.
//! 7. A phi has one value for each edge into its block, and stands before all but other phis;
//!    nothing leads to the entry.
//! 8. A definition is on every path from the entry to its uses, those in blocks that cannot be
//!    reached aside.
//! 9. Lists of arguments in debug information hold values, its expressions numbers and words.
//!
//! Cost: one pass over everything, and dominators of each function.

mod dominance;
mod function;
mod metadata;
mod module;

pub(crate) use module::verify_module;

/// Which rule is broken, in words.
type LlvmVerifyResult = Result<(), &'static str>;

/// An error unless something holds.
fn ensure_holds(holds: bool, why: &'static str) -> LlvmVerifyResult {
    if holds { Ok(()) } else { Err(why) }
}
