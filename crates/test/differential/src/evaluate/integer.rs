//! Integers of up to 128 bits, kept zero-extended.

use super::value::Scalar;
use spirula_llvm::ir::{Flags, Opcode, Predicate, RmwOp};

/// The bits of a width.
pub fn mask(width: u32) -> u128 {
    match width {
        128 => u128::MAX,
        _ => (1 << width) - 1,
    }
}

/// An integer, cut to its width.
pub fn cut(width: u32, value: i128) -> Scalar {
    Scalar::Bits(value as u128 & mask(width))
}

/// With the sign of its width.
pub fn signed(width: u32, bits: u128) -> i128 {
    let shift = 128 - width;
    ((bits << shift) as i128) >> shift
}

/// Least and greatest number of a width, as far as an `i128` has it.
pub fn range(width: u32, is_signed: bool) -> (i128, i128) {
    match is_signed {
        true => (i128::MIN >> (128 - width), i128::MAX >> (128 - width)),
        false => (0, i128::try_from(mask(width)).unwrap_or(i128::MAX)),
    }
}

/// A result cut to its width; anything where it may not wrap, and the exact one is none of the
/// width or of 128 bits either.
fn exactly(
    flags: Flags,
    width: u32,
    wrapped: u128,
    unsigned: Option<u128>,
    with_sign: Option<i128>,
) -> Scalar {
    let (low, high) = range(width, true);
    let unsigned = unsigned.is_some_and(|value| value <= mask(width));
    let with_sign = with_sign.is_some_and(|value| value >= low && value <= high);
    match (flags.has(Flags::NUW) && !unsigned) || (flags.has(Flags::NSW) && !with_sign) {
        true => Scalar::Any,
        false => Scalar::Bits(wrapped & mask(width)),
    }
}

/// An operation; `None` where it is undefined.
pub fn binary(op: Opcode, flags: Flags, width: u32, a: u128, b: u128) -> Option<Scalar> {
    let (x, y) = (signed(width, a), signed(width, b));
    let exactly =
        |wrapped, unsigned, with_sign| exactly(flags, width, wrapped, unsigned, with_sign);
    let by = b as u32;
    Some(match op {
        Opcode::Add => exactly(a.wrapping_add(b), a.checked_add(b), x.checked_add(y)),
        Opcode::Sub => exactly(a.wrapping_sub(b), a.checked_sub(b), x.checked_sub(y)),
        Opcode::Mul => exactly(a.wrapping_mul(b), a.checked_mul(b), x.checked_mul(y)),
        Opcode::UDiv | Opcode::URem | Opcode::SDiv | Opcode::SRem if b == 0 => return None,
        Opcode::SDiv | Opcode::SRem if x == range(width, true).0 && y == -1 => return None,
        Opcode::UDiv => Scalar::Bits(a / b),
        Opcode::URem => Scalar::Bits(a % b),
        Opcode::SDiv => cut(width, x / y),
        Opcode::SRem => cut(width, x % y),
        Opcode::Shl | Opcode::LShr | Opcode::AShr if b >= width.into() => Scalar::Any,
        Opcode::Shl => Scalar::Bits(a << by & mask(width)),
        Opcode::LShr => Scalar::Bits(a >> by),
        Opcode::AShr => cut(width, x >> by),
        Opcode::And => Scalar::Bits(a & b),
        Opcode::Or => Scalar::Bits(a | b),
        _ => Scalar::Bits(a ^ b),
    })
}

/// `icmp`
pub fn compare(predicate: Predicate, width: u32, a: u128, b: u128) -> bool {
    let (x, y) = (signed(width, a), signed(width, b));
    match predicate {
        Predicate::Eq => a == b,
        Predicate::Ne => a != b,
        Predicate::Ugt => a > b,
        Predicate::Uge => a >= b,
        Predicate::Ult => a < b,
        Predicate::Ule => a <= b,
        Predicate::Sgt => x > y,
        Predicate::Sge => x >= y,
        Predicate::Slt => x < y,
        _ => x <= y,
    }
}

/// What `atomicrmw` leaves; `None` where it is not about integers.
pub fn update(op: RmwOp, width: u32, a: u128, b: u128) -> Option<Scalar> {
    let (x, y) = (signed(width, a), signed(width, b));
    Some(match op {
        RmwOp::Xchg => Scalar::Bits(b),
        RmwOp::Add => cut(width, x.wrapping_add(y)),
        RmwOp::Sub => cut(width, x.wrapping_sub(y)),
        RmwOp::And => Scalar::Bits(a & b),
        RmwOp::Nand => cut(width, !(a & b) as i128),
        RmwOp::Or => Scalar::Bits(a | b),
        RmwOp::Xor => Scalar::Bits(a ^ b),
        RmwOp::Max => cut(width, x.max(y)),
        RmwOp::Min => cut(width, x.min(y)),
        RmwOp::UMax => Scalar::Bits(a.max(b)),
        RmwOp::UMin => Scalar::Bits(a.min(b)),
        _ => return None,
    })
}
