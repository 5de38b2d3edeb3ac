//! What devices have besides buffers: images, samplers and pipes.

use super::ComputeDevice;
use crate::device::checks::DeviceResourceKind;
use crate::{DeviceBuffer, DeviceError, ImageShape, PipeShape, SamplerState};

impl ComputeDevice {
    /// Makes an image of zeros, with the sampler that it has where a descriptor takes both. Its bytes are
    /// its texels, as [`ImageShape`] says; it is written, read, bound and destroyed as a buffer is.
    ///
    /// ```
    /// use spirula_runtime::{ComputeDevice, DeviceOptions, ImageDimensions, TexelFormat, ImageShape, SamplerState};
    ///
    /// let mut device = ComputeDevice::open("cpu", &DeviceOptions::default())?;
    /// let rgba8 = TexelFormat::from_name("rgba8").unwrap();
    /// let shape = ImageShape::new(ImageDimensions::D2, rgba8, [4, 2, 1]);
    /// let image = device.create_image(&shape, &SamplerState::default())?;
    /// device.write_buffer(image, 0, &[1, 2, 3, 4])?;
    /// assert_eq!(device.download_buffer(image)?.len(), 4 * 2 * 4);
    /// # Ok::<(), spirula_runtime::DeviceError>(())
    /// ```
    ///
    /// # Errors
    /// When its shape is none, there is no memory for it, or the device has no such images.
    pub fn create_image(
        &mut self,
        shape: &ImageShape,
        sampler: &SamplerState,
    ) -> Result<DeviceBuffer, DeviceError> {
        shape.check_dimensions().map_err(DeviceError::Image)?;
        let size = shape.total_bytes().unwrap_or(u64::MAX);
        let limit = self.driver.info().limits.buffer_size;
        if size > limit {
            return Err(DeviceError::Memory { size, limit });
        }
        let image = DeviceBuffer(self.buffers.len() as u32);
        self.driver.create_image(image, shape, sampler)?;
        Ok(self.register_resource(size, DeviceResourceKind::Image(shape.format)))
    }

    /// Makes a sampler, which is bound and destroyed as a buffer is.
    ///
    /// # Errors
    /// When the device has no such samplers.
    pub fn create_sampler(&mut self, sampler: &SamplerState) -> Result<DeviceBuffer, DeviceError> {
        let handle = DeviceBuffer(self.buffers.len() as u32);
        self.driver.create_sampler(handle, sampler)?;
        self.samplers.note_sampler(handle, sampler);
        Ok(self.register_resource(0, DeviceResourceKind::Sampler))
    }

    /// Makes an empty pipe, which kernels are given and which is destroyed as a buffer is. What is in it stays from
    /// launch to launch.
    ///
    /// ```
    /// use spirula_runtime::{ComputeDevice, DeviceOptions, PipeShape};
    ///
    /// let mut device = ComputeDevice::open("cpu", &DeviceOptions::default())?;
    /// let shape = PipeShape { packet: 16, capacity: 1000 };
    /// let pipe = device.create_pipe(shape)?;
    /// device.destroy_buffer(pipe)?;
    /// # Ok::<(), spirula_runtime::DeviceError>(())
    /// ```
    ///
    /// # Errors
    /// When it would hold no packets, there is no memory for it, or the device has no pipes.
    pub fn create_pipe(&mut self, shape: PipeShape) -> Result<DeviceBuffer, DeviceError> {
        let limit = self.driver.info().limits.buffer_size;
        let empty = shape.packet == 0 || shape.capacity == 0;
        if empty {
            return Err(DeviceError::Launch(
                "a pipe holds one packet at least".to_owned(),
            ));
        }
        let size = shape.memory_bytes().unwrap_or(u64::MAX);
        if size > limit {
            return Err(DeviceError::Memory { size, limit });
        }
        let pipe = DeviceBuffer(self.buffers.len() as u32);
        self.driver.create_pipe(pipe, shape)?;
        Ok(self.register_resource(size, DeviceResourceKind::Pipe))
    }
}
