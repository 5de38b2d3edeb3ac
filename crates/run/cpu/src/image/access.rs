//! Image access: the functions that generated code calls for images.
//!
//! Each takes an image and an [`ImageRequest`] on the stack, into which it writes the result. The bits of [`ask`]
//! describe the request.

use super::sample::{SamplePosition, SampledTexture, lod_of};
use super::sampler_word::decode_sampler;
use super::{ImageDimensions, TextureView};
use std::mem::offset_of;

/// A request of generated code, with its result. Only the fields that the bits of [`ask`] name hold something.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct ImageRequest {
    /// The texel, a component in each: the bits of an `f32`, or an integer. The bits above an `f32` are any.
    pub texel: [i64; 4],
    /// Coordinates: the bits of an `f32`, or an integer.
    coordinate: [u32; 4],
    /// Derivatives of the coordinates along x, then along y.
    gradients: [f32; 6],
    offset: [i32; 3],
    /// The level of detail: an `f32` where an image is sampled, else an integer.
    lod: u32,
    /// The value that depths are compared with.
    reference: f32,
    /// Keeps the size a multiple of 8.
    _unused: u32,
}

/// Offsets of fields that generated code stores and loads.
pub(crate) mod at {
    use super::{ImageRequest, offset_of};

    pub const TEXEL: i32 = offset_of!(ImageRequest, texel) as i32;
    pub const COORDINATE: i32 = offset_of!(ImageRequest, coordinate) as i32;
    pub const GRADIENTS: i32 = offset_of!(ImageRequest, gradients) as i32;
    pub const OFFSET: i32 = offset_of!(ImageRequest, offset) as i32;
    pub const LOD: i32 = offset_of!(ImageRequest, lod) as i32;
    pub const REFERENCE: i32 = offset_of!(ImageRequest, reference) as i32;
    pub const SIZE: u64 = size_of::<ImageRequest>() as u64;
}

/// Bits of the word that describes a request.
pub(crate) mod ask {
    /// Components are integers.
    pub const INTEGERS: u64 = 1;
    /// Coordinates are integers.
    pub const INTEGER_COORDINATES: u64 = 2;
    /// The level of detail comes from derivatives.
    pub const GRADIENTS: u64 = 4;
    /// Depths are compared.
    pub const COMPARES: u64 = 8;
    /// Components are integers of 64 bits; else of 32.
    pub const WIDE: u64 = 16;
    /// There is an offset. Without it the field holds nothing.
    pub const OFFSET: u64 = 32;
    /// There is a level of detail. Without it the field holds nothing.
    pub const LOD: u64 = 64;
    /// First bit of the number of a component.
    pub const COMPONENT_SHIFT: u32 = 8;
}

impl ImageRequest {
    /// A request with all fields, for tests.
    #[cfg(test)]
    pub fn at_coordinate(coordinate: [u32; 4], lod: u32) -> ImageRequest {
        ImageRequest {
            texel: [0; 4],
            coordinate,
            gradients: [0.25; 6],
            offset: [1, -1, 2],
            lod,
            reference: 0.5,
            _unused: 0,
        }
    }

    /// The texel of integer coordinates.
    fn texel_coordinates(&self, texture: &TextureView, asked: u64) -> ([i64; 3], i64) {
        let c = self.coordinate.map(|c| i64::from(c as i32));
        let layer = |n: usize| if texture.shape.arrayed { c[n] } else { 0 };
        let offset = self.asked_offset(asked).map(i64::from);
        let [x, y, z] = [0, 1, 2].map(|n| c[n] + offset[n]);
        match texture.shape.dimensions {
            ImageDimensions::D1 | ImageDimensions::Buffer => ([x, 0, 0], layer(1)),
            ImageDimensions::D2 => ([x, y, 0], layer(2)),
            ImageDimensions::D3 => ([x, y, z], 0),
            // The face is a layer.
            ImageDimensions::Cube => ([x, y, 0], c[2]),
        }
    }

    fn asked_offset(&self, asked: u64) -> [i32; 3] {
        if asked & ask::OFFSET != 0 {
            self.offset
        } else {
            [0; 3]
        }
    }

    /// The bits of the level of detail.
    #[inline(always)]
    pub fn asked_lod(&self, asked: u64) -> u32 {
        if asked & ask::LOD != 0 { self.lod } else { 0 }
    }

    /// The bits of an integer coordinate.
    #[inline(always)]
    pub fn integer_coordinate(&self, axis: usize) -> u32 {
        self.coordinate[axis]
    }

