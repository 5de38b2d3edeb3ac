//! Integer operations at every width from 1 to 64.
//!
//! Operands and results are bits in a `u64` beside a `width`; bits of operands above the width are
//! ignored, results are zero-extended. A prefix `s_` or `u_` says how the bits are read; operations
//! without one do not care. All are total: what SPIR-V leaves undefined has the result documented at
//! the function. They have the C calling convention, so that machine code may call them. Constant
//! time.

mod arithmetic;
mod bits;
mod packed;

pub use arithmetic::*;
pub use bits::*;
pub use packed::*;

/// The lowest `width` bits set.
#[inline]
pub const fn make_mask(width: u32) -> u64 {
    if width >= 64 {
        u64::MAX
    } else {
        (1 << width) - 1
    }
}

/// The lowest `width` bits of `value` as a two's complement integer.
#[inline]
pub const fn sign_extend(value: u64, width: u32) -> i64 {
    let unused = 64u32.saturating_sub(width);
    ((value << unused) as i64) >> unused
}

/// `value` clamped to what an integer of `width` bits holds, two's complement if `signed`.
#[inline]
pub(crate) fn saturate_to_width(value: i128, width: u32, signed: bool) -> u64 {
    let (lowest, highest) = if signed {
        (-(1i128 << (width - 1)), (1i128 << (width - 1)) - 1)
    } else {
        (0, i128::from(make_mask(width)))
    };
    value.clamp(lowest, highest) as u64 & make_mask(width)
}

/// The lowest `width` bits of `value` as a mathematical integer, two's complement if `signed`.
#[inline]
pub(crate) fn to_exact_integer(value: u64, width: u32, signed: bool) -> i128 {
    if signed {
        sign_extend(value, width).into()
    } else {
        (value & make_mask(width)).into()
    }
}
