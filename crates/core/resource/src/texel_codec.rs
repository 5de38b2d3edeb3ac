//! Texel codecs: functions that convert whole texels of one format.
//!
//! The conversions of [`TexelFormat`](crate::TexelFormat) look up each component in the table of formats. A codec has a
//! function for each direction in which all sizes are constants. Its results are the same bit by bit.

use spirula_scalar::convert::{f16_from_f32, f16_to_f32};
use spirula_spirv::grammar::enumerants::ImageChannelOrder;

/// The conversions of a format's texels, in both directions. Missing bytes read as zeros and are not written.
#[derive(Clone, Copy, Debug)]
pub struct TexelCodec {
    decode_floats: fn(&[u8]) -> PackedFloats,
    decode_ints: fn(&[u8], &mut [i64; 4]),
    encode_floats: fn([f32; 4], &mut [u8]),
    encode_ints: fn([i64; 4], &mut [u8]),
}

/// Four numbers, two in each word. Words are returned in registers. Arrays are returned in memory, where numbers that were stored
/// one by one are not loaded as a vector without a delay.
struct PackedFloats(u64, u64);

impl PackedFloats {
    #[inline(always)]
    fn from_array(value: [f32; 4]) -> PackedFloats {
        let [r, g, b, a] = value.map(|number| u64::from(number.to_bits()));
        PackedFloats(r | g << 32, b | a << 32)
    }

    #[inline(always)]
    fn to_array(&self) -> [f32; 4] {
        let PackedFloats(first, second) = *self;
        [first, first >> 32, second, second >> 32].map(|bits| f32::from_bits(bits as u32))
    }
}

impl TexelCodec {
    /// The codec of texels that store components of one type in an order; `None` for orders with other rules.
    pub(crate) fn for_components<C: StoredComponent>(
        order: ImageChannelOrder,
    ) -> Option<TexelCodec> {
        match order {
            ImageChannelOrder::R | ImageChannelOrder::Depth => Some(make_codec::<C, RedOrder>()),
            ImageChannelOrder::RG => Some(make_codec::<C, RedGreenOrder>()),
            ImageChannelOrder::RGBA => Some(make_codec::<C, RgbaOrder>()),
            ImageChannelOrder::BGRA => Some(make_codec::<C, BgraOrder>()),
            ImageChannelOrder::A => Some(make_codec::<C, AlphaOrder>()),
            ImageChannelOrder::Intensity => Some(make_codec::<C, IntensityOrder>()),
            ImageChannelOrder::Luminance => Some(make_codec::<C, LuminanceOrder>()),
            _ => None,
        }
    }

    /// The components as numbers.
    #[inline(always)]
    pub fn decode_floats(&self, texel: &[u8]) -> [f32; 4] {
        (self.decode_floats)(texel).to_array()
    }

    /// Stores the components as integers, or their bits where the format has other numbers.
    #[inline(always)]
    pub fn decode_ints(&self, texel: &[u8], value: &mut [i64; 4]) {
        (self.decode_ints)(texel, value);
    }

    /// Stores numbers into a texel.
    #[inline(always)]
    pub fn encode_floats(&self, value: [f32; 4], texel: &mut [u8]) {
        (self.encode_floats)(value, texel);
    }

    /// Stores integers into a texel, or bits where the format has other numbers.
    #[inline(always)]
    pub fn encode_ints(&self, value: [i64; 4], texel: &mut [u8]) {
        (self.encode_ints)(value, texel);
    }
}

/// A component of at most 32 bits with bytes of its own.
pub(crate) trait StoredComponent {
    const BYTES: usize;
    fn to_float(bits: u32) -> f32;
    fn to_int(bits: u32) -> i64;
    fn of_float(value: f32) -> u32;
    fn of_int(value: i64) -> u32;
}

/// The place of a component that texels do not store.
const ABSENT: usize = usize::MAX;

/// The order of the stored components of a texel.
pub(crate) trait ComponentOrder {
    /// The place of red, green, blue and alpha among the stored components.
    const PLACES: [usize; 4];
    /// The stored components: 0 for red to 3 for alpha.
    const STORED: &'static [usize];
}