    /// Whether integer coordinates are natural numbers below a limit. A mask without bits excepts one.
    #[inline(always)]
    pub fn has_coordinates_below(&self, limit: u32, masks: [u32; 3]) -> bool {
        (0..3).all(|axis| self.coordinate[axis] & masks[axis] < limit)
    }

    /// A coordinate of either type.
    #[inline(always)]
    pub fn float_coordinate(&self, axis: usize, asked: u64) -> f32 {
        let bits = self.coordinate[axis];
        if asked & ask::INTEGER_COORDINATES != 0 {
            bits as i32 as f32
        } else {
            f32::from_bits(bits)
        }
    }

    fn sample_position(&self, texture: &TextureView, asked: u64) -> SamplePosition {
        let g = &self.gradients;
        let lod = if asked & ask::GRADIENTS != 0 {
            lod_of(texture, [[g[0], g[1], g[2]], [g[3], g[4], g[5]]])
        } else {
            f32::from_bits(self.asked_lod(asked))
        };
        SamplePosition {
            coordinate: [0, 1, 2, 3].map(|axis| self.float_coordinate(axis, asked)),
            offset: self.asked_offset(asked),
            lod,
        }
    }

    /// The texture, the sampling position, and the reference to compare with, if any.
    fn resolve_sampling<'t>(
        &self,
        texture: &'t TextureView,
        sampler: u64,
        asked: u64,
    ) -> (SampledTexture<'t>, SamplePosition, Option<f32>) {
        let sampler = decode_sampler(sampler);
        let compares = asked & ask::COMPARES != 0;
        let reference = compares.then_some(self.reference);
        let sampled = SampledTexture { texture, sampler };
        (sampled, self.sample_position(texture, asked), reference)
    }

    /// The numbers that are written.
    #[inline(always)]
    pub fn written_floats(&self) -> [f32; 4] {
        self.texel.map(|c| f32::from_bits(c as u32))
    }

    /// The integers that are written. Whether the highest bit is a sign is the format's to say.
    #[inline(always)]
    pub fn written_ints(&self, asked: u64, signed: bool) -> [i64; 4] {
        let whole = asked & ask::WIDE != 0 || signed;
        let mask = if whole { -1 } else { u32::MAX.into() };
        self.texel.map(|c| c & mask)
    }

    #[inline(always)]
    pub fn return_floats(&mut self, value: [f32; 4]) {
        self.texel = value.map(|v| v.to_bits().into());
    }

    #[inline(always)]
    pub fn return_ints(&mut self, value: [i64; 4]) {
        self.texel = value;
    }
}

/// The image and the request of a call; none where no image is bound.
///
/// # Safety
/// Generated code passes the value that it loaded as an image, and a request on its own stack.
unsafe fn borrow_request<'a>(
    texture: *const TextureView,
    request: *mut ImageRequest,
) -> Option<(&'a TextureView, &'a mut ImageRequest)> {
    // SAFETY: the caller's promise.
    unsafe { Some((texture.as_ref()?, request.as_mut()?)) }
}

/// Reads a texel by its coordinates: `OpImageRead` and `OpImageFetch`.
pub(crate) extern "C" fn read_image(
    texture: *const TextureView,
    request: *mut ImageRequest,
    asks: u64,
) {
    // SAFETY: generated code passes them.
    let Some((texture, request)) = (unsafe { borrow_request(texture, request) }) else {
        return;
    };
    if !texture
        .direct
        .as_ref()
        .is_some_and(|direct| direct.read(request, asks))
    {
        read_any_image(texture, request, asks);
    }
}

/// Reads a texel of any format and place.
fn read_any_image(texture: &TextureView, request: &mut ImageRequest, asks: u64) {
    let (at, layer) = request.texel_coordinates(texture, asks);
    let format = texture.shape.format;
    // A texel outside of the image reads as zeros.
    let texel = texture
        .read_texel(request.asked_lod(asks), at, layer)
        .unwrap_or([0; 16]);
    if asks & ask::INTEGERS != 0 {
        request.return_ints(format.decode_ints(&texel))
    } else {
        request.return_floats(format.decode_floats(&texel))
    }
}

/// Writes a texel by its coordinates: `OpImageWrite`.
pub(crate) extern "C" fn write_image(
    texture: *const TextureView,
    request: *mut ImageRequest,
    asks: u64,
) {
    // SAFETY: as above.
    let Some((texture, request)) = (unsafe { borrow_request(texture, request) }) else {
        return;
    };
    if !texture
        .direct
        .as_ref()
        .is_some_and(|direct| direct.write(request, asks))
    {
        write_any_image(texture, request, asks);
    }
}

