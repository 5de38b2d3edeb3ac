//! One walk over a function's blocks, dominators first: instructions are simplified, conditions that a branch
//! above has decided are constants, what was computed before is taken from there, and loads are answered by
//! what was loaded or stored.

mod conditions;
mod memory;
mod walk;

pub use memory::{AliasAnalysis, MemoryEvent, MemoryLocation, WriterScope, is_chain, is_plain};
pub use walk::GvnWalker;
