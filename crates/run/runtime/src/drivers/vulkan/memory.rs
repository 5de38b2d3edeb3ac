//! Memory: buffers and the blocks of device memory that they are in.

mod host_import;

pub use host_import::HostImportFunctions;

use super::device::{OwnedHandle, VulkanDevice};
use super::error::VulkanCallResult;
use crate::DeviceError;
use ash::vk;
use gpu_allocator::vulkan::{
    Allocation, AllocationCreateDesc, AllocationScheme, Allocator, AllocatorCreateDesc,
};
use gpu_allocator::{AllocationError, AllocationSizes, MemoryLocation};
use host_import::HostImport;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Alignment of a buffer in bytes.
const ALIGNMENT: u64 = 128;
/// Smallest block of memory that is allocated from the device, in bytes.
const BLOCK: u64 = 4 << 20;
/// Largest buffer, in bytes, in host-visible memory, on a graphics card whose memory is host-visible.
const MOST_SEEN: u64 = 256 << 10;
/// Bytes that are read in place from memory that is slow to read; a copy takes about as long.
const FEW: usize = 64;
/// Largest block that is shared by buffers, in bytes.
const MOST_BLOCK: u64 = 256 << 20;

/// The memory of a device.
pub struct VulkanMemory {
    // Before the device, by which it frees its blocks.
    allocator: Mutex<Allocator>,
    device: Arc<VulkanDevice>,
    /// Whether the host accesses host-visible buffers directly.
    pub direct: bool,
}

/// A buffer with its memory.
pub struct VulkanBuffer {
    // Before its memory.
    raw: OwnedHandle<vk::Buffer>,
    held: BufferMemory,
    /// Bytes.
    pub size: u64,
    /// Address for shaders, where the device has addresses.
    pub address: Option<u64>,
    /// Values of the queue's timeline when the last command that writes the buffer is done, and when the last that uses it is. The
    /// caller holds the driver exclusively, so that relaxed ordering suffices.
    written: AtomicU64,
    used: AtomicU64,
    /// Whether its address is known to the program, so that any launch may access it.
    known: AtomicBool,
}

/// The memory of a buffer.
enum BufferMemory {
    Allocated(OwnedAllocation),
    Imported(HostImport),
}

/// Device memory that is freed when it is dropped.
pub struct OwnedAllocation {
    allocation: Option<Allocation>,
    memory: Arc<VulkanMemory>,
}

impl VulkanMemory {
    /// The memory of a device. If not `direct`, buffers are only accessed by copies, as on devices whose memory is not host-visible.
    pub fn new(device: &Arc<VulkanDevice>, direct: bool) -> Result<Arc<VulkanMemory>, DeviceError> {
        let sizes = AllocationSizes::new(BLOCK, BLOCK)
            .with_max_device_memblock_size(MOST_BLOCK)
            .with_max_host_memblock_size(MOST_BLOCK);
        let allocator = Allocator::new(&AllocatorCreateDesc {
            instance: device.instance().raw().clone(),
            device: device.raw().clone(),
            physical_device: device.physical.raw,
            debug_settings: Default::default(),
            buffer_device_address: device.addresses,
            allocation_sizes: sizes,
        });
        let allocator =
            allocator.map_err(|e| DeviceError::Failed(format!("device memory: {e}")))?;
        Ok(Arc::new(VulkanMemory {
            allocator: Mutex::new(allocator),
            device: Arc::clone(device),
            direct,
        }))
    }

    /// Creates a buffer for kernels, with undefined contents. A buffer that is not large is in host-visible memory, if possible, so
    /// that scalars are read without a copy.
    pub fn create_for_kernels(self: &Arc<Self>, size: u64) -> Result<VulkanBuffer, DeviceError> {
        let seen = self.direct && size <= MOST_SEEN && self.device.physical.is_seen_whole;
        let location = if seen {
            MemoryLocation::CpuToGpu
        } else {
            MemoryLocation::GpuOnly
        };
        self.create_buffer(size, location)
    }

    /// Creates a buffer with undefined contents.
    pub fn create_buffer(
        self: &Arc<Self>,
        size: u64,
        location: MemoryLocation,
    ) -> Result<VulkanBuffer, DeviceError> {
        self.create_for(size, location, vk::BufferUsageFlags::empty())
    }

    /// Creates a buffer with undefined contents, with usages besides those of all buffers.
    pub fn create_for(
        self: &Arc<Self>,
        size: u64,
        location: MemoryLocation,
        more: vk::BufferUsageFlags,
    ) -> Result<VulkanBuffer, DeviceError> {
        let raw = self.create_raw(size, more, None)?;
        // SAFETY: the buffer is of this device.
        let mut requirements = unsafe { self.device.raw().get_buffer_memory_requirements(*raw) };
        requirements.alignment = requirements.alignment.max(ALIGNMENT);
        let held = self.allocate_memory("buffer", size, requirements, location, true)?;
        VulkanBuffer::with_memory(raw, BufferMemory::Allocated(held), size)
    }