/// Writes a texel of any format and place.
fn write_any_image(texture: &TextureView, request: &mut ImageRequest, asks: u64) {
    let (at, layer) = request.texel_coordinates(texture, asks);
    let format = texture.shape.format;
    let mut texel = [0; 16];
    if asks & ask::INTEGERS != 0 {
        let value = request.written_ints(asks, format.is_signed());
        format.put_ints(value, &mut texel);
    } else {
        format.put_floats(request.written_floats(), &mut texel);
    }
    texture.store_texel(request.asked_lod(asks), at, layer, &texel);
}

/// The address of a texel, for atomics: `OpImageTexelPointer`. Outside it is the room of the request's
/// texel.
pub(crate) extern "C" fn texel_address(
    texture: *const TextureView,
    request: *mut ImageRequest,
) -> *mut u8 {
    // SAFETY: as above.
    let Some((texture, request)) = (unsafe { borrow_request(texture, request) }) else {
        return request.cast();
    };
    let (at, layer) = request.texel_coordinates(texture, 0);
    let outside = request.texel.as_mut_ptr().cast();
    texture.texel_address(0, at, layer).unwrap_or(outside)
}

/// Samples an image: `OpImageSampleExplicitLod` and its relatives.
pub(crate) extern "C" fn sample_image(
    texture: *const TextureView,
    sampler: u64,
    request: *mut ImageRequest,
    asks: u64,
) {
    // SAFETY: as above.
    let Some((texture, request)) = (unsafe { borrow_request(texture, request) }) else {
        return;
    };
    if !texture
        .direct
        .as_ref()
        .is_some_and(|direct| direct.sample(sampler, request, asks))
    {
        sample_any_image(texture, sampler, request, asks);
    }
}

/// Samples an image of any format and place.
fn sample_any_image(texture: &TextureView, sampler: u64, request: &mut ImageRequest, asks: u64) {
    let (sampled, position, reference) = request.resolve_sampling(texture, sampler, asks);
    if asks & ask::INTEGERS != 0 {
        request.return_ints(sampled.sample_ints(&position))
    } else {
        request.return_floats(sampled.sample_floats(&position, reference))
    }
}

/// Gathers one component of four texels: `OpImageGather` and `OpImageDrefGather`.
pub(crate) extern "C" fn gather_image(
    texture: *const TextureView,
    sampler: u64,
    request: *mut ImageRequest,
    asks: u64,
) {
    // SAFETY: as above.
    let Some((texture, request)) = (unsafe { borrow_request(texture, request) }) else {
        return;
    };
    let (sampled, position, reference) = request.resolve_sampling(texture, sampler, asks);
    let component = (asks >> ask::COMPONENT_SHIFT) as usize & 3;
    if asks & ask::INTEGERS != 0 {
        let format = texture.shape.format;
        let border = sampled.border_colour().map(|n| n as i64);
        let value = sampled.gather_texels(&position, |at, layer| {
            let texel = texture.read_texel(0, at, layer);
            texel.map_or(border, |texel| format.decode_ints(&texel))[component]
        });
        return request.return_ints(value);
    }
    let value = sampled.gather_texels(&position, |at, layer| {
        sampled.fetch_texel(0, at, layer, reference)[component]
    });
    request.return_floats(value);
}

/// A query of an image. Generated code passes its number.
#[derive(Clone, Copy, Debug)]
#[repr(u64)]
pub(crate) enum TextureQuery {
    /// Width, height, depth and layers, without those that the image lacks.
    Size,
    Levels,
    /// OpenCL's number of the type of the components.
    Format,
    /// OpenCL's number of the order of the components.
    Order,
}

/// Answers a query into the texel's room.
pub(crate) extern "C" fn query_image(
    texture: *const TextureView,
    request: *mut ImageRequest,
    query: u64,
) {
    // SAFETY: as above.
    let Some((texture, request)) = (unsafe { borrow_request(texture, request) }) else {
        return;
    };
    let shape = &texture.shape;
    if query != TextureQuery::Size as u64 {
        let number = match query {
            n if n == TextureQuery::Levels as u64 => shape.levels,
            n if n == TextureQuery::Format as u64 => shape.format.channel_type(),
            _ => shape.format.channel_order(),
        };
        return request.return_ints([number.into(); 4]);
    }
    let [width, height, depth] = shape.level_size(request.lod).map(i64::from);
    let layers = match shape.dimensions {
        ImageDimensions::Cube => i64::from(shape.layers / 6),
        _ => i64::from(shape.layers),
    };
    request.return_ints(match shape.dimensions {
        ImageDimensions::D1 | ImageDimensions::Buffer => [width, layers, 0, 0],
        ImageDimensions::D2 | ImageDimensions::Cube => [width, height, layers, 0],
        ImageDimensions::D3 => [width, height, depth, 0],
    });
}
