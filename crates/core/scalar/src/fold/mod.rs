//! Constant folding of SPIR-V's scalar operations.
//!
//! [`eval_core`] takes an opcode, the result's type and operands as bits, and gives the result's bits, or
//! `None` where the opcode has no row or the types do not fit it; it never fails otherwise. Vectors
//! are evaluated component by component by the caller. A NaN that arithmetic produces is
//! [`FloatEncoding::nan`], so that the result does not depend on the machine.

mod convert;
mod extended;
mod rules;

pub use extended::eval_extended;
pub use rules::{FoldOperation, FoldRule, find_named_rule, list_rules};

use crate::convert::float_to_float;
use crate::format::{FloatEncoding, FloatRounding};
use crate::half_float::fma_to_odd;
use crate::int::make_mask;
use crate::real::NativeFloat;

/// A scalar type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FoldType {
    /// `OpTypeBool`: bits 0 or 1.
    Bool,
    /// `OpTypeInt`; operations, not types, determine whether it is signed.
    Int {
        /// Bits, 1 to 64.
        width: u32,
    },
    /// `OpTypeFloat`.
    Float(FloatEncoding),
}

impl FoldType {
    /// Bits of a value; one for a Boolean.
    pub fn width(self) -> u32 {
        match self {
            Self::Bool => 1,
            Self::Int { width } => width,
            Self::Float(format) => format.width(),
        }
    }
}

/// A constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FoldConstant {
    /// Its type.
    pub ty: FoldType,
    /// Its bits; those above the type's width are ignored.
    pub bits: u64,
}

/// The result of the core instruction `opcode` on constants, in the low bits; the others are zero.
///
/// `operands` are the instruction's value operands in order. Conversions round to nearest even.
pub fn eval_core(opcode: u32, result: FoldType, operands: &[FoldConstant]) -> Option<u64> {
    let fits = |ty: FoldType| (1..=64).contains(&ty.width());
    if !fits(result) || !operands.iter().all(|operand| fits(operand.ty)) {
        return None;
    }
    let rows = list_rules();
    let index = rows
        .binary_search_by_key(&opcode, |rule| rule.opcode)
        .ok()?;
    apply_rule(rows[index].fold, result, operands).map(|bits| bits & make_mask(result.width()))
}

/// The result of one rule; `None` where the operands do not fit it.
fn apply_rule(fold: FoldOperation, result: FoldType, operands: &[FoldConstant]) -> Option<u64> {
    let width = result.width();
    match (fold, operands) {
        (FoldOperation::Int1(f), [a]) if same_int(result, &[a]) => Some(f(a.bits, width)),
        (FoldOperation::Int2(f), [a, b]) if same_int(result, &[a, b]) => {
            Some(f(a.bits, b.bits, width))
        }
        (FoldOperation::Shift(f), [a, by]) if same_int(result, &[a]) && is_int(by) => {
            Some(f(a.bits, read_unsigned(by), width))
        }
        (FoldOperation::Logical1(f), [a]) if all_bool(result, &[a]) => Some(f(a.bits, 1)),
        (FoldOperation::Logical2(f), [a, b]) if all_bool(result, &[a, b]) => {
            Some(f(a.bits, b.bits, 1))
        }
        (FoldOperation::Compare(f), [a, b]) if result == FoldType::Bool && same_int(a.ty, &[b]) => {
            Some(f(a.bits, b.bits, a.ty.width()).into())
        }
        (FoldOperation::Count(f), [a]) if is_int_type(result) && is_int(a) => {
            Some(f(a.bits, a.ty.width()))
        }
        (FoldOperation::Insert(f), [base, insert, offset, count])
            if same_int(result, &[base, insert]) && is_int(offset) && is_int(count) =>
        {
            Some(f(
                base.bits,
                insert.bits,
                read_unsigned(offset),
                read_unsigned(count),
                width,
            ))
        }
        (FoldOperation::Extract(f), [base, offset, count])
            if same_int(result, &[base]) && is_int(offset) && is_int(count) =>
        {
            Some(f(
                base.bits,
                read_unsigned(offset),
                read_unsigned(count),
                width,
            ))
        }
        (FoldOperation::Dot(f), [a, b]) if is_int_type(result) && is_packed(&[a, b]) => {
            Some(f(a.bits, b.bits, width))
        }
        (FoldOperation::DotAccumulate(f), [a, b, sum])
            if same_int(result, &[sum]) && is_packed(&[a, b]) =>
        {
            Some(f(a.bits, b.bits, sum.bits, width))
        }
        (FoldOperation::Select, [condition, a, b])
            if condition.ty == FoldType::Bool && a.ty == result && b.ty == result =>
        {
            Some(if condition.bits & 1 != 0 {
                a.bits
            } else {
                b.bits
            })
        }
        (FoldOperation::Convert(f), [a]) => f(*a, result),
        _ => apply_real(fold, result, operands),
    }
}

