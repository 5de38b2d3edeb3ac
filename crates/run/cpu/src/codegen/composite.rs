//! Vectors and aggregates: making them, taking them apart.

use super::lowering::{ClifLowering, plain_flags};
use super::{ClifResult, ClifScalars};
use crate::module::types::LoweredTypeKind;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::ir::InstRef;

/// `OpCompositeConstruct`.
pub(crate) fn lower_composite_construct(lower: &mut ClifLowering, inst: InstRef) -> ClifResult {
    let ty = lower.result_type(inst)?;
    if lower.program.is_in_memory_matrix(ty) {
        return super::in_memory_matrix::lower_in_memory_construct(lower, inst, ty);
    }
    if lower.is_large(ty) {
        return construct_large(lower, inst, ty);
    }
    let mut values = ClifScalars::new();
    for part in inst.id_operands(0) {
        values.extend(lower.read_values(part)?);
    }
    let is_matrix = lower.program.is_cooperative(ty);
    if inst.op() == Op::CompositeConstructReplicateEXT || is_matrix {
        let count = lower.program.types.scalar_count(ty);
        values = values.iter().copied().cycle().take(count).collect();
    }
    if values.len() != lower.program.types.scalar_count(ty) {
        return Err(lower.instruction_fault("its parts do not make the result"));
    }
    lower.set_result(inst.result(), &values)
}

fn construct_large(lower: &mut ClifLowering, inst: InstRef, ty: Id) -> ClifResult {
    let address = lower.large_result(inst, ty)?;
    let count = match lower.program.types.kind(ty) {
        LoweredTypeKind::Array { count, .. } => count,
        _ => u64::MAX,
    };
    let replicate = inst.op() == Op::CompositeConstructReplicateEXT;
    let parts: Vec<Id> = inst.id_operands(0).collect();
    let total = if replicate { count } else { parts.len() as u64 };
    if total > 4096 {
        return lower.fail_unsupported("an aggregate of more than 4096 parts");
    }
    for n in 0..total {
        let part = parts[if replicate { 0 } else { n as usize }];
        let Some((part_type, _)) = lower.program.types.find_part(ty, n as u32) else {
            return Err(lower.instruction_fault("its parts do not make the result"));
        };
        let (offset, strides) = lower.program.types.part_offset(ty, n, None);
        let at = lower.builder.ins().iadd_imm_s(address, offset as i64);
        let pointer = super::values::PointerOperand::Address(at, strides);
        lower.store_to(pointer, part_type, part)?;
    }
    Ok(())
}

/// `OpCompositeExtract`.
pub(crate) fn lower_composite_extract(lower: &mut ClifLowering, inst: InstRef) -> ClifResult {
    let whole = lower.type_of(inst.id_operand(0))?;
    let path = &inst.operands()[1..];
    let ty = lower.result_type(inst)?;
    if lower.is_large(whole) {
        let base = lower.large_value_address(inst.id_operand(0))?;
        let at = lower.place_at(base, whole, path)?;
        if lower.is_large(ty) {
            return lower.set_large(inst, ty, at.0);
        }
        let values = lower.load_at(at.0, ty, at.1, false);
        return lower.set_result(inst.result(), &values);
    }
    let (_, at) = lower.part_at(whole, path)?;
    let values = lower.read_values(inst.id_operand(0))?;
    let count = lower.program.types.scalar_count(ty);
    match values.get(at..at + count) {
        Some(part) => lower.set_result(inst.result(), part),
        None => Err(lower.instruction_fault("its indexes lead out of the composite")),
    }
}

/// `OpCompositeInsert`.
pub(crate) fn lower_composite_insert(lower: &mut ClifLowering, inst: InstRef) -> ClifResult {
    let ty = lower.result_type(inst)?;
    let path = &inst.operands()[2..];
    if lower.is_large(ty) {
        let from = lower.large_value_address(inst.id_operand(1))?;
        let address = lower.large_result(inst, ty)?;
        lower.copy_bytes(address, from, lower.program.types.get(ty).extent);
        let (at, strides) = lower.place_at(address, ty, path)?;
        let part = lower.type_of(inst.id_operand(0))?;
        let pointer = super::values::PointerOperand::Address(at, strides);
        return lower.store_to(pointer, part, inst.id_operand(0));
    }
    let (_, at) = lower.part_at(ty, path)?;
    let object = lower.read_values(inst.id_operand(0))?;
    let mut values = lower.read_values(inst.id_operand(1))?;
    match values.get_mut(at..at + object.len()) {
        Some(part) => part.copy_from_slice(&object),
        None => return Err(lower.instruction_fault("its indexes lead out of the composite")),
    }
    lower.set_result(inst.result(), &values)
}

/// `OpVectorShuffle`.
pub(crate) fn lower_vector_shuffle(lower: &mut ClifLowering, inst: InstRef) -> ClifResult {
    let mut both = lower.read_values(inst.id_operand(0))?;
    both.extend(lower.read_values(inst.id_operand(1))?);
    let mut out = ClifScalars::new();
    for pick in &inst.operands()[2..] {
        // An index of all ones selects an undefined value.
        let at = if *pick == u32::MAX { 0 } else { *pick as usize };
        match both.get(at) {
            Some(value) => out.push(*value),
            None => return Err(lower.instruction_fault(format!("there is no component {pick}"))),
        }
    }
    lower.set_result(inst.result(), &out)
}

