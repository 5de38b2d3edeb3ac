//! The diagnostic of constructs that cannot be lowered.

use spirula_diagnostics::{SourceDiagnostic, SourceLocation};

/// The error that a construct cannot be lowered.
pub(crate) fn unsupported_diagnostic(place: SourceLocation, construct: &str) -> SourceDiagnostic {
    SourceDiagnostic::error(place, format!("kernels cannot be lowered with {construct}"))
}
