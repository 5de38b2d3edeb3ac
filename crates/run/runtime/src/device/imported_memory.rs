//! Imported memory: buffers and images over memory of the caller.
//!
//! # Unsafe code
//! The caller promises that the memory outlives the resource. The promise is made once, where the memory is imported; drivers
//! rely on it.
#![allow(unsafe_code)]

use super::ComputeDevice;
use super::resources::DeviceResourceKind;
use crate::{BufferHandle, DeviceError, ImageHandle, ImageShape, PipeHandle, SamplerState};
use std::ptr::NonNull;

/// Memory of the caller that a resource consists of.
#[derive(Debug)]
pub struct ImportedMemory {
    address: NonNull<u8>,
    size: u64,
}

// SAFETY: the promise of `new` holds for all threads, and nothing else of the process has this value.
unsafe impl Send for ImportedMemory {}
// SAFETY: a shared reference gives no access to the bytes.
unsafe impl Sync for ImportedMemory {}

impl ImportedMemory {
    /// Memory from an address on.
    ///
    /// # Safety
    /// The memory has `size` initialised bytes, which may be read and written until this value is dropped. Nothing else accesses
    /// them while this value or a driver that has it is used.
    pub unsafe fn new(address: NonNull<u8>, size: u64) -> ImportedMemory {
        ImportedMemory { address, size }
    }

    /// Address of the first byte.
    pub fn address(&self) -> NonNull<u8> {
        self.address
    }

    /// Number of bytes.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// The bytes.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: the promise of `new`.
        unsafe { std::slice::from_raw_parts_mut(self.address.as_ptr(), self.size as usize) }
    }
}

impl ComputeDevice {
    /// Creates a buffer that consists of memory of the caller. Nothing is copied: kernels access that memory. On the CPU device it
    /// may have any alignment that suits the types by which kernels access it. A Vulkan device may refuse memory by its address or
    /// size.
    ///
    /// ```
    /// use spirula_runtime::{ComputeDevice, DeviceOptions};
    /// use std::ptr::NonNull;
    ///
    /// let mut device = ComputeDevice::open("cpu", &DeviceOptions::default())?;
    /// let mut numbers = [1_u32, 2, 3];
    /// let memory = NonNull::from(&mut numbers).cast();
    /// // SAFETY: the array outlives the buffer, and is used only while the device does nothing.
    /// let buffer = unsafe { device.import_buffer(memory, 12) }?;
    /// device.write_buffer(buffer, 4, &7_u32.to_le_bytes())?;
    /// device.destroy_buffer(buffer)?;
    /// assert_eq!(numbers, [1, 7, 3]);
    /// # Ok::<(), spirula_runtime::DeviceError>(())
    /// ```
    ///
    /// # Safety
    /// The memory has `size` initialised bytes. They may be read and written until the buffer is destroyed and the
    /// device is idle, or the device is closed. The caller accesses them only while no call of this device runs and the
    /// device is idle.
    ///
    /// # Errors
    /// When the device cannot use memory of the caller.
    pub unsafe fn import_buffer(
        &mut self,
        memory: NonNull<u8>,
        size: u64,
    ) -> Result<BufferHandle, DeviceError> {
        let buffer = BufferHandle(self.next_number());
        // SAFETY: the caller's promise.
        let memory = unsafe { ImportedMemory::new(memory, size) };
        self.driver.import_buffer(buffer, memory)?;
        self.register_resource(size, DeviceResourceKind::Buffer);
        Ok(buffer)
    }

    /// Creates a pipe whose memory is that of the caller. The memory describes the pipe, as [`PipeShape::encode_header`] begins it,
    /// and a launch refuses memory that does not. Several devices of the processor may share it.
    ///
    /// # Safety
    /// As for [`ComputeDevice::import_buffer`].
    ///
    /// # Errors
    /// When the device cannot use memory of the caller.
    ///
    /// [`PipeShape::encode_header`]: crate::PipeShape::encode_header
    pub unsafe fn import_pipe(
        &mut self,
        memory: NonNull<u8>,
        size: u64,
    ) -> Result<PipeHandle, DeviceError> {
        let number = self.next_number();
        // SAFETY: the caller's promise.
        let memory = unsafe { ImportedMemory::new(memory, size) };
        self.driver.import_buffer(BufferHandle(number), memory)?;
        self.register_resource(size, DeviceResourceKind::Pipe);
        Ok(PipeHandle(number))
    }

    /// Creates an image whose texels are memory of the caller, in the order that [`ImageShape`] defines. Nothing is copied.
    ///
    /// # Safety
    /// As for [`ComputeDevice::import_buffer`], for as many bytes as the shape has.
    ///
    /// # Errors
    /// When its shape is none, or the device cannot use memory of the caller for images.
    pub unsafe fn import_image(
        &mut self,
        shape: &ImageShape,
        sampler: &SamplerState,
        memory: NonNull<u8>,
    ) -> Result<ImageHandle, DeviceError> {
        shape.check_dimensions().map_err(DeviceError::Image)?;
        let size = shape.total_bytes().ok_or(DeviceError::Memory {
            size: u64::MAX,
            limit: self.driver.info().limits.buffer_size,
        })?;
        let image = ImageHandle(self.next_number());
        // SAFETY: the caller's promise.
        let memory = unsafe { ImportedMemory::new(memory, size) };
        self.driver.import_image(image, shape, sampler, memory)?;
        self.register_resource(size, DeviceResourceKind::Image(shape.format));
        Ok(image)
    }
}
