//! Functions on the bits of `f16` for which `f32` arithmetic and a final rounding would be wrong.

use crate::convert::{f16_from_f64, f16_to_f64};
use crate::format::FloatEncoding;

/// x·y + z with a single rounding.
pub extern "C" fn fma(x: u16, y: u16, z: u16) -> u16 {
    f16_from_f64(fma_to_odd(f16_to_f64(x), f16_to_f64(y), f16_to_f64(z)))
}

/// x·y + z for operands of at most 24 significant bits, rounded to odd.
pub(crate) fn fma_to_odd(x: f64, y: f64, z: f64) -> f64 {
    add_to_odd(x * y, z)
}

/// `a + b` with the last bit set where the sum is inexact, so that rounding it to a narrower format
/// rounds as if once (S. Boldo and G. Melquiond, "Emulation of FMA and correctly rounded sums", 2008).
fn add_to_odd(a: f64, b: f64) -> f64 {
    let sum = a + b;
    let part = sum - a;
    let lost = (a - (sum - part)) + (b - part);
    let even = sum.to_bits() & 1 == 0;
    if lost == 0.0 || !sum.is_finite() || !even {
        return sum;
    }
    // The truncated sum has an odd neighbour on the side of what was lost.
    let away = (lost > 0.0) == (sum > 0.0);
    f64::from_bits(if away {
        sum.to_bits() + 1
    } else {
        sum.to_bits() - 1
    })
}

/// x − ⌊x⌋, below one; ⌊x⌋ into `whole`.
pub extern "C" fn fract(x: u16, whole: &mut u16) -> u16 {
    const BELOW_ONE: u16 = 0x3BFF;
    let mut floor = 0.0;
    let fraction = f16_from_f64(crate::math::fract(f16_to_f64(x), &mut floor));
    *whole = f16_from_f64(floor);
    if fraction == BELOW_ONE + 1 {
        BELOW_ONE
    } else {
        fraction
    }
}

/// The next number after `x` towards `y`; `y` where they are equal.
pub extern "C" fn nextafter(x: u16, y: u16) -> u16 {
    let (from, to) = (f16_to_f64(x), f16_to_f64(y));
    if from.is_nan() || to.is_nan() {
        return f16_from_f64(from + to);
    }
    if from == to {
        return y;
    }
    if from == 0.0 {
        return (y & 0x8000) | 1;
    }
    let away = (from < to) == (x & 0x8000 == 0);
    if away { x + 1 } else { x - 1 }
}

/// A quiet NaN whose fraction holds the lowest bits of `code`.
pub extern "C" fn nan(code: u16) -> u16 {
    FloatEncoding::F16.nan() as u16 | (code & 0x01FF)
}
