//! Reading of programs in any form.

use crate::bytecode;
use crate::mlir::{self, MlirModule};
use spirula_diagnostics::SourceDiagnostic;

/// Reads a module from text or bytecode, whichever it is.
///
/// # Errors
/// The first fault, with its place.
pub fn read_module(bytes: &[u8]) -> Result<MlirModule, SourceDiagnostic> {
    if bytecode::is_bytecode(bytes) {
        bytecode::parse_bytecode(bytes)
    } else {
        mlir::parse_text(bytes)
    }
}
