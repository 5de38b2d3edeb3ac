//! Host imports: memory of the caller as memory of the device, by `VK_EXT_external_memory_host`.
//!
//! Devices import whole pages. The pages that contain the caller's bytes are imported, and the buffer is bound to those bytes.

use super::super::device::{OwnedHandle, VulkanDevice};
use super::super::error::VulkanCallResult;
use super::{BufferMemory, VulkanBuffer, VulkanMemory};
use crate::driver::refuse_unsupported;
use crate::{DeviceError, ImportedMemory};
use ash::{ext, vk};
use std::sync::Arc;

/// Bytes of the smallest pages. Larger units of memory may contain pages that the process does not have.
const SMALLEST_PAGE: u64 = 4096;

/// Handles of memory of the host.
const HANDLE: vk::ExternalMemoryHandleTypeFlags =
    vk::ExternalMemoryHandleTypeFlags::HOST_ALLOCATION_EXT;

/// The functions for memory of the host, where the device has them.
pub struct HostImportFunctions {
    functions: ext::external_memory_host::Device,
    /// Unit of the addresses and sizes that can be imported.
    unit: u64,
}

/// Memory of the caller that the device has imported.
pub struct HostImport {
    // Before the memory of the caller.
    block: OwnedHandle<vk::DeviceMemory>,
    /// Bytes from the beginning of the block to the memory of the caller.
    offset: u64,
    properties: vk::MemoryPropertyFlags,
    memory: ImportedMemory,
}

/// The units of memory that contain some bytes.
struct ImportedRange {
    first: u64,
    size: u64,
    /// Position of the bytes.
    offset: u64,
}

impl HostImportFunctions {
    /// The functions of a device that was opened with the extension.
    pub fn new(
        instance: &ash::Instance,
        physical: vk::PhysicalDevice,
        device: &ash::Device,
    ) -> Self {
        let mut host = vk::PhysicalDeviceExternalMemoryHostPropertiesEXT::default();
        let mut all = vk::PhysicalDeviceProperties2::default().push_next(&mut host);
        // SAFETY: the device is of this instance, and knows the chained structure by its extension.
        unsafe { instance.get_physical_device_properties2(physical, &mut all) };
        HostImportFunctions {
            functions: ext::external_memory_host::Device::new(instance, device),
            unit: host.min_imported_host_pointer_alignment.max(1),
        }
    }

    /// The units that contain the caller's memory; `None` if they may contain more than its pages, or if it has no whole words.
    fn find_range(&self, memory: &ImportedMemory) -> Option<ImportedRange> {
        let (address, size) = (memory.address().addr().get() as u64, memory.size());
        let first = address / self.unit * self.unit;
        let end = address
            .checked_add(size)?
            .checked_next_multiple_of(self.unit)?;
        let is_whole = first == address && end - first == size;
        let has_words = size > 0 && (address | size).is_multiple_of(4);
        (has_words && (is_whole || self.unit <= SMALLEST_PAGE)).then_some(ImportedRange {
            first,
            size: end - first,
            offset: address - first,
        })
    }
}

impl HostImport {
    /// The block of memory that it is.
    pub fn raw(&self) -> vk::DeviceMemory {
        *self.block
    }

    /// Bytes from the beginning of the block to the memory of the caller.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Properties of the memory.
    pub fn properties(&self) -> vk::MemoryPropertyFlags {
        self.properties
    }

    /// The memory of the caller.
    pub fn memory(&self) -> &ImportedMemory {
        &self.memory
    }
}

impl VulkanMemory {
    /// Creates a buffer that consists of memory of the caller.
    pub fn import_buffer(&self, memory: ImportedMemory) -> Result<VulkanBuffer, DeviceError> {
        let device = &self.device;
        let Some(host) = device.host_imports.as_ref().filter(|_| self.can_import()) else {
            let id = &device.physical.info.id;
            return refuse_unsupported(id, "buffers over memory of the caller".to_owned());
        };
        let size = memory.size();
        let raw = self.create_raw(size, vk::BufferUsageFlags::empty(), Some(HANDLE))?;
        // SAFETY: the buffer is of this device.
        let requirements = unsafe { device.raw().get_buffer_memory_requirements(*raw) };
        let range = host.find_range(&memory).filter(|range| {
            range.offset.is_multiple_of(requirements.alignment)
                && range.offset + requirements.size <= range.size
        });
        let Some(range) = range else {
            return self.refuse_memory();
        };
        let (block, properties) = self.import_range(host, &range, requirements.memory_type_bits)?;
        let held = BufferMemory::Imported(HostImport {
            block,
            offset: range.offset,
            properties,
            memory,
        });
        VulkanBuffer::with_memory(raw, held, size)
    }

