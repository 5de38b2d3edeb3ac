//! Elementary functions under the names of the instruction sets.

use crate::elementary::ElementaryFloat;

macro_rules! unary {
    ($($(#[$doc:meta])* $name:ident)*) => {$(
        $(#[$doc])*
        pub extern "C" fn $name<T: ElementaryFloat>(x: T) -> T {
            ElementaryFloat::$name(x)
        }
    )*};
}

unary! {
    /// e^x.
    exp
    /// 2^x.
    exp2
    /// 10^x.
    exp10
    /// e^x − 1.
    expm1
    /// Natural logarithm; NaN below zero, −∞ at zero.
    log
    /// Logarithm to base 2; exact at powers of two.
    log2
    /// Logarithm to base 10.
    log10
    /// ln(1 + x); NaN below −1, −∞ at −1.
    log1p
    /// Cube root.
    cbrt
    /// Sine; NaN at infinities.
    sin
    /// Cosine; NaN at infinities.
    cos
    /// Tangent; NaN at infinities.
    tan
    /// Arc sine; NaN beyond ±1.
    asin
    /// Arc cosine; NaN beyond ±1.
    acos
    /// Arc tangent.
    atan
    /// asin(x)/π.
    asinpi
    /// acos(x)/π.
    acospi
    /// atan(x)/π.
    atanpi
    /// Hyperbolic sine.
    sinh
    /// Hyperbolic cosine.
    cosh
    /// Hyperbolic tangent.
    tanh
    /// Inverse hyperbolic sine.
    asinh
    /// Inverse hyperbolic cosine; NaN below 1.
    acosh
    /// Inverse hyperbolic tangent; NaN beyond ±1.
    atanh
    /// Error function.
    erf
    /// 1 − erf(x).
    erfc
    /// Γ(x); NaN at negative integers and −∞.
    tgamma
}

/// The angle of the point (`x`, `y`), in (−π, π].
pub extern "C" fn atan2<T: ElementaryFloat>(y: T, x: T) -> T {
    y.atan2(x)
}

/// atan2(`y`, `x`)/π.
pub extern "C" fn atan2pi<T: ElementaryFloat>(y: T, x: T) -> T {
    y.atan2pi(x)
}

/// √(x² + y²); infinite if either is infinite, even beside NaN.
pub extern "C" fn hypot<T: ElementaryFloat>(x: T, y: T) -> T {
    x.hypot(y)
}

/// The sine, and the cosine into `cos`.
pub extern "C" fn sincos<T: ElementaryFloat>(x: T, cos: &mut T) -> T {
    let (sine, cosine) = x.sin_cos();
    *cos = cosine;
    sine
}

/// ln |Γ(x)|; +∞ at zero and negative integers.
pub extern "C" fn lgamma<T: ElementaryFloat>(x: T) -> T {
    x.lgamma_r().0
}

/// ln |Γ(x)|, and the sign of Γ(x), −1 or 1, into `sign`.
pub extern "C" fn lgamma_r<T: ElementaryFloat>(x: T, sign: &mut i32) -> T {
    let (value, negative_or_not) = x.lgamma_r();
    *sign = negative_or_not;
    value
}

/// x·y + z with a single rounding.
pub extern "C" fn fma<T: ElementaryFloat>(x: T, y: T, z: T) -> T {
    x.fma(y, z)
}

/// x·y + z with two roundings, as multiplication and addition give it.
pub extern "C" fn mad<T: ElementaryFloat>(x: T, y: T, z: T) -> T {
    x * y + z
}

/// The exact remainder of the division towards zero, with the sign of `x`.
pub extern "C" fn fmod<T: ElementaryFloat>(x: T, y: T) -> T {
    x.fmod(y)
}

/// The exact remainder towards −∞, with the sign of `y`, rounded once where it is not exact
/// (`OpFMod`).
pub extern "C" fn floor_mod<T: ElementaryFloat>(x: T, y: T) -> T {
    let remainder = x.fmod(y);
    let zero = T::from_f64(0.0);
    if remainder == zero {
        remainder.copysign(y)
    } else if (remainder < zero) != (y < zero) {
        remainder + y
    } else {
        remainder
    }
}

/// The exact remainder of the division to nearest even.
pub extern "C" fn remainder<T: ElementaryFloat>(x: T, y: T) -> T {
    x.remquo(y).0
}

/// The exact remainder of the division to nearest even. The quotient's lowest seven bits, with the sign of x/y, go into
/// `quotient` (0 where the remainder is NaN).
pub extern "C" fn remquo<T: ElementaryFloat>(x: T, y: T, quotient: &mut i32) -> T {
    let (remainder, low) = x.remquo(y);
    let seven = (low.unsigned_abs() & 0x7F) as i32;
    *quotient = if low < 0 { -seven } else { seven };
    remainder
}
