//! Errors of the translation.

use spirula_diagnostics::{SourceDiagnostic, SourceLocation};
use std::fmt;

/// Why a module is not translated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TranslateError {
    /// It uses something that the translation does not know.
    Unsupported {
        /// The operation, or the operation and a type.
        what: String,
        /// Its location.
        place: SourceLocation,
    },
    /// It is not well formed.
    Invalid(SourceDiagnostic),
}

/// Result of a step of the translation.
pub type TranslateResult<T> = Result<T, TranslateError>;

impl TranslateError {
    /// An error about something that the translation does not know.
    pub fn new_unsupported(place: SourceLocation, what: impl Into<String>) -> Self {
        let what = what.into();
        TranslateError::Unsupported { what, place }
    }

    /// An error about something that is not well formed.
    pub fn new_invalid(place: SourceLocation, message: impl Into<String>) -> Self {
        TranslateError::Invalid(SourceDiagnostic::error(place, message))
    }
}

impl fmt::Display for TranslateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TranslateError::Unsupported { what, .. } => write!(f, "unsupported {what}"),
            TranslateError::Invalid(diagnostic) => diagnostic.fmt(f),
        }
    }
}

impl std::error::Error for TranslateError {}

impl From<TranslateError> for SourceDiagnostic {
    fn from(error: TranslateError) -> Self {
        match error {
            TranslateError::Unsupported { what, place } => {
                SourceDiagnostic::error(place, format!("unsupported {what}"))
            }
            TranslateError::Invalid(diagnostic) => diagnostic,
        }
    }
}
