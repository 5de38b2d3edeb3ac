//! Elementary functions of `f32`: computed in `f64` and rounded once.

use super::{ElementaryFloat, circular, error, exponential, hyperbolic, inverse_circular};
use std::f64::consts::{FRAC_1_PI, LN_2, LOG2_10};

/// Whether `x` is a number above zero: one comparison of its bits.
#[inline]
fn is_positive_finite(x: f32) -> bool {
    x.to_bits().wrapping_sub(1) < f32::MAX.to_bits()
}

/// log₂ `x` in `f64` with the edge cases of a logarithm.
#[inline]
fn log2(x: f32) -> f64 {
    if is_positive_finite(x) {
        return exponential::log2(x.into());
    }
    logarithm_edge(x)
}

/// The logarithm of a number that is not positive and finite.
#[cold]
fn logarithm_edge(x: f32) -> f64 {
    if x == 0.0 {
        f64::NEG_INFINITY
    } else if x < 0.0 {
        f64::NAN
    } else {
        x.into()
    }
}

/// Whether `y` is an odd integer (`Some(true)`), an even one, or none.
#[inline]
fn integer_parity(y: f32) -> Option<bool> {
    if y.trunc() != y {
        return None;
    }
    Some(y.abs() < 16777216.0 && (y as i32) & 1 != 0)
}

/// `x`^`y` for positive finite `x` and finite `y`.
#[inline]
fn raise_positive_power(x: f32, y: f64) -> f32 {
    exponential::exp2(y * exponential::log2(x.into())) as f32
}

/// `x`^`y` where `x` is not positive and finite, or `y` not finite.
#[cold]
fn power_edge(x: f32, y: f32) -> f32 {
    if x == 0.0 || !x.is_finite() || !y.is_finite() {
        return libm::pow(x.into(), y.into()) as f32;
    }
    match integer_parity(y) {
        Some(true) => -raise_positive_power(-x, y.into()),
        Some(false) => raise_positive_power(-x, y.into()),
        None => f32::NAN,
    }
}

impl ElementaryFloat for f32 {
    fn exp(self) -> Self {
        exponential::exp(self.into()) as Self
    }
    fn exp2(self) -> Self {
        exponential::exp2(self.into()) as Self
    }
    fn exp10(self) -> Self {
        exponential::exp2(f64::from(self) * LOG2_10) as Self
    }
    fn expm1(self) -> Self {
        hyperbolic::expm1(self.into()) as Self
    }
    fn log(self) -> Self {
        (log2(self) * LN_2) as Self
    }
    fn log2(self) -> Self {
        log2(self) as Self
    }
    fn log10(self) -> Self {
        (log2(self) * std::f64::consts::LOG10_2) as Self
    }
    fn log1p(self) -> Self {
        let x = f64::from(self);
        if x > -1.0 && x < f64::INFINITY {
            // Below this, 1 + x is inexact and the first two terms of the series are enough.
            if x.abs() < 1.0 / 536870912.0 {
                return (x - x * x * 0.5) as Self;
            }
            return exponential::log(1.0 + x) as Self;
        }
        logarithm_edge(1.0 + self) as Self
    }
    fn pow(self, y: Self) -> Self {
        if is_positive_finite(self) && y.is_finite() {
            return raise_positive_power(self, y.into());
        }
        power_edge(self, y)
    }
    fn magnitude_power(self, n: i32) -> Self {
        let magnitude = self.abs();
        if is_positive_finite(magnitude) {
            return raise_positive_power(magnitude, n.into());
        }
        libm::pow(magnitude.into(), n.into()) as Self
    }
    fn magnitude_root(self, n: i32) -> Self {
        let (magnitude, exponent) = (self.abs(), 1.0 / f64::from(n));
        if is_positive_finite(magnitude) {
            return raise_positive_power(magnitude, exponent);
        }
        libm::pow(magnitude.into(), exponent) as Self
    }
    fn cbrt(self) -> Self {
        libm::cbrtf(self)
    }
    fn hypot(self, y: Self) -> Self {
        if self.is_infinite() || y.is_infinite() {
            return Self::INFINITY;
        }
        let (x, y) = (f64::from(self), f64::from(y));
        (x * x + y * y).sqrt() as Self
    }
    fn sin(self) -> Self {
        circular::sin(self)
    }
    fn cos(self) -> Self {
        circular::cos(self)
    }
    fn sin_cos(self) -> (Self, Self) {
        circular::sin_cos(self)
    }
    fn tan(self) -> Self {
        circular::tan(self)
    }
    fn sin_small_turn(self) -> Self {
        circular::sin_kernel(circular::half_turns_to_radians(self)) as Self
    }
    fn cos_small_turn(self) -> Self {
        circular::cos_kernel(circular::half_turns_to_radians(self)) as Self
    }
    fn tan_small_turn(self) -> Self {
        let r = circular::half_turns_to_radians(self);
        (circular::sin_kernel(r) / circular::cos_kernel(r)) as Self
    }
    fn cot_small_turn(self) -> Self {
        let r = circular::half_turns_to_radians(self);
        (circular::cos_kernel(r) / circular::sin_kernel(r)) as Self
    }
    fn asin(self) -> Self {
        inverse_circular::asin(self) as Self
    }
    fn acos(self) -> Self {
        inverse_circular::acos(self) as Self
    }
    fn atan(self) -> Self {
        inverse_circular::atan(self) as Self
    }
    fn atan2(self, x: Self) -> Self {
        inverse_circular::atan2(self, x) as Self
    }
    fn asinpi(self) -> Self {
        (inverse_circular::asin(self) * FRAC_1_PI) as Self
    }
    fn acospi(self) -> Self {
        (inverse_circular::acos(self) * FRAC_1_PI) as Self
    }
    fn atanpi(self) -> Self {
        (inverse_circular::atan(self) * FRAC_1_PI) as Self
    }
    fn atan2pi(self, x: Self) -> Self {
        (inverse_circular::atan2(self, x) * FRAC_1_PI) as Self
    }
    fn sinh(self) -> Self {
        hyperbolic::sinh(self.into()) as Self
    }
    fn cosh(self) -> Self {
        hyperbolic::cosh(self.into()) as Self
    }
    fn tanh(self) -> Self {
        hyperbolic::tanh(self.into()) as Self
    }
    fn asinh(self) -> Self {
        hyperbolic::asinh(self.into()) as Self
    }
    fn acosh(self) -> Self {
        hyperbolic::acosh(self.into()) as Self
    }
    fn atanh(self) -> Self {
        hyperbolic::atanh(self.into()) as Self
    }
    fn erf(self) -> Self {
        error::erf(self.into()) as Self
    }
    fn erfc(self) -> Self {
        error::erfc(self.into()) as Self
    }
    fn tgamma(self) -> Self {
        libm::tgamma(self.into()) as Self
    }
    fn lgamma_r(self) -> (Self, i32) {
        let (value, sign) = libm::lgamma_r(self.into());
        (value as Self, sign)
    }
    fn fma(self, y: Self, z: Self) -> Self {
        libm::fmaf(self, y, z)
    }
    fn fmod(self, y: Self) -> Self {
        libm::fmodf(self, y)
    }
    fn remquo(self, y: Self) -> (Self, i32) {
        libm::remquof(self, y)
    }
}
