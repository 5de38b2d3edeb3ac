//! What handles of buffers, images and samplers stand for.
//!
//! The host knows an image by its bytes, which a buffer has once they were asked for. Image and buffer are brought
//! together when the other side wants to see what one of them has newer: nothing is copied between two
//! launches. Cost: an image that the host has written or read is there twice until the next launch that uses it.

use super::device::Owned;
use super::image::Image;
use super::memory::{Buffer, Memory};
use super::queue::Queue;
use crate::Error;
use ash::vk;
use gpu_allocator::MemoryLocation;
use std::sync::Arc;

/// What a handle stands for.
pub enum Resource {
    /// A buffer.
    Buffer(Arc<Buffer>),
    /// An image.
    Picture(Picture),
    /// A sampler.
    Sampler(Arc<Owned<vk::Sampler>>),
}

/// What a launch is given.
#[derive(Clone)]
pub enum Given {
    /// A buffer.
    Buffer(Arc<Buffer>),
    /// An image.
    Image(Arc<Image>),
    /// A sampler.
    Sampler(Arc<Owned<vk::Sampler>>),
}

/// An image and its bytes.
pub struct Picture {
    image: Arc<Image>,
    bytes: Option<Arc<Buffer>>,
    newer: Newer,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Newer {
    Neither,
    Bytes,
    Image,
}

impl Picture {
    /// Of an image that nobody has used.
    pub fn new(image: Arc<Image>) -> Picture {
        Picture {
            bytes: image.row().cloned(),
            newer: Newer::Neither,
            image,
        }
    }

    /// Its bytes, as a buffer: those of the image as it is, unless all of them are written anyway. `writes` tells
    /// that they are changed now.
    pub fn bytes(
        &mut self,
        queue: &mut Queue,
        memory: &Arc<Memory>,
        writes: Option<u64>,
    ) -> Result<Arc<Buffer>, Error> {
        let all = self.image.shape.bytes().unwrap_or(u64::MAX);
        let is_new = self.bytes.is_none();
        let bytes = match &self.bytes {
            Some(bytes) => Arc::clone(bytes),
            None => {
                let made = Arc::new(memory.create(all, MemoryLocation::GpuOnly)?);
                Arc::clone(self.bytes.insert(made))
            }
        };
        if self.image.row().is_some() {
            return Ok(bytes);
        }
        if (is_new || self.newer == Newer::Image) && writes.is_none_or(|n| n < all) {
            self.image.copy(queue, &bytes, false)?;
            self.newer = Newer::Neither;
        }
        if writes.is_some() {
            self.newer = Newer::Bytes;
        }
        Ok(bytes)
    }

    /// The image, with what the host wrote.
    pub fn image(&mut self, queue: &mut Queue) -> Result<Arc<Image>, Error> {
        if let (Newer::Bytes, Some(bytes)) = (self.newer, &self.bytes) {
            self.image.copy(queue, bytes, true)?;
            self.newer = Newer::Neither;
        }
        if self.image.row().is_none() {
            // A copy that was begun keeps them as long as it needs them.
            self.bytes = None;
        }
        Ok(Arc::clone(&self.image))
    }

    /// Takes note that a launch may write it.
    pub fn is_written(&mut self) {
        self.newer = Newer::Image;
    }
}