    /// Whether the device can import memory of the host for its buffers.
    fn can_import(&self) -> bool {
        let device = &self.device;
        let info = vk::PhysicalDeviceExternalBufferInfo::default()
            .usage(self.buffer_usage())
            .handle_type(HANDLE);
        let mut found = vk::ExternalBufferProperties::default();
        let instance = device.instance().raw();
        // SAFETY: the device is of this instance.
        unsafe {
            instance.get_physical_device_external_buffer_properties(
                device.physical.raw,
                &info,
                &mut found,
            );
        }
        let features = found.external_memory_properties.external_memory_features;
        features.contains(vk::ExternalMemoryFeatureFlags::IMPORTABLE)
            && !features.contains(vk::ExternalMemoryFeatureFlags::DEDICATED_ONLY)
    }

    /// Imports memory as one of some types that is coherent. Also returns the properties of the type.
    fn import_range(
        &self,
        host: &HostImportFunctions,
        range: &ImportedRange,
        types: u32,
    ) -> Result<(OwnedHandle<vk::DeviceMemory>, vk::MemoryPropertyFlags), DeviceError> {
        let device: &Arc<VulkanDevice> = &self.device;
        let address = range.first as usize as *mut std::ffi::c_void;
        let mut known = vk::MemoryHostPointerPropertiesEXT::default();
        // SAFETY: the device has the extension; the address is that of pages of this process.
        let asked = unsafe {
            (host.functions.fp().get_memory_host_pointer_properties_ext)(
                host.functions.device(),
                HANDLE,
                address,
                &mut known,
            )
        };
        self.check_handle(asked.result())?
            .check_call("vkGetMemoryHostPointerPropertiesEXT")?;
        let instance = device.instance().raw();
        // SAFETY: the device is of this instance.
        let all = unsafe { instance.get_physical_device_memory_properties(device.physical.raw) };
        let coherent = vk::MemoryPropertyFlags::HOST_COHERENT;
        let usable = (0..).zip(all.memory_types_as_slice()).filter(|(n, ty)| {
            types & known.memory_type_bits & 1_u32 << n != 0 && ty.property_flags.contains(coherent)
        });
        let cached = vk::MemoryPropertyFlags::HOST_CACHED;
        let best = usable.max_by_key(|(_, ty)| ty.property_flags.contains(cached));
        let Some((number, ty)) = best else {
            return self.refuse_memory();
        };
        let mut import = vk::ImportMemoryHostPointerInfoEXT::default()
            .handle_type(HANDLE)
            .host_pointer(address);
        let mut flags =
            vk::MemoryAllocateFlagsInfo::default().flags(vk::MemoryAllocateFlags::DEVICE_ADDRESS);
        let mut info = vk::MemoryAllocateInfo::default()
            .allocation_size(range.size)
            .memory_type_index(number)
            .push_next(&mut import);
        if device.addresses {
            info = info.push_next(&mut flags);
        }
        // SAFETY: the range consists of pages of this process, which the caller keeps; their number and address are multiples of the
        // device's unit.
        let block = unsafe { device.raw().allocate_memory(&info, None) };
        Ok((
            OwnedHandle::new(device, "vkAllocateMemory", self.check_handle(block)?)?,
            ty.property_flags,
        ))
    }

    /// The result of a call, unless it says that the device does not import this memory.
    fn check_handle<T>(
        &self,
        result: Result<T, vk::Result>,
    ) -> Result<Result<T, vk::Result>, DeviceError> {
        match result {
            Err(vk::Result::ERROR_INVALID_EXTERNAL_HANDLE) => self.refuse_memory(),
            result => Ok(result),
        }
    }

    fn refuse_memory<T>(&self) -> Result<T, DeviceError> {
        let text = "buffers over this memory of the caller".to_owned();
        refuse_unsupported(&self.device.physical.info.id, text)
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::has_device;
    use crate::{ComputeDevice, DeviceError, DeviceOptions};
    use std::ptr::NonNull;

    #[test]
    #[allow(unsafe_code)]
    fn memory_without_whole_words_is_refused() {
        if !has_device() {
            return;
        }
        let mut device = ComputeDevice::open("vulkan", &DeviceOptions::default()).unwrap();
        let mut memory = vec![0_u32; 1024];
        let start = NonNull::from(memory.as_mut_slice()).cast::<u8>();
        for (offset, size) in [(1, 64), (0, 63), (0, 0)] {
            // SAFETY: the bytes are within the list, and outlive the device, which refuses them.
            let imported = unsafe { device.import_buffer(start.add(offset), size) };
            assert!(matches!(imported, Err(DeviceError::Unsupported(_))));
        }
    }
}
