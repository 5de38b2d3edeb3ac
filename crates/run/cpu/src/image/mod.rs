//! Images and samplers: their descriptions for a launch, and the functions that generated code calls.
//!
//! Texels lie in a row without gaps: rows, slices, layers, then levels. A value of an image type is the address of
//! its [`TextureView`]. A sampler is a word, and a sampled image is both. The functions of [`access`] execute the
//! instructions. Reads outside of the image return the border, and writes there do nothing.
//!
//! # Unsafe code
//! Texels lie in memory that the launch was promised. They are accessed only inside of the image.
#![allow(unsafe_code)]

pub(crate) mod access;
mod sample;
pub(crate) mod sampler_word;

pub use spirula_resource::{
    BorderColour, DepthComparison, ImageDimensions, ImageShape, ImageType, SamplerAddressing,
    SamplerFilter, SamplerState, TexelFormat,
};

use crate::memory::memory_span::MemorySpan;
use spirula_spirv::grammar::enumerants::{Dim, ImageFormat};
use spirula_spirv::ir::InstRef;
use std::mem::offset_of;

/// Most texels in a direction, and most layers.
const MAX_EXTENT: u32 = 1 << 24;
/// Most levels of detail.
const MAX_LEVELS: u32 = 24;

/// Dimensions of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImageDimensions {
    /// One row of texels.
    D1,
    /// Rows of texels.
    D2,
    /// Slices of rows.
    D3,
    /// On the six faces of a cube: +x, -x, +y, -y, +z, -z.
    Cube,
    /// One row of texels that is never filtered.
    Buffer,
}

/// Shape and format of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImageShape {
    /// The dimensions.
    pub dimensions: ImageDimensions,
    /// The format of the texels.
    pub format: TexelFormat,
    /// Width, height and depth; 1 where there is no such direction.
    pub size: [u32; 3],
    /// Whether there are layers, which a coordinate chooses.
    pub arrayed: bool,
    /// Number of layers, faces included; 1 where the image has no layers.
    pub layers: u32,
    /// Levels of detail, each half the size of the one before; 1 at least.
    pub levels: u32,
}

impl ImageShape {
    /// An image without layers and with one level of detail.
    pub fn new(dimensions: ImageDimensions, format: TexelFormat, size: [u32; 3]) -> ImageShape {
        ImageShape {
            dimensions,
            format,
            size,
            arrayed: false,
            layers: if dimensions == ImageDimensions::Cube {
                6
            } else {
                1
            },
            levels: 1,
        }
    }

    /// Checks that the shape is valid.
    ///
    /// # Errors
    /// The problem, in a sentence without a full stop.
    pub fn check_dimensions(&self) -> Result<(), String> {
        let [width, height, depth] = self.size;
        let used = match self.dimensions {
            ImageDimensions::D1 | ImageDimensions::Buffer => 1,
            ImageDimensions::D2 | ImageDimensions::Cube => 2,
            ImageDimensions::D3 => 3,
        };
        let bad = |text: String| Err(text);
        if self.size.iter().any(|n| *n == 0 || *n > MAX_EXTENT) {
            return bad(format!("an image cannot be {width} by {height} by {depth}"));
        }
        if self.size[used..].iter().any(|n| *n != 1) {
            return bad(format!("an image of {used} dimensions has no more sizes"));
        }
        let faces = if self.dimensions == ImageDimensions::Cube {
            6
        } else {
            1
        };
        let fits = self.arrayed || self.layers == faces;
        if self.layers == 0
            || self.layers > MAX_EXTENT
            || !fits
            || !self.layers.is_multiple_of(faces)
        {
            return bad(format!("it cannot have {} layers", self.layers));
        }
        if faces == 6 && width != height {
            return bad("the faces of a cube are squares".to_owned());
        }
        let largest = width.max(height).max(depth);
        if self.levels == 0 || self.levels > MAX_LEVELS.min(32 - largest.leading_zeros()) {
            return bad(format!("it cannot have {} levels", self.levels));
        }
        if self.total_bytes().is_none() {
            return bad("it has too many texels".to_owned());
        }
        Ok(())
    }

    /// The size of a level.
    pub fn level_size(&self, level: u32) -> [u32; 3] {
        self.size.map(|n| (n >> level.min(31)).max(1))
    }

    /// Bytes of a level, all its layers together; none where they are too many.
    pub fn level_bytes(&self, level: u32) -> Option<u64> {
        let [width, height, depth] = self.level_size(level).map(u64::from);
        let texels = width.checked_mul(height)?.checked_mul(depth)?;
        let bytes = texels.checked_mul(self.layers.into())?;
        bytes
            .checked_mul(self.format.texel_bytes().into())
            .filter(|b| *b < 1 << 48)
    }

    /// Bytes of all levels; none where they are too many.
    pub fn total_bytes(&self) -> Option<u64> {
        let mut levels = 0..self.levels.min(MAX_LEVELS);
        levels.try_fold(0u64, |sum, level| sum.checked_add(self.level_bytes(level)?))
    }
}

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

