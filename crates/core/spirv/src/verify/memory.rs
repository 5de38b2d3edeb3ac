//! Rule 11: variables, pointers, loads and stores.

use super::context::{TypeContents, VerifyContext, VerifyResult, ensure, fault};
use super::rules::Rule;
use super::values;
use crate::grammar::Op;
use crate::grammar::enumerants::{Capability, Decoration, MemoryAccess, StorageClass};
use crate::ir::InstRef;

/// Checks an instruction that is about memory.
pub(super) fn check(cx: &VerifyContext<'_>, inst: InstRef<'_>, in_function: bool) -> VerifyResult {
    match inst.op() {
        Op::Variable => super::variables::check(cx, inst, in_function),
        Op::UntypedVariableKHR => super::variables::untyped(cx, inst, in_function),
        Op::Load => load(cx, inst),
        Op::Store => store(cx, inst),
        Op::AccessChain
        | Op::InBoundsAccessChain
        | Op::PtrAccessChain
        | Op::InBoundsPtrAccessChain => access_chain(cx, inst),
        Op::ArrayLength => array_length(cx, inst),
        Op::CopyMemory | Op::CopyMemorySized => copy(cx, inst),
        Op::PtrEqual | Op::PtrNotEqual | Op::PtrDiff => compare(cx, inst),
        // The grammar counts it among memory's.
        Op::ImageTexelPointer => super::images::check(cx, inst),
        op if super::cooperative::is_own(op) => super::cooperative::check(cx, inst),
        _ => Ok(()),
    }
}

pub(super) fn is_pointer(op: Op) -> bool {
    matches!(op, Op::TypePointer | Op::TypeUntypedPointerKHR)
}

/// The variable or other value that a pointer is made from.
pub(super) fn base(cx: &VerifyContext<'_>, mut pointer: u32) -> u32 {
    // Each step goes to an earlier definition, phis are not followed.
    for _ in 0..1 << 16 {
        let Some(inst) = cx.inst(pointer) else { break };
        match inst.op() {
            Op::AccessChain
            | Op::InBoundsAccessChain
            | Op::PtrAccessChain
            | Op::InBoundsPtrAccessChain
            | Op::ImageTexelPointer
            | Op::CopyObject => pointer = inst.word(0),
            Op::UntypedAccessChainKHR
            | Op::UntypedInBoundsAccessChainKHR
            | Op::UntypedPtrAccessChainKHR
            | Op::UntypedInBoundsPtrAccessChainKHR => pointer = inst.word(1),
            _ => break,
        }
    }
    pointer
}

/// Whether an instruction makes a pointer that may be used in logical addressing.
fn makes_logical_pointer(cx: &VerifyContext<'_>, op: Op) -> bool {
    match op {
        Op::Variable
        | Op::UntypedVariableKHR
        | Op::AccessChain
        | Op::InBoundsAccessChain
        | Op::UntypedAccessChainKHR
        | Op::UntypedInBoundsAccessChainKHR
        | Op::FunctionParameter
        | Op::ImageTexelPointer
        | Op::CopyObject
        | Op::RawAccessChainNV
        | Op::AllocateNodePayloadsAMDX
        | Op::BufferPointerEXT => true,
        Op::Select
        | Op::Phi
        | Op::FunctionCall
        | Op::PtrAccessChain
        | Op::InBoundsPtrAccessChain
        | Op::UntypedPtrAccessChainKHR
        | Op::UntypedInBoundsPtrAccessChainKHR
        | Op::Load
        | Op::ConstantNull => cx.variable_pointers(),
        _ => false,
    }
}

/// The type of a pointer operand.
fn pointer(
    cx: &VerifyContext<'_>,
    id: u32,
) -> Result<super::context::TypeSummary, super::context::VerifyFault> {
    ensure(
        Rule::Memory,
        !cx.is_logical() || makes_logical_pointer(cx, cx.op(id)),
        || format!("%{id} is no logical pointer, but {}", cx.op(id)),
    )?;
    let shape = cx.value_shape(id);
    ensure(Rule::Memory, is_pointer(shape.op), || {
        format!("%{id} is of {}, not a pointer", cx.describe(cx.ty(id)))
    })?;
    Ok(shape)
}

