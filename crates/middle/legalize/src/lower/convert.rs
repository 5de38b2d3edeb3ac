//! Conversions between integers and floats.

use super::ShaderLowering;
use super::composites::result;
use crate::facts::MemoryScalar;
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::{Decoration, FPRoundingMode};
use spirula_spirv::grammar::glsl_std_450 as glsl;
use spirula_spirv::ir::InstRef;

/// Conversions without a mode: what has the width already stays.
pub fn plain(l: &mut ShaderLowering<'_>, inst: InstRef<'_>) -> Result<Id, SourceDiagnostic> {
    let op = inst.op();
    let ((from, _), (to, _)) = (l.scalars(inst.id(0))?, l.scalars(result(inst))?);
    if from == to {
        return l.value(inst.id(0));
    }
    let mode = rounding(l, inst);
    if let Some(made) = super::brains::converted(l, inst, mode) {
        return made;
    }
    let (narrow, wide) = (to.size() * 8, from.size() * 8);
    match (mode.filter(|m| *m != FPRoundingMode::RTE), op) {
        (Some(mode), Op::FConvert) if narrow < wide => {
            let operand = [inst.id(0)];
            return l.each_scalar(inst, &operand, |l, _, v| l.narrow(v[0], wide, narrow, mode));
        }
        (Some(mode), Op::ConvertSToF | Op::ConvertUToF) if narrow >= 32 => {
            let is_signed = op == Op::ConvertSToF;
            return l.each_scalar(inst, &[inst.id(0)], |l, _, v| {
                l.float_of(v[0], wide, narrow, is_signed, mode)
            });
        }
        (Some(_), Op::ConvertSToF | Op::ConvertUToF) => {
            let text = format!("{op} to halves that does not round to nearest");
            return Err(crate::facts::refuse(inst, &text));
        }
        _ => {}
    }
    l.each(inst, &[inst.id(0)], |l, ty, v| l.op(op, ty, v))
}

fn rounding(l: &ShaderLowering<'_>, inst: InstRef<'_>) -> Option<FPRoundingMode> {
    let facts = l.facts;
    let mode = facts
        .decorations
        .get(facts.module, result(inst), Decoration::FPRoundingMode)?;
    mode.first().map(|m| FPRoundingMode(*m))
}

/// `OpConvertFToS` and `OpConvertFToU`.
pub fn from_float(l: &mut ShaderLowering<'_>, inst: InstRef<'_>) -> Result<Id, SourceDiagnostic> {
    let op = inst.op();
    let ((from, _), (to, _)) = (l.scalars(inst.id(0))?, l.scalars(result(inst))?);
    let mode = rounding(l, inst);
    let facts = l.facts;
    let saturates = Decoration::SaturatedConversion;
    let saturates = facts
        .decorations
        .get(facts.module, result(inst), saturates)
        .is_some();
    let (from, width) = (from.size() * 8, to.size() * 8);
    l.each(inst, &[inst.id(0)], |l, ty, v| {
        let (float, count) = l.float_like(v[0]);
        let rounded = match mode {
            Some(FPRoundingMode::RTE) => l.glsl(glsl::ROUND_EVEN, float, v),
            Some(FPRoundingMode::RTP) => l.glsl(glsl::CEIL, float, v),
            Some(FPRoundingMode::RTN) => l.glsl(glsl::FLOOR, float, v),
            _ => v[0],
        };
        match saturates {
            true => l.saturate(op, ty, rounded, [from, width, count]),
            false => l.op(op, ty, &[rounded]),
        }
    })
}