/// Declares orders from rows of: name, places, stored components.
macro_rules! component_order {
    ($($name:ident: $places:expr, $stored:expr;)*) => {
        $(
            pub(crate) struct $name;

            impl ComponentOrder for $name {
                const PLACES: [usize; 4] = $places;
                const STORED: &'static [usize] = &$stored;
            }
        )*
    };
}

component_order! {
    RedOrder: [0, ABSENT, ABSENT, ABSENT], [0];
    RedGreenOrder: [0, 1, ABSENT, ABSENT], [0, 1];
    RgbaOrder: [0, 1, 2, 3], [0, 1, 2, 3];
    BgraOrder: [2, 1, 0, 3], [2, 1, 0, 3];
    AlphaOrder: [ABSENT, ABSENT, ABSENT, 0], [3];
    IntensityOrder: [0, 0, 0, 0], [0];
    LuminanceOrder: [0, 0, 0, ABSENT], [0];
}

fn make_codec<C: StoredComponent, O: ComponentOrder>() -> TexelCodec {
    TexelCodec {
        decode_floats: decode_floats::<C, O>,
        decode_ints: decode_ints::<C, O>,
        encode_floats: encode_floats::<C, O>,
        encode_ints: encode_ints::<C, O>,
    }
}

fn decode_floats<C: StoredComponent, O: ComponentOrder>(texel: &[u8]) -> PackedFloats {
    let missing = [0.0, 0.0, 0.0, 1.0];
    PackedFloats::from_array(decode::<C, O, f32>(texel, missing, C::to_float))
}

fn decode_ints<C: StoredComponent, O: ComponentOrder>(texel: &[u8], value: &mut [i64; 4]) {
    *value = decode::<C, O, i64>(texel, [0, 0, 0, 1], C::to_int);
}

fn encode_floats<C: StoredComponent, O: ComponentOrder>(value: [f32; 4], texel: &mut [u8]) {
    encode::<C, O, f32>(value, texel, C::of_float);
}

fn encode_ints<C: StoredComponent, O: ComponentOrder>(value: [i64; 4], texel: &mut [u8]) {
    encode::<C, O, i64>(value, texel, C::of_int);
}

/// The components of a texel, and those of `missing` that are not stored.
#[inline(always)]
fn decode<C: StoredComponent, O: ComponentOrder, T: Copy>(
    texel: &[u8],
    missing: [T; 4],
    convert: impl Fn(u32) -> T,
) -> [T; 4] {
    let Some(texel) = texel.get(..O::STORED.len() * C::BYTES) else {
        return missing;
    };
    std::array::from_fn(|n| {
        let place = O::PLACES[n];
        if place == ABSENT {
            return missing[n];
        }
        let mut word = [0; 4];
        word[..C::BYTES].copy_from_slice(&texel[place * C::BYTES..][..C::BYTES]);
        convert(u32::from_le_bytes(word))
    })
}

#[inline(always)]
fn encode<C: StoredComponent, O: ComponentOrder, T: Copy>(
    value: [T; 4],
    texel: &mut [u8],
    convert: impl Fn(T) -> u32,
) {
    let Some(texel) = texel.get_mut(..O::STORED.len() * C::BYTES) else {
        return;
    };
    for (part, component) in texel.chunks_exact_mut(C::BYTES).zip(O::STORED) {
        part.copy_from_slice(&convert(value[*component]).to_le_bytes()[..C::BYTES]);
    }
}

/// Adding it to a small number rounds that to an integer, to nearest even. The integer is in the low bits of the sum.
const INTEGER_ROUNDER: f64 = 1.5 * (1u64 << 52) as f64;

/// Components that are unsigned multiples of the largest integer.
macro_rules! unorm_component {
    ($name:ident, $stored:ty) => {
        #[derive(Clone, Copy, Debug)]
        pub(crate) struct $name;

        impl StoredComponent for $name {
            const BYTES: usize = size_of::<$stored>();

            #[inline(always)]
            fn to_float(bits: u32) -> f32 {
                bits as f32 / f32::from(<$stored>::MAX)
            }

            #[inline(always)]
            fn to_int(bits: u32) -> i64 {
                bits.into()
            }

            #[inline(always)]
            fn of_float(value: f32) -> u32 {
                // NaN is stored as zero.
                let clamped = if value > 0.0 { value.min(1.0) } else { 0.0 };
                let scaled = f64::from(clamped) * f64::from(<$stored>::MAX);
                (scaled + INTEGER_ROUNDER).to_bits() as u32
            }

            #[inline(always)]
            fn of_int(value: i64) -> u32 {
                value.clamp(0, <$stored>::MAX.into()) as u32
            }
        }
    };
}