/// Whether a type is a composite of numbers that the module can only store.
fn is_small_composite(cx: &VerifyContext<'_>, ty: u32) -> bool {
    !matches!(
        cx.op(ty),
        Op::TypeInt
            | Op::TypeFloat
            | Op::TypeVector
            | Op::TypeMatrix
            | Op::TypePointer
            | Op::TypeUntypedPointerKHR
    ) && cx.shape(ty).holds.any(values::storage_only(cx))
}

fn load(cx: &VerifyContext<'_>, inst: InstRef<'_>) -> VerifyResult {
    let result = inst.words()[0];
    let shape = pointer(cx, inst.word(0))?;
    ensure(
        Rule::Memory,
        shape.op == Op::TypeUntypedPointerKHR || shape.part == result,
        || {
            format!(
                "the result is of {}, the pointer points to {}",
                cx.describe(result),
                cx.describe(shape.part)
            )
        },
    )?;
    let unsized_ = cx.shape(result).holds.any(TypeContents::RUNTIME_ARRAY);
    ensure(Rule::Memory, !unsized_, || {
        "a runtime array cannot be loaded".to_owned()
    })?;
    access(cx, inst, 1, [shape.class, StorageClass(u32::MAX)])?;
    ensure(
        Rule::Memory,
        !cx.is_shader || !is_small_composite(cx, result),
        || "composites of numbers that can only be stored cannot be loaded".to_owned(),
    )
}

fn store(cx: &VerifyContext<'_>, inst: InstRef<'_>) -> VerifyResult {
    let shape = pointer(cx, inst.word(0))?;
    ensure(
        Rule::Memory,
        !matches!(
            shape.class,
            StorageClass::UniformConstant
                | StorageClass::Input
                | StorageClass::PushConstant
                | StorageClass::ShaderRecordBufferKHR
        ),
        || format!("memory of the class {} is read-only", shape.class),
    )?;
    let object = cx.ty(inst.word(1));
    ensure(
        Rule::Memory,
        !matches!(cx.op(object), Op::TypeVoid | Op::Nop),
        || "the object has no value".to_owned(),
    )?;
    ensure(
        Rule::Memory,
        shape.op == Op::TypeUntypedPointerKHR || shape.part == object,
        || {
            format!(
                "the object is of {}, the pointer points to {}",
                cx.describe(object),
                cx.describe(shape.part)
            )
        },
    )?;
    if cx.is_vulkan() && shape.class == StorageClass::Uniform {
        let variable = cx.value_shape(base(cx, inst.word(0)));
        let mut block = variable.part;
        if matches!(cx.op(block), Op::TypeArray | Op::TypeRuntimeArray) {
            block = cx.shape(block).part;
        }
        ensure(
            Rule::Memory,
            !cx.has_decoration(block, Decoration::Block),
            || "uniform blocks are read-only in Vulkan".to_owned(),
        )?;
    }
    access(cx, inst, 2, [shape.class, StorageClass(u32::MAX)])?;
    let opaque = cx.is_vulkan() && cx.shape(object).holds.any(TypeContents::OBJECT);
    ensure(Rule::Memory, !opaque, || {
        "images, samplers and the like cannot be stored".to_owned()
    })
}

