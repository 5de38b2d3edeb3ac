//! Floats: their bits, and operations on them.

use super::value::{AbstractScalar, LeafType};
use spirula_llvm::ir::{LlvmOpcode, Predicate};

/// The bits of a half, rounded to nearest, ties to even.
pub fn half_bits(value: f64) -> u16 {
    let sign = if value.is_sign_negative() { 0x8000 } else { 0 };
    let size = value.abs();
    if value.is_nan() {
        return 0x7e00;
    }
    if size >= 65520.0 {
        return sign | 0x7c00;
    }
    // In units of the last place of the result. This is exact, because both are powers of two.
    let exponent = ((size.to_bits() >> 52) as i32 - 1023).max(-14);
    let unit = f64::from_bits(((exponent - 10 + 1023) as u64) << 52);
    let units = (size / unit).round_ties_even() as u16;
    // A mantissa of 2^11 carries into the exponent.
    sign | ((((exponent + 14) as u16) << 10) + units)
}

fn half_value(bits: u16) -> f64 {
    let sign = if bits & 0x8000 != 0 { -1.0 } else { 1.0 };
    let (exponent, fraction) = (i32::from(bits >> 10 & 31), f64::from(bits & 0x3ff));
    sign * match exponent {
        0 => fraction * 2_f64.powi(-24),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1024.0 + fraction) * 2_f64.powi(exponent - 25),
    }
}

/// The number that the bits of a float stand for.
pub fn bits_to_f64(width: u32, bits: u128) -> f64 {
    match width {
        16 => half_value(bits as u16),
        32 => f32::from_bits(bits as u32).into(),
        _ => f64::from_bits(bits as u64),
    }
}

/// The scalar of a number, rounded to a width.
pub fn round_to_width(width: u32, value: f64) -> AbstractScalar {
    if value.is_nan() {
        return AbstractScalar::Nan;
    }
    AbstractScalar::Bits(match width {
        16 => half_bits(value).into(),
        32 => (value as f32).to_bits().into(),
        _ => value.to_bits().into(),
    })
}

/// The scalar of bits that were not computed. Signalling NaNs may become anything.
pub fn scalar_from_bits(kind: LeafType, bits: u128) -> AbstractScalar {
    match kind {
        LeafType::Float(width) if bits_to_f64(width, bits).is_nan() => {
            let quiet = match width {
                16 => 1 << 9,
                32 => 1 << 22,
                _ => 1_u128 << 51,
            };
            match bits & quiet {
                0 => AbstractScalar::Any,
                _ => AbstractScalar::Nan,
            }
        }
        _ => AbstractScalar::Bits(bits),
    }
}

/// The number of a scalar, possibly NaN; `None` if it may be anything.
pub fn scalar_to_f64(width: u32, scalar: AbstractScalar) -> Option<f64> {
    match scalar {
        AbstractScalar::Nan => Some(f64::NAN),
        AbstractScalar::Bits(bits) => Some(bits_to_f64(width, bits)),
        _ => None,
    }
}

/// The sign bit.
fn sign_bit(width: u32) -> u128 {
    1 << (width - 1)
}

/// Changes the sign bit only.
pub fn with_sign(
    width: u32,
    scalar: AbstractScalar,
    change: impl Fn(u128, u128) -> u128,
) -> AbstractScalar {
    match scalar {
        AbstractScalar::Bits(bits) => AbstractScalar::Bits(change(bits, sign_bit(width))),
        other => other,
    }
}

/// An operation on two floats.
pub fn eval_binary(
    op: LlvmOpcode,
    width: u32,
    a: AbstractScalar,
    b: AbstractScalar,
) -> AbstractScalar {
    let (Some(x), Some(y)) = (scalar_to_f64(width, a), scalar_to_f64(width, b)) else {
        return AbstractScalar::Any;
    };
    // A double holds the exact result for floats, or one that rounds to the same float.
    let result = match (op, width) {
        (LlvmOpcode::FAdd, _) => x + y,
        (LlvmOpcode::FSub, _) => x - y,
        (LlvmOpcode::FMul, _) => x * y,
        (LlvmOpcode::FDiv, 32) => f64::from(x as f32 / y as f32),
        (LlvmOpcode::FDiv, _) => x / y,
        _ => x % y,
    };
    round_to_width(width, result)
}

