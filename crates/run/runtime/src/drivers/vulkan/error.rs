//! Errors: results of Vulkan's calls as errors that name the call.

use crate::DeviceError;
use ash::prelude::VkResult;
use ash::vk;
use spirula_diagnostics::{SourceDiagnostic, SourceLocation};

/// Results of calls, whose errors name the call.
pub trait VulkanCallResult<T> {
    /// The value, or an error that names the call and what it returned.
    fn check_call(self, call: &str) -> Result<T, DeviceError>;
}

impl<T> VulkanCallResult<T> for VkResult<T> {
    fn check_call(self, call: &str) -> Result<T, DeviceError> {
        self.map_err(|result| call_error(call, result))
    }
}

/// The error of a call.
pub fn call_error(call: &str, result: vk::Result) -> DeviceError {
    let told = match result {
        vk::Result::ERROR_OUT_OF_HOST_MEMORY => "the host has no memory left",
        vk::Result::ERROR_OUT_OF_DEVICE_MEMORY => "the device has no memory left",
        vk::Result::ERROR_DEVICE_LOST => "the device was lost",
        vk::Result::ERROR_INITIALIZATION_FAILED => "the driver could not be initialised",
        vk::Result::ERROR_LAYER_NOT_PRESENT => "a layer is not installed",
        vk::Result::ERROR_INCOMPATIBLE_DRIVER => "no driver is installed that fits",
        _ => "the driver failed",
    };
    DeviceError::Failed(format!("{call}: {told} ({result:?})"))
}

/// The error of a missing feature, without a place in a module.
pub fn unsupported_error(text: String) -> DeviceError {
    DeviceError::Unsupported(vec![SourceDiagnostic::error(SourceLocation::Unknown, text)])
}
