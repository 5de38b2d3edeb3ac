//! OpenCL's loads and stores of vectors and halves, its shuffles and its selection.

use crate::codegen::access_hooks::{MemoryAccessKind, PointerAccess};
use crate::codegen::lowering::{ClifLowering, clif_type, plain_flags};
use crate::codegen::{ClifResult, ClifScalars};
use crate::module::types::{ScalarLeaf, ScalarRepr};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use spirula_diagnostics::SourceDiagnostic;
use spirula_scalar::FloatRounding;
use spirula_spirv::Id;
use spirula_spirv::ir::InstRef;

/// The address of the vector that an offset in vectors leads to.
fn vector_address(
    lower: &mut ClifLowering,
    offset: Id,
    pointer: Id,
    bytes: u64,
) -> Result<Value, SourceDiagnostic> {
    let is_guarded = lower.is_in_guarded_memory(pointer);
    let pointer = lower.read_pointer(pointer)?;
    let base = lower.address_of(pointer)?;
    let offset = lower.read_value(offset)?;
    let offset = lower.extend_to(offset, types::I64, false);
    let mut offset = lower.builder.ins().imul_imm_s(offset, bytes as i64);
    if is_guarded {
        offset = lower.cut_to_half(offset);
    }
    Ok(lower.builder.ins().iadd(base, offset))
}

/// Calls the hook of an access to scalars in a row. Returns the address to use.
fn before_row_access(
    lower: &mut ClifLowering,
    pointer: Id,
    address: Value,
    kind: MemoryAccessKind,
    leaves: &[ScalarLeaf],
    values: &[Value],
) -> Result<Value, SourceDiagnostic> {
    let access = PointerAccess {
        pointer,
        address,
        kind,
    };
    lower
        .hooks()
        .before_scalar_access(lower, access, leaves, values)
}

/// `count` scalars in a row.
fn consecutive_leaves(scalar: ScalarRepr, count: u64) -> Vec<ScalarLeaf> {
    let leaf = |n: u64| ScalarLeaf {
        scalar,
        offset: n * u64::from(scalar.bytes()),
    };
    (0..count).map(leaf).collect()
}

/// `vloadn`: offset, pointer, number of components.
pub(super) fn lower_vload(lower: &mut ClifLowering, inst: InstRef) -> ClifResult {
    let ty = lower.result_type(inst)?;
    let scalar = lower.component_scalar(ty)?;
    let count = lower.program.types.scalar_count(ty) as u64;
    let bytes = u64::from(scalar.bytes());
    let address = vector_address(lower, inst.id_operand(2), inst.id_operand(3), count * bytes)?;
    let leaves = consecutive_leaves(scalar, count);
    let address = before_row_access(
        lower,
        inst.id_operand(3),
        address,
        MemoryAccessKind::Read,
        &leaves,
        &[],
    )?;
    let clif = clif_type(scalar);
    let values: ClifScalars = (0..count)
        .map(|n| {
            let offset = (n * bytes) as i32;
            lower
                .builder
                .ins()
                .load(clif, plain_flags(), address, offset)
        })
        .collect();
    lower.set_result(inst.result(), &values)
}

/// `vstoren`: data, offset, pointer.
pub(super) fn lower_vstore(lower: &mut ClifLowering, inst: InstRef) -> ClifResult {
    let values = lower.read_values(inst.id_operand(2))?;
    let scalar = lower.scalar_of(inst.id_operand(2))?;
    let size = values.len() as u64 * u64::from(scalar.bytes());
    let address = vector_address(lower, inst.id_operand(3), inst.id_operand(4), size)?;
    store_row(lower, inst.id_operand(4), address, scalar, &values)
}

/// Stores scalars in a row, at an address that a pointer leads to.
pub(super) fn store_row(
    lower: &mut ClifLowering,
    pointer: Id,
    address: Value,
    scalar: ScalarRepr,
    values: &[Value],
) -> ClifResult {
    let leaves = consecutive_leaves(scalar, values.len() as u64);
    let address = before_row_access(
        lower,
        pointer,
        address,
        MemoryAccessKind::Write,
        &leaves,
        values,
    )?;
    for (value, leaf) in values.iter().zip(&leaves) {
        let offset = leaf.offset as i32;
        lower
            .builder
            .ins()
            .store(plain_flags(), *value, address, offset);
    }
    Ok(())
}

