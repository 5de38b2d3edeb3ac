//! The validation log: messages of the validation layer.

use super::error::VulkanCallResult;
use crate::DeviceError;
use ash::ext::debug_utils;
use ash::vk::DebugUtilsMessageSeverityFlagsEXT as Severity;
use ash::{Entry, vk};
use std::ffi::{CStr, c_void};
use std::sync::{Mutex, PoisonError};

/// Most messages that are kept.
const MOST: usize = 16;
/// Most characters of a message that are kept: some messages list all structures of Vulkan.
const MOST_CHARACTERS: usize = 600;
/// Beginnings of messages about structures and extensions that are newer than the layer.
const YOUNGER: [&str; 2] = [
    "structure with unknown VkStructureType",
    "is not supported by this layer",
];

type DebugTexts = Mutex<ValidationLog>;

/// Messages since the last query.
#[derive(Default)]
struct ValidationLog {
    errors: Vec<String>,
    warnings: Vec<String>,
}

/// Receives the messages of an instance's validation layer. It must be dropped before the instance.
pub struct ValidationMessenger {
    functions: debug_utils::Instance,
    messenger: vk::DebugUtilsMessengerEXT,
    /// In a box, since the layer holds its address.
    texts: Box<DebugTexts>,
}

impl ValidationMessenger {
    /// Begins to receive messages.
    pub fn begin_listening(
        entry: &Entry,
        instance: &ash::Instance,
    ) -> Result<ValidationMessenger, DeviceError> {
        let functions = debug_utils::Instance::new(entry, instance);
        let texts = Box::new(Mutex::default());
        let address: *const DebugTexts = &*texts;
        let info = vk::DebugUtilsMessengerCreateInfoEXT::default()
            .message_severity(Severity::ERROR | Severity::WARNING)
            .message_type(vk::DebugUtilsMessageTypeFlagsEXT::VALIDATION)
            .pfn_user_callback(Some(receive_message))
            .user_data(address as *mut c_void);
        // SAFETY: the instance is alive and has the extension; `texts` outlives the messenger,
        // which is destroyed in `drop`.
        let messenger = unsafe { functions.create_debug_utils_messenger(&info, None) };
        Ok(ValidationMessenger {
            messenger: messenger.check_call("vkCreateDebugUtilsMessengerEXT")?,
            functions,
            texts,
        })
    }

    /// Fails with the errors since the last call.
    pub fn check_errors(&self) -> Result<(), DeviceError> {
        let mut texts = self.texts.lock().unwrap_or_else(PoisonError::into_inner);
        if texts.errors.is_empty() {
            Ok(())
        } else {
            Err(DeviceError::Failed(format!(
                "Vulkan's validation layer: {}",
                std::mem::take(&mut texts.errors).join("; ")
            )))
        }
    }

    /// Returns the warnings since the last call.
    pub fn take_warnings(&self) -> Vec<String> {
        let mut texts = self.texts.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut texts.warnings)
    }
}

impl Drop for ValidationMessenger {
    fn drop(&mut self) {
        // SAFETY: the messenger is ours, and the instance is alive.
        unsafe {
            self.functions
                .destroy_debug_utils_messenger(self.messenger, None);
        }
    }
}

unsafe extern "system" fn receive_message(
    severity: Severity,
    _: vk::DebugUtilsMessageTypeFlagsEXT,
    data: *const vk::DebugUtilsMessengerCallbackDataEXT<'_>,
    texts: *mut c_void,
) -> vk::Bool32 {
    // SAFETY: the layer passes the address that `listen` gave it, which is alive and only shared.
    let texts = unsafe { &*texts.cast::<DebugTexts>() };
    // SAFETY: the layer passes valid data, whose message is null or a string with an end.
    let message = unsafe {
        let message = (*data).p_message;
        (!message.is_null()).then(|| CStr::from_ptr(message).to_string_lossy())
    };
    let message = message.filter(|m| !YOUNGER.iter().any(|y| m.contains(y)));
    let message = message.map(|m| m.chars().take(MOST_CHARACTERS).collect());
    let mut texts = texts.lock().unwrap_or_else(PoisonError::into_inner);
    let list = if severity.contains(Severity::ERROR) {
        &mut texts.errors
    } else {
        &mut texts.warnings
    };
    if list.len() < MOST {
        list.extend(message);
    }
    vk::FALSE
}
