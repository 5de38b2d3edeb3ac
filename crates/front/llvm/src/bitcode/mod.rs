//! Reading bitcode, LLVM's binary form.
//!
//! - [`bitstream`]: bits, blocks and records.
//! - [`container`]: the stream as a whole; the entry point.
//! - [`module`], [`globals`]: what a module has outside of functions.
//! - [`types`], [`attributes`], [`constants`], [`metadata`], [`symbols`]: blocks of both.
//! - [`function`]: bodies; [`instruction`], [`memory`], [`control`], [`call`]: their records.
//! - [`codes`]: numbers of operations and flags.
//!
//! Reads what LLVM 3.8 to 23 write. Cost: one pass over the bits; nothing is allocated for a
//! record.

mod attributes;
mod bitstream;
mod call;
mod constants;
mod container;
mod function;
mod globals;
mod instruction;
mod memory;
mod metadata;
mod module;
mod operation_codes;
mod record_operands;
mod specialised_metadata;
mod symbols;
mod terminators;
mod types;

pub use container::{is_bitcode, read_bitcode};
pub use specialised_metadata::BOOLEAN;
