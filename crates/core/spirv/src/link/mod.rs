//! Bringing modules together: importing from one module into another, and linking.
//!
//! [`SpirvImporter`] copies types, constants, global variables and functions with everything that they
//! need. What is equal by value in both modules becomes one: types and constants (decorations
//! included), extended instruction sets, strings. [`link_modules`] imports whole modules and resolves the
//! symbols between them (specification, section 2.12 "Linkage").
//!
//! Cost: one pass over each module that is imported, with one look-up in a hash table for each of
//! its types and constants.

mod annotations;
mod error;
mod import;
mod linker;
mod order;
mod recursive;
mod symbols;
mod values;
mod workgroup;

pub use error::LinkError;
pub use import::{ImportError, SpirvImporter};
pub use linker::{EntryNames, LinkOptions, link_modules};
pub use values::GlobalValueTable;
