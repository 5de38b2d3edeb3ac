//! Diagnostics: errors, warnings and notes about an input.

use crate::SourceLocation;
use std::fmt;

/// How bad a diagnostic is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DiagnosticSeverity {
    /// Worth knowing; nothing was refused.
    Note,
    /// Accepted, but probably not what was meant.
    Warning,
    /// The input was refused.
    Error,
}

/// A fault or a remark about an input, with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceDiagnostic {
    /// How bad it is.
    pub severity: DiagnosticSeverity,
    /// One sentence without a full stop.
    pub message: String,
    /// What it is about.
    pub place: SourceLocation,
    /// A few words shown at the place itself; may be empty.
    pub label: String,
    /// Further facts, each a sentence.
    pub notes: Vec<String>,
    /// What the user can do about it.
    pub hint: Option<String>,
}

impl SourceDiagnostic {
    /// An error at a place.
    pub fn error(place: SourceLocation, message: impl Into<String>) -> Self {
        Self::new(DiagnosticSeverity::Error, place, message)
    }

    /// A warning at a place.
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

    /// The same with a few words to show at the place.
    #[must_use]
    pub fn with_label(mut self, label: impl Into<String>) -> Self {
        self.label = label.into();
        self
    }

    /// The same with one more fact.
    #[must_use]
    pub fn with_note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    /// The same with advice.
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
