//! Images, samplers and pipes of a device, and what all its resources share: sizes, copies, destruction.

use super::ComputeDevice;
use super::checks;
use crate::profile::add_elapsed_time;
use crate::{
    DeviceError, ImageHandle, ImageShape, PipeHandle, PipeShape, ResourceHandle, SamplerHandle,
    SamplerState, TexelFormat,
};
use std::ptr::NonNull;

/// Kinds of resources.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceResourceKind {
    /// A buffer.
    Buffer,
    /// An image of texels of a format.
    Image(TexelFormat),
    /// A sampler.
    Sampler,
    /// A pipe.
    Pipe,
}

/// A resource of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceResource {
    /// Bytes.
    pub size: u64,
    /// Kind.
    pub what: DeviceResourceKind,
}

impl ComputeDevice {
    /// Creates an image of zeros, with the sampler that it has where a descriptor takes both. Its bytes are
    /// its texels, in the order that [`ImageShape`] defines.
    ///
    /// ```
    /// use spirula_runtime::{ComputeDevice, DeviceOptions, ImageDimensions, TexelFormat, ImageShape, SamplerState};
    ///
    /// let mut device = ComputeDevice::open("cpu", &DeviceOptions::default())?;
    /// let rgba8 = TexelFormat::from_name("rgba8").unwrap();
    /// let shape = ImageShape::new(ImageDimensions::D2, rgba8, [4, 2, 1]);
    /// let image = device.create_image(&shape, &SamplerState::default())?;
    /// device.write_image(image, 0, &[1, 2, 3, 4])?;
    /// assert_eq!(device.download_image(image)?.len(), 4 * 2 * 4);
    /// # Ok::<(), spirula_runtime::DeviceError>(())
    /// ```
    ///
    /// # Errors
    /// When its shape is none, there is no memory for it, or the device has no such images.
    pub fn create_image(
        &mut self,
        shape: &ImageShape,
        sampler: &SamplerState,
    ) -> Result<ImageHandle, DeviceError> {
        shape.check_dimensions().map_err(DeviceError::Image)?;
        if shape.row_texels != 0 {
            let message = "only images over memory of the caller have gaps between rows";
            return Err(DeviceError::Image(message.to_owned()));
        }
        let size = shape.total_bytes().unwrap_or(u64::MAX);
        let limit = self.driver.info().limits.buffer_size;
        if size > limit {
            return Err(DeviceError::Memory { size, limit });
        }
        let image = ImageHandle(self.next_number());
        self.driver.create_image(image, shape, sampler)?;
        self.register_resource(size, DeviceResourceKind::Image(shape.format));
        Ok(image)
    }

    /// Creates a sampler.
    ///
    /// # Errors
    /// When the device has no such samplers.
    pub fn create_sampler(&mut self, sampler: &SamplerState) -> Result<SamplerHandle, DeviceError> {
        let handle = SamplerHandle(self.next_number());
        self.driver.create_sampler(handle, sampler)?;
        self.samplers.note_sampler(handle, sampler);
        self.register_resource(0, DeviceResourceKind::Sampler);
        Ok(handle)
    }

    /// Creates an empty pipe, which kernels take as an argument. Its packets stay from launch to launch.
    ///
    /// ```
    /// use spirula_runtime::{ComputeDevice, DeviceOptions, PipeShape};
    ///
    /// let mut device = ComputeDevice::open("cpu", &DeviceOptions::default())?;
    /// let shape = PipeShape { packet: 16, capacity: 1000 };
    /// let pipe = device.create_pipe(shape)?;
    /// device.destroy_pipe(pipe)?;
    /// # Ok::<(), spirula_runtime::DeviceError>(())
    /// ```
    ///
    /// # Errors
    /// When it would hold no packets, there is no memory for it, or the device has no pipes.
    pub fn create_pipe(&mut self, shape: PipeShape) -> Result<PipeHandle, DeviceError> {
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
        let pipe = PipeHandle(self.next_number());
        self.driver.create_pipe(pipe, shape)?;
        self.register_resource(size, DeviceResourceKind::Pipe);
        Ok(pipe)
    }

    /// Copies into the texels of an image.
    ///
    /// # Errors
    /// When the bytes do not fit, or the device fails.
    pub fn write_image(
        &mut self,
        image: ImageHandle,
        offset: u64,
        data: &[u8],
    ) -> Result<(), DeviceError> {
        self.write_resource(image.into(), offset, data)
    }

    /// Copies out of the texels of an image, after all launches so far that may write it.
    ///
    /// # Errors
    /// When the range is not within the image, or the device fails.
    pub fn read_image(
        &mut self,
        image: ImageHandle,
        offset: u64,
        out: &mut [u8],
    ) -> Result<(), DeviceError> {
        self.read_resource(image.into(), offset, out)
    }

