//! Errors: the reasons why a module cannot be changed for a device, and diagnostics of unsupported constructs.

use spirula_diagnostics::{SourceDiagnostic, SourceLocation};
use spirula_spirv::ir::InstRef;
use std::fmt;

/// Reason why a module cannot be changed for a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LegalizeError {
    /// The module is malformed.
    Module(Box<SourceDiagnostic>),
    /// The module needs something that the device lacks: each such place in the module, at least one.
    Unsupported(Vec<SourceDiagnostic>),
    /// The launch exceeds the device's limits.
    Launch(String),
}

impl LegalizeError {
    /// The device lacks something, without a place in the module.
    pub(crate) fn unsupported(message: String) -> LegalizeError {
        LegalizeError::Unsupported(vec![SourceDiagnostic::error(
            SourceLocation::Unknown,
            message,
        )])
    }
}

impl From<SourceDiagnostic> for LegalizeError {
    fn from(fault: SourceDiagnostic) -> LegalizeError {
        LegalizeError::Module(Box::new(fault))
    }
}

impl fmt::Display for LegalizeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LegalizeError::Module(fault) => fault.fmt(f),
            LegalizeError::Unsupported(faults) => match faults.first() {
                Some(first) => first.fmt(f),
                None => f.write_str("the module is refused"),
            },
            LegalizeError::Launch(message) => f.write_str(message),
        }
    }
}

impl std::error::Error for LegalizeError {}

/// The diagnostic that a construct at an instruction is not supported.
pub fn diagnose_instruction(inst: InstRef<'_>, construct: &str) -> SourceDiagnostic {
    SourceDiagnostic::error(
        inst.place(),
        format!("{construct} is not supported for Vulkan"),
    )
}

/// The diagnostic that a construct at an unknown place is not supported.
pub fn diagnose_unsupported(construct: &str) -> SourceDiagnostic {
    let text = format!("{construct} is not supported for Vulkan");
    SourceDiagnostic::error(SourceLocation::Unknown, text)
}
