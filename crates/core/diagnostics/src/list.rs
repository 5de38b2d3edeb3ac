//! Lists of diagnostics that are one error.

use crate::SourceDiagnostic;
use std::fmt;
use std::ops::Deref;

/// Diagnostics that are returned as one error, so that `?` passes them on.
///
/// ```
/// use spirula_diagnostics::{DiagnosticList, SourceDiagnostic, SourceLocation};
///
/// fn refuse_input() -> Result<(), DiagnosticList> {
///     Err(SourceDiagnostic::error(SourceLocation::Byte(4), "the word is not expected").into())
/// }
///
/// fn read_input() -> Result<(), Box<dyn std::error::Error>> {
///     Ok(refuse_input()?)
/// }
///
/// let error = read_input().unwrap_err();
/// assert_eq!(error.to_string(), "byte 4 (0x4): the word is not expected");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiagnosticList(Vec<SourceDiagnostic>);

impl DiagnosticList {
    /// The diagnostics.
    pub fn into_vec(self) -> Vec<SourceDiagnostic> {
        self.0
    }
}

impl Deref for DiagnosticList {
    type Target = [SourceDiagnostic];

    fn deref(&self) -> &[SourceDiagnostic] {
        &self.0
    }
}

impl From<Vec<SourceDiagnostic>> for DiagnosticList {
    fn from(diagnostics: Vec<SourceDiagnostic>) -> Self {
        DiagnosticList(diagnostics)
    }
}

impl From<SourceDiagnostic> for DiagnosticList {
    fn from(diagnostic: SourceDiagnostic) -> Self {
        DiagnosticList(vec![diagnostic])
    }
}

impl From<DiagnosticList> for Vec<SourceDiagnostic> {
    fn from(list: DiagnosticList) -> Self {
        list.0
    }
}

impl IntoIterator for DiagnosticList {
    type Item = SourceDiagnostic;
    type IntoIter = std::vec::IntoIter<SourceDiagnostic>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<'a> IntoIterator for &'a DiagnosticList {
    type Item = &'a SourceDiagnostic;
    type IntoIter = std::slice::Iter<'a, SourceDiagnostic>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

/// A line for each diagnostic, without the source.
impl fmt::Display for DiagnosticList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, diagnostic) in self.0.iter().enumerate() {
            if number > 0 {
                f.write_str("\n")?;
            }
            fmt::Display::fmt(diagnostic, f)?;
        }
        Ok(())
    }
}

impl std::error::Error for DiagnosticList {}
