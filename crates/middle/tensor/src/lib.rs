//! The data-parallel IR that array front ends share: from tensors to kernels.
//!
//! - [`ir`]: the data.
//! - [`TensorBuilder`]: making functions.
//! - [`print()`]: their text.
//! - [`passes`]: fusion and what goes with it.
//! - [`schedule`]: dispatches, tiles, workgroup memory, workgroups and invocations.
//! - [`draw()`]: the graph of dispatches.
//! - [`compile()`]: all of it, to programs of `spirula-kernel`.
//! - [`evaluate`]: running them by definition, to compare with.

mod build;
mod compile;
mod draw;
mod eval;
pub mod ir;
mod lower;
pub mod passes;
mod print;
pub mod schedule;

pub use build::TensorBuilder;
pub use compile::{TensorStageObserver, compile, scheduled, stages};
pub use draw::draw;
pub use eval::{EvalError, evaluate};
pub use lower::{TensorMemoryUse, memory};
pub use print::print;
