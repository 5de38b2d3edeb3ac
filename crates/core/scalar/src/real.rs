//! Real number trait: the operations of `f32` and `f64` that generic mathematical functions require.

use std::ops::{Add, Div, Mul, Neg, Sub};

use crate::format::FloatEncoding;

/// A floating-point type the machine computes with: `f32` or `f64`.
pub trait NativeFloat:
    Copy
    + PartialOrd
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
{
    /// The type's binary format.
    const FORMAT: FloatEncoding;
    /// The quiet NaN without payload.
    const NAN: Self;
    /// Positive infinity.
    const INFINITY: Self;
    /// The largest number below one.
    const BELOW_ONE: Self;

    /// The value with these bits; upper bits are ignored.
    fn from_raw(bits: u64) -> Self;
    /// The value's bits.
    fn to_raw(self) -> u64;
    /// The nearest value to `value`.
    fn from_f64(value: f64) -> Self;
    /// `|self|`.
    fn abs(self) -> Self;
    /// The magnitude of `self` with the sign of `sign`.
    fn copysign(self, sign: Self) -> Self;
    /// The correctly rounded square root.
    fn sqrt(self) -> Self;
    /// Rounded towards negative infinity.
    fn floor(self) -> Self;
    /// Rounded towards positive infinity.
    fn ceil(self) -> Self;
    /// Rounded towards zero.
    fn trunc(self) -> Self;
    /// Rounded to the nearest integer, ties away from zero.
    fn round(self) -> Self;
    /// Rounded to the nearest integer, ties to even.
    fn round_ties_even(self) -> Self;
    /// Whether it is NaN.
    fn is_nan(self) -> bool;
    /// Whether it is neither infinite nor NaN.
    fn is_finite(self) -> bool;
    /// Whether it is infinite.
    fn is_infinite(self) -> bool;
    /// Whether the sign bit is set.
    fn is_sign_negative(self) -> bool;
}

macro_rules! real {
    ($type:ident, $bits:ident, $format:expr) => {
        impl NativeFloat for $type {
            const FORMAT: FloatEncoding = $format;
            const NAN: Self = Self::from_bits($format.nan() as $bits);
            const INFINITY: Self = Self::INFINITY;
            const BELOW_ONE: Self = 1.0 - Self::EPSILON / 2.0;

            #[inline]
            fn from_raw(bits: u64) -> Self {
                Self::from_bits(bits as $bits)
            }
            #[inline]
            fn to_raw(self) -> u64 {
                self.to_bits().into()
            }
            #[inline]
            fn from_f64(value: f64) -> Self {
                value as $type
            }
            #[inline]
            fn abs(self) -> Self {
                $type::abs(self)
            }
            #[inline]
            fn copysign(self, sign: Self) -> Self {
                $type::copysign(self, sign)
            }
            #[inline]
            fn sqrt(self) -> Self {
                $type::sqrt(self)
            }
            #[inline]
            fn floor(self) -> Self {
                $type::floor(self)
            }
            #[inline]
            fn ceil(self) -> Self {
                $type::ceil(self)
            }
            #[inline]
            fn trunc(self) -> Self {
                $type::trunc(self)
            }
            #[inline]
            fn round(self) -> Self {
                $type::round(self)
            }
            #[inline]
            fn round_ties_even(self) -> Self {
                $type::round_ties_even(self)
            }
            #[inline]
            fn is_nan(self) -> bool {
                $type::is_nan(self)
            }
            #[inline]
            fn is_finite(self) -> bool {
                $type::is_finite(self)
            }
            #[inline]
            fn is_infinite(self) -> bool {
                $type::is_infinite(self)
            }
            #[inline]
            fn is_sign_negative(self) -> bool {
                $type::is_sign_negative(self)
            }
        }
    };
}

real!(f32, u32, FloatEncoding::F32);
real!(f64, u64, FloatEncoding::F64);
