//! Elementary functions of `f64`: those of the `libm` crate, and those that it lacks.

use super::ElementaryFloat;
use std::f64::consts::{LN_2, LOG2_10, PI};

/// The difference of log₂ 10 from `LOG2_10`.
const LOG2_10_REST: f64 = 1.661617516973592e-16;

impl ElementaryFloat for f64 {
    fn exp(self) -> Self {
        libm::exp(self)
    }
    fn exp2(self) -> Self {
        libm::exp2(self)
    }
    fn exp10(self) -> Self {
        // The library is exact at integers, elsewhere it rounds the argument of a power of two.
        if self.abs() > 330.0 || self.trunc() == self || self.is_nan() {
            return libm::exp10(self);
        }
        let exponent = self * LOG2_10;
        let lacking = libm::fma(self, LOG2_10, -exponent) + self * LOG2_10_REST;
        let power = libm::exp2(exponent);
        if power.is_infinite() {
            return power;
        }
        power + power * (lacking * LN_2)
    }
    fn expm1(self) -> Self {
        libm::expm1(self)
    }
    fn log(self) -> Self {
        libm::log(self)
    }
    fn log2(self) -> Self {
        libm::log2(self)
    }
    fn log10(self) -> Self {
        libm::log10(self)
    }
    fn log1p(self) -> Self {
        libm::log1p(self)
    }
    fn pow(self, y: Self) -> Self {
        libm::pow(self, y)
    }
    fn magnitude_power(self, n: i32) -> Self {
        libm::pow(self.abs(), n.into())
    }
    fn magnitude_root(self, n: i32) -> Self {
        let magnitude = self.abs();
        let n = Self::from(n);
        let exponent = 1.0 / n;
        let root = libm::pow(magnitude, exponent);
        if root == 0.0 || !root.is_finite() {
            return root;
        }
        // 1/n is rounded; its error times the logarithm is the relative error of the root.
        let lacking = libm::fma(-n, exponent, 1.0) / n;
        root + root * (lacking * libm::log(magnitude))
    }
    fn cbrt(self) -> Self {
        libm::cbrt(self)
    }
    fn hypot(self, y: Self) -> Self {
        libm::hypot(self, y)
    }
    fn sin(self) -> Self {
        libm::sin(self)
    }
    fn cos(self) -> Self {
        libm::cos(self)
    }
    fn sin_cos(self) -> (Self, Self) {
        libm::sincos(self)
    }
    fn tan(self) -> Self {
        libm::tan(self)
    }
    fn sin_small_turn(self) -> Self {
        libm::sin(self * PI)
    }
    fn cos_small_turn(self) -> Self {
        libm::cos(self * PI)
    }
    fn tan_small_turn(self) -> Self {
        libm::tan(self * PI)
    }
    fn cot_small_turn(self) -> Self {
        1.0 / libm::tan(self * PI)
    }
    fn asin(self) -> Self {
        libm::asin(self)
    }
    fn acos(self) -> Self {
        libm::acos(self)
    }
    fn atan(self) -> Self {
        libm::atan(self)
    }
    fn atan2(self, x: Self) -> Self {
        libm::atan2(self, x)
    }
    fn asinpi(self) -> Self {
        libm::asin(self) / PI
    }
    fn acospi(self) -> Self {
        libm::acos(self) / PI
    }
    fn atanpi(self) -> Self {
        libm::atan(self) / PI
    }
    fn atan2pi(self, x: Self) -> Self {
        libm::atan2(self, x) / PI
    }
    fn sinh(self) -> Self {
        libm::sinh(self)
    }
    fn cosh(self) -> Self {
        libm::cosh(self)
    }
    fn tanh(self) -> Self {
        libm::tanh(self)
    }
    fn asinh(self) -> Self {
        libm::asinh(self)
    }
    fn acosh(self) -> Self {
        // Far below 1, the library's difference of rounded numbers may be positive.
        if self < 1.0 {
            Self::NAN
        } else {
            libm::acosh(self)
        }
    }
    fn atanh(self) -> Self {
        libm::atanh(self)
    }
    fn erf(self) -> Self {
        libm::erf(self)
    }
    fn erfc(self) -> Self {
        libm::erfc(self)
    }
    fn tgamma(self) -> Self {
        libm::tgamma(self)
    }
    fn lgamma_r(self) -> (Self, i32) {
        libm::lgamma_r(self)
    }
    fn fma(self, y: Self, z: Self) -> Self {
        libm::fma(self, y, z)
    }
    fn fmod(self, y: Self) -> Self {
        libm::fmod(self, y)
    }
    fn remquo(self, y: Self) -> (Self, i32) {
        libm::remquo(self, y)
    }
}
