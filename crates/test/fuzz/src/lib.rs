//! What holds of any input: checks that fuzzers run for hours and tests for a moment.
//!
//! - [`TARGETS`]: every reader and interface that takes what others made, one row each.
//! - [`run_target`]: a check within its budget of time and memory.
//! - [`load_seeds`], [`make_mutant`]: inputs to begin with, and how tests change them.
//!
//! The programs of `fuzz/` are one line each around [`run_target`]. A check panics when something is
//! wrong; what it says of memory counts everything that the process allocates, so that one check runs
//! at a time.

mod budget;
mod kernel;
mod llvm;
mod mlir;
mod mutate;
mod seeds;
mod spirv;
mod target;

pub use budget::{measure_peak_memory, run_target};
pub use mutate::make_mutant;
pub use seeds::load_seeds;
pub use target::{FuzzTarget, TARGETS};
