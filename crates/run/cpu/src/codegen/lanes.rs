//! Instructions that work on each component by itself, and conversions of Cranelift values.

use super::lowering::ClifLowering;
use super::{ClifResult, ClifScalars};
use crate::module::types::ScalarRepr;
use cranelift_codegen::ir::{
    InstBuilder, InstructionData, MemFlagsData, Opcode, Type, Value, ValueDef, types,
};
use spirula_diagnostics::SourceDiagnostic;
use spirula_scalar::FloatRounding;
use spirula_spirv::Id;
use spirula_spirv::ir::InstRef;

/// The scalar types of a lane function's operands and result.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LaneTypes {
    /// Type of the first operand's components.
    pub from: ScalarRepr,
    /// Type of the result's components.
    pub to: ScalarRepr,
}

/// Computes one component of a result.
pub(crate) type LaneFn = fn(&mut ClifLowering, LaneTypes, &[Value]) -> Value;

/// The form in which components of narrow floating-point types are passed to a lane function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LaneDomain {
    /// Their bits.
    Bits,
    /// Halves as `f32`; the result is rounded back.
    Real,
}

/// Lowers an instruction whose operands are all values.
pub(crate) fn lower_lanewise(
    lower: &mut ClifLowering,
    inst: InstRef,
    domain: LaneDomain,
    f: LaneFn,
) -> ClifResult {
    let ty = lower.result_type(inst)?;
    let operands: Vec<Id> = inst.id_operands(0).collect();
    let values = lower.map_lanes(ty, &operands, domain, f)?;
    lower.set_result(inst.result(), &values)
}

impl ClifLowering<'_, '_, '_> {
    /// Applies a lane function to each component.
    pub fn map_lanes(
        &mut self,
        ty: Id,
        operands: &[Id],
        domain: LaneDomain,
        f: LaneFn,
    ) -> Result<ClifScalars, SourceDiagnostic> {
        let to = self.component_scalar(ty)?;
        let Some(first) = operands.first() else {
            return Err(self.instruction_fault("it has no operands"));
        };
        let from = self.scalar_of(*first)?;
        let count = self.program.types.scalar_count(ty);
        let mut columns = Vec::with_capacity(operands.len());
        for operand in operands {
            let scalar = self.scalar_of(*operand)?;
            let values = self.read_values(*operand)?;
            if values.len() != count && values.len() != 1 {
                return Err(
                    self.instruction_fault("its operands have different numbers of components")
                );
            }
            columns.push((scalar, values));
        }
        let mut out = ClifScalars::new();
        for n in 0..count {
            let mut args = ClifScalars::new();
            for (scalar, values) in &columns {
                let value = values[if values.len() == 1 { 0 } else { n }];
                args.push(match domain {
                    LaneDomain::Real => self.widen_half(*scalar, value),
                    LaneDomain::Bits => value,
                });
            }
            out.push(self.apply_lane_fn(domain, LaneTypes { from, to }, &args, f));
        }
        Ok(out)
    }

    fn apply_lane_fn(
        &mut self,
        domain: LaneDomain,
        lane: LaneTypes,
        args: &[Value],
        f: LaneFn,
    ) -> Value {
        if domain == LaneDomain::Bits {
            return f(self, lane, args);
        }
        let wide = LaneTypes {
            from: to_arithmetic_scalar(lane.from),
            to: to_arithmetic_scalar(lane.to),
        };
        let value = f(self, wide, args);
        self.narrow_to_half(lane.to, value)
    }

    /// A half as `f32`; other scalars unchanged.
    pub fn widen_half(&mut self, scalar: ScalarRepr, value: Value) -> Value {
        match scalar {
            ScalarRepr::F16 => self.f32_of_f16(value),
            ScalarRepr::BF16 => self.f32_of_bf16(value),
            ScalarRepr::E4M3 | ScalarRepr::E5M2 => self.f32_of_byte(scalar, value),
            _ => value,
        }
    }

    /// The reverse, rounded to nearest even.
    pub fn narrow_to_half(&mut self, scalar: ScalarRepr, value: Value) -> Value {
        match scalar {
            ScalarRepr::F16 => self.f16_of_f32(value),
            ScalarRepr::BF16 => self.bf16_of_f32(value),
            ScalarRepr::E4M3 | ScalarRepr::E5M2 => {
                self.float_by_host(value, ScalarRepr::F32, scalar, FloatRounding::NearestEven)
            }
            _ => value,
        }
    }

    /// Cranelift's type of a value.
    pub fn value_type(&self, value: Value) -> Type {
        self.builder.func.dfg.value_type(value)
    }

    /// An integer cut or extended to a type.
    pub fn resize_integer(&mut self, value: Value, to: Type, signed: bool) -> Value {
        if self.value_type(value).bits() > to.bits() {
            self.builder.ins().ireduce(to, value)
        } else {
            self.extend_to(value, to, signed)
        }
    }

    /// An integer extended to a type that is as wide at least.
    pub fn extend_to(&mut self, value: Value, to: Type, signed: bool) -> Value {
        if self.value_type(value).bits() >= to.bits() {
            value
        } else if signed {
            self.builder.ins().sextend(to, value)
        } else {
            self.builder.ins().uextend(to, value)
        }
    }

    /// The bits of a scalar in an integer of its size.
    pub fn bits_of(&mut self, value: Value) -> Value {
        match self.value_type(value) {
            types::F32 => self.bitcast_value(types::I32, value),
            types::F64 => self.bitcast_value(types::I64, value),
            _ => value,
        }
    }

    /// The bits as another type of the same size.
    pub fn bitcast_value(&mut self, to: Type, value: Value) -> Value {
        if self.value_type(value) == to {
            return value;
        }
        self.builder.ins().bitcast(to, MemFlagsData::new(), value)
    }

    /// The value of an integer that is a constant.
    pub fn find_integer_constant(&self, value: Value) -> Option<i64> {
        let dfg = &self.builder.func.dfg;
        let ValueDef::Result(inst, _) = dfg.value_def(dfg.resolve_aliases(value)) else {
            return None;
        };
        match dfg.insts[inst] {
            InstructionData::UnaryImm {
                opcode: Opcode::Iconst,
                imm,
            } => Some(imm.bits()),
            _ => None,
        }
    }
}

/// The type in which a scalar is computed.
pub(crate) fn to_arithmetic_scalar(scalar: ScalarRepr) -> ScalarRepr {
    match scalar {
        ScalarRepr::F16 | ScalarRepr::BF16 | ScalarRepr::E4M3 | ScalarRepr::E5M2 => ScalarRepr::F32,
        other => other,
    }
}
