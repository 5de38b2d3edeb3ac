//! Texel formats: how the components of texels are stored, and their conversion to and from numbers.
//!
//! The conversions are those of the OpenCL C specification, section 8.3, which equal Vulkan's. Normalised integers
//! are multiples of the largest one. Numbers are rounded to the nearest and saturate.

use crate::texel_codec::{self, TexelCodec};
use spirula_scalar::convert::{f16_from_f64, f16_to_f64};
use spirula_spirv::grammar::enumerants::{ImageChannelDataType, ImageChannelOrder, ImageFormat};
use std::fmt;

/// A format of texels, such as `rgba8`.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct TexelFormat(u8);

/// Width and encoding of a stored component.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TexelComponent {
    Unorm(u32),
    Snorm(u32),
    Uint(u32),
    Sint(u32),
    Float(u32),
}

/// Arrangement of the components of a texel.
#[derive(Clone, Copy, Debug)]
enum TexelPacking {
    /// Each component has bytes of its own.
    Each(TexelComponent),
    /// Ten bits each for red, green and blue, two for alpha, from the lowest bit on.
    Ten(fn(u32) -> TexelComponent),
    /// Unsigned floats: eleven bits for red and green, ten for blue.
    Eleven,
}

/// Order of the components.
type ChannelOrder = ImageChannelOrder;

