//! How the memory of each class is read and written.

use super::PointsToAnalysis;
use crate::facts::{KernelModuleInfo, MOST_PARTS, MemoryScalar};
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::MemoryAccess;
use spirula_spirv::ir::InstRef;

/// Notes all accesses.
pub fn gather(
    classes: &mut PointsToAnalysis,
    facts: &KernelModuleInfo<'_>,
) -> Result<(), SourceDiagnostic> {
    for inst in facts.module.all_insts() {
        match inst.op() {
            Op::Load => {
                if let Some(ty) = inst.result_type() {
                    access(classes, facts, inst.id(0), ty, memory_operands(inst, 1).1)?;
                }
            }
            Op::Store => {
                if let Some(ty) = facts.type_of(inst.id(1)) {
                    access(classes, facts, inst.id(0), ty, memory_operands(inst, 2).1)?;
                }
            }
            Op::CopyMemory | Op::CopyMemorySized => copy(classes, facts, inst),
            Op::ExtInst => extended(classes, facts, inst)?,
            Op::AtomicFlagTestAndSet | Op::AtomicFlagClear => {
                note(classes, inst.id(0), Some(MemoryScalar::Int(32)), 4);
            }
            Op::GroupAsyncCopy => {
                if let Some(ty) = pointee(facts, inst.id(1)) {
                    access(classes, facts, inst.id(1), ty, None)?;
                    access(classes, facts, inst.id(2), ty, None)?;
                }
            }
            op if is_atomic(op) => {
                let ty = match op {
                    Op::AtomicStore => facts.type_of(inst.id(3)),
                    _ => inst.result_type(),
                };
                if let Some(ty) = ty {
                    atomic(classes, facts, inst, ty);
                    access(classes, facts, inst.id(0), ty, None)?;
                }
            }
            _ => {}
        }
    }
    Ok(())
}

fn is_atomic(op: Op) -> bool {
    (Op::AtomicLoad.0..=Op::AtomicXor.0).contains(&op.0)
        || matches!(
            op,
            Op::AtomicFAddEXT | Op::AtomicFMinEXT | Op::AtomicFMaxEXT
        )
}

fn atomic(classes: &mut PointsToAnalysis, facts: &KernelModuleInfo<'_>, inst: InstRef<'_>, ty: Id) {
    if let (Some(class), Some(scalar)) = (classes.of(inst.id(0)), facts.scalar(ty)) {
        let is_integral = matches!(inst.op(), Op::AtomicFMinEXT | Op::AtomicFMaxEXT);
        classes.memories[class as usize].atomic(scalar.size(), is_integral);
    }
}

fn pointee(facts: &KernelModuleInfo<'_>, pointer: Id) -> Option<Id> {
    facts.pointer(facts.type_of(pointer)?)?.1
}

/// The flags and alignment of the memory operands that begin at word `n`.
pub fn memory_operands(inst: InstRef<'_>, n: usize) -> (MemoryAccess, Option<u32>) {
    let words = inst.operands().get(n..).unwrap_or(&[]);
    let flags = MemoryAccess(words.first().copied().unwrap_or(0));
    let is_aligned = flags.0 & MemoryAccess::Aligned.0 != 0;
    (flags, words.get(1).copied().filter(|_| is_aligned))
}

fn note(classes: &mut PointsToAnalysis, pointer: Id, scalar: Option<MemoryScalar>, align: u32) {
    if let Some(class) = classes.of(pointer) {
        classes.memories[class as usize].access(scalar, align);
    }
}

fn access(
    classes: &mut PointsToAnalysis,
    facts: &KernelModuleInfo<'_>,
    pointer: Id,
    ty: Id,
    align: Option<u32>,
) -> Result<(), SourceDiagnostic> {
    let Some(class) = classes.of(pointer) else {
        return Ok(());
    };
    if classes.memories[class as usize].objects.is_empty() {
        return Ok(());
    }
    let mut found = Vec::new();
    facts.leaves(ty, MOST_PARTS, &mut |leaf, at| found.push((leaf, at)))?;
    for (leaf, at) in found {
        let align = align.map_or(8, |a| common(a, at));
        note(classes, pointer, facts.scalar(leaf), align);
    }
    Ok(())
}

/// The alignment of what is at an offset from something aligned.
pub fn common(align: u32, offset: u64) -> u32 {
    match offset {
        0 => align.max(1),
        at => align.max(1).min(1 << at.trailing_zeros().min(30)),
    }
}

fn copy(classes: &mut PointsToAnalysis, facts: &KernelModuleInfo<'_>, inst: InstRef<'_>) {
    let at = if inst.op() == Op::CopyMemory { 2 } else { 3 };
    let (_, align) = memory_operands(inst, at);
    let natural = pointee(facts, inst.id(0)).map_or(1, |ty| facts.layouts.get(ty).align);
    let align = align.unwrap_or(natural);
    let size = match inst.op() {
        Op::CopyMemorySized => facts.constant(inst.id(2)),
        _ => pointee(facts, inst.id(0)).map(|ty| facts.layouts.get(ty).size),
    };
    let align = common(align, size.unwrap_or(0));
    for pointer in [inst.id(0), inst.id(1)] {
        note(classes, pointer, None, align);
    }
}

/// Pointers that extended instructions are given.
fn extended(
    classes: &mut PointsToAnalysis,
    facts: &KernelModuleInfo<'_>,
    inst: InstRef<'_>,
) -> Result<(), SourceDiagnostic> {
    for pointer in inst.ids(2).filter(|id| facts.is_pointer(*id)) {
        let Some(ty) = pointee(facts, pointer) else {
            continue;
        };
        let (part, _) = facts.components(ty);
        access(classes, facts, pointer, part, None)?;
    }
    Ok(())
}
