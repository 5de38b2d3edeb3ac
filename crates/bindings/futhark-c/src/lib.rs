//! The library that C interfaces of compiled Futhark programs call.
//!
//! `spirula compile --library` writes an interface in Futhark's own form. The header has a type for each type of the
//! program, and each function of the source is a few lines. These lines call the functions of this crate, which know no
//! program. A context runs the archive that the source embeds.
//!
//! The header `include/spirula_futhark.h` is generated from this crate's sources by its test, with `BLESS=1`. Conventions:
//! - A function that can fail returns [`SPIRULA_FUTHARK_SUCCESS`] or another code, or null. The context has the message, which
//!   [`spirula_futhark_context_get_error`] takes.
//! - A *type word* is the type of a scalar or of an array of scalars as Futhark writes it: `i32`, `[][]f32`.
//! - A value consists of scalars and arrays, its *parts*. The parts of a record are those of its fields, and the parts of an
//!   array of records are arrays. A sum has the number of its constructor, then the parts of all payloads.
//! - An array of values without data, such as `[]()`, has its sizes as parts. Their type word is `size`. The elements of an array
//!   around it have them in common.
//! - Values share arrays. Each has to be freed; an array is freed with its last value.
//! - No call unwinds into C: an internal error is [`SPIRULA_FUTHARK_FAILURE`], after which the context can only be freed.
//! - A context may be used by several threads. Its calls run one after the other.
//!
//! # Safety
//! One contract holds for every function. Pointers to objects are null or come from this library and have not been freed. A
//! value is used with the context that made it, and not after that context is freed. Text is null or ends with a zero byte.
//! Pointers to data are null or have as many elements as the type and the shape say. Pointers to results are null or writable.
//! Null where something is required is an error, not undefined behaviour.

#![allow(unsafe_code)] // Every exported function takes pointers of C.
#![allow(clippy::missing_safety_doc)] // The contract above holds for all of them.

mod array;
mod call;
mod config;
mod context;
mod device_choice;
mod failure;
mod handle;
mod opaque;
mod owned_session;
mod profile_report;
mod storage;
mod value;
mod word;

pub use array::*;
pub use call::*;
pub use config::*;
pub use context::*;
pub use failure::{
    SPIRULA_FUTHARK_FAILURE, SPIRULA_FUTHARK_OUT_OF_MEMORY, SPIRULA_FUTHARK_PROGRAM_ERROR,
    SPIRULA_FUTHARK_SUCCESS,
};
pub use opaque::*;
pub use storage::*;
pub use value::SpirulaFutharkValue;
