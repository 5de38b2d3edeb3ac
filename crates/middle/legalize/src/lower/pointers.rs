//! Pointers as numbers.

use super::ShaderLowering;
use super::composites::result;
use crate::classes::{PointerRegion, PointsToSetId};
use crate::steps::PointerDelta;
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::{MemorySemantics, StorageClass};
use spirula_spirv::ir::InstRef;

impl ShaderLowering<'_> {
    /// Bits of a class' pointers.
    fn pointer_width(&self, class: PointsToSetId) -> u32 {
        self.classes.memory(class).pointer_width()
    }

    /// A pointer of so many bits some bytes behind another one.
    pub fn plus(&mut self, width: u32, pointer: Id, bytes: i64) -> Id {
        if bytes == 0 {
            return pointer;
        }
        if let Some(known) = self.numbers.get(&pointer) {
            return self.number(width, known.wrapping_add(bytes as u64));
        }
        let (ty, bytes) = (self.int(width), self.number(width, bytes as u64));
        self.op(Op::IAdd, ty, &[pointer, bytes])
    }
}

/// Access chains of all kinds.
pub fn chain(l: &mut ShaderLowering<'_>, inst: InstRef<'_>) -> Result<Id, SourceDiagnostic> {
    let base = inst.id(0);
    let indices: Vec<Id> = inst.ids(1).collect();
    let class = l.class(result(inst))?;
    let steps = PointerDelta::new(l.facts, inst.op(), base, &indices)?;
    let mut pointer = l.pointer(base, class)?;
    let width = l.pointer_width(class);
    let ty = l.int(width);
    for (index, stride) in steps.indices {
        let (scalar, _) = l.scalars(index)?;
        let value = l.value(index)?;
        let own = scalar.size() * 8;
        let index = match own.cmp(&width) {
            std::cmp::Ordering::Less => l.op(Op::SConvert, ty, &[value]),
            std::cmp::Ordering::Equal => value,
            std::cmp::Ordering::Greater => l.op(Op::UConvert, ty, &[value]),
        };
        let bytes = match stride {
            1 => index,
            _ => {
                let stride = l.number(width, stride);
                l.op(Op::IMul, ty, &[index, stride])
            }
        };
        pointer = match l.numbers.get(&pointer) {
            Some(0) => bytes,
            _ => l.op(Op::IAdd, ty, &[pointer, bytes]),
        };
    }
    Ok(l.plus(width, pointer, steps.bytes))
}

/// Casts from pointer to pointer.
pub fn same(l: &mut ShaderLowering<'_>, inst: InstRef<'_>) -> Result<Id, SourceDiagnostic> {
    let class = l.class(result(inst))?;
    l.pointer(inst.id(0), class)
}

/// `OpBitcast`, of pointers or of others.
pub fn bitcast(l: &mut ShaderLowering<'_>, inst: InstRef<'_>) -> Result<Id, SourceDiagnostic> {
    match (
        l.facts.is_pointer(inst.id(0)),
        l.facts.is_pointer(result(inst)),
    ) {
        (true, true) => same(l, inst),
        (true, false) => to_number(l, inst),
        (false, true) => from_number(l, inst),
        (false, false) => super::bits::bitcast(l, inst),
    }
}

/// `OpCopyObject`.
pub fn copy(l: &mut ShaderLowering<'_>, inst: InstRef<'_>) -> Result<Id, SourceDiagnostic> {
    match l.facts.is_pointer(inst.id(0)) {
        true => same(l, inst),
        false => l.value(inst.id(0)),
    }
}

/// `OpGenericCastToPtrExplicit`: the pointer where it is to the storage class, else null.
pub fn explicit(l: &mut ShaderLowering<'_>, inst: InstRef<'_>) -> Result<Id, SourceDiagnostic> {
    let class = l.class(result(inst))?;
    let memory = l.classes.memory(class);
    let wanted = match StorageClass(inst.word(1)) {
        StorageClass::CrossWorkgroup => PointerRegion::Buffer,
        StorageClass::Workgroup => PointerRegion::Shared,
        _ => PointerRegion::Own,
    };
    if memory.is_generic() {
        let pointer = l.pointer(inst.id(0), class)?;
        let (is_there, ty, null) = (l.is_to(pointer, wanted), l.int(64), l.number(64, 0));
        return Ok(l.op(Op::Select, ty, &[is_there, pointer, null]));
    }
    match memory.regions().contains(&wanted) {
        true => l.pointer(inst.id(0), class),
        false => Ok(l.number(memory.pointer_width(), 0)),
    }
}

