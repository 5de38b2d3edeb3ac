//! Calls of the scalar library, one for each component.

use super::vectors;
use crate::codegen::access_hooks::MemoryAccessKind;
use crate::codegen::lowering::{ClifLowering, clif_type, plain_flags};
use crate::codegen::{ClifResult, ClifScalars};
use crate::module::types::{LoweredTypeKind, ScalarRepr};
use cranelift_codegen::ir::{InstBuilder, Type, Value, types};
use spirula_diagnostics::SourceDiagnostic;
use spirula_scalar::table::{ExtInstBody, HalfFn, IntegerFn, PackingFn, RealFn, ScalarExtInst};
use spirula_scalar::wide::WideFunction;
use spirula_spirv::Id;
use spirula_spirv::ir::InstRef;

/// Operands and results of a function on numbers, without their types.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ScalarCallShape {
    Numbers(usize),
    WithInt,
    ToInt,
    FromBits,
    AndReal,
    AndInt(usize),
}

/// A function on numbers.
#[derive(Clone, Copy)]
struct ScalarCallee {
    address: usize,
    shape: ScalarCallShape,
    /// Type of the program's numbers.
    outer: ScalarRepr,
    /// Type of the numbers that the function takes.
    inner: ScalarRepr,
}

/// Lowers an instruction that the table of the scalar library has.
pub(super) fn lower_host_call(
    lower: &mut ClifLowering,
    inst: InstRef,
    function: &ScalarExtInst,
) -> ClifResult {
    match &function.body {
        ExtInstBody::Integer(integer) => call_integer(lower, inst, *integer),
        ExtInstBody::Packing(packing) => call_packing(lower, inst, *packing),
        ExtInstBody::Real { f32, f64, f16 } => {
            let outer = real_scalar(lower, inst)?;
            let ((address, shape), inner) = match (outer, f16) {
                (ScalarRepr::F16, Some(half)) => (half_address(*half), ScalarRepr::F16),
                (ScalarRepr::F64, _) => (real_function_address(*f64), ScalarRepr::F64),
                _ => (real_function_address(*f32), ScalarRepr::F32),
            };
            if let (ScalarRepr::F32, Some(wide)) = (inner, WideFunction::by_name(function.name)) {
                lower.shared.wide_functions.insert(address, wide);
            }
            let callee = ScalarCallee {
                address,
                shape,
                outer,
                inner,
            };
            call_real(lower, inst, callee)
        }
    }
}

/// The floating-point type that an instruction works on: that of its result, or its operand where
/// the result is an integer.
fn real_scalar(lower: &ClifLowering, inst: InstRef) -> Result<ScalarRepr, SourceDiagnostic> {
    let ty = lower.result_type(inst)?;
    match lower.program.types.component_scalar(ty) {
        Some(scalar) if scalar.is_float() => Ok(scalar),
        _ => lower.scalar_of(inst.id_operand(2)),
    }
}

fn real_function_address<T>(real: RealFn<T>) -> (usize, ScalarCallShape) {
    match real {
        RealFn::Unary(f) => (f as usize, ScalarCallShape::Numbers(1)),
        RealFn::Binary(f) => (f as usize, ScalarCallShape::Numbers(2)),
        RealFn::Ternary(f) => (f as usize, ScalarCallShape::Numbers(3)),
        RealFn::WithInt(f) => (f as usize, ScalarCallShape::WithInt),
        RealFn::ToInt(f) => (f as usize, ScalarCallShape::ToInt),
        RealFn::FromBits(f) => (f as usize, ScalarCallShape::FromBits),
        RealFn::AndReal(f) => (f as usize, ScalarCallShape::AndReal),
        RealFn::AndInt(f) => (f as usize, ScalarCallShape::AndInt(1)),
        RealFn::BinaryAndInt(f) => (f as usize, ScalarCallShape::AndInt(2)),
    }
}

fn half_address(half: HalfFn) -> (usize, ScalarCallShape) {
    match half {
        HalfFn::Binary(f) => (f as usize, ScalarCallShape::Numbers(2)),
        HalfFn::Ternary(f) => (f as usize, ScalarCallShape::Numbers(3)),
        HalfFn::FromBits(f) => (f as usize, ScalarCallShape::FromBits),
        HalfFn::AndReal(f) => (f as usize, ScalarCallShape::AndReal),
    }
}

