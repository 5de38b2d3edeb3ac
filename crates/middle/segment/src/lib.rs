//! The *segmented* form: code of the host, and operations over spaces of several dimensions whose bodies are sequential.
//!
//! - [`ir`]: the data. Bodies are statements of the soac form.
//! - [`translate`]: the soac form to the segmented form. Nests of maps are distributed over the statements of their body.
//! - [`mod@print`]: functions as text. [`parse`] reads it back.
//! - [`verify`]: what holds of every function.
//! - [`meaning`]: what a function means, as a program of the soac form. The evaluator of that form is the reference.
//! - [`lower`]: to code of the host and kernels.
//! - [`profile`]: sizes that a kind of device does well with.
//!
//! The crate knows no source language and no device.

mod device_scalars;
mod direct_results;
mod distribute;
mod epilogues;
mod fused;
mod grouped;
mod in_place;
mod interchange;
pub mod ir;
mod loops;
pub mod lower;
pub mod meaning;
mod meaning_rows;
mod nest;
mod outer_width;
pub mod parse;
pub mod print;
pub mod profile;
mod row_access;
mod scope;
mod streamed_scans;
pub mod translate;
pub mod verify;
mod virtual_arrays;
