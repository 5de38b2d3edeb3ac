//! Why a module is not translated.

use spirula_diagnostics::{Diagnostic, Place};
use std::fmt;

/// Why a module is not translated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// It uses something that the translation does not know.
    Unsupported {
        /// What: an operation, or an operation and a type.
        what: String,
        /// Where it stands.
        place: Place,
    },
    /// It is not well formed.
    Invalid(Diagnostic),
}

/// Result of a step of the translation.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// Something that is not known.
    pub fn unsupported(place: Place, what: impl Into<String>) -> Self {
        let what = what.into();
        Error::Unsupported { what, place }
    }

    /// Something that is wrong.
    pub fn invalid(place: Place, message: impl Into<String>) -> Self {
        Error::Invalid(Diagnostic::error(place, message))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Unsupported { what, .. } => write!(f, "unsupported {what}"),
            Error::Invalid(diagnostic) => diagnostic.fmt(f),
        }
    }
}

impl std::error::Error for Error {}

impl From<Error> for Diagnostic {
    fn from(error: Error) -> Self {
        match error {
            Error::Unsupported { what, place } => {
                Diagnostic::error(place, format!("unsupported {what}"))
            }
            Error::Invalid(diagnostic) => diagnostic,
        }
    }
}
