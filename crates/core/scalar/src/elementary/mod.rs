//! Elementary functions, one implementation for each type.
//!
//! `f32` functions compute in `f64` and round once, so they are within about half a unit in the last
//! place; the frequent ones have kernels of their own here, the others go through the `f64` function.
//! `f64` functions are those of the `libm` crate where it is accurate. Nothing here calls the
//! platform's library or a fused operation whose presence depends on the processor: the same bits
//! come out everywhere.

pub(crate) mod circular;
mod double;
pub(crate) mod error;
pub(crate) mod exponential;
pub(crate) mod hyperbolic;
pub(crate) mod inverse_circular;
mod single;

use crate::real::NativeFloat;

/// The functions that are computed by approximation, and those whose exact computation differs
/// between the types.
///
/// The free functions of [`crate::math`] are the way to call them.
pub trait ElementaryFloat: NativeFloat {
    /// e^x.
    fn exp(self) -> Self;
    /// 2^x.
    fn exp2(self) -> Self;
    /// 10^x.
    fn exp10(self) -> Self;
    /// e^x − 1.
    fn expm1(self) -> Self;
    /// Natural logarithm.
    fn log(self) -> Self;
    /// Logarithm to base 2.
    fn log2(self) -> Self;
    /// Logarithm to base 10.
    fn log10(self) -> Self;
    /// ln(1 + x).
    fn log1p(self) -> Self;
    /// x^y by the rules of C's `pow`.
    fn pow(self, y: Self) -> Self;
    /// |x|^n.
    fn magnitude_power(self, n: i32) -> Self;
    /// |x|^(1/n) for an `n` other than zero.
    fn magnitude_root(self, n: i32) -> Self;
    /// Cube root.
    fn cbrt(self) -> Self;
    /// √(x² + y²) without overflow on the way.
    fn hypot(self, y: Self) -> Self;
    /// Sine.
    fn sin(self) -> Self;
    /// Cosine.
    fn cos(self) -> Self;
    /// Sine and cosine.
    fn sin_cos(self) -> (Self, Self);
    /// Tangent.
    fn tan(self) -> Self;
    /// sin(πx) for |x| ≤ ¼.
    fn sin_small_turn(self) -> Self;
    /// cos(πx) for |x| ≤ ¼.
    fn cos_small_turn(self) -> Self;
    /// tan(πx) for |x| ≤ ¼.
    fn tan_small_turn(self) -> Self;
    /// 1/tan(πx) for |x| ≤ ¼.
    fn cot_small_turn(self) -> Self;
    /// Arc sine.
    fn asin(self) -> Self;
    /// Arc cosine.
    fn acos(self) -> Self;
    /// Arc tangent.
    fn atan(self) -> Self;
    /// The angle of the point (x, y), called on y.
    fn atan2(self, x: Self) -> Self;
    /// asin(x)/π.
    fn asinpi(self) -> Self;
    /// acos(x)/π.
    fn acospi(self) -> Self;
    /// atan(x)/π.
    fn atanpi(self) -> Self;
    /// atan2(y, x)/π.
    fn atan2pi(self, x: Self) -> Self;
    /// Hyperbolic sine.
    fn sinh(self) -> Self;
    /// Hyperbolic cosine.
    fn cosh(self) -> Self;
    /// Hyperbolic tangent.
    fn tanh(self) -> Self;
    /// Inverse hyperbolic sine.
    fn asinh(self) -> Self;
    /// Inverse hyperbolic cosine.
    fn acosh(self) -> Self;
    /// Inverse hyperbolic tangent.
    fn atanh(self) -> Self;
    /// Error function.
    fn erf(self) -> Self;
    /// 1 − erf(x).
    fn erfc(self) -> Self;
    /// Γ(x).
    fn tgamma(self) -> Self;
    /// ln |Γ(x)| and the sign of Γ(x).
    fn lgamma_r(self) -> (Self, i32);
    /// x·y + z, rounded once.
    fn fma(self, y: Self, z: Self) -> Self;
    /// Remainder of the division towards zero; exact.
    fn fmod(self, y: Self) -> Self;
    /// Remainder of the division to nearest even, and the quotient's low bits with its sign; exact.
    fn remquo(self, y: Self) -> (Self, i32);
}