/// `OpGenericPtrMemSemantics`.
pub fn semantics(l: &mut ShaderLowering<'_>, inst: InstRef<'_>) -> Result<Id, SourceDiagnostic> {
    let class = l.class(inst.id(0))?;
    let memory = l.classes.memory(class);
    let (regions, is_generic) = (memory.regions(), memory.is_generic());
    let semantics = |region| match region {
        PointerRegion::Buffer => MemorySemantics::CrossWorkgroupMemory.0,
        PointerRegion::Shared => MemorySemantics::WorkgroupMemory.0,
        PointerRegion::Own => 0,
    };
    let mut found = l.number(32, semantics(regions[0]).into());
    if is_generic {
        let pointer = l.pointer(inst.id(0), class)?;
        for region in regions.into_iter().skip(1) {
            let (is_there, ty) = (l.is_to(pointer, region), l.int(32));
            let number = l.number(32, semantics(region).into());
            found = l.op(Op::Select, ty, &[is_there, number, found]);
        }
    }
    Ok(found)
}

/// `OpConvertPtrToU`.
pub fn to_number(l: &mut ShaderLowering<'_>, inst: InstRef<'_>) -> Result<Id, SourceDiagnostic> {
    let (to, _) = l.scalars(result(inst))?;
    if l.facts.is_nothing(inst.id(0)) {
        return Ok(l.number(to.size() * 8, 0));
    }
    let class = l.class(inst.id(0))?;
    let (value, width) = (l.value(inst.id(0))?, l.pointer_width(class));
    Ok(l.resize(value, width, to.size() * 8))
}

/// `OpConvertUToPtr`.
pub fn from_number(l: &mut ShaderLowering<'_>, inst: InstRef<'_>) -> Result<Id, SourceDiagnostic> {
    let class = l.class(result(inst))?;
    let (from, _) = l.scalars(inst.id(0))?;
    let (value, width) = (l.value(inst.id(0))?, l.pointer_width(class));
    Ok(l.resize(value, from.size() * 8, width))
}

/// `OpPtrEqual`, `OpPtrNotEqual`, and comparisons of integers that are given pointers.
pub fn compare(l: &mut ShaderLowering<'_>, inst: InstRef<'_>) -> Result<Id, SourceDiagnostic> {
    let (a, b) = (inst.id(0), inst.id(1));
    let op = match inst.op() {
        Op::PtrEqual => Op::IEqual,
        Op::PtrNotEqual => Op::INotEqual,
        op => op,
    };
    let class = match (l.classes.of(a), l.classes.of(b)) {
        (Some(x), Some(y)) if x != y => {
            // Objects of different classes are different.
            return Ok(l.b.constant_bool(op == Op::INotEqual));
        }
        (Some(x), _) | (_, Some(x)) => x,
        _ => return Ok(l.b.constant_bool(op == Op::IEqual)),
    };
    let (a, b) = (l.pointer(a, class)?, l.pointer(b, class)?);
    let ty = l.b.bool();
    Ok(l.op(op, ty, &[a, b]))
}

/// `OpPtrDiff`.
pub fn difference(l: &mut ShaderLowering<'_>, inst: InstRef<'_>) -> Result<Id, SourceDiagnostic> {
    let class = l.class(inst.id(0))?;
    let layout = l.facts.layouts.get(l.facts.pointee(inst.id(0))?);
    let stride = layout.size.next_multiple_of(layout.align.into());
    let (a, b) = (l.pointer(inst.id(0), class)?, l.pointer(inst.id(1), class)?);
    let width = l.pointer_width(class);
    let (ty, stride) = (l.int(width), l.number(width, stride));
    let bytes = l.op(Op::ISub, ty, &[a, b]);
    let count = l.op(Op::SDiv, ty, &[bytes, stride]);
    let (to, _) = l.scalars(result(inst))?;
    if to.size() * 8 == width {
        return Ok(count);
    }
    let to = l.int(to.size() * 8);
    Ok(l.op(Op::SConvert, to, &[count]))
}

/// `OpSelect`, of pointers or of others.
pub fn select(l: &mut ShaderLowering<'_>, inst: InstRef<'_>) -> Result<Id, SourceDiagnostic> {
    let (condition, a, b) = (inst.id(0), inst.id(1), inst.id(2));
    if l.facts.is_pointer(result(inst)) {
        let class = l.class(result(inst))?;
        let condition = l.value(condition)?;
        let (a, b) = (l.pointer(a, class)?, l.pointer(b, class)?);
        let ty = l.pointer_type(class);
        return Ok(l.op(Op::Select, ty, &[condition, a, b]));
    }
    if l.facts
        .type_of(a)
        .is_some_and(|ty| l.facts.components(ty).1 == 1)
    {
        let (condition, a, b) = (l.value(condition)?, l.value(a)?, l.value(b)?);
        let ty = l.result_type(result(inst))?;
        return Ok(l.op(Op::Select, ty, &[condition, a, b]));
    }
    l.each(inst, &[condition, a, b], |l, ty, v| l.op(Op::Select, ty, v))
}
