//! The C interface of Spirula's SPIR-V library. It reads, traverses, analyses, edits, verifies and writes modules,
//! for C and for languages that call C.
//!
//! The header `include/spirula.h` is generated from this crate's sources by its test, with `BLESS=1`. Conventions:
//! - A function that can fail returns [`SpirulaStatus`] and has a last parameter `error`, which may be null.
//!   If it is not null, a failure stores a [`SpirulaError`] there, which the caller frees.
//! - Results are written through pointers, and only on success.
//! - Functions, blocks and instructions are numbers that stay valid while the module changes; [`SPIRULA_NONE`] stands for
//!   none. Numbers that refer to nothing are errors.
//! - Functions that fill a buffer write as much as it holds, and return the full length.
//! - No call unwinds into C: an internal error is `SPIRULA_STATUS_INTERNAL`, after which the module can only be freed.
//! - A module may be used by one thread at a time; different modules by different threads.
//!
//! # Safety
//! One contract holds for every function. Pointers to objects are null or come from this library and have not been
//! freed. Pointers to results are null or writable. Arrays are null or have the stated length. A pointer that a
//! function returns without ownership is not used after its object changes or is freed. Null where something is
//! required is an error, not undefined behaviour.

#![allow(unsafe_code)] // Every exported function takes pointers of C.
#![allow(clippy::missing_safety_doc)] // The contract above holds for all of them.

mod body;
mod edit;
mod error;
mod flow;
mod handle;
mod inspect;
mod module;
mod reflect;
mod text;

pub use edit::*;
pub use error::*;
pub use flow::*;
pub use handle::SPIRULA_NONE;
pub use inspect::*;
pub use module::*;
pub use reflect::*;
pub use text::*;
