//! Direct accesses: usual accesses to images of usual formats, with little work for each.
//!
//! An image with one level of detail whose format has a codec has a [`DirectTexture`], which is made once for a launch. Its
//! functions execute a request or decline it. The general functions in [`super::access`] execute what is declined: offsets,
//! derivatives, comparisons, and reads and writes outside of an image. Results are the same bit by bit.

use super::axis_sampling::AxisTexels;
use super::image_request::{ImageRequest, ask};
use super::sampler_word;
use spirula_resource::{ImageDimensions, ImageShape, SamplerFilter, TexelCodec, TexelFormat};

/// Requests with one of these bits are declined.
const DECLINED: u64 = ask::OFFSET | ask::GRADIENTS | ask::COMPARES;
/// Coordinates below are the same numbers as floats.
const MOST_EXACT: u32 = 1 << 24;

/// The facts of an image that direct accesses need.
#[derive(Clone, Copy, Debug)]
pub(super) struct DirectTexture {
    codec: TexelCodec,
    format: TexelFormat,
    texels: *mut u8,
    texel_bytes: usize,
    /// Whether components as integers have a sign.
    signed: bool,
    /// Texels in the direction of each coordinate, of which a layer may be the last.
    extents: [u32; 3],
    /// Bytes from a texel to the next in each direction.
    strides: [usize; 3],
    /// All bits where the image has the coordinate, else none.
    masks: [u32; 3],
    /// Number of coordinates, without that of the layer.
    axes: u32,
    /// Whether the coordinate after them is that of a layer.
    has_layers: bool,
}

impl DirectTexture {
    /// The facts of an image with direct accesses.
    pub fn new(shape: &ImageShape, texels: *mut u8) -> Option<DirectTexture> {
        let codec = shape.format.codec()?;
        if shape.levels != 1 {
            return None;
        }
        let axes = match shape.dimensions {
            ImageDimensions::D1 | ImageDimensions::Buffer => 1,
            ImageDimensions::D2 => 2,
            ImageDimensions::D3 => 3,
            ImageDimensions::Cube => return None,
        };
        let texel_bytes = shape.format.texel_bytes() as usize;
        let row = shape.row_pitch(0) as usize * texel_bytes;
        let mut extents = shape.size;
        let strides = [texel_bytes, row, row * shape.size[1] as usize];
        let mut coordinates = axes;
        if shape.arrayed {
            *extents.get_mut(axes)? = shape.layers;
            coordinates += 1;
        }
        Some(DirectTexture {
            codec,
            format: shape.format,
            texels,
            texel_bytes,
            signed: shape.format.is_signed(),
            extents,
            strides,
            masks: [0, 1, 2].map(|n| if n < coordinates { u32::MAX } else { 0 }),
            axes: axes as u32,
            has_layers: shape.arrayed,
        })
    }

    /// Reads a texel by its coordinates. Returns whether it did.
    #[inline(always)]
    pub fn read(&self, request: &mut ImageRequest, asks: u64) -> bool {
        let Some(offset) = self.texel_offset(request, asks) else {
            return false;
        };
        self.return_texel(offset, request, asks);
        true
    }

    /// Writes a texel by its coordinates. Returns whether it did.
    #[inline(always)]
    pub fn write(&self, request: &ImageRequest, asks: u64) -> bool {
        let Some(offset) = self.texel_offset(request, asks) else {
            return false;
        };
        let texel = self.borrow_texel_mut(offset);
        if asks & ask::INTEGERS != 0 {
            self.codec
                .encode_ints(request.written_ints(asks, self.signed), texel);
        } else {
            self.codec.encode_floats(request.written_floats(), texel);
        }
        true
    }

    /// Samples the image. Returns whether it did.
    #[inline(always)]
    pub fn sample(&self, sampler: u64, request: &mut ImageRequest, asks: u64) -> bool {
        let Some(filter) = sampler_word::single_filter(sampler) else {
            return false;
        };
        if asks & DECLINED != 0 {
            return false;
        }
        if filter == SamplerFilter::Nearest || asks & ask::INTEGERS != 0 {
            self.sample_nearest(sampler, request, asks);
            return true;
        }
        match self.axes {
            1 => self.sample_linear::<1>(sampler, request, asks),
            2 => self.sample_linear::<2>(sampler, request, asks),
            _ => self.sample_linear::<3>(sampler, request, asks),
        }
        true
    }

