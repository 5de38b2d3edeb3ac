//! Integer arithmetic: sums, products, quotients, extremes, and their saturating, high and halving forms.
//!
//! Source of the less usual ones: the OpenCL C specification, section 6.15.3 (integer functions).

use super::{make_mask, saturate_to_width, sign_extend, to_exact_integer};

/// Operations on two operands, each with its rule.
macro_rules! binary {
    ($($(#[$doc:meta])* $name:ident($a:ident, $b:ident, $width:ident) = $rule:expr;)*) => {$(
        $(#[$doc])*
        pub extern "C" fn $name($a: u64, $b: u64, $width: u32) -> u64 {
            ($rule) & make_mask($width)
        }
    )*};
}

/// Operations on three operands, each with its rule.
macro_rules! ternary {
    ($($(#[$doc:meta])* $name:ident($a:ident, $b:ident, $c:ident, $width:ident) = $rule:expr;)*) => {$(
        $(#[$doc])*
        pub extern "C" fn $name($a: u64, $b: u64, $c: u64, $width: u32) -> u64 {
            ($rule) & make_mask($width)
        }
    )*};
}

/// Predicates of two operands, each with its rule.
macro_rules! compare {
    ($($(#[$doc:meta])* $name:ident $read:ident $operator:tt;)*) => {$(
        $(#[$doc])*
        pub extern "C" fn $name(a: u64, b: u64, width: u32) -> bool {
            $read(a, width) $operator $read(b, width)
        }
    )*};
}

/// The lowest `width` bits of `value` as a natural number.
#[inline]
fn to_natural_number(value: u64, width: u32) -> u64 {
    value & make_mask(width)
}

use sign_extend as signed;

/// The divisor to divide by: zero counts as one, so that `x / 0 = x` and `x % 0 = 0`.
#[inline]
fn u_divisor(b: u64, width: u32) -> u64 {
    to_natural_number(b, width).max(1)
}

/// The divisor to divide by: zero counts as one, and so does −1 under the smallest number, so that
/// both give `x` and remainder 0.
#[inline]
fn s_divisor(a: u64, b: u64, width: u32) -> i64 {
    let overflows = to_natural_number(a, width) == 1 << (width - 1) && signed(b, width) == -1;
    match signed(b, width) {
        0 => 1,
        _ if overflows => 1,
        divisor => divisor,
    }
}

binary! {
    /// `a + b`, wrapping.
    add(a, b, width) = a.wrapping_add(b);
    /// `a − b`, wrapping.
    sub(a, b, width) = a.wrapping_sub(b);
    /// `a × b`, wrapping.
    mul(a, b, width) = a.wrapping_mul(b);
    /// `a / b`; division by zero gives `a`.
    u_div(a, b, width) = to_natural_number(a, width) / u_divisor(b, width);
    /// `a / b` towards zero; division by zero, and of the smallest number by −1, give `a`.
    s_div(a, b, width) = (signed(a, width) / s_divisor(a, b, width)) as u64;
    /// `a mod b`; 0 where `b` is 0.
    u_mod(a, b, width) = to_natural_number(a, width) % u_divisor(b, width);
    /// Remainder of [`s_div`], with the sign of `a`; 0 where `b` is 0.
    s_rem(a, b, width) = (signed(a, width) % s_divisor(a, b, width)) as u64;
    /// Remainder of the division towards −∞, with the sign of `b`; 0 where `b` is 0.
    s_mod(a, b, width) = {
        let divisor = s_divisor(a, b, width);
        let remainder = signed(a, width) % divisor;
        let wrong_sign = remainder != 0 && (remainder < 0) != (divisor < 0);
        (if wrong_sign { remainder + divisor } else { remainder }) as u64
    };
    /// The upper half of the product of two's complement integers.
    s_mul_hi(a, b, width) = ((to_exact_integer(a, width, true) * to_exact_integer(b, width, true)) >> width) as u64;
    /// The upper half of the product of natural numbers.
    u_mul_hi(a, b, width) =
        ((u128::from(to_natural_number(a, width)) * u128::from(to_natural_number(b, width))) >> width) as u64;
    /// `a + b`, saturating.
    s_add_sat(a, b, width) = saturate_to_width(to_exact_integer(a, width, true) + to_exact_integer(b, width, true), width, true);
    /// `a + b`, saturating.
    u_add_sat(a, b, width) = saturate_to_width(to_exact_integer(a, width, false) + to_exact_integer(b, width, false), width, false);
    /// `a − b`, saturating.
    s_sub_sat(a, b, width) = saturate_to_width(to_exact_integer(a, width, true) - to_exact_integer(b, width, true), width, true);
    /// `a − b`, saturating.
    u_sub_sat(a, b, width) = saturate_to_width(to_exact_integer(a, width, false) - to_exact_integer(b, width, false), width, false);
    /// `(a + b) / 2` towards −∞, without overflow.
    s_hadd(a, b, width) = ((to_exact_integer(a, width, true) + to_exact_integer(b, width, true)) >> 1) as u64;
    /// `(a + b) / 2` towards −∞, without overflow.
    u_hadd(a, b, width) = ((to_exact_integer(a, width, false) + to_exact_integer(b, width, false)) >> 1) as u64;
    /// `(a + b + 1) / 2` towards −∞, without overflow.
    s_rhadd(a, b, width) = ((to_exact_integer(a, width, true) + to_exact_integer(b, width, true) + 1) >> 1) as u64;
    /// `(a + b + 1) / 2` towards −∞, without overflow.
    u_rhadd(a, b, width) = ((to_exact_integer(a, width, false) + to_exact_integer(b, width, false) + 1) >> 1) as u64;
    /// `|a − b|` as a natural number.
    s_abs_diff(a, b, width) = (to_exact_integer(a, width, true) - to_exact_integer(b, width, true)).unsigned_abs() as u64;
    /// `|a − b|`.
    u_abs_diff(a, b, width) = to_natural_number(a, width).abs_diff(to_natural_number(b, width));
    /// The larger.
    s_max(a, b, width) = signed(a, width).max(signed(b, width)) as u64;
    /// The larger.
    u_max(a, b, width) = to_natural_number(a, width).max(to_natural_number(b, width));
    /// The smaller.
    s_min(a, b, width) = signed(a, width).min(signed(b, width)) as u64;
    /// The smaller.
    u_min(a, b, width) = to_natural_number(a, width).min(to_natural_number(b, width));
    /// `a × b` of the lowest 24 bits of each, wrapping.
    s_mul24(a, b, width) = (sign_extend(a, 24) as u64).wrapping_mul(sign_extend(b, 24) as u64);
    /// `a × b` of the lowest 24 bits of each, wrapping.
    u_mul24(a, b, width) = (a & make_mask(24)).wrapping_mul(b & make_mask(24));
}

ternary! {
    /// Upper half of `a × b`, plus `c`, wrapping.
    s_mad_hi(a, b, c, width) = s_mul_hi(a, b, width).wrapping_add(c);
    /// Upper half of `a × b`, plus `c`, wrapping.
    u_mad_hi(a, b, c, width) = u_mul_hi(a, b, width).wrapping_add(c);
    /// `a × b + c`, saturating once.
    s_mad_sat(a, b, c, width) = saturate_to_width(
        to_exact_integer(a, width, true) * to_exact_integer(b, width, true) + to_exact_integer(c, width, true), width, true);
    /// `a × b + c`, saturating once.
    u_mad_sat(a, b, c, width) = {
        let product = u128::from(to_natural_number(a, width)) * u128::from(to_natural_number(b, width));
        (product + u128::from(to_natural_number(c, width))).min(make_mask(width).into()) as u64
    };
    /// `a × b` of the lowest 24 bits of each, plus `c`, wrapping.
    s_mad24(a, b, c, width) = s_mul24(a, b, 64).wrapping_add(c);
    /// `a × b` of the lowest 24 bits of each, plus `c`, wrapping.
    u_mad24(a, b, c, width) = u_mul24(a, b, 64).wrapping_add(c);
    /// `min(max(a, b), c)`.
    s_clamp(a, b, c, width) = s_min(s_max(a, b, width), c, width);
    /// `min(max(a, b), c)`.
    u_clamp(a, b, c, width) = u_min(u_max(a, b, width), c, width);
}

/// `−a`, wrapping.
pub extern "C" fn neg(a: u64, width: u32) -> u64 {
    a.wrapping_neg() & make_mask(width)
}

/// `|a|` as a natural number (the smallest number is its own magnitude).
pub extern "C" fn s_abs(a: u64, width: u32) -> u64 {
    signed(a, width).unsigned_abs() & make_mask(width)
}

/// `a`.
pub extern "C" fn u_abs(a: u64, width: u32) -> u64 {
    to_natural_number(a, width)
}

/// −1, 0 or 1, as `a` is below, at or above zero.
pub extern "C" fn s_sign(a: u64, width: u32) -> u64 {
    signed(a, width).signum() as u64 & make_mask(width)
}

compare! {
    /// `a = b`.
    equal to_natural_number ==;
    /// `a ≠ b`.
    not_equal to_natural_number !=;
    /// `a > b`.
    u_greater to_natural_number >;
    /// `a > b`.
    s_greater signed >;
    /// `a ≥ b`.
    u_greater_equal to_natural_number >=;
    /// `a ≥ b`.
    s_greater_equal signed >=;
    /// `a < b`.
    u_less to_natural_number <;
    /// `a < b`.
    s_less signed <;
    /// `a ≤ b`.
    u_less_equal to_natural_number <=;
    /// `a ≤ b`.
    s_less_equal signed <=;
}