fn call_real(lower: &mut ClifLowering, inst: InstRef, callee: ScalarCallee) -> ClifResult {
    let ScalarCallee { shape, inner, .. } = callee;
    let number = clif_type(inner);
    let numbers = match shape {
        ScalarCallShape::Numbers(n) | ScalarCallShape::AndInt(n) => n,
        ScalarCallShape::FromBits => 0,
        _ => 1,
    };
    let others = usize::from(matches!(
        shape,
        ScalarCallShape::WithInt | ScalarCallShape::FromBits
    ));
    let operands: Vec<ClifScalars> = inst
        .id_operands(2)
        .take(numbers + others)
        .map(|id| lower.read_values(id))
        .collect::<Result<_, _>>()?;
    let count = operands.iter().map(ClifScalars::len).max().unwrap_or(0);
    if operands.iter().any(|o| o.len() != 1 && o.len() != count) {
        return Err(lower.instruction_fault("its operands have different numbers of components"));
    }
    let second = match shape {
        ScalarCallShape::AndReal => Some(number),
        ScalarCallShape::AndInt(_) => Some(types::I32),
        _ => None,
    };
    let slot = match second {
        Some(ty) => {
            let slot = lower.stack_slot(8)?;
            Some((lower.builder.ins().stack_addr(types::I64, slot, 0), ty))
        }
        None => None,
    };
    let (mut firsts, mut seconds) = (ClifScalars::new(), ClifScalars::new());
    for n in 0..count {
        let (mut args, mut params) = (ClifScalars::new(), Vec::new());
        for (at, values) in operands.iter().enumerate() {
            let value = values[if values.len() == 1 { 0 } else { n }];
            let value = callee.convert_argument(lower, value, at < numbers);
            args.push(value);
            params.push(lower.value_type(value));
        }
        if let Some((slot, _)) = slot {
            args.push(slot);
            params.push(types::I64);
        }
        let result: Type = match shape {
            ScalarCallShape::ToInt => types::I32,
            _ => number,
        };
        let value = lower.call_host(callee.address, &params, &[result], &args)[0];
        firsts.push(callee.convert_result(lower, value));
        if let Some((slot, ty)) = slot {
            let value = lower.builder.ins().load(ty, plain_flags(), slot, 0);
            seconds.push(callee.convert_result(lower, value));
        }
    }
    store_results(lower, inst, firsts, &seconds, numbers)
}

impl ScalarCallee {
    fn convert_argument(self, lower: &mut ClifLowering, value: Value, is_number: bool) -> Value {
        match (is_number, self.shape) {
            (true, _) if self.inner == self.outer => value,
            (true, _) => lower.widen_half(self.outer, value),
            (false, ScalarCallShape::FromBits) if self.inner == ScalarRepr::F16 => value,
            (false, ScalarCallShape::FromBits) => lower.resize_integer(value, types::I64, false),
            (false, _) => lower.resize_integer(value, types::I32, true),
        }
    }

    /// Numbers in the program's type, integers as they are.
    fn convert_result(self, lower: &mut ClifLowering, value: Value) -> Value {
        if self.inner == self.outer || !lower.value_type(value).is_float() {
            return value;
        }
        lower.narrow_to_half(self.outer, value)
    }
}

/// Stores a second result through the last operand, or returns both as a structure.
fn store_results(
    lower: &mut ClifLowering,
    inst: InstRef,
    mut firsts: ClifScalars,
    seconds: &[Value],
    numbers: usize,
) -> ClifResult {
    let ty = lower.result_type(inst)?;
    if seconds.is_empty() {
        let firsts = lower.fit_to_components(ty, &firsts)?;
        return lower.set_result(inst.result(), &firsts);
    }
    if let LoweredTypeKind::Struct { first, count: 2 } = lower.program.types.kind(ty) {
        let member = lower.program.types.members(first, 2)[1];
        let seconds = lower.fit_to_components(member, seconds)?;
        firsts.extend(seconds);
        return lower.set_result(inst.result(), &firsts);
    }
    let pointer_id = inst.id_operand(2 + numbers);
    match lower.program.pointee_of(pointer_id) {
        Some(pointee) => {
            let seconds = lower.fit_to_components(pointee, seconds)?;
            let pointer = lower.read_pointer(pointer_id)?;
            let pointer = lower.begin_access(
                pointer_id,
                pointer,
                pointee,
                MemoryAccessKind::Write,
                &seconds,
            )?;
            lower.store_values(pointer, pointee, &seconds)?;
        }
        None => {
            let numbers = lower.component_scalar(ty)?;
            store_untyped(lower, pointer_id, numbers, seconds)?;
        }
    }
    lower.set_result(inst.result(), &firsts)
}

