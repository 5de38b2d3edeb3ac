//! Diagnostics: errors, warnings and notes about an input.

use crate::SourceLocation;
use std::fmt;

/// The severity of a diagnostic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DiagnosticSeverity {
    /// A remark; the input was accepted.
    Note,
    /// A warning; the input was accepted but is probably not intended.
    Warning,
    /// An error; the input was refused.
    Error,
}

/// A diagnostic: an error, warning or remark about an input, with its location.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceDiagnostic {
    /// Its severity.
    pub severity: DiagnosticSeverity,
    /// One sentence without a full stop.
    pub message: String,
    /// Its location.
    pub place: SourceLocation,
    /// A short label at the location; may be empty.
    pub label: String,
    /// Further facts, one sentence each.
    pub notes: Vec<String>,
    /// A hint for the user.
    pub hint: Option<String>,
}

impl SourceDiagnostic {
    /// An error at a location.
    pub fn error(place: SourceLocation, message: impl Into<String>) -> Self {
        Self::new(DiagnosticSeverity::Error, place, message)
    }

    /// A warning at a location.
    pub fn warning(place: SourceLocation, message: impl Into<String>) -> Self {
        Self::new(DiagnosticSeverity::Warning, place, message)
    }

    fn new(
        severity: DiagnosticSeverity,
        place: SourceLocation,
        message: impl Into<String>,
    ) -> Self {
        SourceDiagnostic {
            severity,
            message: message.into(),
            place,
            label: String::new(),
            notes: Vec::new(),
            hint: None,
        }
    }

    /// Adds a label that is shown at the location.
    #[must_use]
    pub fn with_label(mut self, label: impl Into<String>) -> Self {
        self.label = label.into();
        self
    }

    /// Adds a fact.
    #[must_use]
    pub fn with_note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    /// Adds a hint.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

/// One line without the source: for logs and tests. Use [`crate::render`] for people.
impl fmt::Display for SourceDiagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.place {
            SourceLocation::Unknown => f.write_str(&self.message),
            place => write!(f, "{place}: {}", self.message),
        }
    }
}

impl std::error::Error for SourceDiagnostic {}