/// Components that are signed multiples of the largest integer.
macro_rules! snorm_component {
    ($name:ident, $stored:ty) => {
        #[derive(Clone, Copy, Debug)]
        pub(crate) struct $name;

        impl StoredComponent for $name {
            const BYTES: usize = size_of::<$stored>();

            #[inline(always)]
            fn to_float(bits: u32) -> f32 {
                (f32::from(bits as $stored) / f32::from(<$stored>::MAX)).max(-1.0)
            }

            #[inline(always)]
            fn to_int(bits: u32) -> i64 {
                (bits as $stored).into()
            }

            #[inline(always)]
            fn of_float(value: f32) -> u32 {
                let number = if value.is_nan() { 0.0 } else { value };
                let scaled = f64::from(number.clamp(-1.0, 1.0)) * f64::from(<$stored>::MAX);
                (scaled + INTEGER_ROUNDER).to_bits() as u32
            }

            #[inline(always)]
            fn of_int(value: i64) -> u32 {
                value.clamp(<$stored>::MIN.into(), <$stored>::MAX.into()) as u32
            }
        }
    };
}

/// Components that are integers.
macro_rules! integer_component {
    ($name:ident, $stored:ty) => {
        #[derive(Clone, Copy, Debug)]
        pub(crate) struct $name;

        impl StoredComponent for $name {
            const BYTES: usize = size_of::<$stored>();

            #[inline(always)]
            fn to_float(bits: u32) -> f32 {
                bits as $stored as f32
            }

            #[inline(always)]
            fn to_int(bits: u32) -> i64 {
                (bits as $stored).into()
            }

            #[inline(always)]
            fn of_float(value: f32) -> u32 {
                Self::of_int(value as i64)
            }

            #[inline(always)]
            fn of_int(value: i64) -> u32 {
                value.clamp(<$stored>::MIN.into(), <$stored>::MAX.into()) as u32
            }
        }
    };
}

unorm_component!(Unorm8Component, u8);
unorm_component!(Unorm16Component, u16);
snorm_component!(Snorm8Component, i8);
snorm_component!(Snorm16Component, i16);
integer_component!(Uint8Component, u8);
integer_component!(Uint16Component, u16);
integer_component!(Uint32Component, u32);
integer_component!(Sint8Component, i8);
integer_component!(Sint16Component, i16);
integer_component!(Sint32Component, i32);

/// A float of 16 bits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HalfComponent;

impl StoredComponent for HalfComponent {
    const BYTES: usize = 2;

    #[inline(always)]
    fn to_float(bits: u32) -> f32 {
        f16_to_f32(bits as u16)
    }

    #[inline(always)]
    fn to_int(bits: u32) -> i64 {
        (bits as i16).into()
    }

    #[inline(always)]
    fn of_float(value: f32) -> u32 {
        round_to_half(value).into()
    }

    #[inline(always)]
    fn of_int(value: i64) -> u32 {
        value as u32
    }
}

/// A float of 32 bits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FloatComponent;

impl StoredComponent for FloatComponent {
    const BYTES: usize = 4;

    #[inline(always)]
    fn to_float(bits: u32) -> f32 {
        f32::from_bits(bits)
    }

    #[inline(always)]
    fn to_int(bits: u32) -> i64 {
        (bits as i32).into()
    }

    #[inline(always)]
    fn of_float(value: f32) -> u32 {
        value.to_bits()
    }

    #[inline(always)]
    fn of_int(value: i64) -> u32 {
        value as u32
    }
}