/// Bytes from a vector of halves to the next: three take the room of four where they are aligned.
fn half_stride(number: u32, count: usize) -> u64 {
    match (number, count) {
        (179..=181, 3) => 8,
        _ => 2 * count as u64,
    }
}

/// `vload_half`, `vload_halfn`, `vloada_halfn`: offset, pointer.
pub(super) fn load_half(lower: &mut ClifLowering, inst: InstRef) -> ClifResult {
    let ty = lower.result_type(inst)?;
    let to = lower.component_scalar(ty)?;
    let count = lower.program.types.scalar_count(ty);
    let stride = half_stride(inst.operand_word(1), count);
    let address = vector_address(lower, inst.id_operand(2), inst.id_operand(3), stride)?;
    let leaves = consecutive_leaves(ScalarRepr::F16, count as u64);
    let address = before_row_access(
        lower,
        inst.id_operand(3),
        address,
        MemoryAccessKind::Read,
        &leaves,
        &[],
    )?;
    let values: ClifScalars = (0..count)
        .map(|n| {
            let offset = n as i32 * 2;
            let ins = lower.builder.ins();
            let half = ins.load(types::I16, plain_flags(), address, offset);
            lower.float_to_float(half, ScalarRepr::F16, to, None)
        })
        .collect();
    lower.set_result(inst.result(), &values)
}

/// `vstore_half` and its variants: data, offset, pointer, and a rounding mode for those with `_r`.
pub(super) fn store_half(lower: &mut ClifLowering, inst: InstRef) -> ClifResult {
    let from = lower.scalar_of(inst.id_operand(2))?;
    let values = lower.read_values(inst.id_operand(2))?;
    let number = inst.operand_word(1);
    let stride = half_stride(number, values.len());
    let address = vector_address(lower, inst.id_operand(3), inst.id_operand(4), stride)?;
    let leaves = consecutive_leaves(ScalarRepr::F16, values.len() as u64);
    let address = before_row_access(
        lower,
        inst.id_operand(4),
        address,
        MemoryAccessKind::Write,
        &leaves,
        &[],
    )?;
    let rounding = match number {
        176 | 178 | 181 => FloatRounding::from_number(inst.operand_word(5)),
        _ => None,
    };
    for (n, value) in values.iter().enumerate() {
        let half = lower.float_to_float(*value, from, ScalarRepr::F16, rounding);
        let offset = n as i32 * 2;
        lower
            .builder
            .ins()
            .store(plain_flags(), half, address, offset);
    }
    Ok(())
}

/// `shuffle` and `shuffle2`: one or two vectors, then a mask of indexes.
pub(super) fn lower_opencl_shuffle(lower: &mut ClifLowering, inst: InstRef) -> ClifResult {
    let mut values = lower.read_values(inst.id_operand(2))?;
    let mut mask_at = 3;
    if inst.operand_word(1) == 183 {
        values.extend(lower.read_values(inst.id_operand(3))?);
        mask_at = 4;
    }
    let mask = lower.read_values(inst.id_operand(mask_at))?;
    let low = i64::try_from(values.len().next_power_of_two()).unwrap_or(1) - 1;
    let out: ClifScalars = mask
        .iter()
        .map(|index| {
            let index = lower.builder.ins().band_imm_u(*index, low);
            lower.pick_by_index(&values, index)
        })
        .collect();
    lower.set_result(inst.result(), &out)
}

/// `select(a, b, c)`: b where c is not 0, in vectors where its highest bit is set; else a.
pub(super) fn lower_opencl_select(lower: &mut ClifLowering, inst: InstRef) -> ClifResult {
    let (a, b) = (
        lower.read_values(inst.id_operand(2))?,
        lower.read_values(inst.id_operand(3))?,
    );
    let c = lower.read_values(inst.id_operand(4))?;
    let condition = if c.len() > 1 {
        IntCC::SignedLessThan
    } else {
        IntCC::NotEqual
    };
    let mut out = ClifScalars::new();
    for ((a, b), c) in a.iter().zip(&b).zip(&c) {
        let second = lower.builder.ins().icmp_imm_s(condition, *c, 0);
        out.push(lower.builder.ins().select(second, *b, *a));
    }
    lower.set_result(inst.result(), &out)
}