struct TexelFormatRow(&'static str, ChannelOrder, TexelPacking, ImageFormat);

use TexelComponent::{Float, Sint, Snorm, Uint, Unorm};
use TexelPacking::{Each, Eleven, Ten};

/// OpenCL's number of the order that is 0 in modules.
const FIRST_ORDER: u32 = 0x10B0;
/// OpenCL's number of the type that is 0 in modules.
const FIRST_TYPE: u32 = 0x10D0;

const R: ChannelOrder = ImageChannelOrder::R;
const RG: ChannelOrder = ImageChannelOrder::RG;
const RGBA: ChannelOrder = ImageChannelOrder::RGBA;

/// All formats. Formats without a name in SPIR-V are `Unknown` there.
#[rustfmt::skip]
const ROWS: &[TexelFormatRow] = &[
    TexelFormatRow("rgba32f", RGBA, Each(Float(32)), ImageFormat::Rgba32f),
    TexelFormatRow("rgba16f", RGBA, Each(Float(16)), ImageFormat::Rgba16f),
    TexelFormatRow("rg32f", RG, Each(Float(32)), ImageFormat::Rg32f),
    TexelFormatRow("rg16f", RG, Each(Float(16)), ImageFormat::Rg16f),
    TexelFormatRow("r11f_g11f_b10f", RGBA, Eleven, ImageFormat::R11fG11fB10f),
    TexelFormatRow("r32f", R, Each(Float(32)), ImageFormat::R32f),
    TexelFormatRow("r16f", R, Each(Float(16)), ImageFormat::R16f),
    TexelFormatRow("rgba16", RGBA, Each(Unorm(16)), ImageFormat::Rgba16),
    TexelFormatRow("rgb10_a2", RGBA, Ten(Unorm), ImageFormat::Rgb10A2),
    TexelFormatRow("rgba8", RGBA, Each(Unorm(8)), ImageFormat::Rgba8),
    TexelFormatRow("rg16", RG, Each(Unorm(16)), ImageFormat::Rg16),
    TexelFormatRow("rg8", RG, Each(Unorm(8)), ImageFormat::Rg8),
    TexelFormatRow("r16", R, Each(Unorm(16)), ImageFormat::R16),
    TexelFormatRow("r8", R, Each(Unorm(8)), ImageFormat::R8),
    TexelFormatRow("rgba16_snorm", RGBA, Each(Snorm(16)), ImageFormat::Rgba16Snorm),
    TexelFormatRow("rgba8_snorm", RGBA, Each(Snorm(8)), ImageFormat::Rgba8Snorm),
    TexelFormatRow("rg16_snorm", RG, Each(Snorm(16)), ImageFormat::Rg16Snorm),
    TexelFormatRow("rg8_snorm", RG, Each(Snorm(8)), ImageFormat::Rg8Snorm),
    TexelFormatRow("r16_snorm", R, Each(Snorm(16)), ImageFormat::R16Snorm),
    TexelFormatRow("r8_snorm", R, Each(Snorm(8)), ImageFormat::R8Snorm),
    TexelFormatRow("rgba32i", RGBA, Each(Sint(32)), ImageFormat::Rgba32i),
    TexelFormatRow("rgba16i", RGBA, Each(Sint(16)), ImageFormat::Rgba16i),
    TexelFormatRow("rgba8i", RGBA, Each(Sint(8)), ImageFormat::Rgba8i),
    TexelFormatRow("rg32i", RG, Each(Sint(32)), ImageFormat::Rg32i),
    TexelFormatRow("rg16i", RG, Each(Sint(16)), ImageFormat::Rg16i),
    TexelFormatRow("rg8i", RG, Each(Sint(8)), ImageFormat::Rg8i),
    TexelFormatRow("r64i", R, Each(Sint(64)), ImageFormat::R64i),
    TexelFormatRow("r32i", R, Each(Sint(32)), ImageFormat::R32i),
    TexelFormatRow("r16i", R, Each(Sint(16)), ImageFormat::R16i),
    TexelFormatRow("r8i", R, Each(Sint(8)), ImageFormat::R8i),
    TexelFormatRow("rgba32ui", RGBA, Each(Uint(32)), ImageFormat::Rgba32ui),
    TexelFormatRow("rgba16ui", RGBA, Each(Uint(16)), ImageFormat::Rgba16ui),
    TexelFormatRow("rgb10_a2ui", RGBA, Ten(Uint), ImageFormat::Rgb10a2ui),
    TexelFormatRow("rgba8ui", RGBA, Each(Uint(8)), ImageFormat::Rgba8ui),
    TexelFormatRow("rg32ui", RG, Each(Uint(32)), ImageFormat::Rg32ui),
    TexelFormatRow("rg16ui", RG, Each(Uint(16)), ImageFormat::Rg16ui),
    TexelFormatRow("rg8ui", RG, Each(Uint(8)), ImageFormat::Rg8ui),
    TexelFormatRow("r64ui", R, Each(Uint(64)), ImageFormat::R64ui),
    TexelFormatRow("r32ui", R, Each(Uint(32)), ImageFormat::R32ui),
    TexelFormatRow("r16ui", R, Each(Uint(16)), ImageFormat::R16ui),
    TexelFormatRow("r8ui", R, Each(Uint(8)), ImageFormat::R8ui),
    TexelFormatRow("bgra8", ChannelOrder::BGRA, Each(Unorm(8)), ImageFormat::Unknown),
    TexelFormatRow("a8", ChannelOrder::A, Each(Unorm(8)), ImageFormat::Unknown),
    TexelFormatRow("intensity8", ChannelOrder::Intensity, Each(Unorm(8)), ImageFormat::Unknown),
    TexelFormatRow("luminance8", ChannelOrder::Luminance, Each(Unorm(8)), ImageFormat::Unknown),
    TexelFormatRow("intensity32f", ChannelOrder::Intensity, Each(Float(32)), ImageFormat::Unknown),
    TexelFormatRow("luminance32f", ChannelOrder::Luminance, Each(Float(32)), ImageFormat::Unknown),
    TexelFormatRow("depth16", ChannelOrder::Depth, Each(Unorm(16)), ImageFormat::Unknown),
    TexelFormatRow("depth32f", ChannelOrder::Depth, Each(Float(32)), ImageFormat::Unknown),
];

impl TexelFormat {
    /// All formats.
    pub fn all_formats() -> impl Iterator<Item = TexelFormat> {
        (0..ROWS.len() as u8).map(TexelFormat)
    }

    /// The format of a name: a name of GLSL for storage images, or `bgra8`, `a8`, `intensity8`, `luminance8`,
    /// `intensity32f`, `luminance32f`.
    pub fn from_name(name: &str) -> Option<TexelFormat> {
        TexelFormat::all_formats().find(|f| f.name() == name)
    }

    /// The format of an image type in a module; `None` for `Unknown`.
    pub fn of_module(format: ImageFormat) -> Option<TexelFormat> {
        let named = format != ImageFormat::Unknown;
        TexelFormat::all_formats().find(|f| named && f.table_row().3 == format)
    }

    /// The name of the format.
    pub fn name(self) -> &'static str {
        self.table_row().0
    }

    /// The format's name in modules; `Unknown` where there is none.
    pub fn in_modules(self) -> ImageFormat {
        self.table_row().3
    }

    /// Bytes of a texel.
    pub fn texel_bytes(self) -> u32 {
        match self.table_row().2 {
            Each(component) => self.components() * component.bytes(),
            Ten(_) | Eleven => 4,
        }
    }

    /// Number of stored components of a texel.
    pub fn components(self) -> u32 {
        match self.table_row().1 {
            ImageChannelOrder::RG => 2,
            ImageChannelOrder::RGBA | ImageChannelOrder::BGRA => match self.table_row().2 {
                Eleven => 3,
                _ => 4,
            },
            _ => 1,
        }
    }

    /// A texel as an array: the name of its element type (`u8`, `f16`, …), and the number of elements.
    pub fn stored_elements(self) -> (&'static str, u32) {
        let name = match self.table_row().2 {
            Ten(_) | Eleven => return ("u32", 1),
            Each(Unorm(8) | Uint(8)) => "u8",
            Each(Snorm(8) | Sint(8)) => "i8",
            Each(Unorm(_) | Uint(16)) => "u16",
            Each(Snorm(_) | Sint(16)) => "i16",
            Each(Uint(32)) => "u32",
            Each(Sint(32)) => "i32",
            Each(Uint(_)) => "u64",
            Each(Sint(_)) => "i64",
            Each(Float(16)) => "f16",
            Each(Float(_)) => "f32",
        };
        (name, self.components())
    }

    /// Whether components are integers without normalisation.
    pub fn is_integer(self) -> bool {
        matches!(self.component(), Uint(_) | Sint(_))
    }

    /// Whether components as integers have a sign.
    pub fn is_signed(self) -> bool {
        matches!(self.component(), Sint(_) | Snorm(_))
    }

    fn table_row(self) -> &'static TexelFormatRow {
        &ROWS[usize::from(self.0) % ROWS.len()]
    }

    fn component(self) -> TexelComponent {
        match self.table_row().2 {
            Each(component) => component,
            Ten(make) => make(10),
            Eleven => Float(11),
        }
    }

    /// OpenCL's order of components, by its number in modules.
    pub fn channel_order(self) -> u32 {
        self.table_row().1.0
    }

    /// OpenCL's type of components, by its number in modules.
    pub fn channel_type(self) -> u32 {
        let ty = match self.component() {
            _ if matches!(self.table_row().2, Ten(_)) => ImageChannelDataType::UnormInt101010_2,
            Unorm(8) => ImageChannelDataType::UnormInt8,
            Unorm(_) => ImageChannelDataType::UnormInt16,
            Snorm(8) => ImageChannelDataType::SnormInt8,
            Snorm(_) => ImageChannelDataType::SnormInt16,
            Uint(8) => ImageChannelDataType::UnsignedInt8,
            Uint(16) => ImageChannelDataType::UnsignedInt16,
            Uint(_) => ImageChannelDataType::UnsignedInt32,
            Sint(8) => ImageChannelDataType::SignedInt8,
            Sint(16) => ImageChannelDataType::SignedInt16,
            Sint(_) => ImageChannelDataType::SignedInt32,
            Float(32) => ImageChannelDataType::Float,
            Float(_) => ImageChannelDataType::HalfFloat,
        };
        ty.0
    }

    /// OpenCL's order of components, by its number on the host: `CL_R` and so on.
    pub fn opencl_order(self) -> u32 {
        FIRST_ORDER + self.channel_order()
    }

    /// OpenCL's type of components, by its number on the host: `CL_SNORM_INT8` and so on.
    pub fn opencl_type(self) -> u32 {
        FIRST_TYPE + self.channel_type()
    }

    /// Alpha of the border: 1 where the format has no alpha, else 0.
    pub fn border_alpha(self) -> f32 {
        let order = self.table_row().1;
        let opaque = order == R || order == RG || order == ImageChannelOrder::Luminance;
        if opaque { 1.0 } else { 0.0 }
    }

    /// Functions for whole texels, with the results of the functions below; `None` for rare formats.
    pub fn codec(self) -> Option<TexelCodec> {
        let TexelFormatRow(_, order, packing, _) = self.table_row();
        let Each(component) = packing else {
            return None;
        };
        let make_codec: fn(ChannelOrder) -> Option<TexelCodec> = match component {
            Unorm(8) => TexelCodec::for_components::<texel_codec::Unorm8Component>,
            Unorm(16) => TexelCodec::for_components::<texel_codec::Unorm16Component>,
            Snorm(8) => TexelCodec::for_components::<texel_codec::Snorm8Component>,
            Snorm(16) => TexelCodec::for_components::<texel_codec::Snorm16Component>,
            Uint(8) => TexelCodec::for_components::<texel_codec::Uint8Component>,
            Uint(16) => TexelCodec::for_components::<texel_codec::Uint16Component>,
            Uint(32) => TexelCodec::for_components::<texel_codec::Uint32Component>,
            Sint(8) => TexelCodec::for_components::<texel_codec::Sint8Component>,
            Sint(16) => TexelCodec::for_components::<texel_codec::Sint16Component>,
            Sint(32) => TexelCodec::for_components::<texel_codec::Sint32Component>,
            Float(16) => TexelCodec::for_components::<texel_codec::HalfComponent>,
            Float(32) => TexelCodec::for_components::<texel_codec::FloatComponent>,
            _ => return None,
        };
        make_codec(*order)
    }

    /// The components of a texel as numbers.
    pub fn decode_floats(self, texel: &[u8]) -> [f32; 4] {
        let parts = self
            .split_components(texel)
            .map(|(c, bits)| c.to_float(bits));
        self.spread_to_rgba(parts, 0.0, 1.0)
    }

    /// The components of a texel as integers: their bits where the format has other numbers, as programs
    /// expect that pack integers or doubles into texels of floats.
    pub fn decode_ints(self, texel: &[u8]) -> [i64; 4] {
        let parts = self.split_components(texel).map(|(c, bits)| c.to_int(bits));
        self.spread_to_rgba(parts, 0, 1)
    }

    /// Stores numbers into a texel.
    pub fn put_floats(self, value: [f32; 4], texel: &mut [u8]) {
        self.encode_components(
            self.gather_from_rgba(value),
            texel,
            TexelComponent::of_float,
        );
    }

    /// Stores integers into a texel: as bits where the format has other numbers.
    pub fn put_ints(self, value: [i64; 4], texel: &mut [u8]) {
        self.encode_components(self.gather_from_rgba(value), texel, TexelComponent::of_int);
    }

    /// The stored components of a texel with their bits; zeros for components that the format lacks.
    fn split_components(self, texel: &[u8]) -> [(TexelComponent, u64); 4] {
        let word = bits_at(texel, 0, 4);
        match self.table_row().2 {
            Each(c) => {
                let bytes = c.bytes() as usize;
                [0, 1, 2, 3].map(|n| (c, bits_at(texel, n * bytes, bytes)))
            }
            Ten(make) => [0, 10, 20, 30].map(|at| {
                let width = if at == 30 { 2 } else { 10 };
                (make(width), word >> at & ((1 << width) - 1))
            }),
            Eleven => [(0, 11), (11, 11), (22, 10), (0, 0)].map(|(at, width)| match width {
                0 => (Float(32), u64::from(1f32.to_bits())),
                _ => (Float(width), word >> at & ((1 << width) - 1)),
            }),
        }
    }

    fn encode_components<T: Copy>(
        self,
        value: [T; 4],
        texel: &mut [u8],
        encode: fn(TexelComponent, T) -> u64,
    ) {
        let word = match self.table_row().2 {
            Each(c) => {
                let bytes = c.bytes() as usize;
                for (part, value) in texel.chunks_exact_mut(bytes).zip(value) {
                    part.copy_from_slice(&encode(c, value).to_le_bytes()[..bytes]);
                }
                return;
            }
            Ten(make) => (0..4).fold(0, |word, n| {
                let width = if n == 3 { 2 } else { 10 };
                word | encode(make(width), value[n]) << (10 * n)
            }),
            Eleven => [(0, 11), (11, 11), (22, 10)]
                .into_iter()
                .zip(value)
                .fold(0, |word, ((at, width), value)| {
                    word | encode(Float(width), value) << at
                }),
        };
        for (to, byte) in texel.iter_mut().zip(word.to_le_bytes()).take(4) {
            *to = byte;
        }
    }

    /// Red, green, blue and alpha from the stored components.
    fn spread_to_rgba<T: Copy>(self, parts: [T; 4], zero: T, one: T) -> [T; 4] {
        let [a, b, c, d] = parts;
        match self.table_row().1 {
            ImageChannelOrder::R | ImageChannelOrder::Depth => [a, zero, zero, one],
            ImageChannelOrder::RG => [a, b, zero, one],
            ImageChannelOrder::BGRA => [c, b, a, d],
            ImageChannelOrder::A => [zero, zero, zero, a],
            ImageChannelOrder::Intensity => [a; 4],
            ImageChannelOrder::Luminance => [a, a, a, one],
            _ => parts,
        }
    }

    /// The stored components from red, green, blue and alpha.
    fn gather_from_rgba<T: Copy>(self, value: [T; 4]) -> [T; 4] {
        let [r, g, b, a] = value;
        match self.table_row().1 {
            ImageChannelOrder::BGRA => [b, g, r, a],
            ImageChannelOrder::A => [a; 4],
            _ => value,
        }
    }
}

