//! What handles of buffers, images and samplers stand for.
//!
//! The host knows an image by its bytes, which a buffer has once they were asked for. Image and buffer are brought
//! together when the other side wants to see what one of them has newer: nothing is copied between two
//! launches. Cost: an image that the host has written or read is there twice until the next launch that uses it.

use super::device::OwnedHandle;
use super::image::VulkanImage;
use super::memory::{VulkanBuffer, VulkanMemory};
use super::queue::VulkanQueue;
use crate::DeviceError;
use ash::vk;
use gpu_allocator::MemoryLocation;
use std::sync::Arc;

/// What a handle stands for.
pub enum VulkanResource {
    /// A buffer.
    Buffer(Arc<VulkanBuffer>),
    /// An image.
    Picture(MirroredImage),
    /// A sampler.
    Sampler(Arc<OwnedHandle<vk::Sampler>>),
}

/// What a launch is given.
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
    /// Of an image that nobody has used.
    pub fn new(image: Arc<VulkanImage>) -> MirroredImage {
        MirroredImage {
            bytes: image.row_buffer().cloned(),
            newer: NewerImageCopy::Neither,
            image,
        }
    }

    /// Its bytes, as a buffer: those of the image as it is, unless all of them are written anyway. `writes` tells
    /// that they are changed now.
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

    /// The image, with what the host wrote.
    pub fn update_image(
        &mut self,
        queue: &mut VulkanQueue,
    ) -> Result<Arc<VulkanImage>, DeviceError> {
        if let (NewerImageCopy::Bytes, Some(bytes)) = (self.newer, &self.bytes) {
            self.image.copy_texels(queue, bytes, true)?;
            self.newer = NewerImageCopy::Neither;
        }
        if self.image.row_buffer().is_none() {
            // A copy that was begun keeps them as long as it needs them.
            self.bytes = None;
        }
        Ok(Arc::clone(&self.image))
    }

    /// Takes note that a launch may write it.
    pub fn is_written(&mut self) {
        self.newer = NewerImageCopy::Image;
    }
}
