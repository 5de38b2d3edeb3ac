//! Reader errors.

use spirula_diagnostics::{SourceDiagnostic, SourceLocation};

/// A diagnostic. It is boxed so that results stay small: the bitcode reader returns one for every
/// field.
pub(crate) type BoxedDiagnostic = Box<SourceDiagnostic>;

/// An error at a source location.
pub(crate) fn error_at(place: SourceLocation, message: impl Into<String>) -> BoxedDiagnostic {
    Box::new(SourceDiagnostic::error(place, message))
}
