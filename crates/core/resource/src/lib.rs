//! The types that devices and their callers share: images, samplers and pipes, and the reports of checked launches.
//!
//! - [`TexelFormat`]: formats of texels, and how components become numbers and back.
//! - [`TexelCodec`]: fast conversions of whole texels of a usual format.
//! - [`ImageShape`]: dimensions, format, size, layers and levels of an image.
//! - [`ImageType`]: the type of an image in a module, and whether an image fits it.
//! - [`SamplerState`]: addressing, filters, border and comparison of a sampler.
//! - [`PipeShape`]: packets of a pipe, and the layout of its memory.
//!
//! Checked launches have their types here, too: [`SanitizerOptions`] state what is checked, and a [`FaultReport`] describes a
//! fault.

mod fault_report;
mod image_shape;
mod image_type;
mod pipe_shape;
mod sampler;
mod sanitizer_options;
mod texel_codec;
mod texel_format;

pub use fault_report::{FaultKind, FaultReport, InstructionSite, InvocationId};
pub use image_shape::{ImageDimensions, ImageShape};
pub use image_type::ImageType;
pub use pipe_shape::{HEADER_WORDS, MOST_RESERVATIONS, PIPE_MAGIC, PipeShape, RESERVATION_WORDS};
pub use sampler::{
    BORDER_COLOURS, BorderColour, DEPTH_COMPARISONS, DepthComparison, MAX_LOD, SAMPLER_ADDRESSINGS,
    SAMPLER_FILTERS, SamplerAddressing, SamplerFilter, SamplerState,
};
pub use sanitizer_options::SanitizerOptions;
pub use texel_codec::TexelCodec;
pub use texel_format::TexelFormat;
