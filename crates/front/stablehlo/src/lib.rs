//! StableHLO: programs of JAX, PyTorch/XLA and others, read, checked and translated.
//!
//! [`read_module`] reads whatever form a program has.
//!
//! - [`mlir`]: modules as data; reading MLIR text ([`mlir::parse`]) and printing it. Operations
//!   of `mhlo` that StableHLO shares are read as StableHLO's, and custom assembly forms become
//!   what the generic form says, so that what comes after sees one form of each operation.
//! - [`bytecode`]: reading MLIR bytecode and StableHLO's portable artifacts into the same modules.
//! - [`verify_module`]: whether a module is valid.
//! - [`translate`]: what a module computes, in the tensor IR.

pub mod bytecode;
mod dialect;
mod input;
pub mod mlir;
pub mod translate;
mod verify;

pub use input::read_module;
pub use verify::verify_module;
