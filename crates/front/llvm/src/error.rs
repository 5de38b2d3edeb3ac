//! Errors inside the readers.

use spirula_diagnostics::{Diagnostic, Place};

/// A diagnostic, boxed so that results stay small where every bit is read.
pub(crate) type Error = Box<Diagnostic>;

/// An error at a place.
pub(crate) fn fault(place: Place, message: impl Into<String>) -> Error {
    Box::new(Diagnostic::error(place, message))
}
