//! Packing of small numbers into 32 bits, and of 32-bit numbers into `f64`, by GLSL.std.450.
//!
//! Vector operands are passed component by component; unpacking gives one component at a time.

use super::{fclamp, rint};
use crate::convert::{f16_from_f32, f16_to_f32};
use crate::int::sign_extend;

/// Rounds `value` × `scale` to the nearest integer after clamping `value`; NaN gives the lower bound.
#[inline]
fn quantise_clamped(value: f32, low: f32, scale: f32) -> u32 {
    rint(fclamp(value, low, 1.0) * scale) as i32 as u32
}

/// Four numbers in [−1, 1] as signed bytes, the first lowest.
pub extern "C" fn pack_snorm_4x8(x: f32, y: f32, z: f32, w: f32) -> u32 {
    u32::from_le_bytes([x, y, z, w].map(|value| quantise_clamped(value, -1.0, 127.0) as u8))
}

/// Four numbers in [0, 1] as unsigned bytes, the first lowest.
pub extern "C" fn pack_unorm_4x8(x: f32, y: f32, z: f32, w: f32) -> u32 {
    u32::from_le_bytes([x, y, z, w].map(|value| quantise_clamped(value, 0.0, 255.0) as u8))
}

/// Two numbers in [−1, 1] as signed 16-bit integers, the first lower.
pub extern "C" fn pack_snorm_2x16(x: f32, y: f32) -> u32 {
    quantise_clamped(x, -1.0, 32767.0) & 0xFFFF | quantise_clamped(y, -1.0, 32767.0) << 16
}

/// Two numbers in [0, 1] as unsigned 16-bit integers, the first lower.
pub extern "C" fn pack_unorm_2x16(x: f32, y: f32) -> u32 {
    quantise_clamped(x, 0.0, 65535.0) & 0xFFFF | quantise_clamped(y, 0.0, 65535.0) << 16
}

/// Two numbers as `f16`, the first lower.
pub extern "C" fn pack_half_2x16(x: f32, y: f32) -> u32 {
    u32::from(f16_from_f32(x)) | u32::from(f16_from_f32(y)) << 16
}

/// The `f64` with these lower and upper bits.
pub extern "C" fn pack_double_2x32(low: u32, high: u32) -> f64 {
    f64::from_bits(u64::from(low) | u64::from(high) << 32)
}

/// Component `index` (modulo 4) of four signed bytes, in [−1, 1].
pub extern "C" fn unpack_snorm_4x8(packed: u32, index: u32) -> f32 {
    let byte = sign_extend((packed >> (8 * (index & 3))).into(), 8);
    fclamp(byte as f32 / 127.0, -1.0, 1.0)
}

/// Component `index` (modulo 4) of four unsigned bytes, in [0, 1].
pub extern "C" fn unpack_unorm_4x8(packed: u32, index: u32) -> f32 {
    (packed >> (8 * (index & 3)) & 0xFF) as f32 / 255.0
}

/// Component `index` (modulo 2) of two signed 16-bit integers, in [−1, 1].
pub extern "C" fn unpack_snorm_2x16(packed: u32, index: u32) -> f32 {
    let half = sign_extend((packed >> (16 * (index & 1))).into(), 16);
    fclamp(half as f32 / 32767.0, -1.0, 1.0)
}

/// Component `index` (modulo 2) of two unsigned 16-bit integers, in [0, 1].
pub extern "C" fn unpack_unorm_2x16(packed: u32, index: u32) -> f32 {
    (packed >> (16 * (index & 1)) & 0xFFFF) as f32 / 65535.0
}

/// Component `index` (modulo 2) of two `f16`.
pub extern "C" fn unpack_half_2x16(packed: u32, index: u32) -> f32 {
    f16_to_f32((packed >> (16 * (index & 1))) as u16)
}

/// The lower (`index` 0) or upper 32 bits of an `f64`.
pub extern "C" fn unpack_double_2x32(value: f64, index: u32) -> u32 {
    (value.to_bits() >> (32 * (index & 1))) as u32
}
