//! Common functions: signs, extremes, interpolation. Each consists of a few operations, computed in the type of the
//! operands by exactly the formula written here, so that code which expands them inline agrees.

use crate::elementary::ElementaryFloat;
use crate::real::NativeFloat;

#[inline]
fn from_constant<T: NativeFloat>(value: f64) -> T {
    T::from_f64(value)
}

/// `|x|`.
pub extern "C" fn fabs<T: NativeFloat>(x: T) -> T {
    x.abs()
}

/// The magnitude of `x` with the sign of `y`.
pub extern "C" fn copysign<T: NativeFloat>(x: T, y: T) -> T {
    x.copysign(y)
}

/// x − y where x > y, otherwise +0; NaN if either is.
pub extern "C" fn fdim<T: NativeFloat>(x: T, y: T) -> T {
    if x.is_nan() || y.is_nan() {
        x + y
    } else if x > y {
        x - y
    } else {
        from_constant(0.0)
    }
}

/// The larger, or the one that is not NaN; +0 is larger than −0.
pub extern "C" fn fmax<T: NativeFloat>(x: T, y: T) -> T {
    if y.is_nan() || x > y || (x == y && y.is_sign_negative()) {
        x
    } else {
        y
    }
}

/// The smaller, or the one that is not NaN; −0 is smaller than +0.
pub extern "C" fn fmin<T: NativeFloat>(x: T, y: T) -> T {
    if y.is_nan() || x < y || (x == y && x.is_sign_negative()) {
        x
    } else {
        y
    }
}

/// The one of larger magnitude; [`fmax`] where neither is.
pub extern "C" fn maxmag<T: NativeFloat>(x: T, y: T) -> T {
    if x.abs() > y.abs() {
        x
    } else if y.abs() > x.abs() {
        y
    } else {
        fmax(x, y)
    }
}

/// The one of smaller magnitude; [`fmin`] where neither is.
pub extern "C" fn minmag<T: NativeFloat>(x: T, y: T) -> T {
    if x.abs() < y.abs() {
        x
    } else if y.abs() < x.abs() {
        y
    } else {
        fmin(x, y)
    }
}

/// fmin(fmax(x, low), high).
pub extern "C" fn fclamp<T: NativeFloat>(x: T, low: T, high: T) -> T {
    fmin(fmax(x, low), high)
}

/// x/y.
pub extern "C" fn divide<T: NativeFloat>(x: T, y: T) -> T {
    x / y
}

/// 1/x.
pub extern "C" fn recip<T: NativeFloat>(x: T) -> T {
    from_constant::<T>(1.0) / x
}

/// (180/π)·x.
pub extern "C" fn degrees<T: NativeFloat>(x: T) -> T {
    from_constant::<T>(180.0 / std::f64::consts::PI) * x
}

/// (π/180)·x.
pub extern "C" fn radians<T: NativeFloat>(x: T) -> T {
    from_constant::<T>(std::f64::consts::PI / 180.0) * x
}

/// x + (y − x)·a (OpenCL).
pub extern "C" fn mix<T: NativeFloat>(x: T, y: T, a: T) -> T {
    x + (y - x) * a
}

/// x·(1 − a) + y·a (GLSL).
pub extern "C" fn blend<T: NativeFloat>(x: T, y: T, a: T) -> T {
    x * (from_constant::<T>(1.0) - a) + y * a
}

/// 0 where x < edge, otherwise 1.
pub extern "C" fn step<T: NativeFloat>(edge: T, x: T) -> T {
    from_constant(if x < edge { 0.0 } else { 1.0 })
}

/// 0 up to `low`, 1 from `high`, t²·(3 − 2t) between.
pub extern "C" fn smoothstep<T: NativeFloat>(low: T, high: T, x: T) -> T {
    let t = fclamp(
        (x - low) / (high - low),
        from_constant(0.0),
        from_constant(1.0),
    );
    t * t * (from_constant::<T>(3.0) - from_constant::<T>(2.0) * t)
}

/// 1 or −1 with the sign of `x`; zeros are kept, NaN gives 0.
pub extern "C" fn sign<T: NativeFloat>(x: T) -> T {
    if x.is_nan() {
        from_constant(0.0)
    } else if x == from_constant(0.0) {
        x
    } else {
        from_constant::<T>(1.0).copysign(x)
    }
}

/// The correctly rounded square root.
pub extern "C" fn sqrt<T: NativeFloat>(x: T) -> T {
    x.sqrt()
}

/// 1/√x, each operation rounded.
pub extern "C" fn rsqrt<T: ElementaryFloat>(x: T) -> T {
    from_constant::<T>(1.0) / x.sqrt()
}
