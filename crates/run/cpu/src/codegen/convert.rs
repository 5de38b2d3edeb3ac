//! Conversions between numbers.

use super::lowering::{ClifLowering, IdLocation, SymbolicPointer, clif_type, invariant_flags};
use super::{ClifResult, ClifScalars};
use crate::module::types::ScalarRepr;
use cranelift_codegen::ir::{InstBuilder, Type, Value, types};
use spirula_diagnostics::SourceDiagnostic;
use spirula_scalar::{FloatEncoding, FloatRounding, convert};
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::Decoration;
use spirula_spirv::ir::InstRef;
use std::sync::OnceLock;

/// Rounding and saturation of a conversion, by its decorations.
#[derive(Clone, Copy)]
struct ConversionMode {
    rounding: Option<FloatRounding>,
    saturates: bool,
    /// Whether a number that is too large for a float of 8 bits becomes the largest finite one.
    stays_finite: bool,
}

/// The conversions but bit casts: by component.
pub(crate) fn lower_conversion(lower: &mut ClifLowering, inst: InstRef) -> ClifResult {
    let ty = lower.result_type(inst)?;
    let to = lower.component_scalar(ty)?;
    let from = lower.scalar_of(inst.id_operand(0))?;
    let manner = lower.read_conversion_mode(inst)?;
    let mut out = ClifScalars::new();
    for value in lower.read_values(inst.id_operand(0))? {
        let value = if manner.stays_finite {
            lower.clamp_to(value, from, to)
        } else {
            value
        };
        out.push(match inst.op() {
            Op::FConvert => lower.float_to_float(value, from, to, manner.rounding),
            Op::ConvertFToS => lower.float_to_int(value, from, to, true, manner.rounding),
            Op::ConvertFToU => lower.float_to_int(value, from, to, false, manner.rounding),
            Op::ConvertSToF => lower.int_to_float(value, to, true, manner.rounding),
            Op::ConvertUToF => lower.int_to_float(value, to, false, manner.rounding),
            Op::SatConvertSToU => lower.int_to_int(value, to, true, Some(false)),
            Op::SatConvertUToS => lower.int_to_int(value, to, false, Some(true)),
            Op::UConvert => lower.int_to_int(value, to, false, manner.saturates.then_some(false)),
            _ => lower.int_to_int(value, to, true, manner.saturates.then_some(true)),
        });
    }
    lower.set_result(inst.result(), &out)
}

/// `OpQuantizeToF16`: rounds to a half. Numbers that are subnormal there become zero.
pub(crate) fn lower_quantize_to_f16(lower: &mut ClifLowering, inst: InstRef) -> ClifResult {
    use cranelift_codegen::ir::condcodes::IntCC;
    let mut out = ClifScalars::new();
    for value in lower.read_values(inst.id_operand(0))? {
        let half = lower.f16_of_f32(value);
        let exponent = lower.builder.ins().band_imm_u(half, 0x7c00);
        let sign = lower.builder.ins().band_imm_u(half, 0x8000);
        let small = lower.builder.ins().icmp_imm_u(IntCC::Equal, exponent, 0);
        let half = lower.builder.ins().select(small, sign, half);
        out.push(lower.f32_of_f16(half));
    }
    lower.set_result(inst.result(), &out)
}

/// `OpBitcast`: also between vectors of different numbers of components.
pub(crate) fn lower_bitcast(lower: &mut ClifLowering, inst: InstRef) -> ClifResult {
    if let (Some(id), held @ IdLocation::Symbol(SymbolicPointer::Promoted { .. })) =
        (inst.result(), lower.id_location(inst.id_operand(0)))
    {
        // Only marks of the variable's lifetime use it.
        lower.set_id_location(id, held);
        return Ok(());
    }
    let ty = lower.result_type(inst)?;
    if lower.program.types.component_scalar(ty) == Some(ScalarRepr::Pointer)
        && lower.program.scalar_of(inst.id_operand(0)) == Some(ScalarRepr::Pointer)
    {
        return super::pointer::lower_pointer_copy(lower, inst);
    }
    let to = lower.component_scalar(ty)?;
    let from = lower.scalar_of(inst.id_operand(0))?;
    let values = lower.read_values(inst.id_operand(0))?;
    let values = lower.bitcast_components(&values, from, to);
    lower.set_result(inst.result(), &values)
}

