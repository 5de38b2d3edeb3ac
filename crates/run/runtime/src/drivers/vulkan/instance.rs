//! Instances: the Vulkan loader and an instance of Vulkan.

use super::error::{VulkanCallResult, call_error};
use super::validation_log::ValidationMessenger;
use crate::DeviceError;
use ash::{Entry, khr, vk};
use std::ffi::CStr;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Name of the validation layer.
const VALIDATION: &CStr = c"VK_LAYER_KHRONOS_validation";
/// Newest version of Vulkan whose features are used.
pub const NEWEST: u32 = vk::API_VERSION_1_3;

/// Levels of checks by Vulkan's validation layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValidationLevel {
    /// No checks.
    Off,
    /// Checks of calls and modules.
    Calls,
    /// Also checks of the accesses of shaders.
    Shaders,
}

/// An instance of Vulkan.
pub struct VulkanInstance {
    raw: ash::Instance,
    messages: Option<ValidationMessenger>,
    names: bool,
}

/// The loader, opened once for the process, since drivers fail when they are unloaded.
pub fn open_loader() -> Result<&'static Entry, DeviceError> {
    static LOADER: OnceLock<Result<Entry, String>> = OnceLock::new();
    let loader = LOADER.get_or_init(|| {
        // SAFETY: running the initialisers of the system's Vulkan library is what Vulkan asks of
        // every program; the library is never closed.
        unsafe { Entry::load() }.map_err(|e| e.to_string())
    });
    loader.as_ref().map_err(|e| {
        DeviceError::Failed(format!(
            "Vulkan is not installed: its loader cannot be opened: {e}"
        ))
    })
}

impl VulkanInstance {
    /// The instance of the process, which is never destroyed: NVIDIA's driver 580 could not be loaded
    /// again after some fifty instances.
    ///
    /// # Errors
    /// When the loader or a driver is missing.
    pub fn open_shared() -> Result<Arc<VulkanInstance>, DeviceError> {
        static SHARED: Mutex<Option<Arc<VulkanInstance>>> = Mutex::new(None);
        let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(instance) = &*shared {
            return Ok(Arc::clone(instance));
        }
        let instance = VulkanInstance::with_validation(ValidationLevel::Off)?;
        Ok(Arc::clone(shared.insert(instance)))
    }

    /// Creates an instance with checks of a level.
    ///
    /// # Errors
    /// When the loader, a driver or the layer is missing.
    pub fn with_validation(
        validation: ValidationLevel,
    ) -> Result<Arc<VulkanInstance>, DeviceError> {
        let entry = open_loader()?;
        let is_watched = validation != ValidationLevel::Off;
        // SAFETY: the loader is open.
        let version = unsafe { entry.try_enumerate_instance_version() };
        let version = version.check_call("vkEnumerateInstanceVersion")?;
        if version.is_none_or(|v| v < vk::API_VERSION_1_1) {
            let text = "the Vulkan loader offers Vulkan 1.0, 1.1 at least is needed";
            return Err(DeviceError::Failed(text.to_owned()));
        }
        // SAFETY: the loader is open.
        let offered = unsafe { entry.enumerate_instance_extension_properties(None) };
        let offered = offered.check_call("vkEnumerateInstanceExtensionProperties")?;
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
        let names = is_watched || has(ash::ext::debug_utils::NAME);
        if names {
            extensions.push(ash::ext::debug_utils::NAME.as_ptr());
        }
        if is_watched {
            layers.push(VALIDATION.as_ptr());
        }
        if validation == ValidationLevel::Shaders {
            // The layer provides it. Without the layer, the missing layer is the error.
            extensions.push(ash::ext::validation_features::NAME.as_ptr());
        }
        let checks = [
            vk::ValidationFeatureEnableEXT::GPU_ASSISTED,
            vk::ValidationFeatureEnableEXT::GPU_ASSISTED_RESERVE_BINDING_SLOT,
        ];
        let mut checks = vk::ValidationFeaturesEXT::default().enabled_validation_features(&checks);
        let application = vk::ApplicationInfo::default()
            .application_name(c"spirula")
            .api_version(NEWEST);
        let mut info = vk::InstanceCreateInfo::default()
            .flags(flags)
            .application_info(&application)
            .enabled_layer_names(&layers)
            .enabled_extension_names(&extensions);
        if validation == ValidationLevel::Shaders {
            info = info.push_next(&mut checks);
        }
        // SAFETY: all names are strings with an end that live until the call returns.
        let raw = unsafe { entry.create_instance(&info, None) }.map_err(|e| match e {
            vk::Result::ERROR_INCOMPATIBLE_DRIVER => DeviceError::Failed(format!(
                "no Vulkan driver is installed (vkCreateInstance: {e:?})"
            )),
            vk::Result::ERROR_LAYER_NOT_PRESENT => DeviceError::Failed(format!(
                "the layer {} is not installed (vkCreateInstance: {e:?})",
                VALIDATION.to_string_lossy()
            )),
            e => call_error("vkCreateInstance", e),
        })?;
        let mut instance = VulkanInstance {
            raw,
            messages: None,
            names,
        };
        if is_watched {
            instance.messages = Some(ValidationMessenger::begin_listening(entry, &instance.raw)?);
        }
        Ok(Arc::new(instance))
    }

    /// The functions of the instance.
    pub fn raw(&self) -> &ash::Instance {
        &self.raw
    }

    /// Whether objects can be given names.
    pub fn names_objects(&self) -> bool {
        self.names
    }

    /// Returns the warnings of the validation layer since the last call.
    pub fn take_warnings(&self) -> Vec<String> {
        let messages = self.messages.as_ref();
        messages
            .map(ValidationMessenger::take_warnings)
            .unwrap_or_default()
    }

    /// Fails with the errors of the validation layer since the last call.
    pub fn check_validation(&self) -> Result<(), DeviceError> {
        self.messages
            .as_ref()
            .map_or(Ok(()), ValidationMessenger::check_errors)
    }
}

impl Drop for VulkanInstance {
    fn drop(&mut self) {
        self.messages = None;
        // SAFETY: everything made from the instance holds it alive, so nothing is left.
        unsafe { self.raw.destroy_instance(None) };
    }
}
