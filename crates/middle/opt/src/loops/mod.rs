//! Loops: going over them, their shape, how often they run, copies of their rounds.

mod access;
mod chain;
mod shape;
mod trips;
mod walk;

pub use access::{LoopAccess, accesses, are_apart, is_plain};
pub use chain::{BlockCloner, IterationChain, append, come_from, end_with};
pub use shape::{LoopShape, merges_inside, prepare, shapes};
pub use trips::{TripCounter, words};
pub use walk::{LoopPass, LoopPassContext, count, walk};
