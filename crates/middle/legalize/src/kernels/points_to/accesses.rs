//! How the memory of each class is read and written.

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
    classes: &mut PointsToAnalysis,
    facts: &KernelModuleInfo<'_>,
) -> Result<(), SourceDiagnostic> {
    for inst in facts.module.all_insts() {
        match inst.op() {
            Op::Load => {
                if let Some(ty) = inst.result_type() {
                    note_typed_access(
                        classes,
                        facts,
                        inst.id_operand(0),
                        ty,
                        memory_operands(inst, 1).1,
                    )?;
                }
            }
            Op::Store => {
                if let Some(ty) = facts.type_of(inst.id_operand(1)) {
                    note_typed_access(
                        classes,
                        facts,
                        inst.id_operand(0),
                        ty,
                        memory_operands(inst, 2).1,
                    )?;
                }
            }
            Op::CopyMemory | Op::CopyMemorySized => note_copy(classes, facts, inst),
            Op::ExtInst => note_extended(classes, facts, inst)?,
            Op::AtomicFlagTestAndSet | Op::AtomicFlagClear => {
                note_access(classes, inst.id_operand(0), Some(MemoryScalar::Int(32)), 4);
            }
            Op::GroupAsyncCopy => {
                if let Some(ty) = find_pointee(facts, inst.id_operand(1)) {
                    note_typed_access(classes, facts, inst.id_operand(1), ty, None)?;
                    note_typed_access(classes, facts, inst.id_operand(2), ty, None)?;
                }
            }
            op if op.is_atomic() => {
                let ty = match op {
                    Op::AtomicStore => facts.type_of(inst.id_operand(3)),
                    _ => inst.result_type(),
                };
                if let Some(ty) = ty {
                    note_atomic(classes, facts, inst, ty);
                    note_typed_access(classes, facts, inst.id_operand(0), ty, None)?;
                }
            }
            _ => {}
        }
    }
    Ok(())
}

fn note_atomic(
    classes: &mut PointsToAnalysis,
    facts: &KernelModuleInfo<'_>,
    inst: InstRef<'_>,
    ty: Id,
) {
    if let (Some(class), Some(scalar)) = (
        classes.find_set(inst.id_operand(0)),
        facts.classify_scalar(ty),
    ) {
        let is_integral = matches!(inst.op(), Op::AtomicFMinEXT | Op::AtomicFMaxEXT);
        classes.memories[class as usize].note_atomic(scalar.size(), is_integral);
    }
}

fn find_pointee(facts: &KernelModuleInfo<'_>, pointer: Id) -> Option<Id> {
    facts.parse_pointer_type(facts.type_of(pointer)?)?.1
}

/// The flags and alignment of the memory operands that begin at word `n`.
pub fn memory_operands(inst: InstRef<'_>, n: usize) -> (MemoryAccess, Option<u32>) {
    let words = inst.operands().get(n..).unwrap_or(&[]);
    let flags = MemoryAccess(words.first().copied().unwrap_or(0));
    let is_aligned = flags.0 & MemoryAccess::Aligned.0 != 0;
    (flags, words.get(1).copied().filter(|_| is_aligned))
}

fn note_access(
    classes: &mut PointsToAnalysis,
    pointer: Id,
    scalar: Option<MemoryScalar>,
    align: u32,
) {
    if let Some(class) = classes.find_set(pointer) {
        classes.memories[class as usize].note_access(scalar, align);
    }
}

fn note_typed_access(
    classes: &mut PointsToAnalysis,
    facts: &KernelModuleInfo<'_>,
    pointer: Id,
    ty: Id,
    align: Option<u32>,
) -> Result<(), SourceDiagnostic> {
    let Some(class) = classes.find_set(pointer) else {
        return Ok(());
    };
    if classes.memories[class as usize].objects.is_empty() {
        return Ok(());
    }
    let mut found = Vec::new();
    facts.visit_scalars(ty, MOST_VALUE_SCALARS, &mut |leaf, at| {
        found.push((leaf, at))
    })?;
    for (leaf, at) in found {
        let align = align.map_or(8, |a| align_at_offset(a, at));
        note_access(classes, pointer, facts.classify_scalar(leaf), align);
    }
    Ok(())
}

/// The alignment of what is at an offset from something aligned.
pub fn align_at_offset(align: u32, offset: u64) -> u32 {
    match offset {
        0 => align.max(1),
        at => align.max(1).min(1 << at.trailing_zeros().min(30)),
    }
}

fn note_copy(classes: &mut PointsToAnalysis, facts: &KernelModuleInfo<'_>, inst: InstRef<'_>) {
    let at = if inst.op() == Op::CopyMemory { 2 } else { 3 };
    let (_, align) = memory_operands(inst, at);
    let natural =
        find_pointee(facts, inst.id_operand(0)).map_or(1, |ty| facts.layouts.get(ty).align);
    let align = align.unwrap_or(natural);
    let size = match inst.op() {
        Op::CopyMemorySized => facts.read_constant(inst.id_operand(2)),
        _ => find_pointee(facts, inst.id_operand(0)).map(|ty| facts.layouts.get(ty).size),
    };
    let align = align_at_offset(align, size.unwrap_or(0));
    for pointer in [inst.id_operand(0), inst.id_operand(1)] {
        note_access(classes, pointer, None, align);
    }
}

/// Pointers that extended instructions are given.
fn note_extended(
    classes: &mut PointsToAnalysis,
    facts: &KernelModuleInfo<'_>,
    inst: InstRef<'_>,
) -> Result<(), SourceDiagnostic> {
    for pointer in inst.id_operands(2).filter(|id| facts.is_pointer(*id)) {
        let Some(ty) = find_pointee(facts, pointer) else {
            continue;
        };
        let (part, _) = facts.split_vector_type(ty);
        note_typed_access(classes, facts, pointer, part, None)?;
    }
    Ok(())
}
