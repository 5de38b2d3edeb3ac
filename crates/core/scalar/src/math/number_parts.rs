//! Functions on the parts of a number: exponent, significand, fraction, neighbours. All are exact, except that
//! [`ldexp`] rounds a subnormal result once.

use crate::format::{DecodedFloat, FloatRounding, decode_bits, encode_value, round_to_format};
use crate::real::NativeFloat;

/// The significand and exponent of a finite number other than zero, and where its top bit is.
#[inline]
fn decompose_finite<T: NativeFloat>(x: T) -> Option<(bool, u64, i32, i32)> {
    match decode_bits(x.to_raw(), T::FORMAT) {
        DecodedFloat::Finite {
            negative,
            significand,
            exponent,
        } => Some((
            negative,
            significand,
            exponent,
            exponent + significand.ilog2() as i32,
        )),
        _ => None,
    }
}

/// `x` as a number in [½, 1) times 2^`exponent`; zero, infinity and NaN are kept, with exponent 0.
pub extern "C" fn frexp<T: NativeFloat>(x: T, exponent: &mut i32) -> T {
    let Some((negative, significand, scale, top)) = decompose_finite(x) else {
        *exponent = 0;
        return x;
    };
    *exponent = top + 1;
    let bits = round_to_format(
        negative,
        significand,
        scale - top - 1,
        T::FORMAT,
        FloatRounding::NearestEven,
    );
    T::from_raw(bits)
}

/// x·2^n, rounded once.
pub extern "C" fn ldexp<T: NativeFloat>(x: T, n: i32) -> T {
    let scaled = match decode_bits(x.to_raw(), T::FORMAT) {
        DecodedFloat::Finite {
            negative,
            significand,
            exponent,
        } => DecodedFloat::Finite {
            negative,
            significand,
            exponent: exponent.saturating_add(n),
        },
        _ => return x,
    };
    T::from_raw(encode_value(scaled, T::FORMAT, FloatRounding::NearestEven))
}

/// The exponent of `x` as an integer: −2^31 at zero, 2^31 − 1 at infinity and NaN.
pub extern "C" fn ilogb<T: NativeFloat>(x: T) -> i32 {
    match decode_bits(x.to_raw(), T::FORMAT) {
        DecodedFloat::Finite {
            significand,
            exponent,
            ..
        } => exponent + significand.ilog2() as i32,
        DecodedFloat::Zero { .. } => i32::MIN,
        DecodedFloat::Infinite { .. } | DecodedFloat::Nan { .. } => i32::MAX,
    }
}

/// The exponent of `x`: −∞ at zero, +∞ at infinity.
pub extern "C" fn logb<T: NativeFloat>(x: T) -> T {
    match decode_bits(x.to_raw(), T::FORMAT) {
        DecodedFloat::Finite {
            significand,
            exponent,
            ..
        } => T::from_f64(f64::from(exponent + significand.ilog2() as i32)),
        DecodedFloat::Zero { .. } => -T::INFINITY,
        DecodedFloat::Infinite { .. } => T::INFINITY,
        DecodedFloat::Nan { .. } => x,
    }
}

/// The fraction of `x`, with its sign, and the integer towards zero into `whole`.
pub extern "C" fn modf<T: NativeFloat>(x: T, whole: &mut T) -> T {
    *whole = x.trunc();
    if x.is_infinite() {
        return T::from_f64(0.0).copysign(x);
    }
    (x - *whole).copysign(x)
}

/// x − ⌊x⌋, below one; ⌊x⌋ into `whole` (OpenCL). Infinity gives zero of its sign.
pub extern "C" fn fract<T: NativeFloat>(x: T, whole: &mut T) -> T {
    *whole = x.floor();
    let zero = T::from_f64(0.0);
    if x.is_infinite() || x == zero {
        return zero.copysign(x);
    }
    let fraction = x - *whole;
    if fraction > T::BELOW_ONE {
        T::BELOW_ONE
    } else {
        fraction
    }
}

/// x − ⌊x⌋ as the subtraction gives it (GLSL): it may round to one.
pub extern "C" fn fraction<T: NativeFloat>(x: T) -> T {
    x - x.floor()
}

/// A quiet NaN whose fraction holds the lowest bits of `code`.
pub extern "C" fn nan<T: NativeFloat>(code: u64) -> T {
    let quiet = 1 << (T::FORMAT.fraction_bits() - 1);
    T::from_raw(T::FORMAT.nan() | (code & (quiet - 1)))
}

/// The next number after `x` towards `y`; `y` where they are equal.
pub extern "C" fn nextafter<T: NativeFloat>(x: T, y: T) -> T {
    if x.is_nan() || y.is_nan() {
        return x + y;
    }
    if x == y {
        return y;
    }
    if x == T::from_f64(0.0) {
        return T::from_raw(1).copysign(y);
    }
    let away = (x < y) != x.is_sign_negative();
    T::from_raw(if away { x.to_raw() + 1 } else { x.to_raw() - 1 })
}