impl fmt::Debug for TexelFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for TexelFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl TexelComponent {
    fn width(self) -> u32 {
        match self {
            Unorm(bits) | Snorm(bits) | Uint(bits) | Sint(bits) | Float(bits) => bits,
        }
    }

    fn bytes(self) -> u32 {
        self.width().div_ceil(8)
    }

    /// The largest normalised integer.
    fn max_value(self) -> f64 {
        match self {
            Snorm(bits) => ((1u64 << (bits - 1)) - 1) as f64,
            _ => ((1u64 << self.width().min(63)) - 1) as f64,
        }
    }

    fn to_float(self, bits: u64) -> f32 {
        match self {
            Unorm(_) => (bits as f64 / self.max_value()) as f32,
            Snorm(width) => ((sign_extend(bits, width) as f64 / self.max_value()) as f32).max(-1.0),
            Uint(_) => bits as f32,
            Sint(width) => sign_extend(bits, width) as f32,
            Float(32) => f32::from_bits(bits as u32),
            Float(16) => f16_to_f64(bits as u16) as f32,
            Float(width) => from_unsigned_float(bits as u32, width - 5),
        }
    }

    fn to_int(self, bits: u64) -> i64 {
        match self {
            Unorm(_) | Uint(_) => bits as i64,
            Snorm(width) | Sint(width) | Float(width) => sign_extend(bits, width),
        }
    }

