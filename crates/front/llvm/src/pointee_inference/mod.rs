//! Pointee inference: types for the pointees of opaque pointers.
//!
//! LLVM's pointers are opaque, SPIR-V's are typed. [`InferredPointees`] infers a pointee type for
//! every local that is a pointer, and for every function that returns one:
//!
//! - Locals that are joined by `phi`, `select`, `freeze`, address space casts, calls and returns of
//!   functions of the module form one equivalence class.
//! - Accesses, address computations, allocations, attributes, declared pointees of typed pointers,
//!   and [`PointeeHints`] about callees vote for the type of a class. The type with the greatest
//!   weight wins; among equals, the first.
//! - Pointers in memory are not followed: the pointee of a loaded pointer is decided by the uses of
//!   the loaded value. Following them would not end on linked structures.
//!
//! A class without votes has no type, and its users take bytes. The result is a proposal, not a
//! guarantee: an access of another type than that of the class needs a cast.
//!
//! Cost: one pass over the instructions, union-find, and a sort of the votes.

mod pointees;
mod votes;

pub use pointees::{InferredPointees, NoHints, PointeeHints};
pub(crate) use votes::{element_type, gep_element};
