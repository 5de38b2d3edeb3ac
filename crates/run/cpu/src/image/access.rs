//! Image access: the functions that generated code calls for images.
//!
//! Each takes an image and an [`ImageRequest`] on the stack, into which it writes the result. The bits of [`ask`]
//! describe the request.

use super::image_request::{ImageRequest, ask};
use super::sample::{SamplePosition, SampledTexture, lod_of};
use super::sampler_word::decode_sampler;
use super::texture_view::TextureView;
use spirula_resource::ImageDimensions;

impl ImageRequest {
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
