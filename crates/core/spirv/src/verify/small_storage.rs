//! Rule 11 for numbers of 8 and 16 bits: where they may be stored without the capability to compute with them.

use super::context::{TypeContents, VerifyContext, VerifyResult, ensure};
use super::rules::VerifyRule;
use crate::grammar::Op;
use crate::grammar::enumerants::{Capability, Decoration, StorageClass};

/// The capabilities that allow numbers of a width in each storage class.
struct NarrowStorageRow {
    width: u32,
    class: StorageClass,
    capabilities: &'static [Capability],
    /// Enough where the structure is a `BufferBlock`.
    of_buffer_block: Option<Capability>,
}

const fn make_storage_row(
    width: u32,
    class: StorageClass,
    capabilities: &'static [Capability],
) -> NarrowStorageRow {
    NarrowStorageRow {
        width,
        class,
        capabilities,
        of_buffer_block: None,
    }
}

const ROWS: &[NarrowStorageRow] = &[
    make_storage_row(
        16,
        StorageClass::StorageBuffer,
        &[Capability::StorageBuffer16BitAccess],
    ),
    make_storage_row(
        16,
        StorageClass::PhysicalStorageBuffer,
        &[Capability::StorageBuffer16BitAccess],
    ),
    make_storage_row(
        16,
        StorageClass::ShaderRecordBufferKHR,
        &[Capability::StorageBuffer16BitAccess],
    ),
    NarrowStorageRow {
        width: 16,
        class: StorageClass::Uniform,
        capabilities: &[Capability::UniformAndStorageBuffer16BitAccess],
        of_buffer_block: Some(Capability::StorageBuffer16BitAccess),
    },
    make_storage_row(
        16,
        StorageClass::PushConstant,
        &[Capability::StoragePushConstant16],
    ),
    make_storage_row(16, StorageClass::Input, &[Capability::StorageInputOutput16]),
    make_storage_row(
        16,
        StorageClass::Output,
        &[Capability::StorageInputOutput16],
    ),
    make_storage_row(
        16,
        StorageClass::Workgroup,
        &[Capability::WorkgroupMemoryExplicitLayout16BitAccessKHR],
    ),
    make_storage_row(
        8,
        StorageClass::StorageBuffer,
        &[Capability::StorageBuffer8BitAccess],
    ),
    make_storage_row(
        8,
        StorageClass::PhysicalStorageBuffer,
        &[Capability::StorageBuffer8BitAccess],
    ),
    make_storage_row(
        8,
        StorageClass::ShaderRecordBufferKHR,
        &[Capability::StorageBuffer8BitAccess],
    ),
    NarrowStorageRow {
        width: 8,
        class: StorageClass::Uniform,
        capabilities: &[Capability::UniformAndStorageBuffer8BitAccess],
        of_buffer_block: Some(Capability::StorageBuffer8BitAccess),
    },
    make_storage_row(
        8,
        StorageClass::PushConstant,
        &[Capability::StoragePushConstant8],
    ),
    make_storage_row(
        8,
        StorageClass::Workgroup,
        &[Capability::WorkgroupMemoryExplicitLayout8BitAccessKHR],
    ),
];

/// Checks the type of a variable.
pub(super) fn verify_narrow_storage(
    cx: &VerifyContext<'_>,
    class: StorageClass,
    pointee: u32,
) -> VerifyResult {
    let holds = cx.type_shape(pointee).holds;
    let small = |width: u32| match width {
        16 => {
            !cx.has_capability(Capability::Int16) && holds.has_any(TypeContents::INT16)
                || !cx.has_capability(Capability::Float16) && holds.has_any(TypeContents::FLOAT16)
        }
        _ => !cx.has_capability(Capability::Int8) && holds.has_any(TypeContents::INT8),
    };
    for width in [16, 8] {
        if cx.defining_op(pointee) != Op::TypePointer && small(width) {
            ensure(
                VerifyRule::Memory,
                is_stored(cx, width, class, pointee),
                || format!("numbers of {width} bits in the class {class} need a capability"),
            )?;
        }
    }
    Ok(())
}

fn is_stored(cx: &VerifyContext<'_>, width: u32, class: StorageClass, pointee: u32) -> bool {
    let found = ROWS.iter().find(|r| r.width == width && r.class == class);
    let Some(row) = found else { return false };
    let mut block = pointee;
    if matches!(cx.defining_op(block), Op::TypeArray | Op::TypeRuntimeArray) {
        block = cx.type_shape(block).part;
    }
    cx.has_any(row.capabilities)
        || row.of_buffer_block.is_some_and(|c| {
            cx.has_capability(c) && cx.has_decoration(block, Decoration::BufferBlock)
        })
}
