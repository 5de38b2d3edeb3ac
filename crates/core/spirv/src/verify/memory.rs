//! Rule 11: variables, pointers, loads and stores.

use super::context::{TypeContents, VerifyContext, VerifyResult, ensure, make_fault};
use super::rules::VerifyRule;
use super::values;
use crate::grammar::Op;
use crate::grammar::enumerants::{Capability, Decoration, MemoryAccess, StorageClass};
use crate::ir::InstRef;

/// Checks an instruction that is about memory.
pub(super) fn verify_memory_inst(
    cx: &VerifyContext<'_>,
    inst: InstRef<'_>,
    in_function: bool,
) -> VerifyResult {
    match inst.op() {
        Op::Variable => super::variables::verify_variable(cx, inst, in_function),
        Op::UntypedVariableKHR => super::variables::verify_untyped_variable(cx, inst, in_function),
        Op::Load => verify_load(cx, inst),
        Op::Store => verify_store(cx, inst),
        op if op.is_access_chain() => access_chain(cx, inst),
        Op::ArrayLength => array_length(cx, inst),
        Op::CopyMemory | Op::CopyMemorySized => verify_copy_memory(cx, inst),
        Op::PtrEqual | Op::PtrNotEqual | Op::PtrDiff => verify_pointer_comparison(cx, inst),
        // The grammar counts it among memory's.
        Op::ImageTexelPointer => super::images::verify_image_inst(cx, inst),
        op if super::cooperative::is_own(op) => super::cooperative::verify_matrix_inst(cx, inst),
        _ => Ok(()),
    }
}

pub(super) fn is_pointer(op: Op) -> bool {
    matches!(op, Op::TypePointer | Op::TypeUntypedPointerKHR)
}

/// The variable or other value that a pointer is derived from.
pub(super) fn find_pointer_base(cx: &VerifyContext<'_>, mut pointer: u32) -> u32 {
    // Each step leads to an earlier definition; phis are not followed.
    for _ in 0..1 << 16 {
        let Some(inst) = cx.defining_inst(pointer) else {
            break;
        };
        match inst.op() {
            Op::ImageTexelPointer | Op::CopyObject => pointer = inst.operand_word(0),
            op => match op.access_chain_base() {
                Some(base) => pointer = inst.operand_word(base),
                None => break,
            },
        }
    }
    pointer
}

/// Whether an instruction creates a pointer that is allowed in logical addressing.
fn makes_logical_pointer(cx: &VerifyContext<'_>, op: Op) -> bool {
    if let Some(chain) = op.access_chain_form() {
        return !chain.selects_element || cx.variable_pointers();
    }
    match op {
        Op::Variable
        | Op::UntypedVariableKHR
        | Op::FunctionParameter
        | Op::ImageTexelPointer
        | Op::CopyObject
        | Op::RawAccessChainNV
        | Op::AllocateNodePayloadsAMDX
        | Op::BufferPointerEXT => true,
        Op::Select | Op::Phi | Op::FunctionCall | Op::Load | Op::ConstantNull => {
            cx.variable_pointers()
        }
        _ => false,
    }
}

/// The type of a pointer operand.
fn get_pointer_shape(
    cx: &VerifyContext<'_>,
    id: u32,
) -> Result<super::context::TypeSummary, super::context::VerifyFault> {
    ensure(
        VerifyRule::Memory,
        !cx.is_logical() || makes_logical_pointer(cx, cx.defining_op(id)),
        || format!("%{id} is no logical pointer, but {}", cx.defining_op(id)),
    )?;
    let shape = cx.value_shape(id);
    ensure(VerifyRule::Memory, is_pointer(shape.op), || {
        format!(
            "%{id} is of {}, not a pointer",
            cx.describe_type(cx.type_of(id))
        )
    })?;
    Ok(shape)
}

/// Whether a type is a composite of numbers that the module can only store.
fn is_small_composite(cx: &VerifyContext<'_>, ty: u32) -> bool {
    !matches!(
        cx.defining_op(ty),
        Op::TypeInt
            | Op::TypeFloat
            | Op::TypeVector
            | Op::TypeMatrix
            | Op::TypePointer
            | Op::TypeUntypedPointerKHR
    ) && cx.type_shape(ty).holds.has_any(values::storage_only(cx))
}

