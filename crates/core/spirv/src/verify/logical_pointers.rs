//! Rule 27: logical pointers, which instructions create and take them, and what variable pointers may point to
//! (specification, section 2.16.1, and `SPV_KHR_variable_pointers`).

use super::context::{VerifyContext, VerifyResult, ensure};
use super::memory::is_pointer;
use super::rules::VerifyRule;
use crate::grammar::enumerants::{AddressingModel, Capability, Decoration, StorageClass};
use crate::grammar::{InstructionClass, Op};
use crate::ir::InstRef;

/// Instructions that make logical pointers in any module, without access chains.
const MAKERS: &[Op] = &[
    Op::Variable,
    Op::UntypedVariableKHR,
    Op::RawAccessChainNV,
    Op::FunctionParameter,
    Op::ImageTexelPointer,
    Op::UntypedImageTexelPointerEXT,
    Op::CopyObject,
    Op::Undef,
    Op::ConstantFunctionPointerINTEL,
    Op::AllocateNodePayloadsAMDX,
    Op::BufferPointerEXT,
];

/// Those that make variable pointers, without access chains.
const VARIABLE_MAKERS: &[Op] = &[
    Op::Select,
    Op::Phi,
    Op::FunctionCall,
    Op::Function,
    Op::Load,
    Op::ConstantNull,
];

/// Instructions that take variable pointers only, without access chains.
const VARIABLE_TAKERS: &[Op] = &[
    Op::Select,
    Op::Phi,
    Op::ReturnValue,
    Op::PtrEqual,
    Op::PtrNotEqual,
    Op::PtrDiff,
    Op::Variable,
];

/// Access chains over elements of a pointer, which variable pointers allow. Their in-bounds forms need physical
/// addresses.
fn steps_over_elements(op: Op) -> bool {
    op.selects_element() && !op.is_inbounds_access_chain()
}

/// Access chains into the object of a pointer.
fn steps_into_object(op: Op) -> bool {
    op.access_chain_form()
        .is_some_and(|chain| !chain.selects_element)
}

fn makes_variable_pointer(op: Op) -> bool {
    steps_over_elements(op) || VARIABLE_MAKERS.contains(&op)
}

/// Classes of instructions that compute with values, which logical pointers are not. Copies are allowed.
fn is_computation(op: Op) -> bool {
    let class = op.info().map(|i| i.class);
    op != Op::CopyObject
        && matches!(
            class,
            Some(
                InstructionClass::Arithmetic
                    | InstructionClass::Bit
                    | InstructionClass::Composite
                    | InstructionClass::ConstantCreation
                    | InstructionClass::Conversion
                    | InstructionClass::Derivative
                    | InstructionClass::Group
                    | InstructionClass::NonUniform
                    | InstructionClass::RelationalandLogical
            )
        )
}

/// Whether a module has logical pointers.
fn has_logical_pointers(cx: &VerifyContext<'_>) -> bool {
    matches!(
        cx.addressing,
        AddressingModel::Logical | AddressingModel::PhysicalStorageBuffer64
    )
}

/// The storage class of a logical pointer type.
fn class_of(cx: &VerifyContext<'_>, ty: u32) -> Option<StorageClass> {
    let shape = cx.type_shape(ty);
    let is_logical = is_pointer(shape.op) && shape.class != StorageClass::PhysicalStorageBuffer;
    is_logical.then_some(shape.class)
}

/// Whether pointers of a class may be variable.
fn may_vary(cx: &VerifyContext<'_>, class: StorageClass) -> bool {
    match class {
        StorageClass::StorageBuffer => cx.has_capability(Capability::VariablePointersStorageBuffer),
        StorageClass::Workgroup => cx.has_capability(Capability::VariablePointers),
        _ => false,
    }
}

fn ensure_logical(holds: bool, message: impl FnOnce() -> String) -> VerifyResult {
    ensure(VerifyRule::LogicalPointers, holds, message)
}

