//! Bit operations: shifts, rotations, counts, searches and bit fields.

use super::{make_mask, sign_extend};

/// A shift amount reduced modulo the width, as OpenCL C (section 6.3) demands and processors do.
#[inline]
fn reduce_shift_amount(shift: u64, width: u32) -> u32 {
    (shift % u64::from(width)) as u32
}

/// `a` shifted left by `shift` modulo the width.
pub extern "C" fn shl(a: u64, shift: u64, width: u32) -> u64 {
    (a << reduce_shift_amount(shift, width)) & make_mask(width)
}

/// `a` shifted right by `shift` modulo the width, filled with zeros.
pub extern "C" fn u_shr(a: u64, shift: u64, width: u32) -> u64 {
    (a & make_mask(width)) >> reduce_shift_amount(shift, width)
}

/// `a` shifted right by `shift` modulo the width, filled with the sign.
pub extern "C" fn s_shr(a: u64, shift: u64, width: u32) -> u64 {
    (sign_extend(a, width) >> reduce_shift_amount(shift, width)) as u64 & make_mask(width)
}

/// `a` rotated left by `shift` modulo the width.
pub extern "C" fn rotate(a: u64, shift: u64, width: u32) -> u64 {
    let left = reduce_shift_amount(shift, width);
    let right = (width - left) % width;
    (shl(a, left.into(), width)) | u_shr(a, right.into(), width)
}

/// Bits set in both.
pub extern "C" fn and(a: u64, b: u64, width: u32) -> u64 {
    a & b & make_mask(width)
}

/// Bits set in either.
pub extern "C" fn or(a: u64, b: u64, width: u32) -> u64 {
    (a | b) & make_mask(width)
}

/// Bits set in one.
pub extern "C" fn xor(a: u64, b: u64, width: u32) -> u64 {
    (a ^ b) & make_mask(width)
}

/// Bits not set.
pub extern "C" fn not(a: u64, width: u32) -> u64 {
    !a & make_mask(width)
}

/// Bits of `b` where `c` is set, of `a` elsewhere.
pub extern "C" fn bitselect(a: u64, b: u64, c: u64, width: u32) -> u64 {
    ((a & !c) | (b & c)) & make_mask(width)
}

/// `b` if `c` is not zero, `a` otherwise: OpenCL's `select` on scalars.
///
/// On vectors it is the most significant bit of `c` that decides: [`select_by_sign`].
pub extern "C" fn select(a: u64, b: u64, c: u64, width: u32) -> u64 {
    (if c & make_mask(width) != 0 { b } else { a }) & make_mask(width)
}

/// `b` if the most significant bit of `c` is set, `a` otherwise: OpenCL's `select` on components.
pub extern "C" fn select_by_sign(a: u64, b: u64, c: u64, width: u32) -> u64 {
    (if sign_extend(c, width) < 0 { b } else { a }) & make_mask(width)
}

/// The number of bits set.
pub extern "C" fn popcount(a: u64, width: u32) -> u64 {
    (a & make_mask(width)).count_ones().into()
}

/// The number of zeros above the highest bit set; the width where none is.
pub extern "C" fn clz(a: u64, width: u32) -> u64 {
    ((a & make_mask(width)).leading_zeros() - (64 - width)).into()
}

/// The number of zeros below the lowest bit set; the width where none is.
pub extern "C" fn ctz(a: u64, width: u32) -> u64 {
    a.trailing_zeros().min(width).into()
}

/// The bits in reverse order.
pub extern "C" fn bit_reverse(a: u64, width: u32) -> u64 {
    (a & make_mask(width)).reverse_bits() >> (64 - width)
}

/// The position of the lowest bit set, −1 where none is.
pub extern "C" fn find_lsb(a: u64, width: u32) -> u64 {
    match a & make_mask(width) {
        0 => make_mask(width),
        bits => bits.trailing_zeros().into(),
    }
}

/// The position of the highest bit set, −1 where none is.
pub extern "C" fn find_umsb(a: u64, width: u32) -> u64 {
    match a & make_mask(width) {
        0 => make_mask(width),
        bits => bits.ilog2().into(),
    }
}

/// The position of the highest bit that differs from the sign, −1 for 0 and −1.
pub extern "C" fn find_smsb(a: u64, width: u32) -> u64 {
    let value = sign_extend(a, width);
    find_umsb((value ^ (value >> 63)) as u64, width)
}

/// `high` above `low`, each of `width` bits; the result has twice the width, at most 64 bits of it.
pub extern "C" fn upsample(high: u64, low: u64, width: u32) -> u64 {
    let high = if width < 64 {
        (high & make_mask(width)) << width
    } else {
        0
    };
    high | (low & make_mask(width))
}

/// The position of a bit field: offset and count, clipped to the width.
#[inline]
fn clamp_bit_field(offset: u64, count: u64, width: u32) -> (u32, u32) {
    let offset = offset.min(width.into()) as u32;
    (offset, count.min((width - offset).into()) as u32)
}

/// `base` with `count` bits from `offset` replaced by the lowest bits of `insert`; a field that
/// reaches beyond the width is cut.
pub extern "C" fn bit_field_insert(
    base: u64,
    insert: u64,
    offset: u64,
    count: u64,
    width: u32,
) -> u64 {
    match clamp_bit_field(offset, count, width) {
        (_, 0) => base & make_mask(width),
        (offset, count) => bitselect(base, insert << offset, make_mask(count) << offset, width),
    }
}

/// `count` bits of `base` from `offset`, sign-extended; a field that reaches beyond the width is
/// cut, an empty one gives 0.
pub extern "C" fn bit_field_s_extract(base: u64, offset: u64, count: u64, width: u32) -> u64 {
    match clamp_bit_field(offset, count, width) {
        (_, 0) => 0,
        (offset, count) => sign_extend(base >> offset, count) as u64 & make_mask(width),
    }
}

/// `count` bits of `base` from `offset`, zero-extended; a field that reaches beyond the width is
/// cut, an empty one gives 0.
pub extern "C" fn bit_field_u_extract(base: u64, offset: u64, count: u64, width: u32) -> u64 {
    match clamp_bit_field(offset, count, width) {
        (_, 0) => 0,
        (offset, count) => (base >> offset) & make_mask(count),
    }
}
