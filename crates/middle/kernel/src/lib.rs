//! The imperative IR: functions of the host and the kernels that they launch.
//!
//! - [`ir`]: the data.
//! - [`ProgramBuilder`]: making programs.
//! - [`check()`]: the checker.
//! - [`print()`], [`parse`]: the text form.
//! - [`compile`]: to programs that run; [`lower()`]: single kernels to SPIR-V.
//! - [`read_futhark`]: the reader of the form that Futhark prints.

mod build;
mod calls;
mod check;
mod copier;
mod futhark;
mod host;
pub mod ir;
mod lower;
mod text;
mod uses;

pub use build::ProgramBuilder;
pub use check::check;
pub use futhark::{looks_like_futhark, read_futhark};
pub use host::compile;
pub use lower::{LoweredKernel, SpecValue, lower};
pub use text::{parse, print};
