//! What holds of any input: checks that fuzzers run for hours and tests for a moment.
//!
//! - [`TARGETS`]: every reader and interface that takes what others made, one row each.
//! - [`run`]: a check within its budget of time and memory.
//! - [`seeds`], [`mutant`]: inputs to begin with, and how tests change them.
//!
//! The programs of `fuzz/` are one line each around [`run`]. A check panics when something is
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

pub use budget::{peak, run};
pub use mutate::mutant;
pub use seeds::seeds;
pub use target::{FuzzTarget, TARGETS};
