//! Hyperbolic functions and their inverses for `f32` arguments, in `f64`.
//!
//! Near zero, where differences of exponentials cancel, each has a polynomial (minimax, relative
//! error 2^-34 or better, or the first terms of its series).

use super::exponential::{exp, log};

/// Beyond this magnitude the exponential less one loses no digits.
pub(crate) const EXPM1_NEAR: f64 = 0.35;

/// Beyond this magnitude the hyperbolic tangent is computed of an exponential.
pub(crate) const TANH_NEAR: f64 = 0.6324;

/// e^x − 1.
#[inline]
pub(crate) fn expm1(x: f64) -> f64 {
    if x.abs() > EXPM1_NEAR {
        return exp(x) - 1.0;
    }
    expm1_kernel(x)
}

/// e^x − 1 for |x| ≤ [`EXPM1_NEAR`].
#[inline(always)]
pub(crate) fn expm1_kernel(x: f64) -> f64 {
    let x2 = x * x;
    let a = 0.9999999999952117 + x * 0.5000000000130408;
    let b = 0.16666666792551538 + x * 0.041666665907945176;
    let c = 0.008333281764117816 + x * 0.0013888981918724517;
    let d = 0.00019908765691947574 + x * 2.4801571226023638e-05;
    x * ((a + x2 * b) + (x2 * x2) * (c + x2 * d))
}

/// Hyperbolic sine.
#[inline]
pub(crate) fn sinh(x: f64) -> f64 {
    if x.abs() > 1.0 {
        let power = exp(x);
        return (power - 1.0 / power) * 0.5;
    }
    let s = x * x;
    let s2 = s * s;
    let a = 1.0000000000459748 + s * 0.16666666430251612;
    let b = 0.008333352592776068 + s * 0.00019835812455397438;
    x * (a + s2 * (b + s2 * 2.81852395111427e-06))
}

/// Hyperbolic cosine.
#[inline]
pub(crate) fn cosh(x: f64) -> f64 {
    let power = exp(x);
    (power + 1.0 / power) * 0.5
}

/// Hyperbolic tangent.
#[inline]
pub(crate) fn tanh(x: f64) -> f64 {
    if x.abs() > TANH_NEAR {
        return 1.0 - 2.0 / (exp(2.0 * x) + 1.0);
    }
    tanh_kernel(x)
}

/// tanh `x` for |x| ≤ [`TANH_NEAR`].
#[inline(always)]
pub(crate) fn tanh_kernel(x: f64) -> f64 {
    let s = x * x;
    let s2 = s * s;
    let a = 0.9999999999936895 + s * -0.33333333130452153;
    let b = 0.13333322585765706 + s * -0.053966072942767014;
    let c = 0.021847576254304633 + s * -0.008742046394465913;
    let d = 0.0032107983255965445 + s * -0.0007896706641091854;
    x * ((a + s2 * b) + (s2 * s2) * (c + s2 * d))
}

/// Inverse hyperbolic sine.
#[inline]
pub(crate) fn asinh(x: f64) -> f64 {
    let magnitude = x.abs();
    let s = x * x;
    if magnitude < 0.015625 {
        return x * (1.0 - s * (1.0 / 6.0 - s * 0.075));
    }
    if !x.is_finite() {
        return x;
    }
    log(magnitude + (s + 1.0).sqrt()).copysign(x)
}

/// Inverse hyperbolic cosine; NaN below 1.
#[inline]
pub(crate) fn acosh(x: f64) -> f64 {
    if (1.0..f64::INFINITY).contains(&x) {
        return log(x + (x * x - 1.0).sqrt());
    }
    if x < 1.0 { f64::NAN } else { x }
}

/// Inverse hyperbolic tangent; NaN beyond ±1.
#[inline]
pub(crate) fn atanh(x: f64) -> f64 {
    let magnitude = x.abs();
    let s = x * x;
    if magnitude < 0.015625 {
        return x + x * s * (1.0 / 3.0 + s * 0.2);
    }
    if magnitude < 1.0 {
        return (0.5 * log((1.0 + magnitude) / (1.0 - magnitude))).copysign(x);
    }
    if magnitude == 1.0 {
        f64::INFINITY.copysign(x)
    } else {
        f64::NAN
    }
}
