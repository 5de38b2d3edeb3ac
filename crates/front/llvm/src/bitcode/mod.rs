//! Bitcode reader: LLVM's binary form.
//!
//! - [`bitstream`]: bits, blocks and records.
//! - [`container`]: the whole file; the entry point.
//! - [`module`], [`module_reader`], [`globals`]: the contents of a module outside of functions.
//! - [`types`], [`attributes`], [`constants`], [`constant_expressions`], [`metadata`], [`symbols`]: blocks that modules and
//!   functions share.
//! - [`function`]: function bodies; [`instruction`], [`memory`], [`terminators`], [`call`]: their
//!   records.
//! - [`operation_codes`]: numbers of operations and flags.
//! - [`specialised_metadata`]: the table of debug information nodes; [`record_operands`]: the
//!   cursor over a record.
//!
//! It reads the bitcode of LLVM 3.8 to 23. Cost: one pass over the bits, without an allocation per
//! record.

mod attributes;
mod bitstream;
mod call;
mod constant_expressions;
mod constants;
mod container;
mod function;
mod globals;
mod instruction;
mod memory;
mod metadata;
mod module;
mod module_reader;
mod operation_codes;
mod record_operands;
mod specialised_metadata;
mod symbols;
mod terminators;
mod types;

pub use container::{is_bitcode, read_bitcode};
pub use specialised_metadata::BOOLEAN;
