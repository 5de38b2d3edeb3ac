//! SPIR-V modules: reading, writing, building, analysing and editing.
//!
//! The only crate of Spirula that knows the SPIR-V format.
//!
//! - [`grammar`]: every instruction, operand kind and extended instruction as tables.
//! - [`binary`]: words, the header, the stream of instructions.

pub mod binary;
pub mod grammar;
mod id;

pub use id::{Id, IdMap};
