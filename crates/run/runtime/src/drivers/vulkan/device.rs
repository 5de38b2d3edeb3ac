//! The opened device, and owned handles.

use super::error::{VulkanCallResult, call_error};
use super::features::{self, VulkanFeatures};
use super::instance::VulkanInstance;
use super::memory::HostImportFunctions;
use super::physical_device::VulkanPhysicalDevice;
use crate::DeviceError;
use ash::vk;
use std::ops::Deref;
use std::sync::Arc;

/// An opened device.
pub struct VulkanDevice {
    raw: ash::Device,
    /// Family of the queue that it was opened with.
    pub family: u32,
    /// The physical device.
    pub physical: VulkanPhysicalDevice,
    /// The features that it was opened with.
    pub addresses: bool,
    /// Functions for memory of the host.
    pub host_imports: Option<HostImportFunctions>,
    names: Option<ash::ext::debug_utils::Device>,
    instance: Arc<VulkanInstance>,
}

impl VulkanDevice {
    /// Opens a device with all its features and one queue. Tests replace functions of the device by `change`.
    pub fn open(
        instance: Arc<VulkanInstance>,
        mut physical: VulkanPhysicalDevice,
        mut features: VulkanFeatures,
        change: fn(ash::Device) -> ash::Device,
    ) -> Result<Arc<VulkanDevice>, DeviceError> {
        let functions = instance.raw();
        // SAFETY: the device is of this instance.
        let families =
            unsafe { functions.get_physical_device_queue_family_properties(physical.raw) };
        let family = queue_family(&families).ok_or_else(|| {
            DeviceError::Failed(format!("{} has no queue for compute", physical.info.id))
        })?;
        let queue = vk::DeviceQueueCreateInfo::default()
            .queue_family_index(family)
            .queue_priorities(&[1.0]);
        physical.timestamps = physical.timestamps_of(&families[family as usize]);
        let extensions = features::select_extensions(&physical);
        let extensions: Vec<_> = extensions.iter().map(|name| name.as_ptr()).collect();
        let addresses = features.addresses.buffer_device_address != vk::FALSE;
        let mut chain = features.chain(&physical);
        let info = vk::DeviceCreateInfo::default()
            .queue_create_infos(std::slice::from_ref(&queue))
            .enabled_extension_names(&extensions)
            .push_next(&mut chain);
        // SAFETY: the device is of this instance, has the queue family and the extensions, and
        // said itself that it has the features.
        let raw = unsafe { functions.create_device(physical.raw, &info, None) };
        let raw = change(raw.check_call("vkCreateDevice")?);
        let named = instance.names_objects();
        let imports = physical.has_extension(ash::ext::external_memory_host::NAME);
        let host_imports = imports.then(|| HostImportFunctions::new(functions, physical.raw, &raw));
        let names = named.then(|| ash::ext::debug_utils::Device::new(functions, &raw));
        Ok(Arc::new(VulkanDevice {
            raw,
            names,
            family,
            physical,
            addresses,
            host_imports,
            instance,
        }))
    }

    /// The functions of the device.
    pub fn raw(&self) -> &ash::Device {
        &self.raw
    }

    /// Its instance.
    pub fn instance(&self) -> &VulkanInstance {
        &self.instance
    }

    /// Names an object for tools and messages of layers.
    pub fn name_object<T: vk::Handle>(&self, object: T, name: &str) {
        let (Some(names), Ok(name)) = (&self.names, std::ffi::CString::new(name)) else {
            return;
        };
        let info = vk::DebugUtilsObjectNameInfoEXT::default()
            .object_handle(object)
            .object_name(&name);
        // SAFETY: the object is of this device, and used by no other thread. A name that is not taken
        // harms nobody.
        let _ = unsafe { names.set_debug_utils_object_name(&info) };
    }

    /// Waits until the device is idle. A device that fails is idle as well.
    pub fn wait_idle(&self) {
        // SAFETY: the device is alive, and its only queue is not used by another thread, as all
        // that use it hold the driver exclusively.
        let _ = unsafe { self.raw.device_wait_idle() };
    }
}