/// [`apply_rule`] for rules on floating-point operands.
fn apply_real(fold: FoldOperation, result: FoldType, operands: &[FoldConstant]) -> Option<u64> {
    match (fold, operands) {
        (FoldOperation::Real2 { f32, f64 }, [a, b]) => {
            let format = same_float(result, &[a, b])?;
            Some(if format == FloatEncoding::F64 {
                canonicalise_nan(f64(to_f64(a), to_f64(b)))
            } else {
                // Rounding twice is harmless: 24 bits are at least twice the format's, and two.
                round_to_encoding(f32(to_f64(a) as f32, to_f64(b) as f32).into(), format)
            })
        }
        (FoldOperation::FusedMultiplyAdd, [a, b, c]) => {
            let format = same_float(result, &[a, b, c])?;
            Some(match format {
                FloatEncoding::F64 => {
                    canonicalise_nan(crate::math::fma(to_f64(a), to_f64(b), to_f64(c)))
                }
                _ => round_to_encoding(fma_to_odd(to_f64(a), to_f64(b), to_f64(c)), format),
            })
        }
        (FoldOperation::Negate, [a]) => {
            let format = same_float(result, &[a])?;
            Some(a.bits ^ format.sign_bit())
        }
        (FoldOperation::Test(f), [a]) if result == FoldType::Bool => {
            Some(f(a.bits, float_format(a.ty)?).into())
        }
        (FoldOperation::RealCompare(f), [a, b]) if result == FoldType::Bool => {
            same_float(a.ty, &[b])?;
            Some(f(to_f64(a), to_f64(b)).into())
        }
        _ => None,
    }
}

/// The bits of `value` rounded to `format`, the canonical NaN for NaN.
fn round_to_encoding(value: f64, format: FloatEncoding) -> u64 {
    float_to_float(
        canonicalise_nan(value),
        FloatEncoding::F64,
        format,
        FloatRounding::NearestEven,
    )
}

/// The bits of `value`, the canonical NaN for NaN.
fn canonicalise_nan<T: NativeFloat>(value: T) -> u64 {
    if value.is_nan() {
        T::FORMAT.nan()
    } else {
        value.to_raw()
    }
}

/// A floating-point operand as `f64`, which holds every format's values; its type must be `Float`.
fn to_f64(value: &FoldConstant) -> f64 {
    let format = float_format(value.ty).unwrap_or(FloatEncoding::F64);
    f64::from_bits(float_to_float(
        value.bits,
        format,
        FloatEncoding::F64,
        FloatRounding::NearestEven,
    ))
}

fn float_format(ty: FoldType) -> Option<FloatEncoding> {
    match ty {
        FoldType::Float(format) => Some(format),
        _ => None,
    }
}

/// The format of `ty` if all operands have that type.
fn same_float(ty: FoldType, operands: &[&FoldConstant]) -> Option<FloatEncoding> {
    float_format(ty).filter(|_| operands.iter().all(|operand| operand.ty == ty))
}

/// Whether `ty` is an integer type and all operands have it.
fn same_int(ty: FoldType, operands: &[&FoldConstant]) -> bool {
    is_int_type(ty) && operands.iter().all(|operand| operand.ty == ty)
}

fn is_int_type(ty: FoldType) -> bool {
    matches!(ty, FoldType::Int { .. })
}

fn is_int(value: &FoldConstant) -> bool {
    is_int_type(value.ty)
}

/// Whether the operands are packed 4x8-bit vectors.
fn is_packed(operands: &[&FoldConstant]) -> bool {
    operands
        .iter()
        .all(|operand| operand.ty == FoldType::Int { width: 32 })
}

fn all_bool(result: FoldType, operands: &[&FoldConstant]) -> bool {
    result == FoldType::Bool && operands.iter().all(|operand| operand.ty == FoldType::Bool)
}

fn read_unsigned(value: &FoldConstant) -> u64 {
    value.bits & make_mask(value.ty.width())
}