fn verify_load(cx: &VerifyContext<'_>, inst: InstRef<'_>) -> VerifyResult {
    let result = inst.words()[0];
    let shape = get_pointer_shape(cx, inst.operand_word(0))?;
    ensure(
        VerifyRule::Memory,
        shape.op == Op::TypeUntypedPointerKHR || shape.part == result,
        || {
            format!(
                "the result is of {}, the pointer points to {}",
                cx.describe_type(result),
                cx.describe_type(shape.part)
            )
        },
    )?;
    let unsized_ = cx
        .type_shape(result)
        .holds
        .has_any(TypeContents::RUNTIME_ARRAY);
    ensure(VerifyRule::Memory, !unsized_, || {
        "a runtime array cannot be loaded".to_owned()
    })?;
    verify_memory_access(cx, inst, 1, [shape.class, StorageClass(u32::MAX)])?;
    ensure(
        VerifyRule::Memory,
        !cx.is_shader || !is_small_composite(cx, result),
        || "composites of numbers that can only be stored cannot be loaded".to_owned(),
    )
}

fn verify_store(cx: &VerifyContext<'_>, inst: InstRef<'_>) -> VerifyResult {
    let shape = get_pointer_shape(cx, inst.operand_word(0))?;
    ensure(
        VerifyRule::Memory,
        !matches!(
            shape.class,
            StorageClass::UniformConstant
                | StorageClass::Input
                | StorageClass::PushConstant
                | StorageClass::ShaderRecordBufferKHR
        ),
        || format!("memory of the class {} is read-only", shape.class),
    )?;
    let object = cx.type_of(inst.operand_word(1));
    ensure(
        VerifyRule::Memory,
        !matches!(cx.defining_op(object), Op::TypeVoid | Op::Nop),
        || "the object has no value".to_owned(),
    )?;
    ensure(
        VerifyRule::Memory,
        shape.op == Op::TypeUntypedPointerKHR || shape.part == object,
        || {
            format!(
                "the object is of {}, the pointer points to {}",
                cx.describe_type(object),
                cx.describe_type(shape.part)
            )
        },
    )?;
    if cx.is_vulkan() && shape.class == StorageClass::Uniform {
        let variable = cx.value_shape(find_pointer_base(cx, inst.operand_word(0)));
        let mut block = variable.part;
        if matches!(cx.defining_op(block), Op::TypeArray | Op::TypeRuntimeArray) {
            block = cx.type_shape(block).part;
        }
        ensure(
            VerifyRule::Memory,
            !cx.has_decoration(block, Decoration::Block),
            || "uniform blocks are read-only in Vulkan".to_owned(),
        )?;
    }
    verify_memory_access(cx, inst, 2, [shape.class, StorageClass(u32::MAX)])?;
    let opaque = cx.is_vulkan() && cx.type_shape(object).holds.has_any(TypeContents::OBJECT);
    ensure(VerifyRule::Memory, !opaque, || {
        "images, samplers and the like cannot be stored".to_owned()
    })
}

/// Instructions that read through a pointer, with their memory operands.
const LOADS: &[Op] = &[
    Op::Load,
    Op::CooperativeMatrixLoadKHR,
    Op::CooperativeMatrixLoadNV,
    Op::CooperativeMatrixLoadTensorNV,
    Op::CooperativeVectorLoadNV,
];

/// Those that write it.
const STORES: &[Op] = &[
    Op::Store,
    Op::CooperativeMatrixStoreKHR,
    Op::CooperativeMatrixStoreNV,
    Op::CooperativeMatrixStoreTensorNV,
    Op::CooperativeVectorStoreNV,
];

/// Checks the memory access operands that begin at a word.
pub(super) fn verify_memory_access(
    cx: &VerifyContext<'_>,
    inst: InstRef<'_>,
    at: usize,
    classes: [StorageClass; 2],
) -> VerifyResult {
    let physical = classes.contains(&StorageClass::PhysicalStorageBuffer);
    let Some(&mask) = inst.operands().get(at) else {
        return ensure(VerifyRule::Memory, !physical, || {
            "accesses to physical storage buffers say how they are aligned".to_owned()
        });
    };
    let mask = MemoryAccess(mask);
    let (available, visible) = (
        MemoryAccess::MakePointerAvailable,
        MemoryAccess::MakePointerVisible,
    );
    let private = MemoryAccess::NonPrivatePointer;
    let other_way = match inst.op() {
        op if LOADS.contains(&op) => mask.contains(available),
        op if STORES.contains(&op) => mask.contains(visible),
        _ => false,
    };
    ensure(VerifyRule::Memory, !other_way, || {
        format!("{mask} is for accesses the other way")
    })?;
    ensure(
        VerifyRule::Memory,
        mask.contains(private) || !mask.contains(available) && !mask.contains(visible),
        || "memory that is made available or visible is not private".to_owned(),
    )?;
    let mut next = at + 1;
    if mask.contains(MemoryAccess::Aligned) {
        let align = inst.operands().get(next).copied().unwrap_or(0);
        next += 1;
        ensure(VerifyRule::Memory, align.is_power_of_two(), || {
            format!("the alignment {align} is no power of two")
        })?;
    } else {
        ensure(VerifyRule::Memory, !physical, || {
            "accesses to physical storage buffers say how they are aligned".to_owned()
        })?;
    }
    for bit in [available, visible] {
        if mask.contains(bit) {
            let scope = inst.operands().get(next).copied().unwrap_or(0);
            next += 1;
            super::scopes::verify_memory_scope(cx, scope)?;
        }
    }
    let shared = |class: StorageClass| {
        matches!(
            class,
            StorageClass::Uniform
                | StorageClass::Workgroup
                | StorageClass::CrossWorkgroup
                | StorageClass::Generic
                | StorageClass::Image
                | StorageClass::StorageBuffer
                | StorageClass::PhysicalStorageBuffer
        ) || class.0 == u32::MAX
    };
    ensure(
        VerifyRule::Memory,
        !mask.contains(private) || classes.iter().all(|c| shared(*c)),
        || "memory of this class is always private".to_owned(),
    )
}