    fn of_float(self, value: f32) -> u64 {
        let wide = f64::from(value);
        let scaled = |least: f64| {
            let clamped = if wide.is_nan() {
                0.0
            } else {
                wide.clamp(least, 1.0)
            };
            (clamped * self.max_value()).round_ties_even() as i64
        };
        match self {
            Unorm(_) => scaled(0.0) as u64,
            Snorm(width) => scaled(-1.0) as u64 & low_bits_mask(width),
            Uint(_) | Sint(_) => self.of_int(value as i64),
            Float(32) => value.to_bits().into(),
            Float(16) => f16_from_f64(wide).into(),
            Float(width) => to_unsigned_float(value, width - 5).into(),
        }
    }

    fn of_int(self, value: i64) -> u64 {
        match self {
            Uint(64) | Sint(64) => value as u64,
            Unorm(width) | Uint(width) => value.clamp(0, low_bits_mask(width) as i64) as u64,
            Snorm(width) | Sint(width) => {
                let most = (low_bits_mask(width) >> 1) as i64;
                value.clamp(-most - 1, most) as u64 & low_bits_mask(width)
            }
            Float(width) => value as u64 & low_bits_mask(width),
        }
    }
}

fn low_bits_mask(width: u32) -> u64 {
    u64::MAX >> (64 - width.clamp(1, 64))
}

