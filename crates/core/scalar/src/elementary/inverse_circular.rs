//! Inverse circular functions of `f32` arguments, in `f64`.

use std::f64::consts::{FRAC_PI_2, PI};

/// asin `x` for |x| ≤ ½, relative error 2^-40 (minimax in x²).
#[inline]
fn asin_kernel(x: f64) -> f64 {
    let s = x * x;
    let s2 = s * s;
    let s4 = s2 * s2;
    let a = (1.0000000000009146 + s * 0.16666666608638264)
        + s2 * (0.07500006048698712 + s * 0.04464043817530934);
    let b = (0.03043011753001783 + s * 0.02183861376068673)
        + s2 * (0.020762602842453348 + s * 0.0017149027601932013);
    x * (a + s4 * (b + s4 * 0.033158867114159954))
}

/// atan `x` for |x| ≤ 1, relative error 2^-36 (minimax in x²).
#[inline]
fn atan_kernel(x: f64) -> f64 {
    let s = x * x;
    let s2 = s * s;
    let s4 = s2 * s2;
    let a = (0.9999999999906544 + s * -0.33333333005320537)
        + s2 * (0.19999980837662834 + s * -0.14285271441138198);
    let b = (0.11105741779434344 + s * -0.09051620730346308)
        + s2 * (0.075039640543577 + s * -0.06042638764257553);
    let c = (0.043967317613027815 + s * -0.026338679197262613)
        + s2 * (0.011646650122866664 + s * -0.00327831261041464);
    x * (a + s4 * (b + s4 * (c + s4 * 0.0004329601819938833)))
}

/// asin `x`; NaN outside [−1, 1].
#[inline]
pub(crate) fn asin(x: f32) -> f64 {
    let x = f64::from(x);
    let magnitude = x.abs();
    if magnitude <= 0.5 {
        return asin_kernel(x);
    }
    // The square root of a negative number is the NaN that arguments beyond 1 must give.
    let value = FRAC_PI_2 - 2.0 * asin_kernel(((1.0 - magnitude) * 0.5).sqrt());
    value.copysign(x)
}

/// acos `x`; NaN outside [−1, 1].
#[inline]
pub(crate) fn acos(x: f32) -> f64 {
    let x = f64::from(x);
    let magnitude = x.abs();
    if magnitude <= 0.5 {
        return FRAC_PI_2 - asin_kernel(x);
    }
    let value = 2.0 * asin_kernel(((1.0 - magnitude) * 0.5).sqrt());
    if x < 0.0 { PI - value } else { value }
}

/// atan `x`.
#[inline]
pub(crate) fn atan(x: f32) -> f64 {
    let x = f64::from(x);
    let magnitude = x.abs();
    if magnitude <= 1.0 {
        return atan_kernel(x);
    }
    (FRAC_PI_2 - atan_kernel(1.0 / magnitude)).copysign(x)
}

/// The angle of the point (`x`, `y`).
#[inline]
pub(crate) fn atan2(y: f32, x: f32) -> f64 {
    let (y, x) = (f64::from(y), f64::from(x));
    let (rise, run) = (y.abs(), x.abs());
    let (short, long) = if rise > run { (run, rise) } else { (rise, run) };
    let regular = long > 0.0 && long < f64::INFINITY && short >= 0.0;
    if !regular {
        return libm::atan2(y, x);
    }
    let angle = atan_kernel(short / long);
    let angle = if rise > run { FRAC_PI_2 - angle } else { angle };
    let angle = if x < 0.0 { PI - angle } else { angle };
    angle.copysign(y)
}
