//! The C interface of Spirula's SPIR-V library: reading, walking, analysing, editing, verifying and
//! writing modules from C and everything that calls C.
//!
//! The header `include/spirula.h` is generated from this crate's sources by its test, with
//! `BLESS=1`. Conventions:
//! - A function that can fail returns [`SpirulaStatus`] and takes a last parameter `error`, which
//!   may be null; where it is not, a failure puts a [`SpirulaError`] there, to be freed.
//! - Results are written through pointers, and only on success.
//! - Functions, blocks and instructions are numbers that stay valid while the module changes;
//!   [`SPIRULA_NONE`] stands for none. Numbers that name nothing are errors.
//! - Functions that fill a buffer return how much there is, and write as much as there is room for.
//! - No call unwinds into C: a fault of this library is `SPIRULA_STATUS_INTERNAL`, after which
//!   the module can only be freed.
//! - A module may be used by one thread at a time; different modules by different threads.
//!
//! # Safety
//! One contract holds for every function: pointers to objects are null or were given by this library
//! and not freed yet; pointers to results are null or can be written; arrays are null or as long as
//! their count says; a pointer that a function lends is used until its object changes or is freed.
//! Null where something is needed is an error, not undefined.

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
