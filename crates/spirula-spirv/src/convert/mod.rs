//! Modules of one version of SPIR-V to another.
//!
//! What a later version took back or demands is brought to its form: interfaces list every global
//! variable (1.4), `BufferBlock` becomes `Block` in the class `StorageBuffer` (1.4), instructions that
//! are no more get their successors, branches have different targets (1.6).
//!
//! Cost: a few passes over the module.

mod buffers;
mod error;
mod interfaces;
mod raise;

pub use error::ConvertError;
pub use interfaces::complete_interfaces;
pub use raise::raise;