extern "C" fn float_to_float(bits: u64, from: u32, to: u32, rounding: u32) -> u64 {
    let rounding = FloatRounding::from_number(rounding).unwrap_or_default();
    convert::float_to_float(
        bits,
        find_float_format(from),
        find_float_format(to),
        rounding,
    )
}

extern "C" fn int_to_float(value: u64, signed: u32, to: u32, rounding: u32) -> u64 {
    let rounding = FloatRounding::from_number(rounding).unwrap_or_default();
    convert::int_to_float(value, 64, signed != 0, find_float_format(to), rounding)
}

/// The formats that generated code names by number.
const FORMATS: [ScalarRepr; 6] = [
    ScalarRepr::F16,
    ScalarRepr::BF16,
    ScalarRepr::F32,
    ScalarRepr::F64,
    ScalarRepr::E4M3,
    ScalarRepr::E5M2,
];

fn find_float_format(number: u32) -> FloatEncoding {
    let scalar = FORMATS.get(number as usize).copied();
    scalar
        .and_then(ScalarRepr::float_format)
        .unwrap_or(FloatEncoding::F64)
}

fn format_number(scalar: ScalarRepr) -> i64 {
    let at = FORMATS.iter().position(|known| *known == scalar);
    at.unwrap_or(0) as i64
}

/// All floats of 8 bits as `f32`, by their bits, in the format E4M3 or E5M2.
fn byte_floats(is_e4m3: bool) -> &'static [f32; 256] {
    static TABLES: [OnceLock<[f32; 256]>; 2] = [const { OnceLock::new() }; 2];
    let from = if is_e4m3 {
        FloatEncoding::E4M3
    } else {
        FloatEncoding::E5M2
    };
    let of =
        |bits| convert::float_to_float(bits, from, FloatEncoding::F32, FloatRounding::NearestEven);
    let make = || std::array::from_fn(|bits| f32::from_bits(of(bits as u64) as u32));
    TABLES[usize::from(is_e4m3)].get_or_init(make)
}

