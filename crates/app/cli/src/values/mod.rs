//! Values on the command line, and the processing of results.
//!
//! - [`ValueSpec`] and [`ArgSpec`]: arguments such as `1024xf32=iota`.
//! - [`ArrayFiles`]: files of arrays.
//! - [`summary`]: summaries of arrays.
//! - [`compare`]: comparison of arrays.
//! - [`image`]: pictures of arrays.
//! - [`items`]: arguments and results of entry points by their parts.
//! - [`texels`]: images and samplers.
//! - [`program`], [`tensor`]: conversion between arrays and the values of programs and of StableHLO.

mod array_file;
pub mod compare;
mod contents;
pub mod image;
pub mod items;
pub mod program;
mod spec;
pub mod summary;
pub mod tensor;
pub mod texels;

pub use array_file::{ArrayFiles, ArrayPath, read_npy_file};
pub use contents::ArrayContents;
pub use spec::{ArgSpec, ArgTarget, ValueSpec, parse_hex_bytes};