    /// The usages of all buffers.
    fn buffer_usage(&self) -> vk::BufferUsageFlags {
        let usage = vk::BufferUsageFlags::STORAGE_BUFFER
            | vk::BufferUsageFlags::UNIFORM_BUFFER
            | vk::BufferUsageFlags::TRANSFER_SRC
            | vk::BufferUsageFlags::TRANSFER_DST;
        if self.device.addresses {
            usage | vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS
        } else {
            usage
        }
    }

    /// Creates a buffer without memory, which may be imported by a kind of handle.
    fn create_raw(
        &self,
        size: u64,
        more: vk::BufferUsageFlags,
        imported: Option<vk::ExternalMemoryHandleTypeFlags>,
    ) -> Result<OwnedHandle<vk::Buffer>, DeviceError> {
        let device = &self.device;
        let mut info = vk::BufferCreateInfo::default()
            .size(pad_size(size))
            .usage(more | self.buffer_usage());
        let mut external = vk::ExternalMemoryBufferCreateInfo::default();
        if let Some(handle) = imported {
            external = external.handle_types(handle);
            info = info.push_next(&mut external);
        }
        // SAFETY: the device is alive; the size is not 0.
        let raw = unsafe { device.raw().create_buffer(&info, None) };
        OwnedHandle::new(device, "vkCreateBuffer", raw)
    }

    /// Allocates memory. It is `linear` unless it holds texels in the layout of the device.
    pub fn allocate_memory(
        self: &Arc<Self>,
        name: &str,
        size: u64,
        requirements: vk::MemoryRequirements,
        location: MemoryLocation,
        linear: bool,
    ) -> Result<OwnedAllocation, DeviceError> {
        let allocation = self.lock_allocator().allocate(&AllocationCreateDesc {
            name,
            requirements,
            location,
            linear,
            allocation_scheme: AllocationScheme::GpuAllocatorManaged,
        });
        let allocation = allocation.map_err(|e| match e {
            AllocationError::OutOfMemory => DeviceError::Memory {
                size,
                limit: self.device.physical.info.limits.buffer_size,
            },
            e => DeviceError::Failed(format!("vkAllocateMemory: {e}")),
        })?;
        Ok(OwnedAllocation {
            allocation: Some(allocation),
            memory: Arc::clone(self),
        })
    }

    fn lock_allocator(&self) -> std::sync::MutexGuard<'_, Allocator> {
        self.allocator
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// Bytes to allocate for a buffer: at least one word, and whole words, on which fills work.
pub fn pad_size(size: u64) -> u64 {
    size.max(1).next_multiple_of(4)
}

impl OwnedAllocation {
    /// The block of memory that it is in.
    pub fn raw(&self) -> vk::DeviceMemory {
        let allocation = self.allocation.as_ref();
        // SAFETY: the block stays as long as this, and is only bound to.
        allocation.map_or(vk::DeviceMemory::null(), |a| unsafe { a.memory() })
    }

    /// Its first byte there.
    pub fn offset(&self) -> u64 {
        self.allocation.as_ref().map_or(0, Allocation::offset)
    }
}

impl Drop for OwnedAllocation {
    fn drop(&mut self) {
        if let Some(allocation) = self.allocation.take() {
            // Only a defect of the allocator makes it fail, and then there is nothing to do.
            let _ = self.memory.lock_allocator().free(allocation);
        }
    }
}

impl BufferMemory {
    fn raw(&self) -> vk::DeviceMemory {
        match self {
            BufferMemory::Allocated(held) => held.raw(),
            BufferMemory::Imported(import) => import.raw(),
        }
    }

    /// Where the buffer begins in the block of memory.
    fn offset(&self) -> u64 {
        match self {
            BufferMemory::Allocated(held) => held.offset(),
            BufferMemory::Imported(import) => import.offset(),
        }
    }

    fn properties(&self) -> vk::MemoryPropertyFlags {
        match self {
            BufferMemory::Allocated(held) => held.allocation.as_ref().map_or(
                vk::MemoryPropertyFlags::empty(),
                Allocation::memory_properties,
            ),
            BufferMemory::Imported(import) => import.properties(),
        }
    }

    /// Where the host accesses it, if it can.
    fn mapped_address(&self) -> Option<NonNull<u8>> {
        match self {
            BufferMemory::Allocated(held) => {
                let mapped = held.allocation.as_ref().and_then(Allocation::mapped_ptr);
                mapped.map(NonNull::cast)
            }
            BufferMemory::Imported(import) => Some(import.memory().address()),
        }
    }
}

impl VulkanBuffer {
    /// A buffer that gets its memory.
    fn with_memory(
        raw: OwnedHandle<vk::Buffer>,
        held: BufferMemory,
        size: u64,
    ) -> Result<VulkanBuffer, DeviceError> {
        let mut buffer = VulkanBuffer {
            raw,
            held,
            size,
            address: None,
            written: AtomicU64::new(0),
            used: AtomicU64::new(0),
            known: AtomicBool::new(false),
        };
        buffer.bind_memory()?;
        Ok(buffer)
    }