impl ClifLowering<'_, '_, '_> {
    fn read_conversion_mode(&self, inst: InstRef<'_>) -> Result<ConversionMode, SourceDiagnostic> {
        let Some(id) = inst.result() else {
            return Err(self.instruction_fault("it has no result"));
        };
        let mode = self
            .program
            .decoration_operand(id, Decoration::FPRoundingMode);
        Ok(ConversionMode {
            rounding: mode.and_then(FloatRounding::from_number),
            saturates: self
                .program
                .is_decorated(id, Decoration::SaturatedConversion),
            stays_finite: self
                .program
                .is_decorated(id, Decoration::SaturatedToLargestFloat8NormalConversionEXT),
        })
    }

    /// Between floating-point formats; to nearest even unless said otherwise.
    pub fn float_to_float(
        &mut self,
        value: Value,
        from: ScalarRepr,
        to: ScalarRepr,
        rounding: Option<FloatRounding>,
    ) -> Value {
        let nearest = matches!(rounding, None | Some(FloatRounding::NearestEven));
        let widens = from.bytes() < to.bytes();
        let by_host = !(nearest || widens) || (from == ScalarRepr::F64 && to.bytes() <= 2);
        if from == to {
            return value;
        }
        if by_host {
            return self.float_by_host(value, from, to, rounding.unwrap_or_default());
        }
        let single = if from == ScalarRepr::F64 {
            self.builder.ins().fdemote(types::F32, value)
        } else {
            self.widen_half(from, value)
        };
        match to {
            ScalarRepr::F64 => self.builder.ins().fpromote(types::F64, single),
            _ => self.narrow_to_half(to, single),
        }
    }

    /// A float of 8 bits as `f32`, from a table.
    pub fn f32_of_byte(&mut self, scalar: ScalarRepr, value: Value) -> Value {
        let table = byte_floats(scalar == ScalarRepr::E4M3).as_ptr();
        let table = self.emit_iconst(types::I64, table as i64);
        let index = self.builder.ins().uextend(types::I64, value);
        let offset = self.builder.ins().ishl_imm_u(index, 2);
        let address = self.builder.ins().iadd(table, offset);
        self.builder
            .ins()
            .load(types::F32, invariant_flags(), address, 0)
    }

    /// A float between the largest numbers of another type; NaN as it is.
    fn clamp_to(&mut self, value: Value, from: ScalarRepr, to: ScalarRepr) -> Value {
        let (Some(own), Some(format)) = (from.float_format(), to.float_format()) else {
            return value;
        };
        let most = convert::float_to_float(
            format.largest_number(),
            format,
            own,
            FloatRounding::TowardZero,
        );
        let most = self.scalar_constant(from, most);
        let most = self.widen_half(from, most);
        let value = self.widen_half(from, value);
        let least = self.builder.ins().fneg(most);
        let value = self.builder.ins().fmin(value, most);
        let value = self.builder.ins().fmax(value, least);
        self.narrow_to_half(from, value)
    }

    /// Between formats by a call.
    pub fn float_by_host(
        &mut self,
        value: Value,
        from: ScalarRepr,
        to: ScalarRepr,
        rounding: FloatRounding,
    ) -> Value {
        let bits = self.bits_of(value);
        let bits = self.extend_to(bits, types::I64, false);
        let from = self.emit_iconst(types::I32, format_number(from));
        let format = self.emit_iconst(types::I32, format_number(to));
        let mode = self.emit_iconst(types::I32, rounding as i64);
        let params = [types::I64, types::I32, types::I32, types::I32];
        let address = float_to_float as *const () as usize;
        let args = [bits, from, format, mode];
        let result = self.call_host(address, &params, &[types::I64], &args)[0];
        self.of_bits(result, to)
    }

    /// The scalar whose bits are the low bits of a 64-bit integer.
    pub fn of_bits(&mut self, bits: Value, to: ScalarRepr) -> Value {
        let int = super::lowering::int_of(to.bytes());
        let bits = self.resize_integer(bits, int, false);
        self.bitcast_value(clif_type(to), bits)
    }

    fn int_to_float(
        &mut self,
        value: Value,
        to: ScalarRepr,
        signed: bool,
        rounding: Option<FloatRounding>,
    ) -> Value {
        let nearest = matches!(rounding, None | Some(FloatRounding::NearestEven));
        if !nearest || to.bytes() <= 2 {
            let wide = self.extend_to(value, types::I64, signed);
            let flag = self.emit_iconst(types::I32, i64::from(signed));
            let format = self.emit_iconst(types::I32, format_number(to));
            let mode = self.emit_iconst(types::I32, rounding.unwrap_or_default() as i64);
            let params = [types::I64, types::I32, types::I32, types::I32];
            let address = int_to_float as *const () as usize;
            let args = [wide, flag, format, mode];
            let result = self.call_host(address, &params, &[types::I64], &args)[0];
            return self.of_bits(result, to);
        }
        let ty = clif_type(to);
        let value = self.extend_to(value, types::I32, signed);
        if signed {
            self.builder.ins().fcvt_from_sint(ty, value)
        } else {
            self.builder.ins().fcvt_from_uint(ty, value)
        }
    }

    /// Converts a float to an integer. It truncates unless another rounding is given, then saturates. A NaN becomes
    /// 0.
    pub fn float_to_int(
        &mut self,
        value: Value,
        from: ScalarRepr,
        to: ScalarRepr,
        signed: bool,
        rounding: Option<FloatRounding>,
    ) -> Value {
        let value = self.widen_half(from, value);
        let value = match rounding {
            Some(FloatRounding::NearestEven) => self.builder.ins().nearest(value),
            Some(FloatRounding::TowardPositive) => self.builder.ins().ceil(value),
            Some(FloatRounding::TowardNegative) => self.builder.ins().floor(value),
            _ => value,
        };
        let ty = clif_type(to);
        let wide: Type = if ty.bits() < 32 { types::I32 } else { ty };
        let bits = ty.bits();
        if wide == ty {
            return if signed {
                self.builder.ins().fcvt_to_sint_sat(ty, value)
            } else {
                self.builder.ins().fcvt_to_uint_sat(ty, value)
            };
        }
        let (least, most) = if signed {
            (i64::MIN >> (64 - bits), i64::MAX >> (64 - bits))
        } else {
            (0, (u64::MAX >> (64 - bits)) as i64)
        };
        let number = self.builder.ins().fcvt_to_sint_sat(wide, value);
        let number = self.clamp_signed(number, least, most);
        self.builder.ins().ireduce(ty, number)
    }

    /// Converts an integer. With saturation, it is first clamped to the range of the target type of the given
    /// signedness.
    pub fn int_to_int(
        &mut self,
        value: Value,
        to: ScalarRepr,
        signed: bool,
        saturates: Option<bool>,
    ) -> Value {
        use cranelift_codegen::ir::condcodes::IntCC;
        let ty = clif_type(to);
        let Some(to_signed) = saturates else {
            return self.resize_integer(value, ty, signed);
        };
        let wide = self.extend_to(value, types::I64, signed);
        let bits = ty.bits();
        let most = if to_signed {
            i64::MAX >> (64 - bits)
        } else {
            (u64::MAX >> (64 - bits)) as i64
        };
        let limited = match (signed, to_signed) {
            (true, true) => self.clamp_signed(wide, i64::MIN >> (64 - bits), most),
            (true, false) => {
                let zero = self.emit_iconst(types::I64, 0);
                let negative = IntCC::SignedLessThan;
                let under = self.builder.ins().icmp(negative, wide, zero);
                let top = self.emit_iconst(types::I64, most);
                let above = IntCC::UnsignedGreaterThan;
                let over = self.builder.ins().icmp(above, wide, top);
                let high = self.builder.ins().select(over, top, wide);
                self.builder.ins().select(under, zero, high)
            }
            (false, _) => {
                let top = self.emit_iconst(types::I64, most);
                let above = IntCC::UnsignedGreaterThan;
                let over = self.builder.ins().icmp(above, wide, top);
                self.builder.ins().select(over, top, wide)
            }
        };
        self.resize_integer(limited, ty, false)
    }

    /// The same bits as components of another type.
    fn bitcast_components(
        &mut self,
        values: &[Value],
        from: ScalarRepr,
        to: ScalarRepr,
    ) -> ClifScalars {
        let ty = clif_type(to);
        let (have, want) = (from.bytes(), to.bytes());
        if have == want {
            return values.iter().map(|v| self.bitcast_value(ty, *v)).collect();
        }
        let bits: ClifScalars = values.iter().map(|v| self.bits_of(*v)).collect();
        if have > want {
            let narrow = super::lowering::int_of(want);
            let parts = have / want;
            let mut out = ClifScalars::new();
            for value in &bits {
                for n in 0..parts {
                    let shift = i64::from(n * want * 8);
                    let part = self.builder.ins().ushr_imm_u(*value, shift);
                    let part = self.builder.ins().ireduce(narrow, part);
                    out.push(self.bitcast_value(ty, part));
                }
            }
            return out;
        }
        let wide = super::lowering::int_of(want);
        let parts = (want / have) as usize;
        bits.chunks(parts)
            .map(|chunk| {
                let mut whole = self.emit_iconst(wide, 0);
                for (n, part) in chunk.iter().enumerate() {
                    let part = self.builder.ins().uextend(wide, *part);
                    let shift = n as i64 * i64::from(have) * 8;
                    let part = self.builder.ins().ishl_imm_u(part, shift);
                    whole = self.builder.ins().bor(whole, part);
                }
                self.bitcast_value(ty, whole)
            })
            .collect()
    }
}
