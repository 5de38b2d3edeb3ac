//! Rule 11 for variables: their storage class, type and initialiser, and the demands of client interfaces.

use super::context::{TypeContents, VerifyContext, VerifyResult, ensure, make_fault};
use super::memory::is_pointer;
use super::rules::VerifyRule;
use crate::grammar::Op;
use crate::grammar::enumerants::{AddressingModel, Capability, Decoration, StorageClass};
use crate::ir::InstRef;

/// Checks a variable.
pub(super) fn verify_variable(
    cx: &VerifyContext<'_>,
    inst: InstRef<'_>,
    in_function: bool,
) -> VerifyResult {
    let shape = cx.type_shape(inst.words()[0]);
    let class = StorageClass(inst.operand_word(0));
    ensure(VerifyRule::Memory, shape.op == Op::TypePointer, || {
        "its type is no pointer".to_owned()
    })?;
    ensure(VerifyRule::Memory, shape.class == class, || {
        format!("it is of the class {class}, its pointer of {}", shape.class)
    })?;
    verify_scope(class, in_function)?;
    ensure(
        VerifyRule::Memory,
        class != StorageClass::Generic && class != StorageClass::PhysicalStorageBuffer,
        || format!("there are no variables of the class {class}"),
    )?;
    ensure(
        VerifyRule::Environment,
        super::environment::takes_class(cx, class),
        || format!("the environment has no storage class {class}"),
    )?;
    verify_initializer(cx, inst, class, shape.part)?;
    verify_boolean_placement(cx, inst, class, shape.part)?;
    pointer_inside(cx, class, shape.part)?;
    if cx.is_vulkan() {
        in_vulkan(cx, inst, class, shape.part)?;
    }
    matrices_of_groups(cx, class, shape.part)?;
    if cx.is_shader {
        super::small_storage::verify_narrow_storage(cx, class, shape.part)?;
    }
    Ok(())
}

/// The type of a variable's value; 0 if it is unknown.
pub(super) fn data_type(cx: &VerifyContext<'_>, variable: u32) -> u32 {
    match cx
        .defining_inst(variable)
        .filter(|v| v.op() == Op::UntypedVariableKHR)
    {
        Some(untyped) => untyped.operands().get(1).copied().unwrap_or(0),
        None => cx.value_shape(variable).part,
    }
}

/// Checks that function variables, and no others, are in functions.
fn verify_scope(class: StorageClass, in_function: bool) -> VerifyResult {
    ensure(
        VerifyRule::Memory,
        in_function == (class == StorageClass::Function),
        || {
            format!(
                "a variable of the class {class} is {} a function",
                if in_function { "in" } else { "outside of" }
            )
        },
    )
}

/// Checks a variable whose pointer has no pointee.
pub(super) fn verify_untyped_variable(
    cx: &VerifyContext<'_>,
    inst: InstRef<'_>,
    in_function: bool,
) -> VerifyResult {
    let (shape, class) = (
        cx.type_shape(inst.words()[0]),
        StorageClass(inst.operand_word(0)),
    );
    ensure(
        VerifyRule::Memory,
        shape.op == Op::TypeUntypedPointerKHR && shape.class == class,
        || format!("its type is no untyped pointer of the class {class}"),
    )?;
    verify_scope(class, in_function)?;
    let data = data_type(cx, inst.words()[1]);
    let is_block =
        cx.defining_op(data) == Op::TypeStruct && cx.has_decoration(data, Decoration::Block);
    ensure(
        VerifyRule::Memory,
        class != StorageClass::Workgroup || !cx.is_shader || is_block,
        || "untyped variables of workgroup memory are blocks in shaders".to_owned(),
    )
}

