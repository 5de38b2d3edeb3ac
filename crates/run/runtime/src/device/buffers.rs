//! Buffers of a device: created, written, read and destroyed.

use super::resources::DeviceResourceKind;
use super::{ComputeDevice, checks};
use crate::driver::{BufferCopy, DeviceDriver, PatternFill};
use crate::profile::add_elapsed_time;
use crate::{BufferHandle, DeviceError, KernelScalar, ResourceHandle};
use bytemuck::NoUninit;

/// Most bytes of the pattern of a fill.
const LONGEST_PATTERN: usize = 128;

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
            checks::check_range(*offset, out.len() as u64, self.buffer_size(*buffer)?)?;
        }
        let driver = &mut self.driver;
        add_elapsed_time(&mut self.profile.copy, || driver.read_all(parts))
    }

    /// Copies `size` bytes within a buffer, or from one to another, after all launches so far that access them. Later launches
    /// wait for the copy; this call need not.
    ///
    /// ```
    /// use spirula_runtime::{ComputeDevice, DeviceOptions};
    ///
    /// let mut device = ComputeDevice::open("cpu", &DeviceOptions::default())?;
    /// let buffer = device.upload_data(&[1_u8, 2, 3, 4])?;
    /// device.copy_buffer(buffer, 0, buffer, 2, 2)?;
    /// device.fill_buffer(buffer, 0, 2, &[7])?;
    /// assert_eq!(device.download_buffer(buffer)?, [7, 7, 1, 2]);
    /// # Ok::<(), spirula_runtime::DeviceError>(())
    /// ```
    ///
    /// # Errors
    /// When a range is not within its buffer, the ranges overlap, or the device fails.
    pub fn copy_buffer(
        &mut self,
        from: BufferHandle,
        from_offset: u64,
        to: BufferHandle,
        to_offset: u64,
        size: u64,
    ) -> Result<(), DeviceError> {
        checks::check_range(from_offset, size, self.buffer_size(from)?)?;
        checks::check_range(to_offset, size, self.buffer_size(to)?)?;
        if from == to && from_offset.abs_diff(to_offset) < size {
            let text =
                format!("a copy of {size} bytes from {from_offset} to {to_offset} overlaps itself");
            return Err(DeviceError::Launch(text));
        }
        if size == 0 {
            return Ok(());
        }
        let copy = BufferCopy {
            from,
            from_offset,
            to,
            to_offset,
            size,
        };
        let driver = &mut self.driver;
        add_elapsed_time(&mut self.profile.copy, || driver.copy_buffer(&copy))
    }

    /// Fills `size` bytes of a buffer with a pattern of 1 to 128 bytes, after all launches so far that access them. Later launches
    /// wait for it; this call need not.
    ///
    /// # Errors
    /// When the range is not within the buffer, the pattern does not divide it, or the device fails.
    pub fn fill_buffer(
        &mut self,
        buffer: BufferHandle,
        offset: u64,
        size: u64,
        pattern: &[u8],
    ) -> Result<(), DeviceError> {
        checks::check_range(offset, size, self.buffer_size(buffer)?)?;
        let length = pattern.len();
        if !(1..=LONGEST_PATTERN).contains(&length) {
            let text = format!("a pattern has 1 to {LONGEST_PATTERN} bytes, not {length}");
            return Err(DeviceError::Launch(text));
        }
        if !size.is_multiple_of(length as u64) {
            let text = format!("{size} bytes are no repetitions of a pattern of {length} bytes");
            return Err(DeviceError::Launch(text));
        }
        if size == 0 {
            return Ok(());
        }
        let fill = PatternFill {
            buffer,
            offset,
            size,
            pattern,
        };
        let driver = &mut self.driver;
        add_elapsed_time(&mut self.profile.copy, || driver.fill_buffer(&fill))
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