fn sign_extend(bits: u64, width: u32) -> i64 {
    let unused = 64 - width;
    (bits << unused) as i64 >> unused
}

fn bits_at(texel: &[u8], at: usize, bytes: usize) -> u64 {
    let part = texel.get(at..).unwrap_or_default();
    // Components of these sizes are one load each, as texels are read often.
    match (bytes, part) {
        (1, [byte, ..]) => u64::from(*byte),
        (2, [a, b, ..]) => u64::from(u16::from_le_bytes([*a, *b])),
        (4, [a, b, c, d, ..]) => u64::from(u32::from_le_bytes([*a, *b, *c, *d])),
        _ => {
            let mut word = [0; 8];
            for (to, byte) in word.iter_mut().zip(part).take(bytes) {
                *to = *byte;
            }
            u64::from_le_bytes(word)
        }
    }
}

/// Decodes an unsigned float with five bits of exponent.
fn from_unsigned_float(bits: u32, fraction_bits: u32) -> f32 {
    let fraction = (bits & ((1 << fraction_bits) - 1)) as f32 / (1 << fraction_bits) as f32;
    match bits >> fraction_bits {
        0 => fraction * f32::powi(2.0, -14),
        31 if fraction == 0.0 => f32::INFINITY,
        31 => f32::NAN,
        exponent => (1.0 + fraction) * f32::powi(2.0, exponent as i32 - 15),
    }
}

