//! Loops: going over them, their shape, how often they run, copies of their rounds.

mod access;
mod chain;
mod shape;
mod trips;
mod walk;

pub use access::{Access, accesses, are_apart, is_plain};
pub use chain::{Chain, Copier, append, come_from, end_with};
pub use shape::{Shape, merges_inside, prepare, shapes};
pub use trips::{Trips, words};
pub use walk::{LoopPass, Tools, count, walk};
