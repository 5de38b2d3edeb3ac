//! StableHLO front end: reads, verifies and translates programs of JAX, PyTorch/XLA and others.
//!
//! [`read_module`] reads every form of a program.
//!
//! - [`mlir`]: modules as data; reading MLIR text ([`mlir::parse_text`]), printing it, and building modules
//!   ([`mlir::ModuleBuilder`]).
//!   Operations of `mhlo` that StableHLO shares are read as StableHLO's, and custom assembly forms
//!   become the generic form. So later stages see one form of each operation.
//! - [`bytecode`]: reading MLIR bytecode and StableHLO's portable artifacts into the same modules.
//! - [`find_exported_module`]: the module of a function that `jax.export` serialised.
//! - [`verify_module`]: verification of a module.
//! - [`expand_operations`]: operations between devices as simpler ones. Translation and partitioning begin with it.
//! - [`memory_layout`]: the order of dimensions in memory that a program asks for.
//! - [`list_operations`]: the operations that are known.
//! - [`sharding`]: layouts of tensors over several devices.
//! - [`translate`]: translation of a module to the tensor IR.

pub mod bytecode;
mod dialect;
mod expand;
mod exported;
mod input;
pub mod memory_layout;
pub mod mlir;
mod operation_list;
pub mod sharding;
pub mod translate;
mod verify;

pub use dialect::MlirOpcode;
pub use expand::expand_operations;
pub use exported::find_exported_module;
pub use input::read_module;
pub use operation_list::{KnownOperation, list_operations};
pub use verify::verify_module;