    fn sample_nearest(&self, sampler: u64, request: &mut ImageRequest, asks: u64) {
        let is_texel =
            asks & ask::INTEGER_COORDINATES != 0 && !sampler_word::is_normalized(sampler);
        if is_texel
            && request.has_coordinates_below(MOST_EXACT, self.masks)
            && self.read(request, asks & !ask::LOD)
        {
            return;
        }
        let mut offset = self.layer_offset(request, asks);
        for axis in 0..self.axes as usize {
            let sampling = sampler_word::axis_sampling(sampler, axis, SamplerFilter::Nearest);
            let coordinate = request.float_coordinate(axis, asks);
            let texel = sampling.locate_texels(coordinate, 0, self.extents[axis]);
            let Some(texel) = texel.texels[0] else {
                self.return_border(sampler, request, asks);
                return;
            };
            offset += texel as usize * self.strides[axis];
        }
        self.return_texel(offset, request, asks);
    }

    /// The sum of the texels around a position, by weight. Corners are in the order of the general function.
    #[inline(always)]
    fn sample_linear<const AXES: usize>(
        &self,
        sampler: u64,
        request: &mut ImageRequest,
        asks: u64,
    ) {
        let layer = self.layer_offset(request, asks);
        let mut offsets = [[None; 2]; AXES];
        let mut weights = [[1.0, 0.0]; AXES];
        for axis in 0..AXES {
            let sampling = sampler_word::axis_sampling(sampler, axis, SamplerFilter::Linear);
            let coordinate = request.float_coordinate(axis, asks);
            let AxisTexels { texels, weight } =
                sampling.locate_texels(coordinate, 0, self.extents[axis]);
            offsets[axis] = texels.map(|at| Some(at? as usize * self.strides[axis]));
            weights[axis] = [1.0 - weight, weight];
        }
        let mut sum = [0.0; 4];
        for corner in 0..1 << AXES {
            let (mut offset, mut weight) = (Some(layer), 1.0);
            for axis in 0..AXES {
                let side = corner >> axis & 1;
                offset = offset
                    .zip(offsets[axis][side])
                    .map(|(sum, part)| sum + part);
                weight *= weights[axis][side];
            }
            // A texel without weight must not count, even if it is infinite.
            if weight == 0.0 {
                continue;
            }
            let texel = match offset {
                Some(offset) => self.codec.decode_floats(self.borrow_texel(offset)),
                None => sampler_word::border_colour(sampler, self.format),
            };
            for (to, part) in sum.iter_mut().zip(texel) {
                *to += weight * part;
            }
        }
        request.return_floats(sum);
    }

    /// The offset of the layer that is nearest to its coordinate.
    #[inline(always)]
    fn layer_offset(&self, request: &ImageRequest, asks: u64) -> usize {
        if !self.has_layers {
            return 0;
        }
        let axis = self.axes as usize;
        let layer = request.float_coordinate(axis, asks).round_ties_even() as i64;
        let layer = layer.clamp(0, i64::from(self.extents[axis]) - 1);
        layer as usize * self.strides[axis]
    }

    fn return_border(&self, sampler: u64, request: &mut ImageRequest, asks: u64) {
        let border = sampler_word::border_colour(sampler, self.format);
        if asks & ask::INTEGERS != 0 {
            request.return_ints(border.map(|part| part as i64));
        } else {
            request.return_floats(border);
        }
    }

    /// The offset of the texel of integer coordinates inside of the image.
    #[inline(always)]
    fn texel_offset(&self, request: &ImageRequest, asks: u64) -> Option<usize> {
        if asks & DECLINED != 0 || request.asked_lod(asks) != 0 {
            return None;
        }
        let mut offset = 0;
        let mut is_inside = true;
        for axis in 0..3 {
            let at = request.integer_coordinate(axis) & self.masks[axis];
            is_inside &= at < self.extents[axis];
            offset += at as usize * self.strides[axis];
        }
        is_inside.then_some(offset)
    }

    #[inline(always)]
    fn return_texel(&self, offset: usize, request: &mut ImageRequest, asks: u64) {
        let texel = self.borrow_texel(offset);
        if asks & ask::INTEGERS != 0 {
            self.codec.decode_ints(texel, &mut request.texel);
        } else {
            request.return_floats(self.codec.decode_floats(texel));
        }
    }

    /// The bytes of a texel at an offset that was computed from coordinates inside of the image.
    #[inline(always)]
    fn borrow_texel(&self, offset: usize) -> &[u8] {
        // SAFETY: the launch was promised the texels of the image, and the texel is one of them.
        unsafe { std::slice::from_raw_parts(self.texels.wrapping_add(offset), self.texel_bytes) }
    }