fn access_chain(cx: &VerifyContext<'_>, inst: InstRef<'_>) -> VerifyResult {
    let result = cx.type_shape(inst.words()[0]);
    ensure(VerifyRule::Memory, result.op == Op::TypePointer, || {
        "the result is no pointer".to_owned()
    })?;
    let base = cx.value_shape(inst.operand_word(0));
    ensure(
        VerifyRule::Memory,
        base.op == Op::TypePointer
            && (!cx.is_logical()
                || makes_logical_pointer(cx, cx.defining_op(inst.operand_word(0)))),
        || format!("the base %{} is no pointer", inst.operand_word(0)),
    )?;
    ensure(VerifyRule::Memory, base.class == result.class, || {
        format!(
            "the base is of the class {}, the result of {}",
            base.class, result.class
        )
    })?;
    let by_element = inst.op().is_element_access_chain();
    let from = if by_element { 2 } else { 1 };
    if by_element {
        verify_element_operand(cx, inst, base)?;
    }
    let indices = inst.operands().get(from..).unwrap_or(&[]);
    ensure(VerifyRule::Limits, indices.len() <= 255, || {
        format!("{} indices; there may be 255", indices.len())
    })?;
    let mut ty = base.part;
    for index in indices {
        ty = resolve_index_step(cx, ty, *index)?;
    }
    ensure(VerifyRule::Memory, ty == result.part, || {
        format!(
            "the indices lead to {}, the result points to {}",
            cx.describe_type(ty),
            cx.describe_type(result.part)
        )
    })
}

fn verify_element_operand(
    cx: &VerifyContext<'_>,
    inst: InstRef<'_>,
    base: super::context::TypeSummary,
) -> VerifyResult {
    let index = inst.operand_word(1);
    ensure(
        VerifyRule::Memory,
        cx.value_shape(index).op == Op::TypeInt,
        || format!("the element %{index} is no integer"),
    )?;
    if cx.is_vulkan() {
        let class_ok = match base.class {
            StorageClass::Workgroup => cx.has_capability(Capability::VariablePointers),
            StorageClass::StorageBuffer => cx.variable_pointers(),
            class => class == StorageClass::PhysicalStorageBuffer,
        };
        ensure(VerifyRule::Memory, class_ok, || {
            format!(
                "there are no elements of pointers of the class {}",
                base.class
            )
        })?;
    }
    let strided = !matches!(
        base.class,
        StorageClass::Uniform
            | StorageClass::StorageBuffer
            | StorageClass::PhysicalStorageBuffer
            | StorageClass::PushConstant
    ) || cx.has_decoration(cx.type_of(inst.operand_word(0)), Decoration::ArrayStride)
        || !cx.is_shader;
    ensure(VerifyRule::Memory, strided, || {
        "the base's pointer type has no ArrayStride".to_owned()
    })
}

