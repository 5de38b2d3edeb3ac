//! Powers and roots, with the edge cases of each variant (OpenCL C, section 7.5.1).

use crate::elementary::ElementaryFloat;

/// x^y; NaN for a negative `x` unless `y` is an integer; 1 where `y` is 0 or `x` is 1.
pub extern "C" fn pow<T: ElementaryFloat>(x: T, y: T) -> T {
    x.pow(y)
}

/// x^n; 1 where `n` is 0.
pub extern "C" fn pown<T: ElementaryFloat>(x: T, n: i32) -> T {
    let magnitude = x.magnitude_power(n);
    if n & 1 != 0 {
        magnitude.copysign(x)
    } else {
        magnitude
    }
}

/// x^y for `x` not below zero; NaN for negative `x`, 0^0, ∞^0, 1^∞ and every NaN.
pub extern "C" fn powr<T: ElementaryFloat>(x: T, y: T) -> T {
    let (zero, one) = (T::from_f64(0.0), T::from_f64(1.0));
    let undefined = x.is_nan()
        || y.is_nan()
        || x < zero
        || (y == zero && (x == zero || x.is_infinite()))
        || (x == one && y.is_infinite());
    if undefined { T::NAN } else { x.abs().pow(y) }
}

/// The `n`-th root of `x`; NaN for n = 0 and for even roots of negative numbers.
pub extern "C" fn rootn<T: ElementaryFloat>(x: T, n: i32) -> T {
    let odd = n & 1 != 0;
    let zero = T::from_f64(0.0);
    if n == 0 || (!odd && x < zero) {
        return T::NAN;
    }
    let magnitude = x.magnitude_root(n);
    if odd {
        magnitude.copysign(x)
    } else {
        magnitude
    }
}
