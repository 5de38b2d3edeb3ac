//! Compilation of whole programs: steps of the host, modules of kernels, and the functions of copies.

use crate::copy_kernels::add_copy_functions;
use crate::host::lower_program;
use crate::ir::KernelProgram;
use spirula_diagnostics::SourceDiagnostic;
use spirula_program::program::CompiledProgram;

/// Compiles a checked program. A kernel that cannot be lowered fails when it is launched.
///
/// # Errors
/// If the program breaks a rule of the verifier that lowering depends on.
pub fn compile_program(program: &KernelProgram) -> Result<CompiledProgram, SourceDiagnostic> {
    let mut compiled = lower_program(program)?;
    add_copy_functions(&mut compiled)?;
    Ok(compiled)
}
