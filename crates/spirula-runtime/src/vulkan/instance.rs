//! The Vulkan loader and an instance of it.

use super::debug::Messages;
use super::error::{Call, failed};
use crate::Error;
use ash::{Entry, khr, vk};
use std::ffi::CStr;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Layer that checks how Vulkan is used.
const VALIDATION: &CStr = c"VK_LAYER_KHRONOS_validation";
/// Newest version of Vulkan whose features are asked for.
pub const NEWEST: u32 = vk::API_VERSION_1_3;

/// An instance of Vulkan.
pub struct Instance {
    raw: ash::Instance,
    messages: Option<Messages>,
}

/// The loader, opened once for the process: drivers do not take it well to be unloaded.
fn loader() -> Result<&'static Entry, Error> {
    static LOADER: OnceLock<Result<Entry, String>> = OnceLock::new();
    let loader = LOADER.get_or_init(|| {
        // SAFETY: running the initialisers of the system's Vulkan library is what Vulkan asks of
        // every program; the library is never closed.
        unsafe { Entry::load() }.map_err(|e| e.to_string())
    });
    loader.as_ref().map_err(|e| {
        Error::Failed(format!(
            "Vulkan is not installed: its loader cannot be opened: {e}"
        ))
    })
}

impl Instance {
    /// The instance of the process, which is never destroyed: NVIDIA's driver 580 could not be loaded
    /// again after some fifty instances.
    ///
    /// # Errors
    /// When the loader or a driver is missing.
    pub fn shared() -> Result<Arc<Instance>, Error> {
        static SHARED: Mutex<Option<Arc<Instance>>> = Mutex::new(None);
        let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(instance) = &*shared {
            return Ok(Arc::clone(instance));
        }
        let instance = Instance::create(false)?;
        Ok(Arc::clone(shared.insert(instance)))
    }

    /// Makes an instance, with the validation layer if asked for.
    ///
    /// # Errors
    /// When the loader, a driver or the layer is missing.
    pub fn create(validation: bool) -> Result<Arc<Instance>, Error> {
        let entry = loader()?;
        // SAFETY: the loader is open.
        let version = unsafe { entry.try_enumerate_instance_version() };
        let version = version.of("vkEnumerateInstanceVersion")?;
        if version.is_none_or(|v| v < vk::API_VERSION_1_1) {
            let text = "the Vulkan loader offers Vulkan 1.0, 1.1 at least is needed";
            return Err(Error::Failed(text.to_owned()));
        }
        // SAFETY: the loader is open.
        let offered = unsafe { entry.enumerate_instance_extension_properties(None) };
        let offered = offered.of("vkEnumerateInstanceExtensionProperties")?;
        let has = |name: &CStr| {
            let mut names = offered.iter().map(|e| e.extension_name_as_c_str());
            names.any(|n| n == Ok(name))
        };
        let mut extensions = Vec::new();
        let mut flags = vk::InstanceCreateFlags::empty();
        if has(khr::portability_enumeration::NAME) {
            extensions.push(khr::portability_enumeration::NAME.as_ptr());
            flags |= vk::InstanceCreateFlags::ENUMERATE_PORTABILITY_KHR;
        }
        let mut layers = Vec::new();
        if validation {
            layers.push(VALIDATION.as_ptr());
            extensions.push(ash::ext::debug_utils::NAME.as_ptr());
        }
        let application = vk::ApplicationInfo::default()
            .application_name(c"spirula")
            .api_version(NEWEST);
        let info = vk::InstanceCreateInfo::default()
            .flags(flags)
            .application_info(&application)
            .enabled_layer_names(&layers)
            .enabled_extension_names(&extensions);
        // SAFETY: all names are strings with an end that live until the call returns.
        let raw = unsafe { entry.create_instance(&info, None) }.map_err(|e| match e {
            vk::Result::ERROR_INCOMPATIBLE_DRIVER => Error::Failed(format!(
                "no Vulkan driver is installed (vkCreateInstance: {e:?})"
            )),
            vk::Result::ERROR_LAYER_NOT_PRESENT => Error::Failed(format!(
                "the layer {} is not installed (vkCreateInstance: {e:?})",
                VALIDATION.to_string_lossy()
            )),
            e => failed("vkCreateInstance", e),
        })?;
        let mut instance = Instance {
            raw,
            messages: None,
        };
        if validation {
            instance.messages = Some(Messages::listen(entry, &instance.raw)?);
        }
        Ok(Arc::new(instance))
    }

    /// The functions of the instance.
    pub fn raw(&self) -> &ash::Instance {
        &self.raw
    }

    /// Fails with what the validation layer has said since it was last asked.
    pub fn validated(&self) -> Result<(), Error> {
        self.messages.as_ref().map_or(Ok(()), Messages::check)
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        self.messages = None;
        // SAFETY: everything made from the instance holds it alive, so nothing is left.
        unsafe { self.raw.destroy_instance(None) };
    }
}