fn verify_initializer(
    cx: &VerifyContext<'_>,
    inst: InstRef<'_>,
    class: StorageClass,
    pointee: u32,
) -> VerifyResult {
    let Some(&id) = inst.operands().get(1) else {
        return Ok(());
    };
    let is_global = cx.defining_op(id) == Op::Variable
        && cx.defining_inst(id).map(|v| v.operand_word(0)) != Some(StorageClass::Function.0);
    ensure(VerifyRule::Memory, cx.is_constant(id) || is_global, || {
        format!("its initialiser %{id} is no constant or global variable")
    })?;
    ensure(VerifyRule::Memory, cx.type_of(id) == pointee, || {
        "its initialiser is of another type".to_owned()
    })?;
    if matches!(
        class,
        StorageClass::TaskPayloadWorkgroupEXT
            | StorageClass::Input
            | StorageClass::HitObjectAttributeNV
    ) {
        return Err(make_fault(
            VerifyRule::Memory,
            format!("variables of the class {class} have no initialiser"),
        ));
    }
    let taken = !cx.is_vulkan()
        || match class {
            StorageClass::Output | StorageClass::Private | StorageClass::Function => true,
            StorageClass::Workgroup => cx.defining_op(id) == Op::ConstantNull,
            _ => false,
        };
    ensure(VerifyRule::Environment, taken, || {
        format!("Vulkan does not take this initialiser in the class {class}")
    })
}

/// Booleans have no size. They are allowed where nothing outside sees them.
fn verify_boolean_placement(
    cx: &VerifyContext<'_>,
    inst: InstRef<'_>,
    class: StorageClass,
    pointee: u32,
) -> VerifyResult {
    let hidden = matches!(
        class,
        StorageClass::Workgroup
            | StorageClass::CrossWorkgroup
            | StorageClass::Private
            | StorageClass::Function
            | StorageClass::UniformConstant
            | StorageClass::RayPayloadKHR
            | StorageClass::IncomingRayPayloadKHR
            | StorageClass::HitAttributeKHR
            | StorageClass::CallableDataKHR
            | StorageClass::IncomingCallableDataKHR
            | StorageClass::TaskPayloadWorkgroupEXT
            | StorageClass::HitObjectAttributeNV
            | StorageClass::NodePayloadAMDX
    );
    if hidden {
        return Ok(());
    }
    let is_io = matches!(class, StorageClass::Input | StorageClass::Output);
    if is_io && cx.has_decoration(inst.words()[1], Decoration::BuiltIn) {
        return Ok(());
    }
    let which = if is_io {
        TypeContents::PLAIN_BOOL
    } else {
        TypeContents::BOOL
    };
    ensure(
        VerifyRule::Memory,
        !cx.type_shape(pointee).holds.has_any(which),
        || format!("a Boolean cannot be in the class {class}"),
    )
}

/// Pointers in variables are for variable pointers in logical addressing.
fn pointer_inside(cx: &VerifyContext<'_>, class: StorageClass, pointee: u32) -> VerifyResult {
    let logical = matches!(
        cx.addressing,
        AddressingModel::Logical | AddressingModel::PhysicalStorageBuffer64
    );
    let inner = cx.type_shape(pointee);
    if !logical || !is_pointer(inner.op) || inner.class == StorageClass::PhysicalStorageBuffer {
        return Ok(());
    }
    let taken = match inner.class {
        StorageClass::StorageBuffer => cx.has_capability(Capability::VariablePointersStorageBuffer),
        StorageClass::Workgroup => cx.has_capability(Capability::VariablePointers),
        _ => false,
    } && matches!(class, StorageClass::Function | StorageClass::Private);
    ensure(VerifyRule::Memory, taken, || {
        format!(
            "it holds a pointer of the class {}, which it cannot",
            inner.class
        )
    })
}

fn is_or_array_of(cx: &VerifyContext<'_>, ty: u32, ops: &[Op]) -> bool {
    let shape = cx.type_shape(ty);
    ops.contains(&shape.op)
        || matches!(shape.op, Op::TypeArray | Op::TypeRuntimeArray)
            && ops.contains(&cx.defining_op(shape.part))
}

