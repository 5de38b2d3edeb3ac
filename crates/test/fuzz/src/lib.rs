//! Checks that hold for any input. Fuzzers run them for hours, tests for a short time.
//!
//! - [`TARGETS`]: every reader and interface that takes foreign input, one row each.
//! - [`run_target`]: a check within its budget of time and memory.
//! - [`load_seeds`], [`make_mutant`]: initial inputs, and their mutations in tests.
//!
//! The programs of `fuzz/` are one line each around [`run_target`]. A check panics when something is wrong. Its
//! memory is measured as that of the whole process, so only one check may run at a time.

mod budget;
mod exchange;
mod kernel;
mod llvm;
mod mlir;
mod mutate;
mod seeds;
mod spirv;
mod target;
mod triton;

pub use budget::{measure_peak_memory, run_target};
pub use mutate::make_mutant;
pub use seeds::load_seeds;
pub use target::{FuzzTarget, TARGETS};
