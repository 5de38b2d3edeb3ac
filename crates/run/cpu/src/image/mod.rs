//! Images and samplers: their descriptions for a launch, and the functions that generated code calls.
//!
//! A value of an image type is the address of its [`texture_view`]. A sampler is a word, and a sampled image is both. The functions of [`access`] execute the
//! instructions. Usual accesses are [`direct`]. Reads outside of the image return the border, and writes there do nothing.
//!
//! # Unsafe code
//! Texels lie in memory that the launch was promised. They are accessed only inside of the image.
#![allow(unsafe_code)]

pub(crate) mod access;
mod axis_sampling;
mod direct;
pub(crate) mod image_request;
mod sample;
pub(crate) mod sampler_word;
pub(crate) mod texture_view;

pub use spirula_resource::{
    BorderColour, DepthComparison, ImageDimensions, ImageShape, ImageType, SamplerAddressing,
    SamplerFilter, SamplerState, TexelFormat,
};

use crate::memory::memory_span::MemorySpan;

/// An image that is passed to a kernel.
#[derive(Clone, Copy, Debug)]
pub struct HostImage {
    /// Shape and format.
    pub shape: ImageShape,
    /// The memory of its texels.
    pub memory: MemorySpan,
    /// The sampler that it is bound with, where a binding takes both at once.
    pub sampler: SamplerState,
}
