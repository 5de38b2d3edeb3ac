//! Sine, cosine and tangent of `f32` arguments, in `f64`.
//!
//! Arguments below 2^25 are reduced by two parts of π/2 (Cody and Waite, 1980), larger ones by the
//! bits of 2/π that matter (Payne and Hanek, "Radian reduction for trigonometric functions", 1983),
//! which costs about three multiplications more.

use std::f64::consts::{FRAC_2_PI, FRAC_PI_2, PI};

/// 26 bits of π/2, so that products with integers below 2^27 are exact.
const HALF_PI_HIGH: f64 = 1.5707963109016418;
/// The rest of π/2.
const HALF_PI_LOW: f64 = 1.5893254773528196e-08;
/// The first 256 bits of 2/π after the point.
const TWO_OVER_PI: [u64; 4] = [
    0xA2F9_836E_4E44_1529,
    0xFC27_57D1_F534_DDC0,
    0xDB62_9599_3C43_9041,
    0xFE51_63AB_DEBB_C561,
];

/// sin `r` for |r| ≤ π/4, relative error below 2^-47.
#[inline(always)]
pub(crate) fn sin_kernel(r: f64) -> f64 {
    let s = r * r;
    let s2 = s * s;
    let a = 0.9999999999999954 + s * -0.16666666666614638;
    let b = 0.008333333323608735 + s * -0.00019841263174211614;
    let c = 2.7555248519086764e-06 + s * -2.4755018462287787e-08;
    r * (a + s2 * (b + s2 * c))
}

/// cos `r` for |r| ≤ π/4, relative error below 2^-43.
#[inline(always)]
pub(crate) fn cos_kernel(r: f64) -> f64 {
    let s = r * r;
    let s2 = s * s;
    let a = 1.0 + s * -0.4999999999948678;
    let b = 0.04166666655297027 + s * -0.0013888880634662162;
    let c = 2.479895549067768e-05 + s * -2.717441003616998e-07;
    a + s2 * (b + s2 * c)
}

/// The quarter turn `x` lies nearest to (its two low bits count) and the angle from there.
#[inline]
pub(crate) fn reduce_argument(x: f32) -> (u64, f64) {
    if is_reduced_simply(x) {
        return reduce_small(x);
    }
    reduce_large(x)
}

/// Whether an argument is reduced by two parts of π/2.
#[inline(always)]
pub(crate) fn is_reduced_simply(x: f32) -> bool {
    x.abs() < 33554432.0
}

/// [`reduce_argument`] for |x| < 2^25.
#[inline(always)]
pub(crate) fn reduce_small(x: f32) -> (u64, f64) {
    const SHIFT: f64 = (3u64 << 51) as f64;
    let x = f64::from(x);
    let shifted = x * FRAC_2_PI + SHIFT;
    let quarters = shifted - SHIFT;
    (
        shifted.to_bits(),
        (x - quarters * HALF_PI_HIGH) - quarters * HALF_PI_LOW,
    )
}

/// [`reduce_argument`] for 2^25 ≤ |x|; infinity and NaN give a NaN angle.
#[cold]
fn reduce_large(x: f32) -> (u64, f64) {
    if !x.is_finite() {
        return (0, f64::NAN);
    }
    let bits = x.to_bits();
    let significand = u128::from(bits & 0x007F_FFFF | 0x0080_0000);
    // x = significand × 2^exponent. Bits of 2/π that make multiples of four quarter turns are
    // skipped; 96 bits from there leave 70 bits below the angle's unit.
    let exponent = (bits >> 23 & 0xFF) - 150;
    let skipped = exponent - 2;
    let (word, bit) = ((skipped / 64) as usize, skipped % 64);
    let pair = u128::from(TWO_OVER_PI[word]) << 64 | u128::from(TWO_OVER_PI[word + 1]);
    let next = TWO_OVER_PI.get(word + 2).copied().unwrap_or(0);
    let window = (pair << bit) | (u128::from(next) << bit >> 64);
    let product = (significand * (window >> 32)) << 32;
    // The two highest bits count quarter turns; round to the nearest.
    let rounded = product.wrapping_add(1 << 125);
    let quarters = (rounded >> 126) as u64;
    let angle = product.wrapping_sub(u128::from(quarters) << 126) as i128;
    let angle = angle as f64 * (FRAC_PI_2 / (1u128 << 126) as f64);
    if x < 0.0 {
        (quarters.wrapping_neg(), -angle)
    } else {
        (quarters, angle)
    }
}

/// The sine of an angle `r` beyond `quarters` quarter turns.
#[inline]
fn sin_at(quarters: u64, r: f64) -> f64 {
    let value = if quarters & 1 == 0 {
        sin_kernel(r)
    } else {
        cos_kernel(r)
    };
    if quarters & 2 == 0 { value } else { -value }
}

#[inline]
pub(crate) fn sin(x: f32) -> f32 {
    let (quarters, r) = reduce_argument(x);
    sin_at(quarters, r) as f32
}

#[inline]
pub(crate) fn cos(x: f32) -> f32 {
    let (quarters, r) = reduce_argument(x);
    sin_at(quarters.wrapping_add(1), r) as f32
}

#[inline]
pub(crate) fn sin_cos(x: f32) -> (f32, f32) {
    let (quarters, r) = reduce_argument(x);
    (
        sin_at(quarters, r) as f32,
        sin_at(quarters.wrapping_add(1), r) as f32,
    )
}

#[inline]
pub(crate) fn tan(x: f32) -> f32 {
    let (quarters, r) = reduce_argument(x);
    let (sin, cos) = (sin_kernel(r), cos_kernel(r));
    (if quarters & 1 == 0 {
        sin / cos
    } else {
        -cos / sin
    }) as f32
}

/// π`x`, for arguments below one turn.
#[inline]
pub(crate) fn half_turns_to_radians(x: f32) -> f64 {
    f64::from(x) * PI
}
