//! Targets of StableHLO: MLIR as text and as bytecode.

use spirula_stablehlo::mlir::{MlirModule, SsaNumbering, parse_text};
use spirula_stablehlo::{bytecode as binary, translate, verify_module};

/// A module that is read is verified, printed and, if it is valid, translated.
pub fn check_text(bytes: &[u8]) {
    if let Ok(module) = parse_text(bytes) {
        go_on(&module);
    }
}

/// The same for bytecode.
pub fn check_bytecode(bytes: &[u8]) {
    if let Ok(module) = binary::parse_bytecode(bytes) {
        go_on(&module);
    }
}

fn go_on(module: &MlirModule) {
    module.to_generic_text(SsaNumbering::Scoped);
    if verify_module(module).is_empty() {
        _ = translate::translate_entry(module, "main");
    }
}
