//! Conversions.

use super::value::{AbstractScalar, AbstractValue, LeafType};
use super::{EvaluationResult, LlvmEvaluator, float, integer, stop_unsupported};
use spirula_llvm::ir::{LlvmOpcode, LlvmType};

impl LlvmEvaluator<'_> {
    pub(super) fn eval_cast(
        &mut self,
        op: LlvmOpcode,
        value: &AbstractValue,
        from: LlvmType,
        to: LlvmType,
    ) -> EvaluationResult<AbstractValue> {
        let (source, target) = (self.scalar_kind(from)?, self.scalar_kind(to)?);
        if op == LlvmOpcode::BitCast {
            let count = self.type_leaves(to)?.len();
            return Ok(bitcast_scalars(value, source, target, count));
        }
        value
            .iter()
            .map(|scalar| convert_scalar(op, *scalar, source, target))
            .collect()
    }
}

fn convert_scalar(
    op: LlvmOpcode,
    scalar: AbstractScalar,
    from: LeafType,
    to: LeafType,
) -> EvaluationResult<AbstractScalar> {
    let (width, wanted) = (from.bit_width(), to.bit_width());
    if scalar == AbstractScalar::Any {
        return Ok(AbstractScalar::Any);
    }
    Ok(match op {
        LlvmOpcode::AddrSpaceCast => scalar,
        LlvmOpcode::PtrToInt | LlvmOpcode::IntToPtr if width == wanted => scalar,
        LlvmOpcode::FpTrunc | LlvmOpcode::FpExt => match float::scalar_to_f64(width, scalar) {
            Some(number) => float::round_to_width(wanted, number),
            None => AbstractScalar::Any,
        },
        LlvmOpcode::FpToSi | LlvmOpcode::FpToUi => {
            let number = float::scalar_to_f64(width, scalar).map(f64::trunc);
            let (low, high) = integer::width_range(wanted, op == LlvmOpcode::FpToSi);
            match number {
                // The upper bound is a power of two less one.
                Some(x) if x >= low as f64 && x < high as f64 + 1.0 => {
                    integer::truncate_to_width(wanted, x as i128)
                }
                _ => AbstractScalar::Any,
            }
        }
        LlvmOpcode::Trunc
        | LlvmOpcode::ZExt
        | LlvmOpcode::SExt
        | LlvmOpcode::SiToFp
        | LlvmOpcode::UiToFp => {
            let Some(bits) = scalar.known_bits() else {
                return Ok(AbstractScalar::Any);
            };
            match op {
                LlvmOpcode::SExt => {
                    integer::truncate_to_width(wanted, integer::sign_extend(width, bits))
                }
                LlvmOpcode::SiToFp => {
                    let value = integer::sign_extend(width, bits);
                    from_integer(wanted, value as f32, value as f64)
                }
                LlvmOpcode::UiToFp => from_integer(wanted, bits as f32, bits as f64),
                _ => AbstractScalar::Bits(bits & integer::width_mask(wanted)),
            }
        }
        _ => return stop_unsupported(op.name()),
    })
}

/// An integer as a float, rounded once; it is computed from floats of 32 and of 64 bits.
fn from_integer(width: u32, single: f32, double: f64) -> AbstractScalar {
    match width {
        32 => AbstractScalar::Bits(single.to_bits().into()),
        // An inexact double lies beyond all halves.
        _ => float::round_to_width(width, double),
    }
}

/// Reinterprets the bits as other scalars.
fn bitcast_scalars(
    value: &[AbstractScalar],
    from: LeafType,
    to: LeafType,
    count: usize,
) -> AbstractValue {
    if from.bit_width() == to.bit_width() {
        let one = |scalar: &AbstractScalar| match (*scalar, from, to) {
            (AbstractScalar::Bits(bits), ..) => float::scalar_from_bits(to, bits),
            (AbstractScalar::Nan, LeafType::Float(_), LeafType::Float(_)) => AbstractScalar::Nan,
            (AbstractScalar::Address(address), ..) => AbstractScalar::Address(address),
            _ => AbstractScalar::Any,
        };
        return value.iter().map(one).collect();
    }
    let (width, wanted) = (from.bit_width() as usize, to.bit_width() as usize);
    let bit = |at: usize| {
        value[at / width]
            .known_bits()
            .map(|bits| bits >> (at % width) & 1)
    };
    let part = |n: usize| {
        let bits = (0..wanted).map(|at| Some(bit(n * wanted + at)? << at));
        match bits.sum::<Option<u128>>() {
            Some(bits) => float::scalar_from_bits(to, bits),
            None => AbstractScalar::Any,
        }
    };
    (0..count).map(part).collect()
}
