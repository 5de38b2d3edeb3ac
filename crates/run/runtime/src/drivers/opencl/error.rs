//! Errors: codes of OpenCL's calls as errors that name the call.

use crate::DeviceError;
use cl3::error_codes::ClError;
use cl3::types::cl_int;

/// The loader found no driver (`cl_khr_icd`).
pub const NO_PLATFORM: cl_int = -1001;

/// Results of calls, whose errors name the call.
pub trait OpenClCallResult<T> {
    /// The value, or an error that names the call and what it returned.
    fn check_call(self, call: &str) -> Result<T, DeviceError>;
}

impl<T> OpenClCallResult<T> for Result<T, cl_int> {
    fn check_call(self, call: &str) -> Result<T, DeviceError> {
        self.map_err(|code| call_error(call, code))
    }
}

/// The error of a call.
pub fn call_error(call: &str, code: cl_int) -> DeviceError {
    let told = match code {
        cl3::error_codes::CL_OUT_OF_HOST_MEMORY => "the host has no memory left",
        cl3::error_codes::CL_OUT_OF_RESOURCES => "the device has no resources left",
        cl3::error_codes::CL_MEM_OBJECT_ALLOCATION_FAILURE => "the device has no memory left",
        _ => "the driver failed",
    };
    DeviceError::Failed(format!("{call}: {told} ({})", ClError(code)))
}
