//! Auto-upgrade: older forms of LLVM IR become the current form, so that all consumers know only
//! one.

use crate::ir::{
    AttrForm, AttrKind, GlobalData, InstructionExtra, Linkage, LlvmAlign, LlvmAttribute,
    LlvmModule, LlvmOpcode, LlvmType, LlvmTypes, ValueKind, Visibility,
};

/// Kinds of memory in the order of the two-bit fields of a `memory` attribute. They are arguments, inaccessible memory,
/// `errno`, all other memory, and two kinds that targets define.
pub(crate) const MEMORY_LOCATIONS: [&str; 6] = [
    "argmem",
    "inaccessiblemem",
    "errnomem",
    "",
    "target_mem0",
    "target_mem1",
];
/// The same access to every kind of memory: `access` is 0 none, 1 read, 2 write, 3 both.
pub(crate) fn all_memory(access: u64) -> u64 {
    (0..MEMORY_LOCATIONS.len()).fold(0, |bits, at| bits | access << (2 * at))
}

/// Converts memory effects from bitcode to the current encoding. Before LLVM 21 there is no field
/// for `errno`, which belongs to all other memory.
pub(crate) fn memory_effects(encoded: u64) -> u64 {
    if encoded >> 56 != 0 {
        return encoded & 0x00ff_ffff_ffff_ffff;
    }
    let other = encoded >> 4 & 3;
    encoded & 0xf | all_memory(other) & !0xf
}

/// The attribute of a kind whose record has no value.
pub(crate) fn plain_attribute(kind: AttrKind) -> LlvmAttribute {
    match kind {
        // Before LLVM 15 the attribute has no number, which means asynchronous tables.
        AttrKind::UwTable => LlvmAttribute::Number(kind, 2),
        // Before LLVM 12 the attribute has no type.
        _ if kind.value_form() == AttrForm::Type => LlvmAttribute::Type(kind, None),
        _ => LlvmAttribute::Plain(kind),
    }
}

/// The integer conversion that a conversion of bytes becomes. Bytes are read as integers, and a
/// conversion to or from a pointer is then a conversion between integer and pointer.
pub(crate) fn byte_cast(
    types: &LlvmTypes,
    opcode: LlvmOpcode,
    from: LlvmType,
    to: LlvmType,
) -> LlvmOpcode {
    let is_pointer = |ty| types.is_pointer_like(types.scalar_type(ty));
    match (opcode, is_pointer(from), is_pointer(to)) {
        (LlvmOpcode::BitCast, true, false) => LlvmOpcode::PtrToInt,
        (LlvmOpcode::BitCast, false, true) => LlvmOpcode::IntToPtr,
        _ => opcode,
    }
}

/// Turns the function attributes `readnone`, `readonly`, `writeonly`, `argmemonly` and the like,
/// from before LLVM 16, into `memory`.
pub(crate) fn function_memory(attributes: &mut Vec<LlvmAttribute>) {
    let mut access = None;
    let mut places = None;
    attributes.retain(|attribute| {
        let kind = match attribute {
            LlvmAttribute::Plain(kind) => *kind,
            _ => return true,
        };
        match kind {
            AttrKind::ReadNone => access = Some(0),
            AttrKind::ReadOnly => access = Some(1),
            AttrKind::WriteOnly => access = Some(2),
            AttrKind::ArgMemOnly => places = Some(0b11),
            AttrKind::InaccessibleMemOnly => places = Some(0b1100),
            AttrKind::InaccessibleMemOrArgMemOnly => places = Some(0b1111),
            _ => return true,
        }
        false
    });
    if access.is_some() || places.is_some() {
        let bits = all_memory(access.unwrap_or(3)) & places.unwrap_or(u64::MAX);
        attributes.push(LlvmAttribute::Number(AttrKind::Memory, bits));
    }
}

/// Marks a global as `dso_local` if it can only resolve within its linkage unit.
pub(crate) fn infer_dso_local(global: &mut GlobalData) {
    let hidden = global.visibility != Visibility::Default;
    if global.linkage.is_local() || (hidden && global.linkage != Linkage::ExternWeak) {
        global.dso_local = true;
    }
}

/// Gives accesses and allocations without an alignment the ABI alignment of their type. The data
/// layout must be computed before.
pub(crate) fn complete_alignments(module: &mut LlvmModule) {
    let LlvmModule {
        types,
        layout,
        functions,
        ..
    } = module;
    let natural = |ty: LlvmType| {
        layout.size_in_bits(types, ty)?;
        LlvmAlign::from_bytes(layout.abi_align(types, ty))
    };
    // An atomic access without an alignment is aligned to its size.
    let atomic = |ty: LlvmType| LlvmAlign::from_bytes(layout.store_size(types, ty)?);
    for function in functions {
        for index in 0..function.insts.len() {
            let operand = |at: usize| {
                let value = function.value_pool[function.insts[index].operands.to_range()][at];
                match value.kind() {
                    ValueKind::Local(local) => function.local_type(local),
                    ValueKind::Const(id) => module.consts.ty(id),
                    ValueKind::Metadata(_) => LlvmType::METADATA,
                }
            };
            let inst = &function.insts[index];
            let found = match inst.extra {
                InstructionExtra::Alloca {
                    ty,
                    align: LlvmAlign::NONE,
                } => natural(ty),
                InstructionExtra::Access {
                    align: LlvmAlign::NONE,
                    ..
                } if inst.opcode == LlvmOpcode::Load => natural(inst.ty),
                InstructionExtra::Access {
                    align: LlvmAlign::NONE,
                    ..
                } => natural(operand(0)),
                InstructionExtra::CmpXchg {
                    align: LlvmAlign::NONE,
                    ..
                } => atomic(operand(1)),
                InstructionExtra::Rmw {
                    align: LlvmAlign::NONE,
                    ..
                } => atomic(inst.ty),
                _ => None,
            };
            if let Some(found) = found {
                function.insts[index].extra.set_align(found);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readonly_argmemonly_is_a_memory_attribute() {
        let mut attributes = vec![
            LlvmAttribute::Plain(AttrKind::ReadOnly),
            LlvmAttribute::Plain(AttrKind::NoUnwind),
            LlvmAttribute::Plain(AttrKind::ArgMemOnly),
        ];
        function_memory(&mut attributes);
        let memory = LlvmAttribute::Number(AttrKind::Memory, 1);
        assert_eq!(
            attributes,
            [LlvmAttribute::Plain(AttrKind::NoUnwind), memory]
        );
    }

    #[test]
    fn errno_was_other_memory() {
        assert_eq!(memory_effects(0b10_00_01), 0b10_10_10_10_00_01);
    }
}