/// Stores through an untyped pointer: numbers of a given type, or integers of 32 bits.
fn store_untyped(
    lower: &mut ClifLowering,
    pointer_id: Id,
    numbers: ScalarRepr,
    values: &[Value],
) -> ClifResult {
    let is_float = |lower: &ClifLowering, v: &Value| lower.value_type(*v).is_float();
    let scalar = if values.iter().all(|v| is_float(lower, v)) {
        numbers
    } else {
        ScalarRepr::Int(32)
    };
    let to = clif_type(scalar);
    let values: ClifScalars = values
        .iter()
        .map(|v| {
            if is_float(lower, v) {
                *v
            } else {
                lower.resize_integer(*v, to, true)
            }
        })
        .collect();
    let pointer = lower.read_pointer(pointer_id)?;
    let address = lower.address_of(pointer)?;
    vectors::store_row(lower, pointer_id, address, scalar, &values)
}

impl ClifLowering<'_, '_, '_> {
    /// Integers as wide as a type's components; numbers as they are.
    fn fit_to_components(
        &mut self,
        ty: Id,
        values: &[Value],
    ) -> Result<ClifScalars, SourceDiagnostic> {
        let scalar = self.component_scalar(ty)?;
        if scalar.is_float() {
            return Ok(values.into());
        }
        let to = clif_type(scalar);
        Ok(values
            .iter()
            .map(|v| self.resize_integer(*v, to, true))
            .collect())
    }
}

fn call_integer(lower: &mut ClifLowering, inst: InstRef, integer: IntegerFn) -> ClifResult {
    let (address, count) = match integer {
        IntegerFn::Unary(f) => (f as usize, 1),
        IntegerFn::Binary(f) => (f as usize, 2),
        IntegerFn::Ternary(f) => (f as usize, 3),
    };
    let ty = lower.result_type(inst)?;
    let to = clif_type(lower.component_scalar(ty)?);
    let bits = lower.scalar_of(inst.id_operand(2))?.bits();
    let operands: Vec<ClifScalars> = inst
        .id_operands(2)
        .take(count)
        .map(|id| lower.read_values(id))
        .collect::<Result<_, _>>()?;
    let mut params = vec![types::I64; count];
    params.push(types::I32);
    let mut out = ClifScalars::new();
    for n in 0..lower.program.types.scalar_count(ty) {
        let mut args = ClifScalars::new();
        for values in &operands {
            let value = values[if values.len() == 1 { 0 } else { n }];
            args.push(lower.extend_to(value, types::I64, false));
        }
        args.push(lower.emit_iconst(types::I32, bits.into()));
        let value = lower.call_host(address, &params, &[types::I64], &args)[0];
        out.push(lower.resize_integer(value, to, false));
    }
    lower.set_result(inst.result(), &out)
}

fn call_packing(lower: &mut ClifLowering, inst: InstRef, packing: PackingFn) -> ClifResult {
    let values = lower.read_values(inst.id_operand(2))?;
    let ty = lower.result_type(inst)?;
    let to = clif_type(lower.component_scalar(ty)?);
    let (address, by_index) = match packing {
        PackingFn::Pack2(f) => (f as usize, false),
        PackingFn::Pack4(f) => (f as usize, false),
        PackingFn::PackDouble(f) => (f as usize, false),
        PackingFn::Unpack(f) => (f as usize, true),
        PackingFn::UnpackDouble(f) => (f as usize, true),
    };
    let from = clif_type(lower.scalar_of(inst.id_operand(2))?);
    let mut out = ClifScalars::new();
    if by_index {
        for n in 0..lower.program.types.scalar_count(ty) {
            let index = lower.emit_iconst(types::I32, n as i64);
            let params = [from, types::I32];
            let args = [values[0], index];
            out.extend(lower.call_host(address, &params, &[to], &args));
        }
    } else {
        let params = vec![from; values.len()];
        out.extend(lower.call_host(address, &params, &[to], &values));
    }
    lower.set_result(inst.result(), &out)
}
