//! Image request: what generated code asks of an image, with its result.

use std::mem::offset_of;

/// A request of generated code, with its result. Only the fields that the bits of [`ask`] name hold something.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct ImageRequest {
    /// The texel, a component in each: the bits of an `f32`, or an integer. The bits above an `f32` are any.
    pub texel: [i64; 4],
    /// Coordinates: the bits of an `f32`, or an integer.
    pub(super) coordinate: [u32; 4],
    /// Derivatives of the coordinates along x, then along y.
    pub(super) gradients: [f32; 6],
    pub(super) offset: [i32; 3],
    /// The level of detail: an `f32` where an image is sampled, else an integer.
    pub(super) lod: u32,
    /// The value that depths are compared with.
    pub(super) reference: f32,
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

    pub fn asked_offset(&self, asked: u64) -> [i32; 3] {
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