/// The properties of an image type in a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImageType {
    /// The dimensions.
    pub dim: Dim,
    /// Whether there are layers.
    pub arrayed: bool,
    /// Whether a texel has several samples.
    pub multisampled: bool,
    /// The format; none where the type leaves it open.
    pub format: Option<TexelFormat>,
}

impl ImageType {
    /// The properties of an `OpTypeImage`.
    pub fn from_definition(def: InstRef<'_>) -> ImageType {
        ImageType {
            dim: Dim(def.operand_word(1)),
            arrayed: def.operand_word(3) != 0,
            multisampled: def.operand_word(4) != 0,
            format: TexelFormat::of_module(ImageFormat(def.operand_word(6))),
        }
    }

    /// Coordinates of a texel, the layer included.
    pub(crate) fn coordinate_count(&self) -> usize {
        let own = match self.dim {
            Dim::Dim1D | Dim::Buffer => 1,
            Dim::Dim3D | Dim::Cube => 3,
            _ => 2,
        };
        own + usize::from(self.arrayed)
    }

    /// The reason why an image does not fit this type, in a sentence without a full stop; none where it fits.
    pub fn find_mismatch(&self, shape: &ImageShape) -> Option<String> {
        if let Err(problem) = shape.check_dimensions() {
            return Some(problem);
        }
        let is = match shape.dimensions {
            ImageDimensions::D1 => Dim::Dim1D,
            ImageDimensions::D2 => Dim::Dim2D,
            ImageDimensions::D3 => Dim::Dim3D,
            ImageDimensions::Cube => Dim::Cube,
            ImageDimensions::Buffer => Dim::Buffer,
        };
        let wanted = match self.dim {
            Dim::Rect => Dim::Dim2D,
            dim => dim,
        };
        if is != wanted {
            return Some(format!("it takes an image of {wanted}, {is} is given"));
        }
        if self.arrayed != shape.arrayed {
            let text = if self.arrayed {
                "it takes an image with layers"
            } else {
                "it takes an image without layers"
            };
            return Some(text.to_owned());
        }
        let format = self.format.filter(|f| *f != shape.format)?;
        Some(format!("it takes {format}, {} is given", shape.format))
    }
}

/// An image as generated code and the functions that it calls see it.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct TextureView {
    /// The word of the sampler that it is bound with.
    sampler: u64,
    texels: *mut u8,
    shape: ImageShape,
}

/// Offset of the sampler's word in a [`TextureView`].
pub(crate) const SAMPLER: i32 = offset_of!(TextureView, sampler) as i32;

// SAFETY: a texture only describes where texels are. The kernel is responsible for accesses to them, as for buffers.
unsafe impl Send for TextureView {}
// SAFETY: as above.
unsafe impl Sync for TextureView {}

impl TextureView {
    /// The view of an image whose memory has room for its texels.
    pub fn new(image: &HostImage) -> TextureView {
        TextureView {
            sampler: sampler_word::encode_sampler(&image.sampler),
            texels: image.memory.address,
            shape: image.shape,
        }
    }

    /// The address of a texel; none outside.
    fn texel_address(&self, level: u32, at: [i64; 3], layer: i64) -> Option<*mut u8> {
        let shape = &self.shape;
        if level >= shape.levels || layer < 0 || layer >= i64::from(shape.layers) {
            return None;
        }
        let [width, height, depth] = shape.level_size(level).map(i64::from);
        let [x, y, z] = at;
        if x < 0 || x >= width || y < 0 || y >= height || z < 0 || z >= depth {
            return None;
        }
        let before: u64 = (0..level).filter_map(|l| shape.level_bytes(l)).sum();
        let texel = ((layer * depth + z) * height + y) * width + x;
        let offset = before + texel as u64 * u64::from(shape.format.texel_bytes());
        Some(self.texels.wrapping_add(offset as usize))
    }

    /// The bytes of a texel; none outside.
    fn read_texel(&self, level: u32, at: [i64; 3], layer: i64) -> Option<[u8; 16]> {
        let address = self.texel_address(level, at, layer)?;
        let mut texel = [0; 16];
        // SAFETY: the texel is inside of the image.
        unsafe {
            std::ptr::copy_nonoverlapping(
                address,
                texel.as_mut_ptr(),
                self.shape.format.texel_bytes() as usize,
            );
        }
        Some(texel)
    }

    /// Stores the bytes of a texel; nothing outside.
    fn store_texel(&self, level: u32, at: [i64; 3], layer: i64, texel: &[u8; 16]) {
        let Some(address) = self.texel_address(level, at, layer) else {
            return;
        };
        let bytes = self.shape.format.texel_bytes() as usize;
        // SAFETY: as above.
        unsafe { std::ptr::copy_nonoverlapping(texel.as_ptr(), address, bytes) };
    }
}
