//! Buffers of a device: created, written, read and destroyed.

use super::resources::DeviceResourceKind;
use super::{ComputeDevice, checks};
use crate::driver::DeviceDriver;
use crate::profile::add_elapsed_time;
use crate::{BufferHandle, DeviceError, KernelScalar, ResourceHandle};
use bytemuck::NoUninit;

impl ComputeDevice {
    /// Creates a buffer of zeros.
    ///
    /// # Errors
    /// When there is no memory for it.
    pub fn create_buffer(&mut self, size: u64) -> Result<BufferHandle, DeviceError> {
        self.create_by(size, |driver, buffer| driver.create_buffer(buffer, size))
    }

    /// Creates a buffer with undefined contents, for programs that write all bytes before they read them.
    ///
    /// # Errors
    /// When there is no memory for it.
    pub fn create_scratch(&mut self, size: u64) -> Result<BufferHandle, DeviceError> {
        self.create_by(size, |driver, buffer| driver.create_scratch(buffer, size))
    }

    fn create_by(
        &mut self,
        size: u64,
        create: impl FnOnce(&mut dyn DeviceDriver, BufferHandle) -> Result<(), DeviceError>,
    ) -> Result<BufferHandle, DeviceError> {
        let limit = self.driver.info().limits.buffer_size;
        if size > limit {
            return Err(DeviceError::Memory { size, limit });
        }
        let buffer = BufferHandle(self.next_number());
        create(&mut *self.driver, buffer)?;
        self.register_resource(size, DeviceResourceKind::Buffer);
        Ok(buffer)
    }

    /// Creates a buffer with these numbers, or any data that consists of bytes only.
    ///
    /// # Errors
    /// When there is no memory for it.
    pub fn upload_data<T: NoUninit>(&mut self, data: &[T]) -> Result<BufferHandle, DeviceError> {
        let data: &[u8] = bytemuck::cast_slice(data);
        let buffer = self.create_buffer(data.len() as u64)?;
        self.write_buffer(buffer, 0, data)?;
        Ok(buffer)
    }

    /// Frees a buffer.
    ///
    /// # Errors
    /// When it is no buffer of this device.
    pub fn destroy_buffer(&mut self, buffer: BufferHandle) -> Result<(), DeviceError> {
        self.destroy_resource(buffer.into())
    }

    /// Bytes of a buffer.
    ///
    /// # Errors
    /// When it is no buffer of this device.
    pub fn buffer_size(&self, buffer: BufferHandle) -> Result<u64, DeviceError> {
        self.resource_size(buffer.into())
    }

    /// Copies into a buffer.
    ///
    /// # Errors
    /// When the bytes do not fit, or the device fails.
    pub fn write_buffer(
        &mut self,
        buffer: BufferHandle,
        offset: u64,
        data: &[u8],
    ) -> Result<(), DeviceError> {
        self.write_resource(buffer.into(), offset, data)
    }

    /// Copies out of a buffer, after all launches so far that may write it.
    ///
    /// # Errors
    /// When the range is not within the buffer, or the device fails.
    pub fn read_buffer(
        &mut self,
        buffer: BufferHandle,
        offset: u64,
        out: &mut [u8],
    ) -> Result<(), DeviceError> {
        self.read_resource(buffer.into(), offset, out)
    }

    /// Copies out of several buffers, from an offset each, waiting once.
    ///
    /// # Errors
    /// When a range is not within its buffer, or the device fails.
    pub fn read_all(
        &mut self,
        parts: &mut [(BufferHandle, u64, &mut [u8])],
    ) -> Result<(), DeviceError> {
        for (buffer, offset, out) in &*parts {
            checks::check_range(*offset, out.len(), self.buffer_size(*buffer)?)?;
        }
        let driver = &mut self.driver;
        add_elapsed_time(&mut self.profile.copy, || driver.read_all(parts))
    }

    /// All bytes of a buffer.
    ///
    /// # Errors
    /// When there is no memory for a copy, or the device fails.
    pub fn download_buffer(&mut self, buffer: BufferHandle) -> Result<Vec<u8>, DeviceError> {
        self.download_resource(buffer.into())
    }

    /// Contents of a buffer or an image as numbers; bytes after the last whole one are left out.
    ///
    /// # Errors
    /// When there is no memory for a copy, or the device fails.
    pub fn download_as<T: KernelScalar>(
        &mut self,
        resource: impl Into<ResourceHandle>,
    ) -> Result<Vec<T>, DeviceError> {
        let bytes = self.download_resource(resource.into())?;
        let whole = bytes.chunks_exact(size_of::<T>());
        Ok(whole.map(bytemuck::pod_read_unaligned).collect())
    }

    /// The address by which kernels access a buffer.
    ///
    /// # Errors
    /// When it is no buffer of this device, or the device has no addresses.
    pub fn buffer_address(&mut self, buffer: BufferHandle) -> Result<u64, DeviceError> {
        self.buffer_size(buffer)?;
        self.driver.buffer_address(buffer)
    }
}
