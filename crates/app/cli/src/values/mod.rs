//! Values as the command line writes them, and what is done with results.
//!
//! - [`ValueSpec`] and [`ArgSpec`]: `1024xf32=iota` and its relatives.
//! - [`summary`]: an array in a few lines.
//! - [`compare`]: where and by how much two arrays differ.
//! - [`image`]: an array as a picture.
//! - [`texels`]: images and samplers.
//! - [`program`], [`tensor`]: between arrays and the values of programs, of StableHLO's too.

pub mod compare;
pub mod image;
pub mod program;
mod spec;
pub mod summary;
pub mod tensor;
pub mod texels;

pub use spec::{ArgSpec, ArgTarget, ArrayContents, ValueSpec, parse_hex_bytes};