    /// All texels of an image.
    ///
    /// # Errors
    /// When there is no memory for a copy, or the device fails.
    pub fn download_image(&mut self, image: ImageHandle) -> Result<Vec<u8>, DeviceError> {
        self.download_resource(image.into())
    }

    /// Destroys an image.
    ///
    /// # Errors
    /// When it is no image of this device.
    pub fn destroy_image(&mut self, image: ImageHandle) -> Result<(), DeviceError> {
        self.destroy_resource(image.into())
    }

    /// Destroys a sampler.
    ///
    /// # Errors
    /// When it is no sampler of this device.
    pub fn destroy_sampler(&mut self, sampler: SamplerHandle) -> Result<(), DeviceError> {
        self.destroy_resource(sampler.into())
    }

    /// Destroys a pipe.
    ///
    /// # Errors
    /// When it is no pipe of this device.
    pub fn destroy_pipe(&mut self, pipe: PipeHandle) -> Result<(), DeviceError> {
        self.destroy_resource(pipe.into())
    }

    /// All bytes of a buffer or an image.
    ///
    /// # Errors
    /// When there is no memory for a copy, or the device fails.
    pub fn download_resource(&mut self, resource: ResourceHandle) -> Result<Vec<u8>, DeviceError> {
        let size = self.resource_size(resource)?;
        let mut out = Vec::new();
        let full = DeviceError::Memory { size, limit: 0 };
        let length = usize::try_from(size).map_err(|_| full.clone())?;
        out.try_reserve_exact(length).map_err(|_| full)?;
        out.resize(length, 0);
        self.read_resource(resource, 0, &mut out)?;
        Ok(out)
    }

    /// Bytes of a resource.
    pub(super) fn resource_size(&self, resource: ResourceHandle) -> Result<u64, DeviceError> {
        let found = self.resources.get(resource.index());
        found.map(|r| r.size).ok_or(DeviceError::Handle("a buffer"))
    }

    /// Copies into a buffer or an image.
    ///
    /// # Errors
    /// When the bytes do not fit, or the device fails.
    pub fn write_resource(
        &mut self,
        resource: ResourceHandle,
        offset: u64,
        data: &[u8],
    ) -> Result<(), DeviceError> {
        checks::check_range(offset, data.len() as u64, self.resource_size(resource)?)?;
        let driver = &mut self.driver;
        add_elapsed_time(&mut self.profile.copy, || {
            driver.write_resource(resource, offset, data)
        })
    }

    /// Copies out of a buffer or an image, after all launches so far that may write it.
    ///
    /// # Errors
    /// When the range is not within the resource, or the device fails.
    pub fn read_resource(
        &mut self,
        resource: ResourceHandle,
        offset: u64,
        out: &mut [u8],
    ) -> Result<(), DeviceError> {
        checks::check_range(offset, out.len() as u64, self.resource_size(resource)?)?;
        let driver = &mut self.driver;
        add_elapsed_time(&mut self.profile.copy, || {
            driver.read_resource(resource, offset, out)
        })
    }

    /// Where the host can access the bytes of a buffer or an image directly; `None` where it cannot, or only slowly. The CPU device
    /// has an address for all of them, a Vulkan device for buffers in memory that it shares with the host. The device must be idle
    /// ([`ComputeDevice::wait_idle`]) when the host accesses the bytes, and until it no longer does. The address is valid until the
    /// resource is destroyed.
    ///
    /// # Errors
    /// When it is no resource of this device.
    pub fn host_address(
        &mut self,
        resource: ResourceHandle,
    ) -> Result<Option<NonNull<u8>>, DeviceError> {
        self.resource_size(resource)?;
        match resource {
            ResourceHandle::Buffer(_) | ResourceHandle::Image(_) => {
                self.driver.host_address(resource)
            }
            ResourceHandle::Sampler(_) | ResourceHandle::Pipe(_) => Ok(None),
        }
    }

    /// Destroys a resource, and the variant of a sampler with it.
    ///
    /// # Errors
    /// When it is no resource of this device.
    pub fn destroy_resource(&mut self, resource: ResourceHandle) -> Result<(), DeviceError> {
        self.resource_size(resource)?;
        self.driver.destroy_resource(resource);
        self.resources.remove(resource.index());
        if let ResourceHandle::Sampler(sampler) = resource
            && let Some(variant) = self.samplers.forget_sampler(sampler)
        {
            self.driver.destroy_resource(variant.into());
            self.resources.remove(variant.index());
        }
        Ok(())
    }
}
