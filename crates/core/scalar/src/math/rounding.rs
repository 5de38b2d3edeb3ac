//! Rounding to integers; all functions are exact.

use crate::real::NativeFloat;

/// Rounded towards +∞.
pub extern "C" fn ceil<T: NativeFloat>(x: T) -> T {
    x.ceil()
}

/// Rounded towards −∞.
pub extern "C" fn floor<T: NativeFloat>(x: T) -> T {
    x.floor()
}

/// Rounded towards zero.
pub extern "C" fn trunc<T: NativeFloat>(x: T) -> T {
    x.trunc()
}

/// Rounded to the nearest integer, ties away from zero.
pub extern "C" fn round<T: NativeFloat>(x: T) -> T {
    x.round()
}

/// Rounded to the nearest integer, ties to even.
pub extern "C" fn rint<T: NativeFloat>(x: T) -> T {
    x.round_ties_even()
}
