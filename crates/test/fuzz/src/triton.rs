//! Target of Triton's intermediate representation.

use spirula_triton::{PROGRAM_WIDTH, lower_module, read_module};

/// A kernel in TTIR is lowered if it is read. Its LLVM IR is refused where operations have operands of wrong types.
pub fn check_kernel(bytes: &[u8]) {
    if let Ok(source) = std::str::from_utf8(bytes)
        && let Ok(module) = read_module(source)
        && let Ok(kernel) = lower_module(&module, PROGRAM_WIDTH)
    {
        _ = spirula_llvm::read_module(kernel.assembly.as_bytes());
    }
}
