//! Reading bitcode, LLVM's binary form.
//!
//! - [`bitstream`]: bits, blocks and records.
//! - [`module`]: what a module has outside of functions; the entry point.
//! - [`types`], [`attributes`], [`constants`], [`metadata`], [`symbols`]: blocks of both.
//! - [`function`], [`instruction`]: bodies.
//!
//! Reads what LLVM 3.8 to 22 write. Cost: one pass over the bits; nothing is allocated for a
//! record.

mod attributes;
mod bitstream;
mod constants;
mod function;
mod instruction;
mod metadata;
mod module;
mod ops;
mod special;
mod symbols;
mod types;

pub use module::{is_bitcode, read};
pub use special::BOOLEAN;