    #[inline(always)]
    #[allow(clippy::mut_from_ref)] // The texels are not the structure's.
    fn borrow_texel_mut(&self, offset: usize) -> &mut [u8] {
        // SAFETY: as above.
        unsafe {
            std::slice::from_raw_parts_mut(self.texels.wrapping_add(offset), self.texel_bytes)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::access::{read_image, sample_image, write_image};
    use super::super::image_request::{ImageRequest, ask};
    use super::super::sampler_word::encode_sampler;
    use super::super::texture_view::TextureView;
    use super::super::{HostImage, ImageDimensions, ImageShape, SamplerState, TexelFormat};
    use crate::memory::memory_span::MemorySpan;
    use spirula_resource::{SAMPLER_ADDRESSINGS, SAMPLER_FILTERS};

    /// An image with a view that has direct accesses and a view that has none.
    struct ViewPair {
        bytes: Vec<u8>,
        direct: TextureView,
        general: TextureView,
    }

    impl ViewPair {
        fn new(shape: ImageShape) -> ViewPair {
            let length = shape.total_bytes().expect("it is small");
            // No texel of floats is no number.
            let mut bytes: Vec<u8> = (0..length).map(|n| (n * 37) as u8 & 0x77).collect();
            let memory = MemorySpan {
                address: bytes.as_mut_ptr(),
                length,
            };
            let direct = TextureView::new(&HostImage {
                shape,
                memory,
                sampler: SamplerState::default(),
            });
            let mut general = direct;
            general.direct = None;
            ViewPair {
                bytes,
                direct,
                general,
            }
        }
    }

    fn all_shapes(format: TexelFormat) -> Vec<ImageShape> {
        let shape = |dimensions, size| ImageShape::new(dimensions, format, size);
        let layers = |shape: ImageShape| ImageShape {
            arrayed: true,
            layers: shape.layers * 3,
            ..shape
        };
        let line = shape(ImageDimensions::D1, [7, 1, 1]);
        let flat = shape(ImageDimensions::D2, [4, 3, 1]);
        let cube = shape(ImageDimensions::Cube, [3, 3, 1]);
        let gaps = ImageShape {
            row_texels: 6,
            ..flat
        };
        let levels = ImageShape { levels: 2, ..flat };
        let solid = shape(ImageDimensions::D3, [4, 3, 2]);
        let buffer = shape(ImageDimensions::Buffer, [5, 1, 1]);
        let (lines, flats) = (layers(line), layers(flat));
        vec![
            line,
            flat,
            solid,
            buffer,
            lines,
            flats,
            gaps,
            levels,
            cube,
            layers(cube),
        ]
    }

    /// Both views answer the request alike.
    fn compare_answers(
        pair: &ViewPair,
        request: &ImageRequest,
        place: &str,
        access: impl Fn(&TextureView, &mut ImageRequest),
    ) {
        let answers = [&pair.direct, &pair.general].map(|view| {
            let mut request = *request;
            access(view, &mut request);
            request.texel
        });
        let shape = pair.direct.shape;
        assert_eq!(answers[0], answers[1], "{shape:?} {request:?} {place}");
    }

    fn integer_requests() -> Vec<ImageRequest> {
        let numbers = [0, 1, 2, 3, 5, -1, 1 << 24, i32::MIN, i32::MAX];
        let mut requests = Vec::new();
        for (n, x) in numbers.into_iter().enumerate() {
            for (m, y) in numbers.into_iter().enumerate() {
                let rest = [numbers[(n + 2 * m) % 4], numbers[(n + m) % 9]];
                let coordinate = [x, y, rest[0], rest[1]].map(|c| c as u32);
                requests.push(ImageRequest::at_coordinate(coordinate, (n + m) as u32 % 3));
            }
        }
        requests
    }

    fn float_requests(scale: f32) -> Vec<ImageRequest> {
        let numbers = [
            -1.7,
            -0.3,
            -0.01,
            -0.0,
            0.1,
            0.125,
            0.5,
            0.99,
            1.0,
            2.4,
            f32::NAN,
            3e9,
            f32::INFINITY,
        ];
        let mut requests = Vec::new();
        for (n, x) in numbers.into_iter().enumerate() {
            for (m, y) in numbers.into_iter().enumerate() {
                let rest = [numbers[(n + 2 * m) % 13], numbers[(n + m) % 13]];
                let coordinate = [x, y, rest[0], rest[1]].map(|c| (c * scale).to_bits());
                requests.push(ImageRequest::at_coordinate(coordinate, 0));
            }
        }
        requests
    }

    const OPERANDS: [u64; 4] = [0, ask::OFFSET, ask::LOD, ask::LOD | ask::OFFSET];

    #[test]
    fn direct_reads_are_general_reads() {
        for format in TexelFormat::all_formats() {
            for shape in all_shapes(format) {
                let pair = ViewPair::new(shape);
                for request in integer_requests() {
                    for asks in OPERANDS.into_iter().flat_map(|o| [o, o | ask::INTEGERS]) {
                        compare_answers(&pair, &request, "read", |view, request| {
                            read_image(view, request, asks)
                        });
                    }
                }
            }
        }
    }

    #[test]
    fn direct_writes_are_general_writes() {
        let kinds = [0, ask::INTEGERS, ask::INTEGERS | ask::WIDE];
        for format in TexelFormat::all_formats() {
            for shape in all_shapes(format) {
                let [direct, general] = [ViewPair::new(shape), ViewPair::new(shape)];
                for (n, request) in integer_requests().into_iter().enumerate() {
                    for asks in OPERANDS.into_iter().flat_map(|o| kinds.map(|k| k | o)) {
                        let value = (n as f32 / 40.0 - 0.5) * if n % 3 == 0 { 99.0 } else { 1.0 };
                        let mut request = request;
                        request.return_floats([value, -value, value * 0.7, 1.0]);
                        if asks & ask::INTEGERS != 0 {
                            request.return_ints([n as i64 - 9, -1, 300, 1 << (n % 63)]);
                        }
                        write_image(&direct.direct, &mut request, asks);
                        write_image(&general.general, &mut request, asks);
                    }
                }
                assert_eq!(direct.bytes, general.bytes, "{shape:?}");
            }
        }
    }

    /// Compares a part of all requests. Each format has another part.
    fn compare_samples(pair: &ViewPair, sampler: &SamplerState, part: usize) {
        let word = encode_sampler(sampler);
        let scale = if sampler.normalized { 1.0 } else { 4.0 };
        let integers = integer_requests().into_iter();
        let integers = integers.map(|request| (request, ask::INTEGER_COORDINATES));
        let floats = float_requests(scale).into_iter();
        let all = integers.chain(floats.map(|request| (request, 0)));
        for (request, coordinates) in all.skip(part % 7).step_by(7) {
            for asks in [0, ask::INTEGERS, ask::OFFSET, ask::LOD].map(|o| o | coordinates) {
                let place = format!("{sampler:?} {asks}");
                compare_answers(pair, &request, &place, |view, request| {
                    sample_image(view, word, request, asks)
                });
            }
        }
    }

    #[test]
    fn direct_samples_are_general_samples() {
        for (part, format) in TexelFormat::all_formats().enumerate() {
            for shape in all_shapes(format) {
                let pair = ViewPair::new(shape);
                for (n, address) in SAMPLER_ADDRESSINGS.into_iter().enumerate() {
                    for filter in SAMPLER_FILTERS {
                        for normalized in [false, true] {
                            let mut sampler =
                                SamplerState::from_opencl(address, filter, normalized);
                            compare_samples(&pair, &sampler, part);
                            sampler.address[1] = SAMPLER_ADDRESSINGS[(n + 1) % 4];
                            sampler.minify = SAMPLER_FILTERS[n % 2];
                            compare_samples(&pair, &sampler, part);
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn usual_accesses_are_direct() {
        for name in [
            "rgba8",
            "bgra8",
            "rgba32f",
            "r16f",
            "rg8ui",
            "rgba32i",
            "depth32f",
            "a8",
            "intensity32f",
            "luminance8",
        ] {
            let format = TexelFormat::from_name(name).expect("there is such a format");
            for shape in all_shapes(format).into_iter().take(6) {
                let pair = ViewPair::new(shape);
                let direct = pair.direct.direct.expect("the format is usual");
                let mut request = ImageRequest::at_coordinate([1, 1, 1, 1], 0);
                assert!(direct.read(&mut request, 0) && direct.write(&request, 0));
                // Within the image, and at its border.
                for (at, address) in [1, 99].into_iter().zip(SAMPLER_ADDRESSINGS) {
                    for filter in SAMPLER_FILTERS {
                        let sampler = SamplerState::from_opencl(address, filter, false);
                        let word = encode_sampler(&sampler);
                        for asks in [ask::LOD, ask::LOD | ask::INTEGER_COORDINATES] {
                            let mut request = ImageRequest::at_coordinate([at; 4], 0);
                            assert!(
                                direct.sample(word, &mut request, asks),
                                "{shape:?} {sampler:?}"
                            );
                        }
                    }
                }
            }
        }
    }
}
