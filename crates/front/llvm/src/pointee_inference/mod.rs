//! What pointers point to.
//!
//! LLVM's pointers are opaque, SPIR-V's are not. [`InferredPointees`] finds a type for every local that
//! is a pointer, and for every function that returns one:
//!
//! - locals joined by `phi`, `select`, `freeze`, casts between address spaces, calls and returns
//!   of functions of the module are one class;
//! - accesses, address computations, allocations, attributes, declared pointees of typed pointers
//!   and [`PointeeHints`] about callees vote for a type of a class; the heaviest type wins, the first of
//!   equals;
//! - pointers kept in memory are not followed: what a pointer loaded from memory points to is
//!   decided by its own uses (following them would not end on linked structures).
//!
//! A class without votes has no type: its users take bytes. The result is a proposal, not a
//! promise: an access of another type than the class has needs a cast.
//!
//! Cost: one pass over the instructions, union-find, and a sort of the votes.

mod pointees;
mod union_find;
mod votes;

pub use pointees::{InferredPointees, NoHints, PointeeHints};
pub(crate) use union_find::SlotUnionFind;
pub(crate) use votes::{element_type, gep_element};
