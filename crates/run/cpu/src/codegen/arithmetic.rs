//! Arithmetic on floating-point numbers.

use super::lanes::{LaneDomain, LaneTypes};
use super::lowering::{ClifLowering, clif_type};
use super::{ClifResult, ClifScalars};
use crate::module::types::ScalarRepr;
use cranelift_codegen::ir::condcodes::FloatCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::Id;
use spirula_spirv::ir::InstRef;

/// `OpFAdd`.
pub(crate) fn emit_fadd(lower: &mut ClifLowering, _: LaneTypes, v: &[Value]) -> Value {
    lower.builder.ins().fadd(v[0], v[1])
}

/// `OpFSub`.
pub(crate) fn emit_fsub(lower: &mut ClifLowering, _: LaneTypes, v: &[Value]) -> Value {
    lower.builder.ins().fsub(v[0], v[1])
}

/// `OpFMul`.
pub(crate) fn emit_fmul(lower: &mut ClifLowering, _: LaneTypes, v: &[Value]) -> Value {
    lower.builder.ins().fmul(v[0], v[1])
}

/// `OpFDiv`.
pub(crate) fn emit_fdiv(lower: &mut ClifLowering, _: LaneTypes, v: &[Value]) -> Value {
    lower.builder.ins().fdiv(v[0], v[1])
}

/// `OpFNegate`, on the bits so that no type needs widening.
pub(crate) fn emit_fneg(lower: &mut ClifLowering, lane: LaneTypes, v: &[Value]) -> Value {
    if super::lanes::to_arithmetic_scalar(lane.from) != lane.from {
        let bits = lane.from.bits();
        let sign = lower.emit_iconst(super::lowering::int_of(lane.from.bytes()), 1 << (bits - 1));
        return lower.builder.ins().bxor(v[0], sign);
    }
    lower.builder.ins().fneg(v[0])
}

extern "C" fn rem_f32(a: f32, b: f32) -> f32 {
    a % b
}

extern "C" fn rem_f64(a: f64, b: f64) -> f64 {
    a % b
}

/// `OpFRem`: the sign of the dividend.
pub(crate) fn emit_frem(lower: &mut ClifLowering, lane: LaneTypes, v: &[Value]) -> Value {
    let ty = clif_type(lane.from);
    let address = if ty == types::F64 {
        rem_f64 as *const () as usize
    } else {
        rem_f32 as *const () as usize
    };
    lower.call_host(address, &[ty, ty], &[ty], v)[0]
}

/// `OpFMod`: the sign of the divisor.
pub(crate) fn emit_fmod(lower: &mut ClifLowering, lane: LaneTypes, v: &[Value]) -> Value {
    let rest = emit_frem(lower, lane, v);
    let sum = lower.builder.ins().fadd(rest, v[1]);
    let zero = lower.zero_like(rest);
    let is_zero = lower.builder.ins().fcmp(FloatCC::Equal, rest, zero);
    let a = lower.builder.ins().fcmp(FloatCC::LessThan, rest, zero);
    let b = lower.builder.ins().fcmp(FloatCC::LessThan, v[1], zero);
    let differ = lower.builder.ins().bxor(a, b);
    let result = lower.builder.ins().select(differ, sum, rest);
    let signed = lower.builder.ins().fcopysign(rest, v[1]);
    lower.builder.ins().select(is_zero, signed, result)
}

/// `OpFmaKHR`: one rounding.
pub(crate) fn emit_fma(lower: &mut ClifLowering, _: LaneTypes, v: &[Value]) -> Value {
    lower.builder.ins().fma(v[0], v[1], v[2])
}

/// `OpDot`.
pub(crate) fn lower_dot(lower: &mut ClifLowering, inst: InstRef) -> ClifResult {
    let ty = lower.result_type(inst)?;
    let scalar = lower.component_scalar(ty)?;
    let (a, b) = (
        lower.read_widened_floats(inst.id_operand(0))?,
        lower.read_widened_floats(inst.id_operand(1))?,
    );
    let sum = lower.sum_of_products(scalar, &a, &b);
    let sum = lower.narrow_to_half(scalar, sum);
    lower.set_result(inst.result(), &[sum])
}

/// `OpVectorTimesScalar` and `OpMatrixTimesScalar`.
pub(crate) fn lower_scalar_product(lower: &mut ClifLowering, inst: InstRef) -> ClifResult {
    let ty = lower.result_type(inst)?;
    let operands = [inst.id_operand(0), inst.id_operand(1)];
    let values = lower.map_lanes(ty, &operands, LaneDomain::Real, emit_fmul)?;
    lower.set_result(inst.result(), &values)
}

impl ClifLowering<'_, '_, '_> {
    /// The components of a floating-point value, halves widened.
    pub fn read_widened_floats(&mut self, id: Id) -> Result<ClifScalars, SourceDiagnostic> {
        let scalar = self.scalar_of(id)?;
        let values = self.read_values(id)?;
        Ok(values.iter().map(|v| self.widen_half(scalar, *v)).collect())
    }

    /// The sum of products of widened components, from the first on, not yet narrowed.
    pub fn sum_of_products(&mut self, scalar: ScalarRepr, a: &[Value], b: &[Value]) -> Value {
        let mut sum = None;
        for (a, b) in a.iter().zip(b) {
            let product = self.builder.ins().fmul(*a, *b);
            sum = Some(match sum {
                Some(sum) => self.builder.ins().fadd(sum, product),
                None => product,
            });
        }
        sum.unwrap_or_else(|| self.scalar_constant(super::lanes::to_arithmetic_scalar(scalar), 0))
    }

    /// A zero of a floating-point value's type.
    pub fn zero_like(&mut self, value: Value) -> Value {
        self.make_float_constant(value, 0.0)
    }

    /// A constant of a floating-point value's type.
    pub fn make_float_constant(&mut self, value: Value, number: f64) -> Value {
        match self.value_type(value) {
            types::F64 => self.emit_f64const(number),
            _ => self.emit_f32const(number as f32),
        }
    }
}
