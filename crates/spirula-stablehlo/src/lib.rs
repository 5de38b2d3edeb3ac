//! StableHLO: programs of JAX, PyTorch/XLA and others, read, checked and translated.
//!
//! - [`mlir`]: modules as data; reading MLIR text ([`mlir::parse`]) and printing it. Operations
//!   of `mhlo` that StableHLO shares are read as StableHLO's, and custom assembly forms become
//!   what the generic form says, so that what comes after sees one form of each operation.
//! - [`verify`]: whether a module is valid.
//! - [`translate`]: what a module computes, in the tensor IR.

mod dialect;
pub mod mlir;
pub mod translate;
mod verify;

pub use verify::verify;