/// `fcmp`
pub fn eval_compare(
    predicate: Predicate,
    width: u32,
    a: AbstractScalar,
    b: AbstractScalar,
) -> AbstractScalar {
    use Predicate as P;
    match predicate {
        P::FFalse => return AbstractScalar::from_bool(false),
        P::FTrue => return AbstractScalar::from_bool(true),
        _ => {}
    }
    let (Some(x), Some(y)) = (scalar_to_f64(width, a), scalar_to_f64(width, b)) else {
        return AbstractScalar::Any;
    };
    let unordered = x.is_nan() || y.is_nan();
    AbstractScalar::from_bool(match predicate {
        P::FOeq => x == y,
        P::FOgt => x > y,
        P::FOge => x >= y,
        P::FOlt => x < y,
        P::FOle => x <= y,
        P::FOne => !unordered && x != y,
        P::FOrd => !unordered,
        P::FUno => unordered,
        P::FUeq => unordered || x == y,
        P::FUgt => unordered || x > y,
        P::FUge => unordered || x >= y,
        P::FUlt => unordered || x < y,
        P::FUle => unordered || x <= y,
        _ => x != y,
    })
}

/// A fused multiply-add, rounded once.
pub fn fused_multiply_add(width: u32, [a, b, c]: [AbstractScalar; 3]) -> AbstractScalar {
    let (Some(x), Some(y), Some(z)) = (
        scalar_to_f64(width, a),
        scalar_to_f64(width, b),
        scalar_to_f64(width, c),
    ) else {
        return AbstractScalar::Any;
    };
    match width {
        64 => round_to_width(64, x.mul_add(y, z)),
        32 => round_to_width(32, f64::from((x as f32).mul_add(y as f32, z as f32))),
        _ => {
            let (product, sum) = (x * y, x * y + z);
            // The error of the sum (Knuth); the product of halves is exact.
            let part = sum - product;
            let error = (product - (sum - part)) + (z - part);
            if error == 0.0 || !sum.is_finite() {
                round_to_width(16, sum)
            } else {
                AbstractScalar::Any
            }
        }
    }
}

/// The larger (`larger`) or smaller of two floats; `propagates` says whether NaN wins.
pub fn select_extreme(
    larger: bool,
    propagates: bool,
    width: u32,
    a: AbstractScalar,
    b: AbstractScalar,
) -> AbstractScalar {
    let (Some(x), Some(y)) = (scalar_to_f64(width, a), scalar_to_f64(width, b)) else {
        return AbstractScalar::Any;
    };
    match (x.is_nan(), y.is_nan()) {
        (true, true) => return AbstractScalar::Nan,
        (true, false) if !propagates => return b,
        (false, true) if !propagates => return a,
        (false, false) => {}
        _ => return AbstractScalar::Nan,
    }
    if x == y {
        let first_is_less = x.is_sign_negative();
        return match (a == b, propagates) {
            (true, _) => a,
            // `minnum` may return either zero.
            (false, false) => AbstractScalar::Any,
            (false, true) => [a, b][usize::from(first_is_less == larger)],
        };
    }
    [b, a][usize::from((x > y) == larger)]
}

/// Whether a float is in one of the classes of a mask of `llvm.is.fpclass`.
pub fn is_class(width: u32, scalar: AbstractScalar, mask: u32) -> AbstractScalar {
    let bits = match scalar {
        AbstractScalar::Nan => return merge_verdicts(mask & 1 != 0, mask & 2 != 0),
        AbstractScalar::Bits(bits) => bits,
        _ => return AbstractScalar::Any,
    };
    let x = bits_to_f64(width, bits);
    let least = [
        6.103515625e-5,
        f64::from(f32::MIN_POSITIVE),
        f64::MIN_POSITIVE,
    ];
    let least = least[(width / 32) as usize];
    let class = match x.abs() {
        _ if x.is_infinite() => 9,
        size if size >= least => 8,
        size if size > 0.0 => 7,
        _ => 6,
    };
    let bit = if bits & sign_bit(width) == 0 {
        class
    } else {
        11 - class
    };
    AbstractScalar::from_bool(mask >> bit & 1 != 0)
}

fn merge_verdicts(a: bool, b: bool) -> AbstractScalar {
    if a == b {
        AbstractScalar::from_bool(a)
    } else {
        // It is unknown whether the NaN signals.
        AbstractScalar::Any
    }
}
