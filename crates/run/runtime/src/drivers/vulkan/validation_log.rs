//! Messages of the validation layer.

use super::error::VulkanCallResult;
use crate::DeviceError;
use ash::ext::debug_utils;
use ash::vk::DebugUtilsMessageSeverityFlagsEXT as Severity;
use ash::{Entry, vk};
use std::ffi::{CStr, c_void};
use std::sync::{Mutex, PoisonError};

/// Most messages that are kept.
const MOST: usize = 16;
/// Characters of a message that are kept: some list all structures that there are.
const LONGEST: usize = 600;
/// What a layer says of structures and extensions that are younger than itself.
const YOUNGER: [&str; 2] = [
    "structure with unknown VkStructureType",
    "is not supported by this layer",
];

type DebugTexts = Mutex<ValidationLog>;

/// What was said.
#[derive(Default)]
struct ValidationLog {
    errors: Vec<String>,
    warnings: Vec<String>,
}

/// Listens to the validation layer of an instance. Must be dropped before it.
pub struct ValidationMessenger {
    functions: debug_utils::Instance,
    messenger: vk::DebugUtilsMessengerEXT,
    /// In a box, as the layer has its address.
    texts: Box<DebugTexts>,
}

impl ValidationMessenger {
    /// Begins to listen.
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

    /// Fails with the errors that were said since the last time.
    pub fn check_errors(&self) -> Result<(), DeviceError> {
        let mut texts = self.texts.lock().unwrap_or_else(PoisonError::into_inner);
        match texts.errors.is_empty() {
            true => Ok(()),
            false => Err(DeviceError::Failed(format!(
                "Vulkan's validation layer: {}",
                std::mem::take(&mut texts.errors).join("; ")
            ))),
        }
    }

    /// What was warned of since the last time.
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
    let message = message.map(|m| m.chars().take(LONGEST).collect());
    let mut texts = texts.lock().unwrap_or_else(PoisonError::into_inner);
    let list = match severity.contains(Severity::ERROR) {
        true => &mut texts.errors,
        false => &mut texts.warnings,
    };
    if list.len() < MOST {
        list.extend(message);
    }
    vk::FALSE
}