/// The queue family to which work is submitted: one for compute alone, if there is one. On NVIDIA's driver a submission to it takes
/// 1.4 µs of device time; one to a queue that also draws takes 5.5 µs.
fn queue_family(families: &[vk::QueueFamilyProperties]) -> Option<u32> {
    let computes = |f: &vk::QueueFamilyProperties| f.queue_flags.contains(vk::QueueFlags::COMPUTE);
    let draws = |f: &vk::QueueFamilyProperties| f.queue_flags.contains(vk::QueueFlags::GRAPHICS);
    let rows = (0..).zip(families).filter(|(_, f)| computes(f));
    let family = rows.min_by_key(|(_, f)| draws(f));
    family.map(|(number, _)| number)
}

impl Drop for VulkanDevice {
    fn drop(&mut self) {
        // SAFETY: everything made from the device holds it alive, so nothing is left.
        unsafe { self.raw.destroy_device(None) };
    }
}

/// Handles that can be owned.
pub trait VulkanHandle: Copy {
    /// Destroys the object of the handle.
    ///
    /// # Safety
    /// The handle must belong to this device. It must not be destroyed yet, nor be in use by the device.
    unsafe fn destroy_object(self, device: &ash::Device);
}

macro_rules! handles {
    ($($handle:ident => $destroy:ident,)*) => {
        $(impl VulkanHandle for vk::$handle {
            unsafe fn destroy_object(self, device: &ash::Device) {
                // SAFETY: this function asks the same of its caller.
                unsafe { device.$destroy(self, None) }
            }
        })*
    };
}

handles! {
    Buffer => destroy_buffer,
    BufferView => destroy_buffer_view,
    CommandPool => destroy_command_pool,
    DeviceMemory => free_memory,
    DescriptorPool => destroy_descriptor_pool,
    DescriptorSetLayout => destroy_descriptor_set_layout,
    Image => destroy_image,
    ImageView => destroy_image_view,
    Pipeline => destroy_pipeline,
    PipelineCache => destroy_pipeline_cache,
    PipelineLayout => destroy_pipeline_layout,
    QueryPool => destroy_query_pool,
    Sampler => destroy_sampler,
    Semaphore => destroy_semaphore,
    ShaderModule => destroy_shader_module,
}

/// A handle that is destroyed with this value.
///
/// Submitted work must keep it alive until the work is done.
pub struct OwnedHandle<T: VulkanHandle> {
    handle: T,
    device: Arc<VulkanDevice>,
}

impl<T: VulkanHandle> OwnedHandle<T> {
    /// Takes the result of a call.
    pub fn new(
        device: &Arc<VulkanDevice>,
        call: &str,
        made: Result<T, vk::Result>,
    ) -> Result<Self, DeviceError> {
        Ok(OwnedHandle {
            handle: made.map_err(|result| call_error(call, result))?,
            device: Arc::clone(device),
        })
    }

    /// The device of the handle.
    pub fn device(&self) -> &Arc<VulkanDevice> {
        &self.device
    }
}

impl<T: VulkanHandle> Deref for OwnedHandle<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.handle
    }
}

impl<T: VulkanHandle> Drop for OwnedHandle<T> {
    fn drop(&mut self) {
        // SAFETY: the handle was made by this device, is destroyed here alone, and work that uses
        // it is done, as submitted work keeps what it uses.
        unsafe { self.handle.destroy_object(&self.device.raw) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queues_for_compute_alone_come_first() {
        use vk::QueueFlags as Flags;
        let chosen = |all: &[Flags]| {
            let family = |flags: &Flags| vk::QueueFamilyProperties::default().queue_flags(*flags);
            queue_family(&all.iter().map(family).collect::<Vec<_>>())
        };
        let all = Flags::GRAPHICS | Flags::COMPUTE | Flags::TRANSFER;
        let compute = Flags::COMPUTE | Flags::TRANSFER;
        assert_eq!(chosen(&[all, Flags::TRANSFER, compute, compute]), Some(2));
        assert_eq!(chosen(&[Flags::TRANSFER, all, all]), Some(1));
        assert_eq!(chosen(&[Flags::TRANSFER, Flags::GRAPHICS]), None);
    }
}
