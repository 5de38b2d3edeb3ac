//! Errors inside the readers.

use spirula_diagnostics::{SourceDiagnostic, SourceLocation};

/// A diagnostic, boxed so that results stay small where every bit is read.
pub(crate) type BoxedDiagnostic = Box<SourceDiagnostic>;

/// An error at a place.
pub(crate) fn error_at(place: SourceLocation, message: impl Into<String>) -> BoxedDiagnostic {
    Box::new(SourceDiagnostic::error(place, message))
}
