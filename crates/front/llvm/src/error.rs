//! Errors of this crate.

use spirula_diagnostics::{SourceDiagnostic, SourceLocation};
use std::borrow::Cow;
use std::fmt;

/// An error.
#[derive(Clone, Debug)]
pub(crate) enum LlvmError {
    /// An error at a place of the input.
    Located(SourceDiagnostic),
    /// The reason why a construct is refused: one sentence without a full stop. The caller that knows the place adds it.
    Unlocated(Cow<'static, str>),
    /// The construct needs something that was refused before, and reported.
    Reported,
}

/// A result of this crate. The error is boxed so that results stay small: the bitcode reader returns one for every
/// field.
pub(crate) type LlvmResult<T> = Result<T, Box<LlvmError>>;

/// An error at a source location.
pub(crate) fn error_at(place: SourceLocation, message: impl Into<String>) -> Box<LlvmError> {
    let diagnostic = SourceDiagnostic::error(place, message);
    Box::new(LlvmError::Located(diagnostic))
}

/// An error whose place the caller knows.
pub(crate) fn make_refusal(reason: impl Into<Cow<'static, str>>) -> Box<LlvmError> {
    Box::new(LlvmError::Unlocated(reason.into()))
}

impl LlvmError {
    /// The same with the function whose call is refused.
    pub fn in_call_of(self, name: &str) -> Box<LlvmError> {
        match self {
            LlvmError::Unlocated(reason) => {
                make_refusal(format!("{reason} (in the call of {name})"))
            }
            other => Box::new(other),
        }
    }

    /// The diagnostic, at `place` unless the error has one of its own.
    pub fn into_diagnostic(self, place: SourceLocation) -> SourceDiagnostic {
        match self {
            LlvmError::Located(diagnostic) => diagnostic,
            other => SourceDiagnostic::error(place, other.to_string()),
        }
    }

    /// The same error with a place.
    pub fn locate(self, place: SourceLocation) -> Box<LlvmError> {
        Box::new(LlvmError::Located(self.into_diagnostic(place)))
    }

    /// Adds a hint to an error with a place.
    pub fn with_hint(self, hint: &str) -> Box<LlvmError> {
        Box::new(match self {
            LlvmError::Located(diagnostic) => LlvmError::Located(diagnostic.with_hint(hint)),
            other => other,
        })
    }
}

impl fmt::Display for LlvmError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LlvmError::Located(diagnostic) => diagnostic.fmt(f),
            LlvmError::Unlocated(reason) => f.write_str(reason),
            LlvmError::Reported => f.write_str("refused for a reason that was reported"),
        }
    }
}

impl From<String> for Box<LlvmError> {
    fn from(reason: String) -> Self {
        make_refusal(reason)
    }
}

impl From<&'static str> for Box<LlvmError> {
    fn from(reason: &'static str) -> Self {
        make_refusal(reason)
    }
}