    fn bind_memory(&mut self) -> Result<(), DeviceError> {
        let device = self.raw.device().raw();
        // SAFETY: the memory was taken for this buffer and is held as long as it; the
        // allocator's lock is not needed, as binding changes the buffer alone.
        let bound =
            unsafe { device.bind_buffer_memory(*self.raw, self.held.raw(), self.held.offset()) };
        bound.check_call("vkBindBufferMemory")?;
        if self.raw.device().addresses {
            let info = vk::BufferDeviceAddressInfo::default().buffer(*self.raw);
            // SAFETY: the feature is enabled, and the buffer was made for it and has memory.
            self.address = Some(unsafe { device.get_buffer_device_address(&info) });
        }
        Ok(())
    }

    /// Its handle.
    pub fn raw(&self) -> vk::Buffer {
        *self.raw
    }

    /// Notes a command that uses the buffer, and may write it, and the value of the timeline when it is done.
    pub fn mark_used(&self, value: u64, is_written: bool) {
        let latest = |of: &AtomicU64| {
            if of.load(Ordering::Relaxed) < value {
                of.store(value, Ordering::Relaxed);
            }
        };
        latest(&self.used);
        if is_written {
            latest(&self.written);
        }
    }

    /// Notes that its address is known to the program.
    pub fn mark_known(&self) {
        self.known.store(true, Ordering::Relaxed);
    }

    /// The value of the timeline at which it can be read; `None` where any launch may have written it.
    pub fn readable_at(&self) -> Option<u64> {
        let is_known = self.known.load(Ordering::Relaxed);
        (!is_known).then(|| self.written.load(Ordering::Relaxed))
    }

    /// The value of the timeline at which it can be written; `None` where any launch may use it.
    pub fn writable_at(&self) -> Option<u64> {
        let is_known = self.known.load(Ordering::Relaxed);
        (!is_known).then(|| self.used.load(Ordering::Relaxed))
    }

    /// Whether the host may write it in place.
    pub fn is_writable(&self) -> bool {
        self.has_properties(vk::MemoryPropertyFlags::HOST_COHERENT)
    }

    /// Whether the host can read `length` bytes of it in place, and fast.
    pub fn is_readable(&self, length: usize) -> bool {
        let coherent = vk::MemoryPropertyFlags::HOST_COHERENT;
        self.has_properties(coherent | vk::MemoryPropertyFlags::HOST_CACHED)
            || length <= FEW && self.has_properties(coherent)
    }

    /// Where the host accesses it, in memory that is as fast for the host as its own.
    pub fn host_address(&self) -> Option<NonNull<u8>> {
        let fast = vk::MemoryPropertyFlags::HOST_COHERENT | vk::MemoryPropertyFlags::HOST_CACHED;
        let is_fast = self.has_properties(fast);
        is_fast.then(|| self.host_pointer(0, 0).ok()).flatten()
    }

    fn has_properties(&self, properties: vk::MemoryPropertyFlags) -> bool {
        self.held.mapped_address().is_some() && self.held.properties().contains(properties)
    }

    /// The host's pointer to `length` bytes at `offset`.
    fn host_pointer(&self, offset: u64, length: usize) -> Result<NonNull<u8>, DeviceError> {
        let mapped = self.held.mapped_address().ok_or_else(|| {
            DeviceError::Failed("the host does not see the memory of a buffer".to_owned())
        })?;
        let end = offset.saturating_add(length as u64);
        if end > pad_size(self.size) {
            let size = self.size;
            return Err(DeviceError::Range { offset, end, size });
        }
        // SAFETY: the mapped memory has at least the bytes of the buffer, and the range is within.
        Ok(unsafe { mapped.add(offset as usize) })
    }

    /// Copies into it in place. The device must be idle, or not use the buffer.
    pub fn write_bytes(&self, offset: u64, data: &[u8]) -> Result<(), DeviceError> {
        let to = self.host_pointer(offset, data.len())?;
        // SAFETY: `host` has checked the range; the host's memory and the device's do not overlap;
        // the driver is held exclusively by its caller, so no other thread copies.
        unsafe { to.copy_from_nonoverlapping(NonNull::from(data).cast(), data.len()) };
        Ok(())
    }

    /// Fills it with zeros in place. The device must be idle, or not use the buffer.
    pub fn fill_zeros(&self) -> Result<(), DeviceError> {
        let length = pad_size(self.size) as usize;
        let to = self.host_pointer(0, length)?;
        // SAFETY: as in `write`.
        unsafe { to.write_bytes(0, length) };
        Ok(())
    }

    /// Copies out of it in place. The device must be idle, or not use the buffer.
    pub fn read_bytes(&self, offset: u64, out: &mut [u8]) -> Result<(), DeviceError> {
        let from = self.host_pointer(offset, out.len())?;
        // SAFETY: as in `write`.
        unsafe { from.copy_to_nonoverlapping(NonNull::from(&mut *out).cast(), out.len()) };
        Ok(())
    }
}