/// Checks the pointers that an instruction creates and takes.
pub(super) fn verify_logical_pointers(cx: &VerifyContext<'_>, inst: InstRef<'_>) -> VerifyResult {
    if !has_logical_pointers(cx) {
        return Ok(());
    }
    verify_pointer_operands(cx, inst)?;
    let Some(class) = inst.result_type().and_then(|ty| class_of(cx, ty.word())) else {
        return Ok(());
    };
    let op = inst.op();
    if makes_variable_pointer(op) {
        ensure_logical(may_vary(cx, class), || {
            format!(
                "it makes a pointer of the class {class}, which needs a capability for variable pointers"
            )
        })?;
    } else {
        let known = op
            .info()
            .is_some_and(|i| i.class != InstructionClass::Reserved);
        let is_maker = steps_into_object(op) || MAKERS.contains(&op);
        ensure_logical(is_maker || !known, || {
            "no such instruction makes a logical pointer".to_owned()
        })?;
    }
    points_to(cx, inst, class)
}

fn verify_pointer_operands(cx: &VerifyContext<'_>, inst: InstRef<'_>) -> VerifyResult {
    let op = inst.op();
    let varies = steps_over_elements(op) || VARIABLE_TAKERS.contains(&op);
    if !varies && !is_computation(op) {
        return array_length(cx, inst);
    }
    let mut found = None;
    cx.ids.visit_uses(inst, |_, id| {
        found = found.or_else(|| class_of(cx, cx.type_of(id.word())));
    });
    let Some(class) = found else { return Ok(()) };
    ensure_logical(varies, || {
        format!("it takes a logical pointer, of the class {class}, as a value")
    })?;
    ensure_logical(may_vary(cx, class), || {
        format!(
            "it takes a pointer of the class {class}, which needs a capability for variable pointers"
        )
    })
}

/// The array of a length query is in a known buffer.
fn array_length(cx: &VerifyContext<'_>, inst: InstRef<'_>) -> VerifyResult {
    let pointer = match inst.op() {
        Op::ArrayLength => inst.operand_word(0),
        Op::UntypedArrayLengthKHR => inst.operand_word(1),
        _ => return Ok(()),
    };
    ensure_logical(!is_variable(cx, pointer), || {
        format!("%{pointer} is a variable pointer")
    })
}

/// Whether a pointer is derived from a variable pointer. Parameters are assumed not to be.
fn is_variable(cx: &VerifyContext<'_>, pointer: u32) -> bool {
    let op = cx.defining_op(super::memory::find_pointer_base(cx, pointer));
    makes_variable_pointer(op) || has_element_step(cx, pointer)
}

/// Whether a step over elements of pointers lies between a pointer and its variable.
fn has_element_step(cx: &VerifyContext<'_>, mut pointer: u32) -> bool {
    for _ in 0..1 << 16 {
        let Some(inst) = cx.defining_inst(pointer) else {
            break;
        };
        let op = inst.op();
        if steps_over_elements(op) {
            return true;
        }
        let base = match op.access_chain_base() {
            Some(base) if steps_into_object(op) => base,
            None if op == Op::CopyObject => 0,
            _ => break,
        };
        pointer = inst.operand_word(base);
    }
    false
}

/// Variable pointers point to no array of blocks and to nothing with a matrix in it, and without
/// `VariablePointers` into one buffer.
fn points_to(cx: &VerifyContext<'_>, inst: InstRef<'_>, class: StorageClass) -> VerifyResult {
    let shape = cx.type_shape(inst.words()[0]);
    if shape.op != Op::TypePointer || !makes_variable_pointer(inst.op()) {
        return Ok(());
    }
    let pointee = cx.type_shape(shape.part);
    let is_block = |ty: u32| {
        cx.has_decoration(ty, Decoration::Block) || cx.has_decoration(ty, Decoration::BufferBlock)
    };
    let blocks =
        matches!(pointee.op, Op::TypeArray | Op::TypeRuntimeArray) && is_block(pointee.part);
    ensure_logical(!blocks, || {
        "a variable pointer does not point to an array of blocks".to_owned()
    })?;
    ensure_logical(pointee.op != Op::TypeMatrix, || {
        "a variable pointer does not point to a matrix".to_owned()
    })?;
    let chosen: &[u32] = match inst.op() {
        Op::Select => &inst.operands()[1..],
        Op::Phi => inst.operands(),
        _ => return Ok(()),
    };
    if cx.has_capability(Capability::VariablePointers) || class != StorageClass::StorageBuffer {
        return Ok(());
    }
    let mut buffers = chosen
        .iter()
        .map(|id| super::memory::find_pointer_base(cx, *id))
        .filter(|id| cx.defining_op(*id) == Op::Variable);
    let first = buffers.next();
    ensure_logical(buffers.all(|other| Some(other) == first), || {
        "pointers into several buffers are chosen by modules with VariablePointers only".to_owned()
    })
}
