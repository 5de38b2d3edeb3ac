//! Reading of programs in any form.

use crate::bytecode;
use crate::exported::find_exported_module;
use crate::mlir::{self, MlirModule};
use spirula_diagnostics::{SourceDiagnostic, SourceLocation};

/// Reads a module from text, from bytecode, or from a function that `jax.export` serialised, whichever it is.
///
/// # Errors
/// The first fault, with its place.
pub fn read_module(bytes: &[u8]) -> Result<MlirModule, SourceDiagnostic> {
    if bytecode::is_bytecode(bytes) {
        return bytecode::parse_bytecode(bytes);
    }
    let Some(range) = find_exported_module(bytes) else {
        return mlir::parse_text(bytes);
    };
    let start = range.start as u64;
    bytecode::parse_bytecode(&bytes[range]).map_err(|mut fault| {
        if let SourceLocation::Byte(at) = &mut fault.place {
            *at += start;
        }
        fault
    })
}
