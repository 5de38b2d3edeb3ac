//! Integers of up to 64 bits, kept zero-extended.

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

/// Least and greatest number of a width.
pub fn range(width: u32, is_signed: bool) -> (i128, i128) {
    match is_signed {
        true => (-(1 << (width - 1)), (1 << (width - 1)) - 1),
        false => (0, (1 << width) - 1),
    }
}

/// An operation; `None` where it is undefined.
pub fn binary(op: Opcode, flags: Flags, width: u32, a: u128, b: u128) -> Option<Scalar> {
    let (x, y) = (a as i128, b as i128);
    let (sx, sy) = (signed(width, a), signed(width, b));
    let exactly = |unsigned: i128, with_sign: i128| {
        let fits = |value: i128, (low, high): (i128, i128)| value >= low && value <= high;
        let wraps = flags.has(Flags::NUW) && !fits(unsigned, range(width, false))
            || flags.has(Flags::NSW) && !fits(with_sign, range(width, true));
        if wraps {
            Scalar::Any
        } else {
            cut(width, unsigned)
        }
    };
    Some(match op {
        Opcode::Add => exactly(x + y, sx + sy),
        Opcode::Sub => exactly(x - y, sx - sy),
        // Unsigned products of 64 bits have 128.
        Opcode::Mul if flags.is_empty() => cut(width, x.wrapping_mul(y)),
        Opcode::Mul => match x.checked_mul(y) {
            Some(product) => exactly(product, sx * sy),
            None if flags.has(Flags::NUW) => Scalar::Any,
            None => match sx * sy {
                product
                    if cut(width, product).bits().map(|b| signed(width, b)) == Some(product) =>
                {
                    cut(width, product)
                }
                _ => Scalar::Any,
            },
        },
        Opcode::UDiv | Opcode::URem | Opcode::SDiv | Opcode::SRem if b == 0 => return None,
        Opcode::SDiv | Opcode::SRem if sx == range(width, true).0 && sy == -1 => return None,
        Opcode::UDiv => cut(width, x / y),
        Opcode::URem => cut(width, x % y),
        Opcode::SDiv => cut(width, sx / sy),
        Opcode::SRem => cut(width, sx % sy),
        Opcode::Shl | Opcode::LShr | Opcode::AShr if b >= width.into() => Scalar::Any,
        Opcode::Shl => cut(width, x << b),
        Opcode::LShr => cut(width, x >> b),
        Opcode::AShr => cut(width, sx >> b),
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
        RmwOp::Add => cut(width, x + y),
        RmwOp::Sub => cut(width, x - y),
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
