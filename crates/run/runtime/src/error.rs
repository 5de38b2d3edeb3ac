//! Errors of devices.

use spirula_diagnostics::SourceDiagnostic;
use spirula_legalize::LegalizeError;
use spirula_resource::FaultReport;

/// Reasons why a device refuses a request or fails.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DeviceError {
    /// No such device exists.
    #[error("no device {name}; there are: {available}")]
    NoDevice {
        /// The requested name.
        name: String,
        /// Names of existing devices.
        available: String,
    },
    /// The module is not valid, or has no such entry point.
    #[error("{0}")]
    Module(Box<SourceDiagnostic>),
    /// The module needs something that the device lacks: each such place in the module, at least one.
    #[error("{}", describe_first(.0))]
    Unsupported(Vec<SourceDiagnostic>),
    /// The memory does not suffice for a buffer.
    #[error("no memory for a buffer of {size} bytes; the device gives {limit}")]
    Memory {
        /// Requested bytes.
        size: u64,
        /// Most bytes that the device provides.
        limit: u64,
    },
    /// The shape of an image is invalid.
    #[error("{0}")]
    Image(String),
    /// The handle belongs to another device, or its resource was destroyed.
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
        /// The mismatch.
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
        /// The mismatch.
        problem: String,
    },
    /// A specialisation value fits no constant of the module.
    #[error("specialisation constant {id}: {problem}")]
    Spec {
        /// `SpecId`.
        id: u32,
        /// The mismatch.
        problem: String,
    },
    /// The launch does not fit the kernel or the device.
    #[error("{0}")]
    Launch(String),
    /// Compared devices have different results.
    #[error("{0}")]
    Parted(Box<crate::LaunchMismatch>),
    /// The sanitizer found faults in kernels.
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