/// Converts to an unsigned float, rounded to nearest even. Negative numbers become zero.
fn to_unsigned_float(value: f32, fraction_bits: u32) -> u32 {
    let infinity = 31 << fraction_bits;
    if value.is_nan() {
        return infinity | 1;
    }
    if value <= 0.0 {
        return 0;
    }
    let exponent = (value.to_bits() >> 23) as i32 - 127;
    if exponent < -14 {
        let units = f64::from(value) * f64::powi(2.0, 14 + fraction_bits as i32);
        return units.round_ties_even() as u32;
    }
    if exponent > 15 {
        return infinity;
    }
    let shift = 23 - fraction_bits;
    let kept = value.to_bits() - (112 << 23);
    let half = (1 << (shift - 1)) - 1 + (kept >> shift & 1);
    ((kept + half) >> shift).min(infinity)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_of_small_components_comes_back() {
        for format in TexelFormat::all_formats() {
            let bytes = format.texel_bytes() as usize;
            for n in 0..=255u8 {
                let texel: Vec<u8> = (0..bytes).map(|at| n.wrapping_mul(at as u8 + 1)).collect();
                let floats = format.decode_floats(&texel);
                if floats.iter().any(|f| f.is_nan()) {
                    continue;
                }
                let mut back = vec![0; bytes];
                if format.is_integer() {
                    format.put_ints(format.decode_ints(&texel), &mut back)
                } else {
                    format.put_floats(floats, &mut back)
                }
                let least = format.name().contains("snorm");
                // The least signed normalised integer has two codes.
                let same = |(a, b): (&u8, &u8)| a == b || (least && a.abs_diff(*b) == 1);
                assert!(
                    back.iter().zip(&texel).all(same),
                    "{format}: {texel:?} {back:?}"
                );
            }
        }
    }

    #[test]
    fn numbers_saturate_and_round() {
        let stored = |name: &str, value: f32| {
            let format = TexelFormat::from_name(name).expect("there is such a format");
            let mut texel = vec![0; format.texel_bytes() as usize];
            format.put_floats([value; 4], &mut texel);
            bits_at(&texel, 0, format.component().bytes() as usize)
        };
        assert_eq!(stored("r8", 2.0), 255);
        assert_eq!(stored("r8", f32::NAN), 0);
        assert_eq!(stored("r8", 0.5), 128);
        assert_eq!(stored("r8_snorm", -3.0), 0x81);
        assert_eq!(stored("r16", 1.0 / 65535.0 * 7.0), 7);
        assert_eq!(stored("r16f", 1e-8), 0);
        assert_eq!(stored("r16f", 1e9), 0x7c00);
        let eleven = |value| {
            let mut texel = [0; 4];
            TexelFormat::from_name("r11f_g11f_b10f")
                .expect("there is such a format")
                .put_floats([value; 4], &mut texel);
            bits_at(&texel, 0, 4)
        };
        assert_eq!(eleven(1.0) & 0x7ff, 15 << 6);
        assert_eq!(eleven(-1.0), 0);
        assert_eq!(eleven(f32::INFINITY) >> 22, 31 << 5);
    }

    #[test]
    fn integers_saturate() {
        let format = TexelFormat::from_name("rg8i").expect("there is such a format");
        let mut texel = [0; 2];
        format.put_ints([-1000, 1000, 0, 0], &mut texel);
        assert_eq!(texel, [0x80, 0x7f]);
        assert_eq!(format.decode_ints(&texel), [-128, 127, 0, 1]);
    }

    #[test]
    fn integers_are_the_bits_of_other_numbers() {
        let bits = 3.25_f64.to_bits();
        let halves = [bits as u32, (bits >> 32) as u32].map(|half| i64::from(half as i32));
        for (name, stored) in [
            ("rg32f", halves),
            ("rg8", [7, 255]),
            ("rg16_snorm", [-3, 9]),
        ] {
            let format = TexelFormat::from_name(name).expect("there is such a format");
            let mut texel = vec![0; format.texel_bytes() as usize];
            format.put_ints([stored[0], stored[1], 0, 0], &mut texel);
            assert_eq!(format.decode_ints(&texel)[..2], stored, "{name}");
        }
    }
}
