//! Conversions.

use super::value::{AbstractScalar, AbstractValue, LeafType};
use super::{EvaluationResult, LlvmEvaluator, float, integer, unsupported};
use spirula_llvm::ir::{LlvmOpcode, LlvmType};

impl LlvmEvaluator<'_> {
    pub(super) fn cast(
        &mut self,
        op: LlvmOpcode,
        value: &AbstractValue,
        from: LlvmType,
        to: LlvmType,
    ) -> EvaluationResult<AbstractValue> {
        let (source, target) = (self.kind(from)?, self.kind(to)?);
        if op == LlvmOpcode::BitCast {
            let count = self.shape(to)?.len();
            return Ok(recast(value, source, target, count));
        }
        value
            .iter()
            .map(|scalar| convert(op, *scalar, source, target))
            .collect()
    }
}

fn convert(
    op: LlvmOpcode,
    scalar: AbstractScalar,
    from: LeafType,
    to: LeafType,
) -> EvaluationResult<AbstractScalar> {
    let (width, wanted) = (from.bits(), to.bits());
    if scalar == AbstractScalar::Any {
        return Ok(AbstractScalar::Any);
    }
    Ok(match op {
        LlvmOpcode::AddrSpaceCast => scalar,
        LlvmOpcode::PtrToInt | LlvmOpcode::IntToPtr if width == wanted => scalar,
        LlvmOpcode::FpTrunc | LlvmOpcode::FpExt => match float::value(width, scalar) {
            Some(number) => float::rounded(wanted, number),
            None => AbstractScalar::Any,
        },
        LlvmOpcode::FpToSi | LlvmOpcode::FpToUi => {
            let number = float::value(width, scalar).map(f64::trunc);
            let (low, high) = integer::range(wanted, op == LlvmOpcode::FpToSi);
            match number {
                // The bound above is a power of two less one.
                Some(x) if x >= low as f64 && x < high as f64 + 1.0 => {
                    integer::cut(wanted, x as i128)
                }
                _ => AbstractScalar::Any,
            }
        }
        LlvmOpcode::Trunc
        | LlvmOpcode::ZExt
        | LlvmOpcode::SExt
        | LlvmOpcode::SiToFp
        | LlvmOpcode::UiToFp => {
            let Some(bits) = scalar.bits() else {
                return Ok(AbstractScalar::Any);
            };
            match op {
                LlvmOpcode::SExt => integer::cut(wanted, integer::signed(width, bits)),
                LlvmOpcode::SiToFp => {
                    let value = integer::signed(width, bits);
                    from_integer(wanted, value as f32, value as f64)
                }
                LlvmOpcode::UiToFp => from_integer(wanted, bits as f32, bits as f64),
                _ => AbstractScalar::Bits(bits & integer::mask(wanted)),
            }
        }
        _ => return unsupported(op.name()),
    })
}

/// An integer, which is known as a float of 32 bits and as one of 64, rounded once.
fn from_integer(width: u32, single: f32, double: f64) -> AbstractScalar {
    match width {
        32 => AbstractScalar::Bits(single.to_bits().into()),
        // What is not exact as a double is beyond all halves.
        _ => float::rounded(width, double),
    }
}

/// The same bits as other scalars.
fn recast(value: &[AbstractScalar], from: LeafType, to: LeafType, count: usize) -> AbstractValue {
    if from.bits() == to.bits() {
        let one = |scalar: &AbstractScalar| match (*scalar, from, to) {
            (AbstractScalar::Bits(bits), ..) => float::known(to, bits),
            (AbstractScalar::Nan, LeafType::Float(_), LeafType::Float(_)) => AbstractScalar::Nan,
            (AbstractScalar::Address(address), ..) => AbstractScalar::Address(address),
            _ => AbstractScalar::Any,
        };
        return value.iter().map(one).collect();
    }
    let (width, wanted) = (from.bits() as usize, to.bits() as usize);
    let bit = |at: usize| {
        value[at / width]
            .bits()
            .map(|bits| bits >> (at % width) & 1)
    };
    let part = |n: usize| {
        let bits = (0..wanted).map(|at| Some(bit(n * wanted + at)? << at));
        match bits.sum::<Option<u128>>() {
            Some(bits) => float::known(to, bits),
            None => AbstractScalar::Any,
        }
    };
    (0..count).map(part).collect()
}
