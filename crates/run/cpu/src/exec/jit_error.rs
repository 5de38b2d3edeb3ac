//! JIT error: the reason why a kernel cannot be compiled.

use spirula_diagnostics::SourceDiagnostic;
use std::fmt;

/// The reason why an entry point cannot be compiled.
#[derive(Clone, Debug)]
pub enum JitError {
    /// The module is malformed, or uses features that the CPU device does not support.
    Unsupported(Vec<SourceDiagnostic>),
    /// The device generated code that it cannot compile itself.
    Bug(SourceDiagnostic),
}

impl JitError {
    /// The diagnostics of the error, at least one.
    pub fn diagnostics(&self) -> &[SourceDiagnostic] {
        match self {
            JitError::Unsupported(faults) => faults,
            JitError::Bug(bug) => std::slice::from_ref(bug),
        }
    }
}

impl From<SourceDiagnostic> for JitError {
    fn from(fault: SourceDiagnostic) -> JitError {
        JitError::Unsupported(vec![fault])
    }
}

impl fmt::Display for JitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, fault) in self.diagnostics().iter().enumerate() {
            let separator = if n == 0 { "" } else { "\n" };
            write!(f, "{separator}{fault}")?;
        }
        Ok(())
    }
}

impl std::error::Error for JitError {}
