//! The imperative kernel representation: functions of the host and the kernels that they launch.
//!
//! - [`ir`]: the program as data.
//! - [`ProgramBuilder`]: the builder of programs, for front ends.
//! - [`verify_program()`]: the verifier.
//! - [`print_program()`], [`parse_program`]: the text form.
//! - [`draw_dispatches`]: the dispatch graph as SVG.
//! - [`compile_program`]: whole programs to steps of the host and SPIR-V kernels; [`lower_kernel()`]: single kernels to
//!   SPIR-V.

mod builder;
mod call_graph;
mod captures;
mod compile;
mod copy_kernels;
mod draw;
mod host;
pub mod ir;
mod lower;
mod text;
mod verify;

pub use builder::ProgramBuilder;
pub use compile::compile_program;
pub use draw::draw_dispatches;
pub use lower::{LoweredKernel, SpecValue, lower_kernel};
pub use text::{parse_program, print_program};
pub use verify::verify_program;
