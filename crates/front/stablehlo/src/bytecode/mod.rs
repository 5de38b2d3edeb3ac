//! MLIR bytecode, and StableHLO's portable artifacts, which are bytecode of the versioned
//! dialect `vhlo`.
//!
//! The format is described in MLIR's documentation, "MLIR Bytecode Format". Attributes and types
//! are read at their first use. Operations of `vhlo` become StableHLO's as they are read
//! ([`vhlo`]). So a module is the same as one read from text.

mod attributes;
mod body;
mod cursor;
mod entries;
mod file;
mod location;
mod sharding;
mod types;
mod vhlo;

pub use file::parse_bytecode;

/// Whether bytes begin as bytecode does.
pub fn is_bytecode(bytes: &[u8]) -> bool {
    bytes.starts_with(file::MAGIC)
}
