//! Errors: OpenCL's codes, with messages for people.

use opencl_sys::{
    CL_DEVICE_NOT_AVAILABLE, CL_INVALID_ARG_VALUE, CL_INVALID_BINARY, CL_INVALID_IMAGE_SIZE,
    CL_INVALID_KERNEL_ARGS, CL_INVALID_KERNEL_NAME, CL_INVALID_OPERATION, CL_INVALID_VALUE,
    CL_INVALID_WORK_GROUP_SIZE, CL_MEM_OBJECT_ALLOCATION_FAILURE, CL_OUT_OF_HOST_MEMORY,
    CL_OUT_OF_RESOURCES, cl_int,
};
use spirula_runtime::DeviceError;
use std::any::Any;
use std::borrow::Cow;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Result of a call.
pub type CallResult<T> = Result<T, CallError>;

/// The reason why a call fails: a code that the caller gets, and a message that `SPIRULA_OPENCL_LOG` shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallError {
    /// One of OpenCL's error codes.
    pub code: cl_int,
    /// The reason, as a sentence without a full stop.
    pub message: Cow<'static, str>,
}

impl CallError {
    /// An error of a code.
    pub fn new(code: cl_int, message: impl Into<Cow<'static, str>>) -> CallError {
        CallError {
            code,
            message: message.into(),
        }
    }

    /// `CL_INVALID_VALUE`.
    pub fn invalid_value(message: impl Into<Cow<'static, str>>) -> CallError {
        CallError::new(CL_INVALID_VALUE, message)
    }

    /// `CL_INVALID_OPERATION`.
    pub fn invalid_operation(message: impl Into<Cow<'static, str>>) -> CallError {
        CallError::new(CL_INVALID_OPERATION, message)
    }

    /// There is no memory of the host.
    pub fn out_of_memory() -> CallError {
        CallError::new(CL_OUT_OF_HOST_MEMORY, "the host has no memory left")
    }
}

/// `Ok` where a condition holds, else an error of a code.
pub fn require(
    condition: bool,
    code: cl_int,
    message: impl Into<Cow<'static, str>>,
) -> CallResult<()> {
    if condition {
        Ok(())
    } else {
        Err(CallError::new(code, message))
    }
}

/// Runs a function. Its panic is an error.
pub fn catch_panic<R>(run: impl FnOnce() -> CallResult<R>) -> CallResult<R> {
    let caught = catch_unwind(AssertUnwindSafe(run));
    caught.unwrap_or_else(|payload| Err(describe_panic(&*payload)))
}

fn describe_panic(payload: &(dyn Any + Send)) -> CallError {
    let text = payload.downcast_ref::<&str>().copied();
    let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    let text = text.unwrap_or("a panic without a message");
    CallError::new(CL_OUT_OF_RESOURCES, format!("bug: {text}"))
}

impl From<DeviceError> for CallError {
    fn from(error: DeviceError) -> CallError {
        let code = match &error {
            DeviceError::NoDevice { .. } => CL_DEVICE_NOT_AVAILABLE,
            DeviceError::Module(_) => CL_INVALID_KERNEL_NAME,
            DeviceError::Unsupported(_) | DeviceError::Compiler(_) => CL_INVALID_BINARY,
            DeviceError::Memory { .. } => CL_MEM_OBJECT_ALLOCATION_FAILURE,
            DeviceError::Image(_) => CL_INVALID_IMAGE_SIZE,
            DeviceError::ArgumentCount { .. } => CL_INVALID_KERNEL_ARGS,
            DeviceError::Argument { .. } => CL_INVALID_ARG_VALUE,
            DeviceError::Range { .. } | DeviceError::Spec { .. } => CL_INVALID_VALUE,
            DeviceError::Launch(_) => CL_INVALID_WORK_GROUP_SIZE,
            _ => CL_OUT_OF_RESOURCES,
        };
        CallError::new(code, error.to_string())
    }
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (error {})", self.message, self.code)
    }
}
