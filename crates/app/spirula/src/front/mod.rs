//! Front ends: one record for each input language, with its formats and how they are read.
//!
//! A front end reads bytes into a [`SourceProgram`]. Its variant is the representation at which the input enters the
//! pipeline; everything after that is shared ([`crate::compile`]). A new front end is a file beside these and a row of
//! [`FRONT_ENDS`]: detection, messages and the help of the command follow from the row.

mod archive;
mod detect;
mod foreign;
mod format;
mod futhark_printed;
mod futhark_source;
mod kernel_text;
mod llvm;
mod source;
mod spirv;
mod stablehlo;
mod table;
mod triton;
#[cfg(feature = "wgsl")]
mod wgsl;

pub use detect::detect_input_format;
pub use foreign::name_foreign_language;
pub use format::{FrontEnd, InputFormat};
pub use futhark_source::FUTHARK_SOURCE;
pub(crate) use source::{SourceProgram, TensorProgram};
pub use spirv::{SPIRV_BINARY, SPIRV_TEXT};
pub use table::{FRONT_ENDS, list_accepted_inputs};
