//! Parameters: how a kernel's arguments are passed, and where each stands in the block of arguments.

use super::globals::ParameterResource;
use crate::analysis::analysed_module::AnalysedModule;
use crate::module::types::LoweredTypeKind;
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::StorageClass;

/// How a parameter is passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SlotKind {
    /// The bytes of the value.
    ByValue,
    /// The bytes of the value. The kernel gets the address of its own copy.
    Copy,
    /// The address of a buffer.
    Buffer,
    /// An address in the workgroup's memory, of which the launch gives the size.
    Local,
    /// The address of an image, or the word of a sampler.
    Handle,
}

/// A parameter in the block of arguments.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ParameterSlot {
    /// How it is passed.
    pub kind: SlotKind,
    /// The kind of resource that it takes.
    pub resource: ParameterResource,
    /// Offset of its bytes.
    pub offset: u32,
    /// Bytes of the value; 8 for addresses.
    pub bytes: u64,
}

/// The parameters of a kernel, in order.
///
/// # Errors
/// When they take more than 64 KiB.
pub(crate) fn parameter_slots(
    program: &AnalysedModule<'_>,
) -> Result<Vec<ParameterSlot>, SourceDiagnostic> {
    let mut end = 0u64;
    let mut slots = Vec::new();
    for (n, param) in program
        .functions
        .get(program.entry.func)
        .params
        .iter()
        .enumerate()
    {
        let ty = program.type_of(*param);
        let (kind, bytes) = match ty.map(|ty| (program.types.kind(ty), ty)) {
            // An enqueued function gets its captured values in memory of their own.
            Some(_) if program.entry.is_block && n == 0 => (SlotKind::Buffer, 8),
            Some((LoweredTypeKind::Pointer { class, pointee }, _)) => match class {
                StorageClass::Workgroup => (SlotKind::Local, 8),
                StorageClass::CrossWorkgroup | StorageClass::UniformConstant
                    if !program.is_by_value(*param) =>
                {
                    (SlotKind::Buffer, 8)
                }
                _ => {
                    let size = pointee.map_or(0, |ty| program.types.layouts.get(ty).size);
                    (SlotKind::Copy, size)
                }
            },
            Some((LoweredTypeKind::Handle { .. }, _)) => (SlotKind::Handle, 8),
            Some((_, ty))
                if ParameterResource::from_type(program, ty) == ParameterResource::Pipe =>
            {
                (SlotKind::Handle, 8)
            }
            // A number stands for a queue of the device.
            Some((_, ty))
                if program.definitions.defining_op(program.module, ty) == Some(Op::TypeQueue) =>
            {
                (SlotKind::ByValue, 8)
            }
            Some((_, ty)) => (SlotKind::ByValue, program.types.layouts.get(ty).size),
            None => (SlotKind::ByValue, 0),
        };
        let offset = end.next_multiple_of(16);
        end = offset.saturating_add(bytes);
        if end > 1 << 16 {
            let def = program.module.function(program.entry.func).def;
            let place = program.module.inst(def).place();
            let message = "the kernel's parameters take more than 64 KiB";
            return Err(SourceDiagnostic::error(place, message));
        }
        slots.push(ParameterSlot {
            kind,
            resource: ty.map_or(ParameterResource::Memory, |ty| {
                ParameterResource::from_type(program, ty)
            }),
            offset: offset as u32,
            bytes,
        });
    }
    Ok(slots)
}
