//! Conversions between integers and floats.

use super::ShaderLowering;
use super::composites::expect_result;
use crate::kernels::module_info::MemoryScalar;
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::{Decoration, FPRoundingMode};
use spirula_spirv::grammar::glsl_std_450 as glsl;
use spirula_spirv::ir::InstRef;

/// Conversions without a rounding mode; values of the target width stay.
pub fn lower_conversion(
    l: &mut ShaderLowering<'_>,
    inst: InstRef<'_>,
) -> Result<Id, SourceDiagnostic> {
    let op = inst.op();
    let ((from, _), (to, _)) = (
        l.find_component_scalar(inst.id_operand(0))?,
        l.find_component_scalar(expect_result(inst))?,
    );
    if from == to {
        return l.lower_operand(inst.id_operand(0));
    }
    let mode = read_rounding_mode(l, inst);
    if let Some(made) = super::bfloat16::lower_bfloat_conversion(l, inst, mode) {
        return made;
    }
    let (narrow, wide) = (to.size() * 8, from.size() * 8);
    match (mode.filter(|m| *m != FPRoundingMode::RTE), op) {
        (Some(mode), Op::FConvert) if narrow < wide => {
            let operand = [inst.id_operand(0)];
            return l.each_scalar(inst, &operand, |l, _, v| {
                l.narrow_float(v[0], wide, narrow, mode)
            });
        }
        (Some(mode), Op::ConvertSToF | Op::ConvertUToF) if narrow >= 32 => {
            let is_signed = op == Op::ConvertSToF;
            return l.each_scalar(inst, &[inst.id_operand(0)], |l, _, v| {
                l.float_of(v[0], wide, narrow, is_signed, mode)
            });
        }
        (Some(_), Op::ConvertSToF | Op::ConvertUToF) => {
            let text = format!("{op} to halves that does not round to nearest");
            return Err(crate::error::diagnose_instruction(inst, &text));
        }
        _ => {}
    }
    l.map_components(inst, &[inst.id_operand(0)], |l, ty, v| {
        l.emit_value(op, ty, v)
    })
}

fn read_rounding_mode(l: &ShaderLowering<'_>, inst: InstRef<'_>) -> Option<FPRoundingMode> {
    let info = l.info;
    let mode =
        info.decorations
            .get(info.module, expect_result(inst), Decoration::FPRoundingMode)?;
    mode.first().map(|m| FPRoundingMode(*m))
}

/// `OpConvertFToS` and `OpConvertFToU`.
pub fn from_float(l: &mut ShaderLowering<'_>, inst: InstRef<'_>) -> Result<Id, SourceDiagnostic> {
    let op = inst.op();
    let ((from, _), (to, _)) = (
        l.find_component_scalar(inst.id_operand(0))?,
        l.find_component_scalar(expect_result(inst))?,
    );
    let mode = read_rounding_mode(l, inst);
    let info = l.info;
    let saturates = Decoration::SaturatedConversion;
    let saturates = info
        .decorations
        .get(info.module, expect_result(inst), saturates)
        .is_some();
    let (from, width) = (from.size() * 8, to.size() * 8);
    l.map_components(inst, &[inst.id_operand(0)], |l, ty, v| {
        let (float, count) = l.find_float_type(v[0]);
        let rounded = match mode {
            Some(FPRoundingMode::RTE) => l.emit_glsl(glsl::ROUND_EVEN, float, v),
            Some(FPRoundingMode::RTP) => l.emit_glsl(glsl::CEIL, float, v),
            Some(FPRoundingMode::RTN) => l.emit_glsl(glsl::FLOOR, float, v),
            _ => v[0],
        };
        if saturates {
            l.convert_saturated(op, ty, rounded, [from, width, count])
        } else {
            l.emit_value(op, ty, &[rounded])
        }
    })
}

