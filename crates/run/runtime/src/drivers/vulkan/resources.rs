//! Resources: the buffers, images and samplers of handles.
//!
//! The host accesses an image as bytes, which are in a buffer once they were requested. Image and buffer are synchronised when one side
//! needs data that is newer on the other; nothing is copied between two launches. Cost: an image that the host has written or read
//! exists twice until the next launch that uses it.

use super::device::OwnedHandle;
use super::image::VulkanImage;
use super::memory::{VulkanBuffer, VulkanMemory};
use super::queue::VulkanQueue;
use crate::DeviceError;
use ash::vk;
use gpu_allocator::MemoryLocation;
use std::sync::Arc;

/// A resource of a handle.
pub enum VulkanResource {
    /// A buffer.
    Buffer(Arc<VulkanBuffer>),
    /// An image.
    Picture(MirroredImage),
    /// A sampler.
    Sampler(Arc<OwnedHandle<vk::Sampler>>),
}

/// A resource as launches use it.
#[derive(Clone)]
pub enum DispatchResource {
    /// A buffer.
    Buffer(Arc<VulkanBuffer>),
    /// An image.
    Image(Arc<VulkanImage>),
    /// A sampler.
    Sampler(Arc<OwnedHandle<vk::Sampler>>),
}

/// An image and its bytes.
pub struct MirroredImage {
    image: Arc<VulkanImage>,
    bytes: Option<Arc<VulkanBuffer>>,
    newer: NewerImageCopy,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum NewerImageCopy {
    Neither,
    Bytes,
    Image,
}

impl MirroredImage {
    /// A new image without a buffer of bytes.
    pub fn new(image: Arc<VulkanImage>) -> MirroredImage {
        MirroredImage {
            bytes: image.row_buffer().cloned(),
            newer: NewerImageCopy::Neither,
            image,
        }
    }

    /// Its bytes as a buffer, copied from the image unless all of them are about to be written. `writes` is the number of bytes that are
    /// about to change.
    pub fn update_bytes(
        &mut self,
        queue: &mut VulkanQueue,
        memory: &Arc<VulkanMemory>,
        writes: Option<u64>,
    ) -> Result<Arc<VulkanBuffer>, DeviceError> {
        let all = self.image.shape.total_bytes().unwrap_or(u64::MAX);
        let is_new = self.bytes.is_none();
        let bytes = match &self.bytes {
            Some(bytes) => Arc::clone(bytes),
            None => {
                let made = Arc::new(memory.create_buffer(all, MemoryLocation::GpuOnly)?);
                Arc::clone(self.bytes.insert(made))
            }
        };
        if self.image.row_buffer().is_some() {
            return Ok(bytes);
        }
        if (is_new || self.newer == NewerImageCopy::Image) && writes.is_none_or(|n| n < all) {
            self.image.copy_texels(queue, &bytes, false)?;
            self.newer = NewerImageCopy::Neither;
        }
        if writes.is_some() {
            self.newer = NewerImageCopy::Bytes;
        }
        Ok(bytes)
    }

    /// The image, updated with the bytes that the host wrote.
    pub fn update_image(
        &mut self,
        queue: &mut VulkanQueue,
    ) -> Result<Arc<VulkanImage>, DeviceError> {
        if let (NewerImageCopy::Bytes, Some(bytes)) = (self.newer, &self.bytes) {
            self.image.copy_texels(queue, bytes, true)?;
            self.newer = NewerImageCopy::Neither;
        }
        if self.image.row_buffer().is_none() {
            // A pending copy keeps them alive as long as it needs them.
            self.bytes = None;
        }
        Ok(Arc::clone(&self.image))
    }

    /// Notes that a launch may write it.
    pub fn is_written(&mut self) {
        self.newer = NewerImageCopy::Image;
    }
}
