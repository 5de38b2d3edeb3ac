//! The data-parallel IR that array front ends share: from tensors to kernels.
//!
//! - [`ir`]: the data.
//! - [`TensorBuilder`]: construction of functions.
//! - [`print_function`], [`write_function`], [`parse_function`]: the text form (files end in `.tensor`).
//! - [`verify_function`]: the rules of valid functions.
//! - [`passes`]: fusion and other passes over functions.
//! - [`schedule`]: dispatches, strategies, tiles, workgroup memory, workgroups and invocations.
//! - [`draw_function`]: the graph of dispatches.
//! - [`compile_function`]: the pipeline to programs of `spirula-kernel`.
//! - [`evaluate_function`]: the interpreter, the oracle of tests.

mod build;
mod compile;
mod dot_graph;
mod eval;
pub mod ir;
mod lower;
pub mod passes;
pub mod schedule;
mod text;
mod verify;

pub use build::TensorBuilder;
pub use compile::{TensorStageObserver, compile_function, list_stages, schedule_function};
pub use dot_graph::draw_function;
pub use eval::{EvalError, evaluate_function};
pub use lower::{TensorMemoryUse, measure_memory_use};
pub use text::{parse_function, print_function, write_function};
pub use verify::verify_function;