fn in_vulkan(
    cx: &VerifyContext<'_>,
    inst: InstRef<'_>,
    class: StorageClass,
    pointee: u32,
) -> VerifyResult {
    let own = inst.words()[1];
    let fits = match class {
        StorageClass::PushConstant => cx.defining_op(pointee) == Op::TypeStruct,
        StorageClass::UniformConstant => is_or_array_of(
            cx,
            pointee,
            &[
                Op::TypeImage,
                Op::TypeSampler,
                Op::TypeSampledImage,
                Op::TypeAccelerationStructureKHR,
                Op::TypeTensorARM,
            ],
        ),
        StorageClass::Uniform | StorageClass::StorageBuffer => {
            is_or_array_of(cx, pointee, &[Op::TypeStruct])
        }
        _ => true,
    };
    ensure(VerifyRule::Environment, fits, || {
        format!(
            "Vulkan has no variables of {} in the class {class}",
            cx.describe_type(pointee)
        )
    })?;
    if !matches!(class, StorageClass::Input | StorageClass::Output) {
        let members = 0..cx.struct_members(pointee).len() as u32;
        let invariant = cx.has_decoration(own, Decoration::Invariant)
            || members.into_iter().any(|n| {
                cx.member_decoration(pointee, n, Decoration::Invariant)
                    .is_some()
            });
        ensure(VerifyRule::Decorations, !invariant, || {
            "only inputs and outputs are invariant".to_owned()
        })?;
    }
    verify_resource(cx, own, class, pointee)?;
    let op = cx.defining_op(pointee);
    if op == Op::TypeRuntimeArray {
        ensure(
            VerifyRule::Environment,
            cx.has_capability(Capability::RuntimeDescriptorArray)
                && matches!(
                    class,
                    StorageClass::StorageBuffer
                        | StorageClass::Uniform
                        | StorageClass::UniformConstant
                ),
            || "a runtime array is no variable of its own in Vulkan".to_owned(),
        )?;
    }
    if op == Op::TypeStruct
        && cx
            .struct_members(pointee)
            .iter()
            .any(|m| cx.defining_op(*m) == Op::TypeRuntimeArray)
    {
        let decorated = match class {
            StorageClass::StorageBuffer | StorageClass::PhysicalStorageBuffer => {
                cx.has_decoration(pointee, Decoration::Block)
            }
            StorageClass::Uniform => cx.has_decoration(pointee, Decoration::BufferBlock),
            _ => false,
        };
        ensure(VerifyRule::Environment, decorated, || {
            "structures with a runtime array are storage buffers in Vulkan".to_owned()
        })?;
    }
    Ok(())
}

/// Resources are bound, and buffers are blocks.
fn verify_resource(
    cx: &VerifyContext<'_>,
    own: u32,
    class: StorageClass,
    pointee: u32,
) -> VerifyResult {
    let mut block = pointee;
    if matches!(cx.defining_op(block), Op::TypeArray | Op::TypeRuntimeArray) {
        block = cx.type_shape(block).part;
    }
    let is = |what| cx.has_decoration(block, what);
    let blocks: &[Decoration] = match class {
        StorageClass::Uniform => &[Decoration::Block, Decoration::BufferBlock],
        StorageClass::StorageBuffer | StorageClass::PushConstant => &[Decoration::Block],
        _ => &[],
    };
    ensure(
        VerifyRule::Decorations,
        blocks.is_empty() || blocks.iter().any(|b| is(*b)),
        || format!("%{block} is no block, as the class {class} demands in Vulkan"),
    )?;
    let is_bound = matches!(
        class,
        StorageClass::UniformConstant | StorageClass::Uniform | StorageClass::StorageBuffer
    );
    for what in [Decoration::DescriptorSet, Decoration::Binding] {
        ensure(
            VerifyRule::Decorations,
            !is_bound || cx.has_decoration(own, what),
            || format!("it has no {what}"),
        )?;
    }
    ensure(
        VerifyRule::Capabilities,
        class != StorageClass::Workgroup
            || !is(Decoration::Block)
            || cx.has_capability(Capability::WorkgroupMemoryExplicitLayoutKHR),
        || "blocks of workgroup memory need WorkgroupMemoryExplicitLayoutKHR".to_owned(),
    )
}

fn matrices_of_groups(cx: &VerifyContext<'_>, class: StorageClass, pointee: u32) -> VerifyResult {
    if matches!(class, StorageClass::Function | StorageClass::Private) {
        return Ok(());
    }
    let found = cx
        .type_shape(pointee)
        .holds
        .has_any(TypeContents::COOPERATIVE);
    ensure(VerifyRule::Memory, !found, || {
        format!("cooperative matrices cannot be in the class {class}")
    })
}
