//! Errors of compilations.

use spirula_diagnostics::SourceDiagnostic;
use std::fmt;

/// Stage of a compilation that refuses its input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompileStage {
    /// The input is malformed or of no accepted format.
    Read,
    /// The input is well-formed, but cannot be compiled.
    Translate,
}

/// Refusal of an input.
#[derive(Debug)]
pub struct CompileError {
    /// The stage that refused the input.
    pub stage: CompileStage,
    /// Diagnostics, with at least one error.
    pub diagnostics: Vec<SourceDiagnostic>,
}

impl fmt::Display for CompileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.diagnostics.first() {
            Some(first) => first.fmt(f),
            None => f.write_str("the input was refused"),
        }
    }
}

impl std::error::Error for CompileError {}

impl CompileError {
    pub(crate) fn from_read_fault(diagnostic: SourceDiagnostic) -> Self {
        Self::from_diagnostics(CompileStage::Read, vec![diagnostic])
    }

    pub(crate) fn from_translate_fault(diagnostic: SourceDiagnostic) -> Self {
        Self::from_diagnostics(CompileStage::Translate, vec![diagnostic])
    }

    pub(crate) fn from_diagnostics(
        stage: CompileStage,
        diagnostics: impl Into<Vec<SourceDiagnostic>>,
    ) -> Self {
        let diagnostics = diagnostics.into();
        CompileError { stage, diagnostics }
    }
}