/// Rounds to 16 bits, to nearest even. Numbers that stay normal need no general conversion.
fn round_to_half(value: f32) -> u16 {
    const LEAST_NORMAL: u32 = (127 - 14) << 23;
    const INFINITY: u32 = (127 + 16) << 23;
    let magnitude = value.to_bits() & 0x7FFF_FFFF;
    let sign = (value.to_bits() >> 16) as u16 & 0x8000;
    if (LEAST_NORMAL..INFINITY).contains(&magnitude) {
        let rebased = magnitude - ((127 - 15) << 23);
        return sign | ((rebased + 0xFFF + (rebased >> 13 & 1)) >> 13) as u16;
    }
    if magnitude == 0 {
        return sign;
    }
    f16_from_f32(value)
}

#[cfg(test)]
mod tests {
    use super::{TexelCodec, round_to_half};
    use crate::TexelFormat;
    use spirula_scalar::convert::f16_from_f64;

    fn all_codecs() -> Vec<(TexelFormat, TexelCodec)> {
        let formats = TexelFormat::all_formats();
        formats.filter_map(|f| Some((f, f.codec()?))).collect()
    }

    fn decode_ints(codec: &TexelCodec, texel: &[u8]) -> [i64; 4] {
        let mut value = [9; 4];
        codec.decode_ints(texel, &mut value);
        value
    }

    /// Each pattern of 16 bits, at each place of a texel, with others beside it.
    #[test]
    fn codecs_decode_as_the_table_does() {
        assert_eq!(all_codecs().len(), 44);
        for (format, codec) in all_codecs() {
            let bytes = format.texel_bytes() as usize;
            for n in 0..=u16::MAX {
                let words = [n, n.wrapping_mul(40503), !n, n.rotate_left(5)];
                let texel = words.map(u16::to_le_bytes).as_flattened().repeat(2);
                let texel = &texel[..bytes];
                let wanted = format.decode_floats(texel).map(f32::to_bits);
                assert_eq!(
                    codec.decode_floats(texel).map(f32::to_bits),
                    wanted,
                    "{format} {n}"
                );
                assert_eq!(
                    decode_ints(&codec, texel),
                    format.decode_ints(texel),
                    "{format} {n}"
                );
            }
        }
    }

    #[test]
    fn codecs_encode_as_the_table_does() {
        let halves = |max: u32| (0..=max).map(move |n| (n as f32 + 0.5) / max as f32);
        let mut floats: Vec<f32> = halves(255)
            .chain(halves(127))
            .chain(halves(65535))
            .collect();
        floats
            .extend((0..=u16::MAX).map(|n| f32::from_bits(u32::from(n) << 16 | u32::from(n) >> 3)));
        floats.extend([
            0.0,
            -0.0,
            1.0,
            -1.0,
            f32::NAN,
            f32::INFINITY,
            -f32::INFINITY,
            2e9,
            -3e9,
        ]);
        for (format, codec) in all_codecs() {
            for (n, value) in floats.iter().enumerate() {
                let value = [*value, -value, floats[n / 2], value * 3.0];
                let (mut wanted, mut stored) = ([7; 16], [7; 16]);
                let bytes = format.texel_bytes() as usize;
                format.put_floats(value, &mut wanted[..bytes]);
                codec.encode_floats(value, &mut stored[..bytes]);
                assert_eq!(stored, wanted, "{format} {value:?}");
                let ints = value.map(|v| i64::from(v.to_bits()) << (n % 3) >> (n % 40));
                format.put_ints(ints, &mut wanted[..bytes]);
                codec.encode_ints(ints, &mut stored[..bytes]);
                assert_eq!(stored, wanted, "{format} {ints:?}");
            }
        }
    }

    #[test]
    fn short_texels_are_zeros() {
        for (format, codec) in all_codecs() {
            assert_eq!(decode_ints(&codec, &[]), [0, 0, 0, 1], "{format}");
            codec.encode_ints([1; 4], &mut []);
        }
    }

    #[test]
    fn halves_are_rounded_as_by_the_general_conversion() {
        for n in 0..=u32::MAX >> 8 {
            let value = f32::from_bits(n.wrapping_mul(257));
            assert_eq!(
                round_to_half(value),
                f16_from_f64(value.into()),
                "{value:e}"
            );
        }
    }
}
