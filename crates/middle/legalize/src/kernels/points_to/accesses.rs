//! Accesses: the sizes and alignments by which the memory of each points-to set is read and written.

use super::PointsToAnalysis;
use crate::MOST_VALUE_SCALARS;
use crate::kernels::module_info::{KernelModuleInfo, MemoryScalar};
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::MemoryAccess;
use spirula_spirv::ir::InstRef;

/// Notes all accesses.
pub fn gather_accesses(
    points_to: &mut PointsToAnalysis,
    info: &KernelModuleInfo<'_>,
) -> Result<(), SourceDiagnostic> {
    for inst in info.module.all_insts() {
        match inst.op() {
            Op::Load => {
                if let Some(ty) = inst.result_type() {
                    note_typed_access(
                        points_to,
                        info,
                        inst.id_operand(0),
                        ty,
                        memory_operands(inst, 1).1,
                    )?;
                }
            }
            Op::Store => {
                if let Some(ty) = info.type_of(inst.id_operand(1)) {
                    note_typed_access(
                        points_to,
                        info,
                        inst.id_operand(0),
                        ty,
                        memory_operands(inst, 2).1,
                    )?;
                }
            }
            Op::CopyMemory | Op::CopyMemorySized => note_copy(points_to, info, inst),
            Op::ExtInst => note_extended(points_to, info, inst)?,
            Op::AtomicFlagTestAndSet | Op::AtomicFlagClear => {
                note_access(
                    points_to,
                    inst.id_operand(0),
                    Some(MemoryScalar::Int(32)),
                    4,
                );
            }
            Op::GroupAsyncCopy => {
                if let Some(ty) = find_pointee(info, inst.id_operand(1)) {
                    note_typed_access(points_to, info, inst.id_operand(1), ty, None)?;
                    note_typed_access(points_to, info, inst.id_operand(2), ty, None)?;
                }
            }
            op if op.is_atomic() => {
                let ty = match op {
                    Op::AtomicStore => info.type_of(inst.id_operand(3)),
                    _ => inst.result_type(),
                };
                if let Some(ty) = ty {
                    note_atomic(points_to, info, inst, ty);
                    note_typed_access(points_to, info, inst.id_operand(0), ty, None)?;
                }
            }
            _ => {}
        }
    }
    Ok(())
}

fn note_atomic(
    points_to: &mut PointsToAnalysis,
    info: &KernelModuleInfo<'_>,
    inst: InstRef<'_>,
    ty: Id,
) {
    if let (Some(set), Some(scalar)) = (
        points_to.find_set(inst.id_operand(0)),
        info.classify_scalar(ty),
    ) {
        let is_integral = matches!(inst.op(), Op::AtomicFMinEXT | Op::AtomicFMaxEXT);
        points_to.memories[set as usize].note_atomic(scalar.size(), is_integral);
    }
}

fn find_pointee(info: &KernelModuleInfo<'_>, pointer: Id) -> Option<Id> {
    info.parse_pointer_type(info.type_of(pointer)?)?.1
}

/// The flags and alignment of the memory operands that begin at word `n`.
pub fn memory_operands(inst: InstRef<'_>, n: usize) -> (MemoryAccess, Option<u32>) {
    let words = inst.operands().get(n..).unwrap_or(&[]);
    let flags = MemoryAccess(words.first().copied().unwrap_or(0));
    let is_aligned = flags.0 & MemoryAccess::Aligned.0 != 0;
    (flags, words.get(1).copied().filter(|_| is_aligned))
}

fn note_access(
    points_to: &mut PointsToAnalysis,
    pointer: Id,
    scalar: Option<MemoryScalar>,
    align: u32,
) {
    if let Some(set) = points_to.find_set(pointer) {
        points_to.memories[set as usize].note_access(scalar, align);
    }
}

fn note_typed_access(
    points_to: &mut PointsToAnalysis,
    info: &KernelModuleInfo<'_>,
    pointer: Id,
    ty: Id,
    align: Option<u32>,
) -> Result<(), SourceDiagnostic> {
    let Some(set) = points_to.find_set(pointer) else {
        return Ok(());
    };
    if points_to.memories[set as usize].objects.is_empty() {
        return Ok(());
    }
    let mut found = Vec::new();
    info.visit_scalars(ty, MOST_VALUE_SCALARS, &mut |leaf, at| {
        found.push((leaf, at))
    })?;
    for (leaf, at) in found {
        let align = align.map_or(8, |a| align_at_offset(a, at));
        note_access(points_to, pointer, info.classify_scalar(leaf), align);
    }
    Ok(())
}

/// The alignment of an address at an offset from an aligned one.
pub fn align_at_offset(align: u32, offset: u64) -> u32 {
    match offset {
        0 => align.max(1),
        at => align.max(1).min(1 << at.trailing_zeros().min(30)),
    }
}

fn note_copy(points_to: &mut PointsToAnalysis, info: &KernelModuleInfo<'_>, inst: InstRef<'_>) {
    let at = if inst.op() == Op::CopyMemory { 2 } else { 3 };
    let (_, align) = memory_operands(inst, at);
    let natural = find_pointee(info, inst.id_operand(0)).map_or(1, |ty| info.layouts.get(ty).align);
    let align = align.unwrap_or(natural);
    let size = match inst.op() {
        Op::CopyMemorySized => info.read_constant(inst.id_operand(2)),
        _ => find_pointee(info, inst.id_operand(0)).map(|ty| info.layouts.get(ty).size),
    };
    let align = align_at_offset(align, size.unwrap_or(0));
    for pointer in [inst.id_operand(0), inst.id_operand(1)] {
        note_access(points_to, pointer, None, align);
    }
}

/// Notes the accesses of extended instructions.
fn note_extended(
    points_to: &mut PointsToAnalysis,
    info: &KernelModuleInfo<'_>,
    inst: InstRef<'_>,
) -> Result<(), SourceDiagnostic> {
    for pointer in inst.id_operands(2).filter(|id| info.is_pointer(*id)) {
        let Some(ty) = find_pointee(info, pointer) else {
            continue;
        };
        let (part, _) = info.split_vector_type(ty);
        note_typed_access(points_to, info, pointer, part, None)?;
    }
    Ok(())
}