impl ShaderLowering<'_> {
    /// Type and number of components of a float or vector of floats made here.
    fn float_like(&mut self, value: Id) -> (Id, u32) {
        let ty = self.b.type_of(value).unwrap_or(value);
        for width in [16, 32, 64] {
            if self.kernel.floats & width == 0 {
                continue;
            }
            let part = self.float(width);
            for count in 1..=super::types::WIDEST {
                if self.vector(part, count) == ty {
                    return (ty, count);
                }
            }
        }
        (ty, 1)
    }

    /// A conversion to integers that gives the nearest one for what is out of range, and zero for
    /// what is no number.
    fn saturate(&mut self, op: Op, ty: Id, value: Id, [from, to, count]: [u32; 3]) -> Id {
        let is_signed = op == Op::ConvertFToS;
        let power = f64::from(to - u32::from(is_signed)).exp2();
        let (low, high) = match is_signed {
            true => (-power, 1_u64 << (to - 1)),
            false => (0.0, u64::MAX),
        };
        let truth = self.b.bool();
        let truth = self.vector(truth, count);
        let [least, limit, zero] = [low, power, 0.0].map(|v| {
            let one = self.real(from, v);
            self.splat(one, count)
        });
        let most = match is_signed {
            true => high.wrapping_sub(1),
            false => high,
        };
        let (smallest, largest) = (if is_signed { high } else { 0 }, most);
        let [smallest, largest, nothing] = [smallest, largest, 0].map(|v| {
            let one = self.number(to, v);
            self.splat(one, count)
        });
        // What is converted is in range whatever the operand is.
        let is_inside = self.op(Op::FOrdGreaterThanEqual, truth, &[value, least]);
        let is_below = self.op(Op::FOrdLessThan, truth, &[value, limit]);
        let fits = self.op(Op::LogicalAnd, truth, &[is_inside, is_below]);
        let float = self.b.type_of(value).unwrap_or(value);
        let safe = self.op(Op::Select, float, &[fits, value, zero]);
        let converted = self.op(op, ty, &[safe]);
        let is_above = self.op(Op::FOrdGreaterThanEqual, truth, &[value, limit]);
        let is_under = self.op(Op::FOrdLessThan, truth, &[value, least]);
        let above = self.op(Op::Select, ty, &[is_above, largest, converted]);
        let under = self.op(Op::Select, ty, &[is_under, smallest, above]);
        let is_nan = self.op(Op::IsNan, truth, &[value]);
        self.op(Op::Select, ty, &[is_nan, nothing, under])
    }
}

/// `OpSatConvertSToU` and `OpSatConvertUToS`.
pub fn between(l: &mut ShaderLowering<'_>, inst: InstRef<'_>) -> Result<Id, SourceDiagnostic> {
    let ((from, _), (to, _)) = (l.scalars(inst.id(0))?, l.scalars(result(inst))?);
    let (from, to) = (from.size() * 8, to.size() * 8);
    let is_signed = inst.op() == Op::SatConvertSToU;
    l.each_scalar(inst, &[inst.id(0)], |l, ty, v| {
        let wide = l.int(from);
        let most = match is_signed {
            true => u64::MAX >> (64 - to.min(from - 1)),
            false => u64::MAX >> (64 - (to - 1).min(from)),
        };
        let (zero, most) = (l.number(from, 0), l.number(from, most));
        let clamp = if is_signed {
            glsl::SCLAMP
        } else {
            glsl::UCLAMP
        };
        let clamped = l.glsl(clamp, wide, &[v[0], zero, most]);
        match from == to {
            true => clamped,
            false => l.op(Op::UConvert, ty, &[clamped]),
        }
    })
}

/// `OpUConvert` and `OpSConvert`, saturating ones among them.
pub fn integers(l: &mut ShaderLowering<'_>, inst: InstRef<'_>) -> Result<Id, SourceDiagnostic> {
    let facts = l.facts;
    let saturates = Decoration::SaturatedConversion;
    if facts
        .decorations
        .get(facts.module, result(inst), saturates)
        .is_none()
    {
        return plain(l, inst);
    }
    let ((from, _), (to, _)) = (l.scalars(inst.id(0))?, l.scalars(result(inst))?);
    let (MemoryScalar::Int(from), MemoryScalar::Int(to)) = (from, to) else {
        return plain(l, inst);
    };
    let op = inst.op();
    l.each_scalar(inst, &[inst.id(0)], |l, ty, v| {
        let mut value = v[0];
        if to < from {
            let wide = l.int(from);
            let most = u64::MAX >> (64 - to);
            value = match op {
                Op::SConvert => {
                    let least = l.number(from, !(most >> 1));
                    let most = l.number(from, most >> 1);
                    l.glsl(glsl::SCLAMP, wide, &[value, least, most])
                }
                _ => {
                    let (zero, most) = (l.number(from, 0), l.number(from, most));
                    l.glsl(glsl::UCLAMP, wide, &[value, zero, most])
                }
            };
        }
        match from == to {
            true => value,
            false => l.op(op, ty, &[value]),
        }
    })
}
