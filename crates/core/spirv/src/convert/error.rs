//! Errors of version conversion.

use crate::grammar::{Op, SpirvVersion};
use crate::ir::InstRef;
use spirula_diagnostics::{SourceDiagnostic, SourceLocation};
use std::fmt;

/// An instruction that keeps a module from being of another version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConvertError {
    /// The requested version.
    pub version: SpirvVersion,
    /// The instruction; `None` for the module as a whole.
    pub op: Option<Op>,
    /// Its location in the module that was read.
    pub place: SourceLocation,
    /// The unsupported part of it.
    pub what: String,
}

impl ConvertError {
    pub(super) fn new(version: SpirvVersion, inst: InstRef<'_>, what: impl Into<String>) -> Self {
        ConvertError {
            version,
            op: Some(inst.op()),
            place: inst.place(),
            what: what.into(),
        }
    }

    pub(super) fn of_module(version: SpirvVersion, what: impl Into<String>) -> Self {
        ConvertError {
            version,
            op: None,
            place: SourceLocation::Unknown,
            what: what.into(),
        }
    }
}

impl fmt::Display for ConvertError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the module cannot be of SPIR-V {}: ", self.version)?;
        match self.op {
            Some(op) if !self.what.starts_with(&op.to_string()) => write!(f, "{op}: {}", self.what),
            _ => f.write_str(&self.what),
        }
    }
}

impl std::error::Error for ConvertError {}

impl From<ConvertError> for SourceDiagnostic {
    fn from(error: ConvertError) -> Self {
        SourceDiagnostic::error(error.place, error.to_string())
    }
}
