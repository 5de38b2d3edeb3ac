//! Rule 10 for casts of bits and of pointers.

use super::context::{VerifyContext, VerifyResult, ensure};
use super::rules::VerifyRule;
use super::signatures::{self, get_components};
use crate::grammar::Op;
use crate::grammar::enumerants::{AddressingModel, StorageClass};
use crate::ir::InstRef;

fn is_pointer(op: Op) -> bool {
    matches!(op, Op::TypePointer | Op::TypeUntypedPointerKHR)
}

pub(super) fn verify_bitcast(cx: &VerifyContext<'_>, inst: InstRef<'_>) -> VerifyResult {
    let (result, source) = (inst.words()[0], cx.type_of(inst.operand_word(0)));
    let (to, from) = (get_components(cx, result), get_components(cx, source));
    let numeric = |op| matches!(op, Op::TypeInt | Op::TypeFloat);
    let castable = |op| numeric(op) || is_pointer(op);
    ensure(
        VerifyRule::Values,
        castable(to.part.op) || cx.defining_op(result) == Op::TypeVectorIdEXT,
        || format!("the result is of {}", cx.describe_type(result)),
    )?;
    ensure(
        VerifyRule::Values,
        castable(from.part.op) || cx.defining_op(source) == Op::TypeVectorIdEXT,
        || format!("the operand is of {}", cx.describe_type(source)),
    )?;
    let (p, q) = (is_pointer(to.part.op), is_pointer(from.part.op));
    if p && q || [to.part.op, from.part.op].contains(&Op::TypeVectorIdEXT) {
        return Ok(());
    }
    if p || q {
        let other = if p { &from } else { &to };
        let as_words = cx.version >= crate::grammar::SpirvVersion::new(1, 5)
            || cx.has_extension("SPV_KHR_physical_storage_buffer");
        let fits = other.part.op == Op::TypeInt
            && (other.count == 0 || as_words && other.part.width == 32 && other.count == 2);
        return ensure(VerifyRule::Values, fits, || {
            "pointers are cast to and from an integer or two of 32 bits".to_owned()
        });
    }
    let bits = |p: &signatures::TypeComponents| match p.count {
        u32::MAX => None,
        0 => Some(p.part.width),
        n => n.checked_mul(p.part.width),
    };
    ensure(VerifyRule::Values, bits(&to) == bits(&from), || {
        format!(
            "{} and {} differ in size",
            cx.describe_type(result),
            cx.describe_type(source)
        )
    })
}

pub(super) fn pointer_and_int(cx: &VerifyContext<'_>, inst: InstRef<'_>) -> VerifyResult {
    let (result, source) = (
        cx.type_shape(inst.words()[0]),
        cx.value_shape(inst.operand_word(0)),
    );
    let (pointer, int) = match inst.op() {
        Op::ConvertPtrToU => (source, result),
        _ => (result, source),
    };
    let to_int = inst.op() == Op::ConvertPtrToU;
    ensure(
        VerifyRule::Values,
        int.op == Op::TypeInt && (!to_int || !int.signed) && is_pointer(pointer.op),
        || "one side is a pointer, the other an integer without sign".to_owned(),
    )?;
    ensure(VerifyRule::Values, !cx.is_logical(), || {
        "pointers have no number in logical addressing".to_owned()
    })?;
    if cx.addressing == AddressingModel::PhysicalStorageBuffer64 {
        ensure(
            VerifyRule::Values,
            pointer.class == StorageClass::PhysicalStorageBuffer,
            || "the pointer's storage class is not PhysicalStorageBuffer".to_owned(),
        )?;
        ensure(
            VerifyRule::Values,
            !cx.is_vulkan() || int.width == 64,
            || "the integer is not of 64 bits".to_owned(),
        )?;
    }
    Ok(())
}

pub(super) fn verify_generic_cast(cx: &VerifyContext<'_>, inst: InstRef<'_>) -> VerifyResult {
    let (result, source) = (
        cx.type_shape(inst.words()[0]),
        cx.value_shape(inst.operand_word(0)),
    );
    let (wide, narrow) = match inst.op() {
        Op::PtrCastToGeneric => (result, source),
        _ => (source, result),
    };
    ensure(
        VerifyRule::Values,
        is_pointer(wide.op) && wide.class == StorageClass::Generic,
        || "the pointer to anywhere is not of the class Generic".to_owned(),
    )?;
    ensure(
        VerifyRule::Values,
        is_pointer(narrow.op)
            && matches!(
                narrow.class,
                StorageClass::Workgroup | StorageClass::CrossWorkgroup | StorageClass::Function
            ),
        || "the other pointer is not of the class Workgroup, CrossWorkgroup or Function".to_owned(),
    )?;
    ensure(VerifyRule::Values, wide.part == narrow.part, || {
        "the pointers point to different types".to_owned()
    })?;
    if inst.op() == Op::GenericCastToPtrExplicit {
        ensure(
            VerifyRule::Values,
            inst.operand_word(1) == narrow.class.0,
            || "the storage class is not that of the result".to_owned(),
        )?;
    }
    Ok(())
}
