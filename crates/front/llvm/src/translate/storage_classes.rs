//! Storage classes: address spaces of shaders, and casts between storage classes.

use crate::{LlvmResult, make_refusal};
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::StorageClass;

/// The storage class of an address space that only shaders have.
pub(super) fn shader_storage_class(space: u32) -> Option<StorageClass> {
    Some(match space {
        10 => StorageClass::Private,
        11 => StorageClass::StorageBuffer,
        12 => StorageClass::Uniform,
        13 => StorageClass::PushConstant,
        14 => StorageClass::PhysicalStorageBuffer,
        _ => return None,
    })
}

/// The sequence of casts between two storage classes, with the class of each result. It is empty if
/// the classes are the same.
pub(super) fn space_cast(
    from: StorageClass,
    to: StorageClass,
) -> LlvmResult<Vec<(Op, StorageClass)>> {
    use StorageClass as Class;
    let part = |class| matches!(class, Class::DeviceOnlyINTEL | Class::HostOnlyINTEL);
    let specific = |class| {
        matches!(
            class,
            Class::Function | Class::CrossWorkgroup | Class::Workgroup | Class::CodeSectionINTEL
        )
    };
    let known = |class| specific(class) || part(class) || class == Class::Generic;
    // Built-in variables keep their storage class.
    if from == to || from == Class::Input {
        return Ok(Vec::new());
    }
    if !known(from) || !known(to) {
        return Err(make_refusal(format!(
            "there is no cast from a pointer to {from} to a pointer to {to}"
        )));
    }
    let mut steps = Vec::new();
    let mut at = from;
    // Subclasses of global memory are cast to global memory first, and from it last.
    if part(at) {
        at = Class::CrossWorkgroup;
        steps.push((Op::PtrCastToCrossWorkgroupINTEL, at));
    }
    let goal = if part(to) { Class::CrossWorkgroup } else { to };
    if at != goal && at != Class::Generic {
        at = Class::Generic;
        steps.push((Op::PtrCastToGeneric, at));
    }
    if at != goal {
        steps.push((Op::GenericCastToPtr, goal));
    }
    if part(to) {
        steps.push((Op::CrossWorkgroupCastToPtrINTEL, to));
    }
    Ok(steps)
}
