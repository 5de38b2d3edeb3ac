//! Failures of calls, and the exceptions that Python gets of them.

use crate::diagnostic::make_diagnostics;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use spirula::{CompileError, CompileStage};
use spirula_diagnostics::{DiagnosticSeverity, SourceDiagnostic, SourceFile, render_diagnostic};
use spirula_program::ProgramError;
use spirula_runtime::DeviceError;

/// The kind of a failure, which is the class of its exception.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureKind {
    /// An input is malformed.
    Read,
    /// An input cannot be compiled.
    Compile,
    /// A module breaks a rule.
    Verify,
    /// An argument does not fit.
    Argument,
    /// A device refuses or fails.
    Device,
    /// A device has no memory.
    Memory,
    /// A kernel accesses memory that it must not access.
    Fault,
    /// An assertion of a program does not hold.
    Program,
}

impl FailureKind {
    /// The name of the class.
    fn class_name(self) -> &'static str {
        match self {
            FailureKind::Read => "ReadError",
            FailureKind::Compile => "CompileError",
            FailureKind::Verify => "VerifyError",
            FailureKind::Argument => "ArgumentError",
            FailureKind::Device => "DeviceError",
            FailureKind::Memory => "DeviceMemoryError",
            FailureKind::Fault => "FaultError",
            FailureKind::Program => "ProgramError",
        }
    }
}

/// An input, to which diagnostics refer.
#[derive(Clone, Debug)]
pub struct NamedSource {
    pub name: String,
    pub bytes: Vec<u8>,
}

/// A failure of a call.
#[derive(Debug)]
pub struct PythonFailure {
    kind: FailureKind,
    /// The message, where there are no diagnostics.
    message: String,
    diagnostics: Vec<SourceDiagnostic>,
    source: Option<NamedSource>,
}

impl PythonFailure {
    /// A failure without a place.
    pub fn new(kind: FailureKind, message: impl Into<String>) -> PythonFailure {
        PythonFailure {
            kind,
            message: message.into(),
            diagnostics: Vec::new(),
            source: None,
        }
    }

    /// An argument does not fit.
    pub fn argument(message: impl Into<String>) -> PythonFailure {
        PythonFailure::new(FailureKind::Argument, message)
    }

    /// A failure with places in an input.
    pub fn from_diagnostics(
        kind: FailureKind,
        diagnostics: impl Into<Vec<SourceDiagnostic>>,
        source: &NamedSource,
    ) -> PythonFailure {
        PythonFailure {
            kind,
            message: String::new(),
            diagnostics: diagnostics.into(),
            source: Some(source.clone()),
        }
    }

    /// An input was refused.
    pub fn from_compilation(error: CompileError, source: &NamedSource) -> PythonFailure {
        let kind = match error.stage {
            CompileStage::Read => FailureKind::Read,
            CompileStage::Translate => FailureKind::Compile,
        };
        PythonFailure::from_diagnostics(kind, error.diagnostics, source)
    }

    /// A device refused a module.
    pub fn from_module_refusal(error: DeviceError, source: &NamedSource) -> PythonFailure {
        let diagnostics = match error {
            DeviceError::Module(fault) => vec![*fault],
            DeviceError::Unsupported(faults) => faults,
            error => return error.into(),
        };
        PythonFailure::from_diagnostics(FailureKind::Device, diagnostics, source)
    }

    /// The text of the exception.
    fn format_message(&self) -> String {
        let Some(source) = &self.source else {
            return self.message.clone();
        };
        let errors = spirula::relocate_to_text(&source.bytes, &self.diagnostics);
        let rendered = errors.iter().map(|diagnostic| {
            let (name, bytes) = (source.name.as_str(), source.bytes.as_slice());
            render_diagnostic(diagnostic, SourceFile { name, bytes }, false)
        });
        rendered.collect::<String>().trim_end().to_owned()
    }
}

impl From<DeviceError> for PythonFailure {
    fn from(error: DeviceError) -> PythonFailure {
        let kind = match error {
            DeviceError::Memory { .. } => FailureKind::Memory,
            DeviceError::Faults(_) => FailureKind::Fault,
            DeviceError::ArgumentCount { .. }
            | DeviceError::Argument { .. }
            | DeviceError::Binding { .. }
            | DeviceError::Spec { .. }
            | DeviceError::Launch(_) => FailureKind::Argument,
            _ => FailureKind::Device,
        };
        PythonFailure::new(kind, error.to_string())
    }
}

impl From<ProgramError<DeviceError>> for PythonFailure {
    fn from(error: ProgramError<DeviceError>) -> PythonFailure {
        let kind = match error {
            ProgramError::Machine(error) => return error.into(),
            ProgramError::Failed(..) | ProgramError::Foreign(_) => FailureKind::Program,
            ProgramError::Invalid(_) => FailureKind::Argument,
            ProgramError::Unsupported(_) => FailureKind::Device,
        };
        PythonFailure::new(kind, error.to_string())
    }
}

/// A class of the module `spirula._errors`.
fn find_class<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    static ERRORS: PyOnceLock<Py<PyModule>> = PyOnceLock::new();
    let module = ERRORS.get_or_try_init(py, || {
        Ok::<_, PyErr>(py.import("spirula._errors")?.unbind())
    });
    module?.bind(py).getattr(name)
}

impl From<PythonFailure> for PyErr {
    fn from(failure: PythonFailure) -> PyErr {
        Python::attach(|py| {
            let message = failure.format_message();
            let diagnostics = match &failure.source {
                Some(source) => make_diagnostics(py, &failure.diagnostics, source)?,
                None => Vec::new(),
            };
            let class = find_class(py, failure.kind.class_name())?;
            let exception = class.call1((message, diagnostics))?;
            Ok::<_, PyErr>(PyErr::from_value(exception))
        })
        .unwrap_or_else(|error| error)
    }
}

/// Warns of diagnostics that are no errors.
///
/// # Errors
/// When the program turns warnings into exceptions.
pub fn warn_of(
    py: Python<'_>,
    diagnostics: &[SourceDiagnostic],
    source: &NamedSource,
) -> PyResult<()> {
    let warnings = diagnostics
        .iter()
        .filter(|diagnostic| diagnostic.severity == DiagnosticSeverity::Warning);
    for warning in spirula::relocate_to_text(&source.bytes, &warnings.cloned().collect::<Vec<_>>())
    {
        let (name, bytes) = (source.name.as_str(), source.bytes.as_slice());
        let text = render_diagnostic(&warning, SourceFile { name, bytes }, false);
        let category = find_class(py, "SpirulaWarning")?;
        let warn = py.import("warnings")?.getattr("warn")?;
        warn.call1((text.trim_end(), category))?;
    }
    Ok(())
}
