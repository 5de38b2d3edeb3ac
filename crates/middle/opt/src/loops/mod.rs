//! Loop utilities of passes: the walk over loops, their shape, their trip count, and copies of iterations.

mod access;
mod chain;
mod shape;
mod trips;
mod walk;

pub use access::{LoopAccess, are_apart, gather_accesses, is_plain};
pub use chain::{BlockCloner, IterationChain, append_inst, come_from, end_with};
pub use shape::{LoopShape, create_preheaders, find_loop_shapes, merges_inside};
pub use trips::{TripCounter, count_loop_words};
pub use walk::{LoopPass, LoopPassContext, count_loop_iterations, run_loop_pass};