impl ShaderLowering<'_> {
    /// Type and number of components of a float or vector of floats in the shader.
    fn find_float_type(&mut self, value: Id) -> (Id, u32) {
        let ty = self.b.type_of(value).unwrap_or(value);
        for width in [16, 32, 64] {
            if self.kernel.floats & width == 0 {
                continue;
            }
            let part = self.make_float_type(width);
            for count in 1..=super::types::WIDEST {
                if self.make_vector_type(part, count) == ty {
                    return (ty, count);
                }
            }
        }
        (ty, 1)
    }

    /// A conversion to integers that saturates, and gives zero for NaN.
    fn convert_saturated(&mut self, op: Op, ty: Id, value: Id, [from, to, count]: [u32; 3]) -> Id {
        let is_signed = op == Op::ConvertFToS;
        let power = f64::from(to - u32::from(is_signed)).exp2();
        let (low, high) = if is_signed {
            (-power, 1_u64 << (to - 1))
        } else {
            (0.0, u64::MAX)
        };
        let truth = self.b.bool_type();
        let truth = self.make_vector_type(truth, count);
        let [least, limit, zero] = [low, power, 0.0].map(|v| {
            let one = self.make_float_constant(from, v);
            self.splat_constant(one, count)
        });
        let most = if is_signed {
            high.wrapping_sub(1)
        } else {
            high
        };
        let (smallest, largest) = (if is_signed { high } else { 0 }, most);
        let [smallest, largest, nothing] = [smallest, largest, 0].map(|v| {
            let one = self.make_uint_constant(to, v);
            self.splat_constant(one, count)
        });
        // The converted number is always in range.
        let is_inside = self.emit_value(Op::FOrdGreaterThanEqual, truth, &[value, least]);
        let is_below = self.emit_value(Op::FOrdLessThan, truth, &[value, limit]);
        let fits = self.emit_value(Op::LogicalAnd, truth, &[is_inside, is_below]);
        let float = self.b.type_of(value).unwrap_or(value);
        let safe = self.emit_value(Op::Select, float, &[fits, value, zero]);
        let converted = self.emit_value(op, ty, &[safe]);
        let is_above = self.emit_value(Op::FOrdGreaterThanEqual, truth, &[value, limit]);
        let is_under = self.emit_value(Op::FOrdLessThan, truth, &[value, least]);
        let above = self.emit_value(Op::Select, ty, &[is_above, largest, converted]);
        let under = self.emit_value(Op::Select, ty, &[is_under, smallest, above]);
        let is_nan = self.emit_value(Op::IsNan, truth, &[value]);
        self.emit_value(Op::Select, ty, &[is_nan, nothing, under])
    }
}

/// `OpSatConvertSToU` and `OpSatConvertUToS`.
pub fn lower_saturated_conversion(
    l: &mut ShaderLowering<'_>,
    inst: InstRef<'_>,
) -> Result<Id, SourceDiagnostic> {
    let ((from, _), (to, _)) = (
        l.find_component_scalar(inst.id_operand(0))?,
        l.find_component_scalar(expect_result(inst))?,
    );
    let (from, to) = (from.size() * 8, to.size() * 8);
    let is_signed = inst.op() == Op::SatConvertSToU;
    l.each_scalar(inst, &[inst.id_operand(0)], |l, ty, v| {
        let wide = l.make_int_type(from);
        let most = if is_signed {
            u64::MAX >> (64 - to.min(from - 1))
        } else {
            u64::MAX >> (64 - (to - 1).min(from))
        };
        let (zero, most) = (
            l.make_uint_constant(from, 0),
            l.make_uint_constant(from, most),
        );
        let clamp = if is_signed {
            glsl::SCLAMP
        } else {
            glsl::UCLAMP
        };
        let clamped = l.emit_glsl(clamp, wide, &[v[0], zero, most]);
        if from == to {
            clamped
        } else {
            l.emit_value(Op::UConvert, ty, &[clamped])
        }
    })
}

/// `OpUConvert` and `OpSConvert`, saturating ones among them.
pub fn lower_integer_conversion(
    l: &mut ShaderLowering<'_>,
    inst: InstRef<'_>,
) -> Result<Id, SourceDiagnostic> {
    let info = l.info;
    let saturates = Decoration::SaturatedConversion;
    if info
        .decorations
        .get(info.module, expect_result(inst), saturates)
        .is_none()
    {
        return lower_conversion(l, inst);
    }
    let ((from, _), (to, _)) = (
        l.find_component_scalar(inst.id_operand(0))?,
        l.find_component_scalar(expect_result(inst))?,
    );
    let (MemoryScalar::Int(from), MemoryScalar::Int(to)) = (from, to) else {
        return lower_conversion(l, inst);
    };
    let op = inst.op();
    l.each_scalar(inst, &[inst.id_operand(0)], |l, ty, v| {
        let mut value = v[0];
        if to < from {
            let wide = l.make_int_type(from);
            let most = u64::MAX >> (64 - to);
            value = match op {
                Op::SConvert => {
                    let least = l.make_uint_constant(from, !(most >> 1));
                    let most = l.make_uint_constant(from, most >> 1);
                    l.emit_glsl(glsl::SCLAMP, wide, &[value, least, most])
                }
                _ => {
                    let (zero, most) = (
                        l.make_uint_constant(from, 0),
                        l.make_uint_constant(from, most),
                    );
                    l.emit_glsl(glsl::UCLAMP, wide, &[value, zero, most])
                }
            };
        }
        if from == to {
            value
        } else {
            l.emit_value(op, ty, &[value])
        }
    })
}
