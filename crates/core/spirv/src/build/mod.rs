//! Module builder: types, constants and imports are uniqued when they are created.
//!
//! [`SpirvBuilder`] appends. Module-level items may be made at any time, also in the middle of a
//! function; what is equal gets the id that it got first. Instructions of functions are appended to
//! the current block.

mod builder;
mod constants;
mod functions;
mod types;

pub(crate) use builder::string_words;
pub use builder::{SpirvBuilder, shorten_name};
