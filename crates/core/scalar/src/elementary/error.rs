//! The error function and its complement for `f32` arguments, in `f64`.

use super::exponential::exp2_kernel;
use std::f64::consts::LOG2_E;

/// erf `x` for |x| ≤ 1, relative error 2^-40 (minimax in x²).
#[inline(always)]
pub(crate) fn erf_kernel(x: f64) -> f64 {
    let s = x * x;
    let s2 = s * s;
    let s4 = s2 * s2;
    let a = (1.128379167094586 + s * -0.3761263888850482)
        + s2 * (0.11283791285387972 + s * -0.02686613141030664);
    let b = (0.005223776410372652 + s * -0.0008542489014930354)
        + s2 * (0.0001195481934166248 + s * -1.3898703366524808e-05);
    x * (a + s4 * (b + s4 * 1.0562983664148881e-06))
}

/// 1 − erf `x` for `x` ≥ 1, relative error 2^-37 up to 10.3, from where every `f32` takes it for zero.
///
/// e^(x²)·erfc x is a polynomial in (x − 2)/(x + 2) (minimax).
#[inline(always)]
fn erfc_kernel(x: f64) -> f64 {
    let t = 1.0 - 4.0 / (x + 2.0);
    let t2 = t * t;
    let t4 = t2 * t2;
    let a = (0.25539567630935334 + t * -0.4271858473985366)
        + t2 * (0.24165819455670062 + t * -0.07897858304839264);
    let b = (0.0037328799311437504 + t * 0.006997536342098071)
        + t2 * (-0.000847013598834646 + t * -0.0009830313754358856);
    let c = (4.373544898047407e-05 + t * 0.00018003092350273072)
        + t2 * (2.094843635945098e-05 + t * -3.476725089693688e-05);
    (a + t4 * (b + t4 * c)) * exp2_kernel(-x * x * LOG2_E)
}

/// [`erfc_kernel`] of any number from 1 on; NaN gives NaN.
#[inline(always)]
pub(crate) fn erfc_tail(x: f64) -> f64 {
    erfc_kernel(if x > 11.0 { 11.0 } else { x })
}

/// Error function.
#[inline]
pub(crate) fn erf(x: f64) -> f64 {
    let magnitude = x.abs();
    if magnitude <= 1.0 {
        return erf_kernel(x);
    }
    (1.0 - erfc_tail(magnitude)).copysign(x)
}

/// 1 − erf `x`.
#[inline]
pub(crate) fn erfc(x: f64) -> f64 {
    if x.abs() <= 1.0 {
        return 1.0 - erf_kernel(x);
    }
    let tail = erfc_tail(x.abs());
    if x < 0.0 { 2.0 - tail } else { tail }
}
