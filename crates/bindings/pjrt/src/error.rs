//! Errors: codes with messages, as objects of C.

use crate::boundary::PluginCall;
use crate::generated::{
    PjrtError, PjrtErrorCode, PjrtErrorDestroyArgs, PjrtErrorGetCodeArgs, PjrtErrorMessageArgs,
};
use crate::handle::{ApiObject, allocate, free, get_ref};
use spirula::CompileError;
use spirula_program::{ForeignFailureKind, ProgramError};
use spirula_runtime::DeviceError;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Result of a function of the plugin.
pub type PluginResult<T> = Result<T, PluginError>;

/// The reason why a function of the plugin fails.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PluginError {
    /// The kind of failure.
    pub code: PjrtErrorCode,
    /// The message for users.
    pub message: String,
}

impl ApiObject for PluginError {
    type Opaque = PjrtError;
    const NAME: &'static str = "error";
}

/// Runs a function. Its panic is an error.
pub fn catch_panic<R>(run: impl FnOnce() -> R) -> PluginResult<R> {
    catch_unwind(AssertUnwindSafe(run)).map_err(|payload| PluginError::from_panic(&*payload))
}

impl PluginError {
    /// An error of a code.
    pub fn new(code: PjrtErrorCode, message: impl Into<String>) -> PluginError {
        PluginError {
            code,
            message: message.into(),
        }
    }

    /// The caller's arguments make no sense.
    pub fn invalid(message: impl Into<String>) -> PluginError {
        PluginError::new(PjrtErrorCode::INVALID_ARGUMENT, message)
    }

    /// The plugin lacks something.
    pub fn unimplemented(message: impl Into<String>) -> PluginError {
        PluginError::new(PjrtErrorCode::UNIMPLEMENTED, message)
    }

    /// The plugin or its device failed.
    pub fn internal(message: impl Into<String>) -> PluginError {
        PluginError::new(PjrtErrorCode::INTERNAL, message)
    }

    /// The error of a panic.
    fn from_panic(payload: &(dyn Any + Send)) -> PluginError {
        let text = payload.downcast_ref::<&str>().copied();
        let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
        PluginError::internal(format!(
            "bug: {}",
            text.unwrap_or("a panic without a message")
        ))
    }

    /// The error of a compilation.
    pub fn from_compilation(error: &CompileError) -> PluginError {
        let code = match error.stage {
            spirula::CompileStage::Read => PjrtErrorCode::INVALID_ARGUMENT,
            spirula::CompileStage::Translate => PjrtErrorCode::UNIMPLEMENTED,
        };
        let messages = error.diagnostics.iter().map(ToString::to_string);
        PluginError::new(code, messages.collect::<Vec<_>>().join("\n"))
    }

    /// The same error; internal errors say which function has failed.
    pub fn within(mut self, function: &str) -> PluginError {
        if self.code == PjrtErrorCode::INTERNAL {
            self.message = format!("{function}: {}", self.message);
        }
        self
    }

    /// The error as an object that the caller frees.
    pub fn into_raw(self) -> *mut PjrtError {
        allocate(self)
    }
}

impl From<DeviceError> for PluginError {
    fn from(error: DeviceError) -> PluginError {
        let code = match &error {
            DeviceError::Memory { .. } => PjrtErrorCode::RESOURCE_EXHAUSTED,
            DeviceError::NoDevice { .. } => PjrtErrorCode::NOT_FOUND,
            DeviceError::Unsupported(_) => PjrtErrorCode::UNIMPLEMENTED,
            _ => PjrtErrorCode::INTERNAL,
        };
        PluginError::new(code, error.to_string())
    }
}

impl From<ProgramError<DeviceError>> for PluginError {
    fn from(error: ProgramError<DeviceError>) -> PluginError {
        match error {
            ProgramError::Machine(error) => error.into(),
            ProgramError::Unsupported(message) => PluginError::unimplemented(message),
            ProgramError::Invalid(message) => PluginError::invalid(message),
            ProgramError::Foreign(failure) => {
                let code = match &failure.kind {
                    ForeignFailureKind::Missing => PjrtErrorCode::NOT_FOUND,
                    ForeignFailureKind::Failed(error) => PjrtErrorCode(error.code),
                };
                PluginError::new(code, failure.to_string())
            }
            ProgramError::Failed(..) => {
                PluginError::new(PjrtErrorCode::FAILED_PRECONDITION, error.to_string())
            }
        }
    }
}

impl PluginCall for PjrtErrorDestroyArgs {
    unsafe fn answer(&mut self) -> PluginResult<()> {
        free::<PluginError>(self.error);
        Ok(())
    }
}

impl PluginCall for PjrtErrorMessageArgs {
    unsafe fn answer(&mut self) -> PluginResult<()> {
        let error = get_ref::<PluginError>(self.error)?;
        self.message = error.message.as_ptr().cast();
        self.message_size = error.message.len();
        Ok(())
    }
}

impl PluginCall for PjrtErrorGetCodeArgs {
    unsafe fn answer(&mut self) -> PluginResult<()> {
        self.code = get_ref::<PluginError>(self.error)?.code;
        Ok(())
    }
}