/// Instructions that read what a pointer points to, and say how.
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
pub(super) fn access(
    cx: &VerifyContext<'_>,
    inst: InstRef<'_>,
    at: usize,
    classes: [StorageClass; 2],
) -> VerifyResult {
    let physical = classes.contains(&StorageClass::PhysicalStorageBuffer);
    let Some(&mask) = inst.operands().get(at) else {
        return ensure(Rule::Memory, !physical, || {
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
    ensure(Rule::Memory, !other_way, || {
        format!("{mask} is for accesses the other way")
    })?;
    ensure(
        Rule::Memory,
        mask.contains(private) || !mask.contains(available) && !mask.contains(visible),
        || "what is made available or visible is not private".to_owned(),
    )?;
    let mut next = at + 1;
    if mask.contains(MemoryAccess::Aligned) {
        let align = inst.operands().get(next).copied().unwrap_or(0);
        next += 1;
        ensure(Rule::Memory, align.is_power_of_two(), || {
            format!("the alignment {align} is no power of two")
        })?;
    } else {
        ensure(Rule::Memory, !physical, || {
            "accesses to physical storage buffers say how they are aligned".to_owned()
        })?;
    }
    for bit in [available, visible] {
        if mask.contains(bit) {
            let scope = inst.operands().get(next).copied().unwrap_or(0);
            next += 1;
            super::scopes::memory(cx, scope)?;
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
        Rule::Memory,
        !mask.contains(private) || classes.iter().all(|c| shared(*c)),
        || "memory of this class is always private".to_owned(),
    )
}

fn access_chain(cx: &VerifyContext<'_>, inst: InstRef<'_>) -> VerifyResult {
    let result = cx.shape(inst.words()[0]);
    ensure(Rule::Memory, result.op == Op::TypePointer, || {
        "the result is no pointer".to_owned()
    })?;
    let base = cx.value_shape(inst.word(0));
    ensure(
        Rule::Memory,
        base.op == Op::TypePointer
            && (!cx.is_logical() || makes_logical_pointer(cx, cx.op(inst.word(0)))),
        || format!("the base %{} is no pointer", inst.word(0)),
    )?;
    ensure(Rule::Memory, base.class == result.class, || {
        format!(
            "the base is of the class {}, the result of {}",
            base.class, result.class
        )
    })?;
    let by_element = matches!(inst.op(), Op::PtrAccessChain | Op::InBoundsPtrAccessChain);
    let from = if by_element { 2 } else { 1 };
    if by_element {
        element(cx, inst, base)?;
    }
    let indices = inst.operands().get(from..).unwrap_or(&[]);
    ensure(Rule::Limits, indices.len() <= 255, || {
        format!("{} indices; there may be 255", indices.len())
    })?;
    let mut ty = base.part;
    for index in indices {
        ty = step(cx, ty, *index)?;
    }
    ensure(Rule::Memory, ty == result.part, || {
        format!(
            "the indices lead to {}, the result points to {}",
            cx.describe(ty),
            cx.describe(result.part)
        )
    })
}

fn element(
    cx: &VerifyContext<'_>,
    inst: InstRef<'_>,
    base: super::context::TypeSummary,
) -> VerifyResult {
    let index = inst.word(1);
    ensure(
        Rule::Memory,
        cx.value_shape(index).op == Op::TypeInt,
        || format!("the element %{index} is no integer"),
    )?;
    if cx.is_vulkan() {
        let class_ok = match base.class {
            StorageClass::Workgroup => cx.has(Capability::VariablePointers),
            StorageClass::StorageBuffer => cx.variable_pointers(),
            class => class == StorageClass::PhysicalStorageBuffer,
        };
        ensure(Rule::Memory, class_ok, || {
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
    ) || cx.has_decoration(cx.ty(inst.word(0)), Decoration::ArrayStride)
        || !cx.is_shader;
    ensure(Rule::Memory, strided, || {
        "the base's pointer type has no ArrayStride".to_owned()
    })
}

/// The type of a part that an index leads to.
fn step(cx: &VerifyContext<'_>, ty: u32, index: u32) -> Result<u32, super::context::VerifyFault> {
    let shape = cx.shape(ty);
    ensure(
        Rule::Memory,
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
        Op::TypeNodePayloadArrayAMDX => Ok(cx.inst(ty).map_or(0, |t| t.word(0))),
        Op::TypeStruct => {
            ensure(Rule::Memory, matches!(cx.op(index), Op::Constant), || {
                format!("the index %{index} into a structure is no constant")
            })?;
            let at = cx.constant(index).unwrap_or(u64::MAX);
            let members = cx.members(ty);
            usize::try_from(at)
                .ok()
                .and_then(|at| members.get(at))
                .copied()
                .ok_or_else(|| fault(Rule::Memory, format!("member {at} of {}", members.len())))
        }
        _ => Err(fault(
            Rule::Memory,
            format!("{} has no parts to go to", cx.describe(ty)),
        )),
    }
}

fn array_length(cx: &VerifyContext<'_>, inst: InstRef<'_>) -> VerifyResult {
    let result = cx.shape(inst.words()[0]);
    ensure(
        Rule::Memory,
        result.op == Op::TypeInt && result.width == 32 && !result.signed,
        || "the result is no integer of 32 bits without sign".to_owned(),
    )?;
    let structure = cx.value_shape(inst.word(0)).part;
    let members = cx.members(structure);
    ensure(
        Rule::Memory,
        members
            .last()
            .is_some_and(|m| cx.op(*m) == Op::TypeRuntimeArray),
        || "the structure does not end in a runtime array".to_owned(),
    )?;
    ensure(
        Rule::Memory,
        inst.word(1) as usize + 1 == members.len(),
        || "the member is not the last".to_owned(),
    )
}

fn copy(cx: &VerifyContext<'_>, inst: InstRef<'_>) -> VerifyResult {
    let (target, source) = (cx.value_shape(inst.word(0)), cx.value_shape(inst.word(1)));
    ensure(
        Rule::Memory,
        is_pointer(target.op) && is_pointer(source.op),
        || "target and source are not both pointers".to_owned(),
    )?;
    let classes = [target.class, source.class];
    if inst.op() == Op::CopyMemory {
        ensure(
            Rule::Memory,
            target.op != source.op
                || target.part == source.part && cx.op(target.part) != Op::TypeVoid,
            || "target and source point to different types".to_owned(),
        )?;
        return access(cx, inst, 2, classes);
    }
    let size = inst.word(2);
    let shape = cx.value_shape(size);
    ensure(Rule::Memory, shape.op == Op::TypeInt, || {
        "the size is no integer".to_owned()
    })?;
    let value = cx.constant(size);
    ensure(Rule::Memory, value != Some(0), || {
        "the size is 0".to_owned()
    })?;
    let negative =
        shape.signed && value.is_some_and(|v| v >> (shape.width.clamp(1, 64) - 1) & 1 == 1);
    ensure(Rule::Memory, !negative, || {
        "the size is negative".to_owned()
    })?;
    access(cx, inst, 3, classes)
}

fn compare(cx: &VerifyContext<'_>, inst: InstRef<'_>) -> VerifyResult {
    let (a, b) = (cx.ty(inst.word(0)), cx.ty(inst.word(1)));
    ensure(Rule::Memory, a == b && is_pointer(cx.op(a)), || {
        "the operands are not pointers of one type".to_owned()
    })?;
    let result = cx.op(inst.words()[0]);
    let wanted = match inst.op() {
        Op::PtrDiff => Op::TypeInt,
        _ => Op::TypeBool,
    };
    ensure(Rule::Memory, result == wanted, || {
        format!("the result is {result}, not {wanted}")
    })?;
    let class = cx.shape(a).class;
    if cx.is_logical() {
        ensure(
            Rule::Memory,
            match class {
                StorageClass::StorageBuffer => cx.variable_pointers(),
                StorageClass::Workgroup => cx.has(Capability::VariablePointers),
                _ => false,
            },
            || format!("pointers of the class {class} cannot be compared"),
        )?;
    }
    ensure(
        Rule::Memory,
        class != StorageClass::PhysicalStorageBuffer,
        || "pointers to physical storage buffers cannot be compared".to_owned(),
    )
}
