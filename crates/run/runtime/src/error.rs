//! What can go wrong with a device.

use spirula_cpu::FaultReport;
use spirula_diagnostics::SourceDiagnostic;
use spirula_legalize::LegalizeError;

/// Why a device refused something, or failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DeviceError {
    /// There is no such device.
    #[error("no device {name}; there are: {available}")]
    NoDevice {
        /// The name that was asked for.
        name: String,
        /// Names that there are.
        available: String,
    },
    /// The module is not valid, or has no such entry point.
    #[error("{0}")]
    Module(Box<SourceDiagnostic>),
    /// The module needs something that the device lacks: each such place in the module, one at
    /// least.
    #[error("{}", describe_first(.0))]
    Unsupported(Vec<SourceDiagnostic>),
    /// There is no memory for a buffer.
    #[error("no memory for a buffer of {size} bytes; the device gives {limit}")]
    Memory {
        /// Bytes that were asked for.
        size: u64,
        /// Bytes that the device gives at most.
        limit: u64,
    },
    /// There cannot be an image of this shape.
    #[error("{0}")]
    Image(String),
    /// A handle of something that was destroyed, or of another device.
    #[error("{0} is not of this device, or was destroyed")]
    Handle(&'static str),
    /// A copy reaches beyond the end of its buffer.
    #[error("bytes {offset} to {end} are not within a buffer of {size} bytes")]
    Range {
        /// First byte.
        offset: u64,
        /// One past the last.
        end: u64,
        /// Bytes of the buffer.
        size: u64,
    },
    /// The number of arguments is wrong.
    #[error("{kernel} takes {expected} arguments, {given} are given")]
    ArgumentCount {
        /// Name of the entry point.
        kernel: String,
        /// Number of its parameters.
        expected: usize,
        /// Number of arguments.
        given: usize,
    },
    /// An argument does not fit its parameter.
    #[error("argument {number}{}: {problem}", format_name(.name))]
    Argument {
        /// Position, from 0.
        number: usize,
        /// Name of the parameter.
        name: Option<String>,
        /// What is wrong.
        problem: String,
    },
    /// A resource does not fit the shader.
    #[error("set {set}, binding {binding}{}: {problem}", format_name(.name))]
    Binding {
        /// Descriptor set.
        set: u32,
        /// Binding.
        binding: u32,
        /// Name of the variable or its block.
        name: Option<String>,
        /// What is wrong.
        problem: String,
    },
    /// A specialisation value fits no constant of the module.
    #[error("specialisation constant {id}: {problem}")]
    Spec {
        /// `SpecId`.
        id: u32,
        /// What is wrong.
        problem: String,
    },
    /// The launch makes no sense for this kernel or this device.
    #[error("{0}")]
    Launch(String),
    /// Devices that do the same came to different results.
    #[error("{0}")]
    Parted(Box<crate::LaunchMismatch>),
    /// Kernels did what they must not, as the checking device found.
    #[error("{}", join_reports(.0))]
    Faults(Vec<FaultReport>),
    /// The driver's compiler failed on a valid kernel.
    #[error("{0}")]
    Compiler(String),
    /// The device failed while running.
    #[error("{0}")]
    Failed(String),
}

impl From<LegalizeError> for DeviceError {
    fn from(error: LegalizeError) -> DeviceError {
        match error {
            LegalizeError::Module(fault) => DeviceError::Module(fault),
            LegalizeError::Unsupported(faults) => DeviceError::Unsupported(faults),
            LegalizeError::Launch(message) => DeviceError::Launch(message),
        }
    }
}

fn format_name(name: &Option<String>) -> String {
    name.as_ref()
        .map_or_else(String::new, |n| format!(" ({n})"))
}

fn join_reports(reports: &[FaultReport]) -> String {
    let reports: Vec<String> = reports.iter().map(FaultReport::to_string).collect();
    reports.join("\n")
}

fn describe_first(diagnostics: &[SourceDiagnostic]) -> String {
    diagnostics.first().map_or_else(
        || "the module is refused".to_owned(),
        SourceDiagnostic::to_string,
    )
}
