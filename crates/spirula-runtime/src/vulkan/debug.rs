//! Messages of the validation layer.

use super::error::Call;
use crate::Error;
use ash::ext::debug_utils;
use ash::{Entry, vk};
use std::ffi::{CStr, c_void};
use std::sync::{Mutex, PoisonError};

/// Most messages that are kept.
const MOST: usize = 16;
/// Characters of a message that are kept: some list all structures that there are.
const LONGEST: usize = 600;
/// What a layer says of structures from extensions that are younger than itself.
const YOUNGER: &str = "structure with unknown VkStructureType";

type Texts = Mutex<Vec<String>>;

/// Listens to the validation layer of an instance. Must be dropped before it.
pub struct Messages {
    functions: debug_utils::Instance,
    messenger: vk::DebugUtilsMessengerEXT,
    /// In a box, as the layer has its address.
    texts: Box<Texts>,
}

impl Messages {
    /// Begins to listen.
    pub fn listen(entry: &Entry, instance: &ash::Instance) -> Result<Messages, Error> {
        let functions = debug_utils::Instance::new(entry, instance);
        let texts = Box::new(Mutex::default());
        let address: *const Texts = &*texts;
        let info = vk::DebugUtilsMessengerCreateInfoEXT::default()
            .message_severity(vk::DebugUtilsMessageSeverityFlagsEXT::ERROR)
            .message_type(vk::DebugUtilsMessageTypeFlagsEXT::VALIDATION)
            .pfn_user_callback(Some(receive))
            .user_data(address as *mut c_void);
        // SAFETY: the instance is alive and has the extension; `texts` outlives the messenger,
        // which is destroyed in `drop`.
        let messenger = unsafe { functions.create_debug_utils_messenger(&info, None) };
        Ok(Messages {
            messenger: messenger.of("vkCreateDebugUtilsMessengerEXT")?,
            functions,
            texts,
        })
    }

    /// Fails with what was said since the last time.
    pub fn check(&self) -> Result<(), Error> {
        let mut texts = self.texts.lock().unwrap_or_else(PoisonError::into_inner);
        match texts.is_empty() {
            true => Ok(()),
            false => Err(Error::Failed(format!(
                "Vulkan's validation layer: {}",
                std::mem::take(&mut *texts).join("; ")
            ))),
        }
    }
}

impl Drop for Messages {
    fn drop(&mut self) {
        // SAFETY: the messenger is ours, and the instance is alive.
        unsafe {
            self.functions
                .destroy_debug_utils_messenger(self.messenger, None);
        }
    }
}

unsafe extern "system" fn receive(
    _: vk::DebugUtilsMessageSeverityFlagsEXT,
    _: vk::DebugUtilsMessageTypeFlagsEXT,
    data: *const vk::DebugUtilsMessengerCallbackDataEXT<'_>,
    texts: *mut c_void,
) -> vk::Bool32 {
    // SAFETY: the layer passes the address that `listen` gave it, which is alive and only shared.
    let texts = unsafe { &*texts.cast::<Texts>() };
    // SAFETY: the layer passes valid data, whose message is null or a string with an end.
    let message = unsafe {
        let message = (*data).p_message;
        (!message.is_null()).then(|| CStr::from_ptr(message).to_string_lossy())
    };
    let message = message.filter(|m| !m.contains(YOUNGER));
    let message = message.map(|m| m.chars().take(LONGEST).collect());
    let mut texts = texts.lock().unwrap_or_else(PoisonError::into_inner);
    if texts.len() < MOST {
        texts.extend(message);
    }
    vk::FALSE
}
