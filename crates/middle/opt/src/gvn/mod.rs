//! Global value numbering: one walk over the blocks of a function in dominator order. The walk simplifies
//! instructions, replaces conditions that a branch above has decided by constants, reuses values that were computed
//! before, and forwards values that were loaded or stored to later loads.

mod alias_analysis;
mod conditions;
mod dominator_walk;
mod quotients;
mod stored_values;

pub use alias_analysis::{
    AliasAnalysis, MemoryEvent, MemoryLocation, WriterScope, is_chain, is_plain,
};
pub use dominator_walk::GvnWalker;
