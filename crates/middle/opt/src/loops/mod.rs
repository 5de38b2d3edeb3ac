//! Loop utilities of passes: the walk over loops, their shape, their trip count, and copies of iterations.

mod dependence;
mod iteration_copies;
mod loop_pass;
mod loop_shape;
mod trip_count;

pub use dependence::{LoopAccess, are_apart, gather_accesses, is_plain};
pub use iteration_copies::{
    BlockCloner, IterationChain, append_branch, append_inst, replace_predecessor,
};
pub use loop_pass::{LoopPass, LoopPassContext, count_loop_iterations, run_loop_pass};
pub use loop_shape::{LoopShape, create_preheaders, find_loop_shapes, merges_inside};
pub use trip_count::{TripCounter, count_loop_words};
