//! StableHLO: MLIR as text and as bytecode.

use spirula_stablehlo::mlir::{MlirModule, SsaNumbering, parse};
use spirula_stablehlo::{bytecode as binary, translate, verify};

/// What is read is verified, printed and, where it is valid, translated.
pub fn text(bytes: &[u8]) {
    if let Ok(module) = parse(bytes) {
        go_on(&module);
    }
}

/// The same of bytecode.
pub fn bytecode(bytes: &[u8]) {
    if let Ok(module) = binary::parse(bytes) {
        go_on(&module);
    }
}

fn go_on(module: &MlirModule) {
    module.show(SsaNumbering::Scoped);
    if verify(module).is_empty() {
        _ = translate::translate(module, "main");
    }
}
