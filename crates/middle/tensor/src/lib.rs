//! The data-parallel IR that array front ends share: from tensors to kernels.
//!
//! - [`ir`]: the data.
//! - [`TensorBuilder`]: making functions.
//! - [`print_function()`]: their text.
//! - [`passes`]: fusion and what goes with it.
//! - [`schedule`]: dispatches, tiles, workgroup memory, workgroups and invocations.
//! - [`draw_function()`]: the graph of dispatches.
//! - [`compile_function()`]: all of it, to programs of `spirula-kernel`.
//! - [`evaluate_function`]: running them by definition, to compare with.

mod build;
mod compile;
mod dot_graph;
mod eval;
pub mod ir;
mod lower;
pub mod passes;
mod text;
pub mod schedule;

pub use build::TensorBuilder;
pub use compile::{TensorStageObserver, compile_function, list_stages, schedule_function};
pub use dot_graph::draw_function;
pub use eval::{EvalError, evaluate_function};
pub use lower::{TensorMemoryUse, measure_memory_use};
pub use text::print_function;