/// The type of a part that an index leads to.
fn resolve_index_step(
    cx: &VerifyContext<'_>,
    ty: u32,
    index: u32,
) -> Result<u32, super::context::VerifyFault> {
    let shape = cx.type_shape(ty);
    ensure(
        VerifyRule::Memory,
        cx.value_shape(index).op == Op::TypeInt,
        || format!("the index %{index} is no integer"),
    )?;
    match shape.op {
        Op::TypeVector
        | Op::TypeMatrix
        | Op::TypeArray
        | Op::TypeRuntimeArray
        | Op::TypeCooperativeMatrixKHR
        | Op::TypeCooperativeMatrixNV
        | Op::TypeVectorIdEXT => Ok(shape.part),
        Op::TypeNodePayloadArrayAMDX => Ok(cx.defining_inst(ty).map_or(0, |t| t.operand_word(0))),
        Op::TypeStruct => {
            ensure(
                VerifyRule::Memory,
                matches!(cx.defining_op(index), Op::Constant),
                || format!("the index %{index} into a structure is no constant"),
            )?;
            let at = cx.constant_value(index).unwrap_or(u64::MAX);
            let members = cx.struct_members(ty);
            usize::try_from(at)
                .ok()
                .and_then(|at| members.get(at))
                .copied()
                .ok_or_else(|| {
                    make_fault(
                        VerifyRule::Memory,
                        format!("member {at} of {}", members.len()),
                    )
                })
        }
        _ => Err(make_fault(
            VerifyRule::Memory,
            format!("{} has no parts to go to", cx.describe_type(ty)),
        )),
    }
}

fn array_length(cx: &VerifyContext<'_>, inst: InstRef<'_>) -> VerifyResult {
    let result = cx.type_shape(inst.words()[0]);
    ensure(
        VerifyRule::Memory,
        result.op == Op::TypeInt && result.width == 32 && !result.signed,
        || "the result is no integer of 32 bits without sign".to_owned(),
    )?;
    let structure = cx.value_shape(inst.operand_word(0)).part;
    let members = cx.struct_members(structure);
    ensure(
        VerifyRule::Memory,
        members
            .last()
            .is_some_and(|m| cx.defining_op(*m) == Op::TypeRuntimeArray),
        || "the structure does not end in a runtime array".to_owned(),
    )?;
    ensure(
        VerifyRule::Memory,
        inst.operand_word(1) as usize + 1 == members.len(),
        || "the member is not the last".to_owned(),
    )
}

fn verify_copy_memory(cx: &VerifyContext<'_>, inst: InstRef<'_>) -> VerifyResult {
    let (target, source) = (
        cx.value_shape(inst.operand_word(0)),
        cx.value_shape(inst.operand_word(1)),
    );
    ensure(
        VerifyRule::Memory,
        is_pointer(target.op) && is_pointer(source.op),
        || "target and source are not both pointers".to_owned(),
    )?;
    let classes = [target.class, source.class];
    if inst.op() == Op::CopyMemory {
        ensure(
            VerifyRule::Memory,
            target.op != source.op
                || target.part == source.part && cx.defining_op(target.part) != Op::TypeVoid,
            || "target and source point to different types".to_owned(),
        )?;
        return verify_memory_access(cx, inst, 2, classes);
    }
    let size = inst.operand_word(2);
    let shape = cx.value_shape(size);
    ensure(VerifyRule::Memory, shape.op == Op::TypeInt, || {
        "the size is no integer".to_owned()
    })?;
    let value = cx.constant_value(size);
    ensure(VerifyRule::Memory, value != Some(0), || {
        "the size is 0".to_owned()
    })?;
    let negative =
        shape.signed && value.is_some_and(|v| v >> (shape.width.clamp(1, 64) - 1) & 1 == 1);
    ensure(VerifyRule::Memory, !negative, || {
        "the size is negative".to_owned()
    })?;
    verify_memory_access(cx, inst, 3, classes)
}

fn verify_pointer_comparison(cx: &VerifyContext<'_>, inst: InstRef<'_>) -> VerifyResult {
    let (a, b) = (
        cx.type_of(inst.operand_word(0)),
        cx.type_of(inst.operand_word(1)),
    );
    ensure(
        VerifyRule::Memory,
        a == b && is_pointer(cx.defining_op(a)),
        || "the operands are not pointers of one type".to_owned(),
    )?;
    let result = cx.defining_op(inst.words()[0]);
    let wanted = match inst.op() {
        Op::PtrDiff => Op::TypeInt,
        _ => Op::TypeBool,
    };
    ensure(VerifyRule::Memory, result == wanted, || {
        format!("the result is {result}, not {wanted}")
    })?;
    let class = cx.type_shape(a).class;
    if cx.is_logical() {
        ensure(
            VerifyRule::Memory,
            match class {
                StorageClass::StorageBuffer => cx.variable_pointers(),
                StorageClass::Workgroup => cx.has_capability(Capability::VariablePointers),
                _ => false,
            },
            || format!("pointers of the class {class} cannot be compared"),
        )?;
    }
    ensure(
        VerifyRule::Memory,
        class != StorageClass::PhysicalStorageBuffer,
        || "pointers to physical storage buffers cannot be compared".to_owned(),
    )
}