/// `OpVectorExtractDynamic`.
pub(crate) fn extract_dynamic(lower: &mut ClifLowering, inst: InstRef) -> ClifResult {
    let values = lower.read_values(inst.id_operand(0))?;
    let index = lower.read_value(inst.id_operand(1))?;
    lower
        .hooks()
        .before_component(lower, index, values.len() as u64);
    let picked = lower.pick_by_index(&values, index);
    lower.set_result(inst.result(), &[picked])
}

/// `OpVectorInsertDynamic`.
pub(crate) fn insert_dynamic(lower: &mut ClifLowering, inst: InstRef) -> ClifResult {
    let values = lower.read_values(inst.id_operand(0))?;
    let component = lower.read_value(inst.id_operand(1))?;
    let index = lower.read_value(inst.id_operand(2))?;
    lower
        .hooks()
        .before_component(lower, index, values.len() as u64);
    let mut out = ClifScalars::new();
    for (n, value) in values.iter().enumerate() {
        let here = lower
            .builder
            .ins()
            .icmp_imm_u(IntCC::Equal, index, n as i64);
        out.push(lower.builder.ins().select(here, component, *value));
    }
    lower.set_result(inst.result(), &out)
}

/// `OpUndef` within a function: zeros.
pub(crate) fn lower_undef(lower: &mut ClifLowering, inst: InstRef) -> ClifResult {
    let ty = lower.result_type(inst)?;
    if lower.is_large(ty) {
        let address = lower.large_result(inst, ty)?;
        lower.zero_bytes(address, lower.program.types.get(ty).extent);
        return Ok(());
    }
    let zeros = lower.emit_zeros(ty);
    lower.set_result(inst.result(), &zeros)
}

/// `OpCopyLogical`: the same scalars in a type that is laid out otherwise.
pub(crate) fn copy_logical(lower: &mut ClifLowering, inst: InstRef) -> ClifResult {
    let ty = lower.result_type(inst)?;
    if !lower.is_large(ty) {
        return super::pointer::lower_pointer_copy(lower, inst);
    }
    let from_type = lower.type_of(inst.id_operand(0))?;
    if lower.program.types.scalar_count(ty) > 4096 {
        return lower.fail_unsupported("a value of more than 4096 scalars");
    }
    let from = lower.large_value_address(inst.id_operand(0))?;
    let to = lower.large_result(inst, ty)?;
    let (sources, targets) = (lower.type_leaves(from_type), lower.type_leaves(ty));
    for (source, target) in sources.iter().zip(&targets) {
        let scalar = super::lowering::clif_type(source.scalar);
        let offset = source.offset as i32;
        let value = lower
            .builder
            .ins()
            .load(scalar, plain_flags(), from, offset);
        let offset = target.offset as i32;
        lower.builder.ins().store(plain_flags(), value, to, offset);
    }
    Ok(())
}

impl ClifLowering<'_, '_, '_> {
    /// The one of several values that an index names.
    pub fn pick_by_index(&mut self, values: &[Value], index: Value) -> Value {
        if let Some(n) = self.find_integer_constant(index)
            && let Some(value) = usize::try_from(n).ok().and_then(|n| values.get(n))
        {
            return *value;
        }
        let mut picked = values[0];
        for (n, value) in values.iter().enumerate().skip(1) {
            let here = self.builder.ins().icmp_imm_u(IntCC::Equal, index, n as i64);
            picked = self.builder.ins().select(here, *value, picked);
        }
        picked
    }

    /// Type and first scalar of the member that literal indices lead to.
    pub fn part_at(&self, mut ty: Id, path: &[u32]) -> Result<(Id, usize), SourceDiagnostic> {
        let mut at = 0;
        for index in path {
            let Some((part, before)) = self.program.types.find_part(ty, *index) else {
                return Err(self.instruction_fault(format!("there is no part {index}")));
            };
            (ty, at) = (part, at + before);
        }
        Ok((ty, at))
    }

    /// Address and strides of the member that literal indices lead to.
    fn place_at(
        &mut self,
        base: Value,
        mut ty: Id,
        path: &[u32],
    ) -> Result<(Value, Option<crate::module::types::MatrixStrides>), SourceDiagnostic> {
        let (mut offset, mut strides) = (0u64, None);
        for index in path {
            let Some((part, _)) = self.program.types.find_part(ty, *index) else {
                return Err(self.instruction_fault(format!("there is no part {index}")));
            };
            let (bytes, inner) = self
                .program
                .types
                .part_offset(ty, u64::from(*index), strides);
            offset += bytes;
            (ty, strides) = (part, inner);
        }
        let offset = self.emit_iconst(types::I64, offset as i64);
        Ok((self.builder.ins().iadd(base, offset), strides))
    }
}
