//! SPIR-V modules: reading, writing, building, analysing and editing.
//!
//! The only crate of Spirula that knows the SPIR-V format.
//!
//! - [`grammar`]: every instruction, operand kind and extended instruction as tables.
//! - [`binary`]: words, the header, the stream of instructions.
//! - [`text`]: the assembler and the disassembler.
//! - [`ir`]: the module IR with its reader, writer and editing interface.
//! - [`build`]: making modules, with uniqued types and constants.
//! - [`analysis`]: definitions and uses, names, decorations, control-flow graph, dominators,
//!   loops, constructs, calls.
//! - [`ssa`]: variables of functions to values and phis.
//! - [`link`]: importing from other modules, linking.
//! - [`convert`]: modules of one version of SPIR-V to another.
//! - [`draw`]: control flow as drawings.
//! - [`recompute`]: declaring the capabilities and extensions that are used.
//! - [`reduce`]: shrinking modules that keep a property.
//! - [`reflect`]: what an entry point takes.
//! - [`verify`]: whether a module keeps the rules.
//! - [`target`]: what a module may assume of the environment that it is for.

#![doc = ""]
#![doc = include_str!("../GUIDE.md")]

pub mod analysis;
pub mod binary;
pub mod build;
pub mod convert;
pub mod draw;
pub mod grammar;
mod id;
pub mod ir;
pub mod link;
pub mod recompute;
pub mod reduce;
pub mod reflect;
pub mod ssa;
mod structured_walk;
pub mod target;
pub mod text;
pub mod verify;

pub(crate) use id::IdNumbers;
pub use id::{Id, IdMap, IdSet};
