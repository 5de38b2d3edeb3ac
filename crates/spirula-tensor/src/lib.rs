//! The data-parallel IR that array front ends share: from tensors to kernels.
//!
//! - [`ir`]: the data.
//! - [`Builder`]: making functions.
//! - [`print()`]: their text.
//! - [`passes`]: fusion and what goes with it.
//! - [`schedule`]: dispatches, tiles, workgroup memory, workgroups and invocations.
//! - [`compile()`]: all of it, to programs of `spirula-kernel`.

mod build;
mod compile;
pub mod ir;
mod lower;
pub mod passes;
mod print;
pub mod schedule;

pub use build::Builder;
pub use compile::{compile, stages};
pub use print::print;
