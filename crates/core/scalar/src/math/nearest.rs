//! Rounding to integers; all exact.

use crate::real::Real;

/// Rounded towards +∞.
pub extern "C" fn ceil<T: Real>(x: T) -> T {
    x.ceil()
}

/// Rounded towards −∞.
pub extern "C" fn floor<T: Real>(x: T) -> T {
    x.floor()
}

/// Rounded towards zero.
pub extern "C" fn trunc<T: Real>(x: T) -> T {
    x.trunc()
}

/// Rounded to the nearest integer, ties away from zero.
pub extern "C" fn round<T: Real>(x: T) -> T {
    x.round()
}

/// Rounded to the nearest integer, ties to even.
pub extern "C" fn rint<T: Real>(x: T) -> T {
    x.round_ties_even()
}
