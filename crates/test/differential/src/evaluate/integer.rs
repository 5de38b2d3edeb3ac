//! Integers of up to 128 bits, kept zero-extended.

use super::value::AbstractScalar;
use spirula_llvm::ir::{LlvmInstFlags, LlvmOpcode, Predicate, RmwOp};

/// The mask of a width.
pub fn width_mask(width: u32) -> u128 {
    match width {
        128 => u128::MAX,
        _ => (1 << width) - 1,
    }
}

/// Truncates an integer to its width.
pub fn truncate_to_width(width: u32, value: i128) -> AbstractScalar {
    AbstractScalar::Bits(value as u128 & width_mask(width))
}

/// Sign-extends from a width.
pub fn sign_extend(width: u32, bits: u128) -> i128 {
    let shift = 128 - width;
    ((bits << shift) as i128) >> shift
}

/// Least and greatest number of a width, as far as `i128` represents it.
pub fn width_range(width: u32, is_signed: bool) -> (i128, i128) {
    if is_signed {
        (i128::MIN >> (128 - width), i128::MAX >> (128 - width))
    } else {
        (0, i128::try_from(width_mask(width)).unwrap_or(i128::MAX))
    }
}

/// A result truncated to its width. If it must not wrap, it may be anything when the exact result does not fit.
fn apply_wrap_flags(
    flags: LlvmInstFlags,
    width: u32,
    wrapped: u128,
    unsigned: Option<u128>,
    with_sign: Option<i128>,
) -> AbstractScalar {
    let (low, high) = width_range(width, true);
    let unsigned = unsigned.is_some_and(|value| value <= width_mask(width));
    let with_sign = with_sign.is_some_and(|value| value >= low && value <= high);
    if (flags.contains_all(LlvmInstFlags::NUW) && !unsigned)
        || (flags.contains_all(LlvmInstFlags::NSW) && !with_sign)
    {
        AbstractScalar::Any
    } else {
        AbstractScalar::Bits(wrapped & width_mask(width))
    }
}

/// Evaluates an operation; `None` if it is undefined.
pub fn eval_binary(
    op: LlvmOpcode,
    flags: LlvmInstFlags,
    width: u32,
    a: u128,
    b: u128,
) -> Option<AbstractScalar> {
    let (x, y) = (sign_extend(width, a), sign_extend(width, b));
    let exactly =
        |wrapped, unsigned, with_sign| apply_wrap_flags(flags, width, wrapped, unsigned, with_sign);
    let by = b as u32;
    Some(match op {
        LlvmOpcode::Add => exactly(a.wrapping_add(b), a.checked_add(b), x.checked_add(y)),
        LlvmOpcode::Sub => exactly(a.wrapping_sub(b), a.checked_sub(b), x.checked_sub(y)),
        LlvmOpcode::Mul => exactly(a.wrapping_mul(b), a.checked_mul(b), x.checked_mul(y)),
        LlvmOpcode::UDiv | LlvmOpcode::URem | LlvmOpcode::SDiv | LlvmOpcode::SRem if b == 0 => {
            return None;
        }
        LlvmOpcode::SDiv | LlvmOpcode::SRem if x == width_range(width, true).0 && y == -1 => {
            return None;
        }
        LlvmOpcode::UDiv => AbstractScalar::Bits(a / b),
        LlvmOpcode::URem => AbstractScalar::Bits(a % b),
        LlvmOpcode::SDiv => truncate_to_width(width, x / y),
        LlvmOpcode::SRem => truncate_to_width(width, x % y),
        LlvmOpcode::Shl | LlvmOpcode::LShr | LlvmOpcode::AShr if b >= width.into() => {
            AbstractScalar::Any
        }
        LlvmOpcode::Shl => AbstractScalar::Bits(a << by & width_mask(width)),
        LlvmOpcode::LShr => AbstractScalar::Bits(a >> by),
        LlvmOpcode::AShr => truncate_to_width(width, x >> by),
        LlvmOpcode::And => AbstractScalar::Bits(a & b),
        LlvmOpcode::Or => AbstractScalar::Bits(a | b),
        _ => AbstractScalar::Bits(a ^ b),
    })
}

/// `icmp`
pub fn eval_compare(predicate: Predicate, width: u32, a: u128, b: u128) -> bool {
    let (x, y) = (sign_extend(width, a), sign_extend(width, b));
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

/// The value that `atomicrmw` stores; `None` if the operation is not on integers.
pub fn eval_atomic_update(op: RmwOp, width: u32, a: u128, b: u128) -> Option<AbstractScalar> {
    let (x, y) = (sign_extend(width, a), sign_extend(width, b));
    Some(match op {
        RmwOp::Xchg => AbstractScalar::Bits(b),
        RmwOp::Add => truncate_to_width(width, x.wrapping_add(y)),
        RmwOp::Sub => truncate_to_width(width, x.wrapping_sub(y)),
        RmwOp::And => AbstractScalar::Bits(a & b),
        RmwOp::Nand => truncate_to_width(width, !(a & b) as i128),
        RmwOp::Or => AbstractScalar::Bits(a | b),
        RmwOp::Xor => AbstractScalar::Bits(a ^ b),
        RmwOp::Max => truncate_to_width(width, x.max(y)),
        RmwOp::Min => truncate_to_width(width, x.min(y)),
        RmwOp::UMax => AbstractScalar::Bits(a.max(b)),
        RmwOp::UMin => AbstractScalar::Bits(a.min(b)),
        _ => return None,
    })
}
