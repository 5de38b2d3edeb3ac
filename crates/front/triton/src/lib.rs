//! Triton front end: the text of Triton's intermediate representation (TTIR) to LLVM IR.
//!
//! A module of TTIR describes one program of a launch grid. Its values are scalars and whole tensors. Here a program
//! becomes the work of one workgroup. Tensors have elements in workgroup memory, or are expressions that are evaluated
//! for each element where they are used.
//!
//! - [`ir`]: modules as data, each operation with operands, attributes and regions.
//! - [`read_module`]: reads the text.
//! - [`lower_module`]: lowers the kernel of a module to LLVM assembly of an OpenCL kernel.

pub mod ir;

mod emit;
mod lower;
mod read;

pub use lower::{TileKernel, lower_module};
pub use read::read_module;

use spirula_diagnostics::SourceDiagnostic;

/// Number of invocations that compute one program: as many as the processor runs at once.
pub const PROGRAM_WIDTH: u32 = 8;

/// Result of a step of the front end.
pub(crate) type TritonResult<T> = Result<T, SourceDiagnostic>;

/// Whether a text is a module of TTIR.
pub fn is_triton_module(text: &[u8]) -> bool {
    const MARK: &[u8] = b"tt.func";
    text.windows(MARK.len()).any(|window| window == MARK)
}
