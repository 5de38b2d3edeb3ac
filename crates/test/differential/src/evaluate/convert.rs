//! Conversions.

use super::value::{Kind, Scalar, Value};
use super::{EvaluationResult, Evaluator, float, integer, unsupported};
use spirula_llvm::ir::{LlvmType, Opcode};

impl Evaluator<'_> {
    pub(super) fn cast(
        &mut self,
        op: Opcode,
        value: &Value,
        from: LlvmType,
        to: LlvmType,
    ) -> EvaluationResult<Value> {
        let (source, target) = (self.kind(from)?, self.kind(to)?);
        if op == Opcode::BitCast {
            let count = self.shape(to)?.len();
            return Ok(recast(value, source, target, count));
        }
        value
            .iter()
            .map(|scalar| convert(op, *scalar, source, target))
            .collect()
    }
}

fn convert(op: Opcode, scalar: Scalar, from: Kind, to: Kind) -> EvaluationResult<Scalar> {
    let (width, wanted) = (from.bits(), to.bits());
    if scalar == Scalar::Any {
        return Ok(Scalar::Any);
    }
    Ok(match op {
        Opcode::AddrSpaceCast => scalar,
        Opcode::PtrToInt | Opcode::IntToPtr if width == wanted => scalar,
        Opcode::FpTrunc | Opcode::FpExt => match float::value(width, scalar) {
            Some(number) => float::rounded(wanted, number),
            None => Scalar::Any,
        },
        Opcode::FpToSi | Opcode::FpToUi => {
            let number = float::value(width, scalar).map(f64::trunc);
            let (low, high) = integer::range(wanted, op == Opcode::FpToSi);
            match number {
                // The bound above is a power of two less one.
                Some(x) if x >= low as f64 && x < high as f64 + 1.0 => {
                    integer::cut(wanted, x as i128)
                }
                _ => Scalar::Any,
            }
        }
        Opcode::Trunc | Opcode::ZExt | Opcode::SExt | Opcode::SiToFp | Opcode::UiToFp => {
            let Some(bits) = scalar.bits() else {
                return Ok(Scalar::Any);
            };
            match op {
                Opcode::SExt => integer::cut(wanted, integer::signed(width, bits)),
                Opcode::SiToFp => {
                    let value = integer::signed(width, bits);
                    from_integer(wanted, value as f32, value as f64)
                }
                Opcode::UiToFp => from_integer(wanted, bits as f32, bits as f64),
                _ => Scalar::Bits(bits & integer::mask(wanted)),
            }
        }
        _ => return unsupported(op.name()),
    })
}

/// An integer, which is known as a float of 32 bits and as one of 64, rounded once.
fn from_integer(width: u32, single: f32, double: f64) -> Scalar {
    match width {
        32 => Scalar::Bits(single.to_bits().into()),
        // What is not exact as a double is beyond all halves.
        _ => float::rounded(width, double),
    }
}

/// The same bits as other scalars.
fn recast(value: &[Scalar], from: Kind, to: Kind, count: usize) -> Value {
    if from.bits() == to.bits() {
        let one = |scalar: &Scalar| match (*scalar, from, to) {
            (Scalar::Bits(bits), ..) => float::known(to, bits),
            (Scalar::Nan, Kind::Float(_), Kind::Float(_)) => Scalar::Nan,
            (Scalar::Address(address), ..) => Scalar::Address(address),
            _ => Scalar::Any,
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
            None => Scalar::Any,
        }
    };
    (0..count).map(part).collect()
}
