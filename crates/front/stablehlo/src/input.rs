//! Any form of a program.

use crate::bytecode;
use crate::mlir::{self, Module};
use spirula_diagnostics::Diagnostic;

/// Reads a module from text or bytecode, whichever it is.
///
/// # Errors
/// The first fault, with its place.
pub fn read(bytes: &[u8]) -> Result<Module, Diagnostic> {
    match bytecode::is_bytecode(bytes) {
        true => bytecode::parse(bytes),
        false => mlir::parse(bytes),
    }
}
