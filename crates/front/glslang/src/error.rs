//! Errors of compilations by glslang and DXC.

use spirula_diagnostics::SourceDiagnostic;
use std::io;

/// The reason why a compiler makes no SPIR-V.
#[derive(Debug, thiserror::Error)]
pub enum ShaderError {
    /// There is no compiler of the language.
    #[error("no compiler of {language} was found; install {programs}")]
    Missing {
        /// The language.
        language: &'static str,
        /// The programs that are looked for.
        programs: String,
    },
    /// The compiler cannot be run.
    #[error("{program} cannot be run: {error}")]
    Process {
        /// The path of the compiler.
        program: String,
        /// The reason.
        error: io::Error,
    },
    /// The source has errors.
    #[error("{}", .faults.first().map_or("the source has errors", |fault| fault.message.as_str()))]
    Source {
        /// The errors, with the lines of the source.
        faults: Vec<SourceDiagnostic>,
    },
}
