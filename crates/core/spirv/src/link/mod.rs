//! Bringing modules together: importing from one module into another, and linking.
//!
//! [`SpirvImporter`] copies types, constants, global variables and functions with everything that they
//! need. Items that are equal by value in both modules are merged: types and constants (decorations
//! included), extended instruction sets, strings. [`link_modules`] imports whole modules and resolves the
//! symbols between them (specification, section 2.12 "Linkage").
//!
//! Cost: one pass over each module that is imported, with one look-up in a hash table for each of
//! its types and constants.

mod decorations;
mod error;
mod global_order;
mod global_values;
mod import;
mod linker;
mod pointee_casts;
mod recursive_types;
mod symbols;
mod workgroup_size;

pub use error::LinkError;
pub use global_values::GlobalValueTable;
pub use import::{ImportError, SpirvImporter};
pub use linker::{EntryNames, LinkOptions, link_modules};
