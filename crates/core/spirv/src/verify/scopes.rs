//! Rule 19: scopes, memory semantics, barriers and atomics.

use super::context::{VerifyContext, VerifyResult, ensure, make_fault};
use super::rules::VerifyRule;
use crate::grammar::enumerants::{
    Capability, ExecutionModel, MemoryModel, MemorySemantics, Scope, StorageClass,
};
use crate::grammar::{InstructionClass, Kind, Op, SpirvVersion};
use crate::ir::InstRef;
use crate::target::TargetEnvironment;

/// The value of a scope or of semantics, when it is a constant that nothing changes.
fn read_scope_constant(
    cx: &VerifyContext<'_>,
    id: u32,
    what: &str,
) -> Result<Option<u32>, super::context::VerifyFault> {
    let shape = cx.value_shape(id);
    ensure(
        VerifyRule::Atomics,
        shape.op == Op::TypeInt && shape.width == 32,
        || format!("the {what} %{id} is no integer of 32 bits"),
    )?;
    let found = cx.constant_value(id);
    let specialised = cx.has_capability(Capability::CooperativeMatrixNV) && cx.is_constant(id);
    ensure(
        VerifyRule::Atomics,
        found.is_some() || !cx.is_shader || specialised,
        || format!("the {what} %{id} is no constant that is known"),
    )?;
    Ok(found.map(|v| v as u32))
}

fn read_scope(
    cx: &VerifyContext<'_>,
    id: u32,
) -> Result<Option<Scope>, super::context::VerifyFault> {
    let Some(value) = read_scope_constant(cx, id, "scope")? else {
        return Ok(None);
    };
    ensure(
        VerifyRule::Atomics,
        Kind::Scope.info().enumerant_by_value(value).is_some(),
        || format!("{value} is no scope"),
    )?;
    Ok(Some(Scope(value)))
}

/// Checks a memory scope.
pub(super) fn verify_memory_scope(cx: &VerifyContext<'_>, id: u32) -> VerifyResult {
    let Some(scope) = read_scope(cx, id)? else {
        return Ok(());
    };
    if scope == Scope::QueueFamily {
        ensure(
            VerifyRule::Atomics,
            cx.has_capability(Capability::VulkanMemoryModel),
            || "the scope QueueFamily needs the Vulkan memory model".to_owned(),
        )?;
    }
    if scope == Scope::Device && cx.has_capability(Capability::VulkanMemoryModel) {
        ensure(
            VerifyRule::Atomics,
            cx.has_capability(Capability::VulkanMemoryModelDeviceScope),
            || "the scope Device needs the capability VulkanMemoryModelDeviceScope".to_owned(),
        )?;
    }
    let TargetEnvironment::Vulkan(major, minor) = cx.options.target.environment else {
        return Ok(());
    };
    let subgroups = (major, minor) > (1, 0)
        || cx.has_capability(Capability::SubgroupBallotKHR)
        || cx.has_capability(Capability::SubgroupVoteKHR);
    ensure(
        VerifyRule::Atomics,
        scope != Scope::Subgroup || subgroups,
        || "Vulkan 1.0 has no memory scope Subgroup without a capability for subgroups".to_owned(),
    )?;
    ensure(
        VerifyRule::Atomics,
        matches!(
            scope,
            Scope::Device
                | Scope::QueueFamily
                | Scope::Workgroup
                | Scope::ShaderCallKHR
                | Scope::Subgroup
                | Scope::Invocation
        ),
        || format!("Vulkan has no memory scope {scope}"),
    )
}

/// Checks the scope of an operation that invocations do together.
pub(super) fn verify_execution_scope(
    cx: &VerifyContext<'_>,
    inst: InstRef<'_>,
    id: u32,
) -> VerifyResult {
    let Some(scope) = read_scope(cx, id)? else {
        return Ok(());
    };
    let class = inst.op().info().map(|i| i.class);
    if class == Some(InstructionClass::NonUniform) {
        let rotates = inst.op() == Op::GroupNonUniformRotateKHR && !cx.is_vulkan();
        let taken = scope == Scope::Subgroup || rotates && scope == Scope::Workgroup;
        ensure(VerifyRule::Atomics, taken, || {
            format!("the operation is for the scope Subgroup, not {scope}")
        })?;
    }
    if !cx.is_vulkan() {
        return Ok(());
    }
    ensure(
        VerifyRule::Atomics,
        matches!(scope, Scope::Workgroup | Scope::Subgroup),
        || format!("Vulkan has no execution scope {scope}"),
    )
}

const ORDERS: u32 = MemorySemantics::Acquire.0
    | MemorySemantics::Release.0
    | MemorySemantics::AcquireRelease.0
    | MemorySemantics::SequentiallyConsistent.0;

const CLASSES: u32 = MemorySemantics::UniformMemory.0
    | MemorySemantics::SubgroupMemory.0
    | MemorySemantics::WorkgroupMemory.0
    | MemorySemantics::CrossWorkgroupMemory.0
    | MemorySemantics::AtomicCounterMemory.0
    | MemorySemantics::ImageMemory.0
    | MemorySemantics::OutputMemory.0;

/// Classes of memory that Vulkan has semantics for.
const VULKAN_CLASSES: u32 = MemorySemantics::UniformMemory.0
    | MemorySemantics::WorkgroupMemory.0
    | MemorySemantics::ImageMemory.0
    | MemorySemantics::OutputMemory.0;

/// Whether the rules of Vulkan's semantics hold: for its environment, and in its memory model.
fn has_vulkan_semantics(cx: &VerifyContext<'_>) -> bool {
    cx.is_vulkan() || cx.memory_model == MemoryModel::Vulkan
}

/// Memory orders that an instruction does not support, by its effect.
const WITHOUT: &[(&[Op], MemorySemantics, &str)] = &[
    (
        &[Op::AtomicLoad],
        MemorySemantics(MemorySemantics::Release.0 | MemorySemantics::AcquireRelease.0),
        "a load does not release",
    ),
    (
        &[Op::AtomicStore, Op::AtomicFlagClear],
        MemorySemantics(MemorySemantics::Acquire.0 | MemorySemantics::AcquireRelease.0),
        "a store does not acquire",
    ),
];

/// Checks memory semantics together with their scope.
fn verify_semantics(
    cx: &VerifyContext<'_>,
    inst: InstRef<'_>,
    id: u32,
    scope: u32,
) -> VerifyResult {
    let Some(value) = read_scope_constant(cx, id, "semantics")? else {
        return Ok(());
    };
    let found = MemorySemantics(value);
    ensure(
        VerifyRule::Atomics,
        (value & ORDERS).count_ones() <= 1,
        || format!("the semantics {found} have more than one order"),
    )?;
    let mut without = WITHOUT.iter().filter(|row| row.0.contains(&inst.op()));
    if let Some((_, _, message)) = without.find(|row| value & row.1.0 != 0) {
        return Err(make_fault(VerifyRule::Atomics, *message));
    }
    let vulkan_only = MemorySemantics::OutputMemory.0
        | MemorySemantics::MakeAvailable.0
        | MemorySemantics::MakeVisible.0
        | MemorySemantics::Volatile.0;
    ensure(
        VerifyRule::Atomics,
        value & vulkan_only == 0 || cx.has_capability(Capability::VulkanMemoryModel),
        || format!("{found} needs the Vulkan memory model"),
    )?;
    let has = |what: MemorySemantics| value & what.0 != 0;
    ensure(
        VerifyRule::Atomics,
        !has(MemorySemantics::Volatile) || inst.op().is_atomic(),
        || "only atomics are volatile".to_owned(),
    )?;
    ensure(
        VerifyRule::Atomics,
        !has(MemorySemantics::UniformMemory) || cx.is_shader,
        || "UniformMemory needs the capability Shader".to_owned(),
    )?;
    let releases = has(MemorySemantics::Release) || has(MemorySemantics::AcquireRelease);
    let acquires = has(MemorySemantics::Acquire) || has(MemorySemantics::AcquireRelease);
    ensure(
        VerifyRule::Atomics,
        !has(MemorySemantics::MakeAvailable) || releases,
        || "MakeAvailable requires a release".to_owned(),
    )?;
    ensure(
        VerifyRule::Atomics,
        !has(MemorySemantics::MakeVisible) || acquires,
        || "MakeVisible requires an acquire".to_owned(),
    )?;
    ensure(
        VerifyRule::Atomics,
        !(has(MemorySemantics::MakeAvailable) || has(MemorySemantics::MakeVisible))
            || value & CLASSES != 0,
        || "the semantics name no storage class".to_owned(),
    )?;
    if has_vulkan_semantics(cx) {
        semantics_in_vulkan(cx, inst, value, scope)?;
    }
    Ok(())
}

fn semantics_in_vulkan(
    cx: &VerifyContext<'_>,
    inst: InstRef<'_>,
    value: u32,
    scope: u32,
) -> VerifyResult {
    let (ordered, classes) = (value & ORDERS != 0, value & VULKAN_CLASSES != 0);
    let consistent = value & MemorySemantics::SequentiallyConsistent.0 != 0;
    ensure(VerifyRule::Atomics, !consistent, || {
        "Vulkan has no SequentiallyConsistent".to_owned()
    })?;
    ensure(
        VerifyRule::Atomics,
        inst.op() != Op::MemoryBarrier || ordered,
        || "a memory barrier has an order in Vulkan".to_owned(),
    )?;
    ensure(VerifyRule::Atomics, ordered == classes, || {
        "Vulkan requires an order together with a storage class".to_owned()
    })?;
    let alone = cx.constant_value(scope) == Some(Scope::Invocation.0.into());
    ensure(VerifyRule::Atomics, !alone || !ordered, || {
        "an order has a wider scope than Invocation in Vulkan".to_owned()
    })?;
    let only = match inst.op() {
        Op::ControlBarrierArriveEXT => MemorySemantics::Release,
        Op::ControlBarrierWaitEXT => MemorySemantics::Acquire,
        _ => return Ok(()),
    };
    ensure(
        VerifyRule::Atomics,
        !ordered || value & ORDERS == only.0,
        || format!("the order is {only} or none in Vulkan"),
    )
}

/// Checks the semantics of a comparison that failed, beside those of one that did not.
fn verify_failure_semantics(cx: &VerifyContext<'_>, inst: InstRef<'_>) -> VerifyResult {
    let [scope, equal, unequal] = [1, 2, 3].map(|at| inst.operand_word(at));
    verify_semantics(cx, inst, unequal, scope)?;
    let known = |id: u32| cx.constant_value(id).map(|value| value as u32);
    let (Some(equal), Some(unequal)) = (known(equal), known(unequal)) else {
        return Ok(());
    };
    let has = |value: u32, what: MemorySemantics| value & what.0 != 0;
    let releases =
        has(unequal, MemorySemantics::Release) || has(unequal, MemorySemantics::AcquireRelease);
    ensure(VerifyRule::Atomics, !releases, || {
        "a comparison that failed does not release".to_owned()
    })?;
    let consistent = MemorySemantics::SequentiallyConsistent;
    let stronger = has(unequal, consistent) && !has(equal, consistent)
        || has(unequal, MemorySemantics::Acquire) && equal & ORDERS == 0;
    ensure(VerifyRule::Atomics, !stronger, || {
        "a comparison that failed has no stronger order than one that did not".to_owned()
    })?;
    if !has_vulkan_semantics(cx) {
        return Ok(());
    }
    let more = unequal & !equal & (VULKAN_CLASSES | MemorySemantics::MakeVisible.0);
    ensure(VerifyRule::Atomics, more == 0, || {
        format!(
            "a comparison that failed has {} beyond one that did not",
            MemorySemantics(more)
        )
    })?;
    ensure(
        VerifyRule::Atomics,
        has(equal, MemorySemantics::Volatile) == has(unequal, MemorySemantics::Volatile),
        || "both semantics of a comparison are Volatile, or neither".to_owned(),
    )
}

/// Checks barriers.
pub(super) fn verify_barrier(cx: &VerifyContext<'_>, inst: InstRef<'_>) -> VerifyResult {
    match inst.op() {
        Op::ControlBarrier | Op::ControlBarrierArriveEXT | Op::ControlBarrierWaitEXT => {
            verify_execution_scope(cx, inst, inst.operand_word(0))?;
            verify_memory_scope(cx, inst.operand_word(1))?;
            verify_semantics(cx, inst, inst.operand_word(2), inst.operand_word(1))
        }
        Op::MemoryBarrier => {
            verify_memory_scope(cx, inst.operand_word(0))?;
            verify_semantics(cx, inst, inst.operand_word(1), inst.operand_word(0))
        }
        Op::MemoryNamedBarrier => {
            ensure(
                VerifyRule::Atomics,
                cx.value_shape(inst.operand_word(0)).op == Op::TypeNamedBarrier,
                || "the operand is no named barrier".to_owned(),
            )?;
            verify_memory_scope(cx, inst.operand_word(1))?;
            verify_semantics(cx, inst, inst.operand_word(2), inst.operand_word(1))
        }
        _ => Ok(()),
    }
}

/// Checks an atomic.
pub(super) fn verify_atomic(cx: &VerifyContext<'_>, inst: InstRef<'_>) -> VerifyResult {
    let is_store = matches!(inst.op(), Op::AtomicStore | Op::AtomicFlagClear);
    let is_flag = matches!(inst.op(), Op::AtomicFlagTestAndSet | Op::AtomicFlagClear);
    let pointer = cx.value_shape(inst.operand_word(0));
    ensure(
        VerifyRule::Atomics,
        super::memory::is_pointer(pointer.op),
        || "the operand is no pointer".to_owned(),
    )?;
    let data = if pointer.op == Op::TypeUntypedPointerKHR {
        if is_store {
            cx.type_of(*inst.operands().get(3).unwrap_or(&0))
        } else {
            inst.words()[0]
        }
    } else {
        pointer.part
    };
    let shape = cx.type_shape(data);
    if is_flag {
        ensure(VerifyRule::Atomics, pointer.op == Op::TypePointer, || {
            "flags are not accessed by untyped pointers".to_owned()
        })?;
        ensure(
            VerifyRule::Atomics,
            shape.op == Op::TypeInt && shape.width == 32,
            || "the flag is no integer of 32 bits".to_owned(),
        )?;
        let result = inst
            .result_type()
            .map_or(Op::TypeBool, |t| cx.defining_op(t.word()));
        ensure(VerifyRule::Atomics, result == Op::TypeBool, || {
            "the result is no boolean".to_owned()
        })?;
    } else {
        verify_atomic_type(cx, inst, data)?;
    }
    verify_atomic_class(cx, pointer.class)?;
    verify_memory_scope(cx, inst.operand_word(1))?;
    verify_semantics(cx, inst, inst.operand_word(2), inst.operand_word(1))?;
    if matches!(
        inst.op(),
        Op::AtomicCompareExchange | Op::AtomicCompareExchangeWeak
    ) {
        verify_failure_semantics(cx, inst)?;
        for at in [4, 5] {
            ensure(
                VerifyRule::Atomics,
                cx.type_of(inst.operand_word(at)) == inst.words()[0],
                || "value and comparator are not of the result's type".to_owned(),
            )?;
        }
    } else if let (Some(value), false) = (inst.operands().get(3), is_flag) {
        ensure(VerifyRule::Atomics, cx.type_of(*value) == data, || {
            format!(
                "the value is of {}, not of {}",
                cx.describe_type(cx.type_of(*value)),
                cx.describe_type(data)
            )
        })?;
    }
    Ok(())
}

/// Which kinds of numbers an atomic works on.
fn verify_atomic_type(cx: &VerifyContext<'_>, inst: InstRef<'_>, data: u32) -> VerifyResult {
    let shape = super::signatures::get_components(cx, data);
    let part = shape.part;
    let floats = matches!(
        inst.op(),
        Op::AtomicLoad
            | Op::AtomicStore
            | Op::AtomicExchange
            | Op::AtomicFAddEXT
            | Op::AtomicFMinEXT
            | Op::AtomicFMaxEXT
    );
    let ints = !matches!(
        inst.op(),
        Op::AtomicFAddEXT | Op::AtomicFMinEXT | Op::AtomicFMaxEXT
    );
    let fits = match part.op {
        Op::TypeInt => ints && shape.count == 0,
        Op::TypeFloat => {
            floats
                && (shape.count == 0
                    || part.width == 16 && cx.has_capability(Capability::AtomicFloat16VectorNV))
        }
        Op::TypePointer => cx.is_kernel,
        _ => false,
    };
    ensure(VerifyRule::Atomics, fits, || {
        format!("it does not work on {}", cx.describe_type(data))
    })?;
    if let Some(result) = inst.result_type() {
        ensure(VerifyRule::Atomics, result.word() == data, || {
            format!(
                "the result is of {}, the pointer points to {}",
                cx.describe_type(result.word()),
                cx.describe_type(data)
            )
        })?;
    }
    if part.op == Op::TypeInt && part.width == 64 {
        let image = cx.defining_op(inst.operand_word(0)) == Op::ImageTexelPointer;
        ensure(
            VerifyRule::Capabilities,
            cx.has_capability(if image {
                Capability::Int64ImageEXT
            } else {
                Capability::Int64Atomics
            }) || cx.has_capability(Capability::Int64Atomics),
            || "atomics of 64 bits need the capability Int64Atomics".to_owned(),
        )?;
    }
    float_capability(cx, inst.op(), &shape)?;
    if cx.is_vulkan() && part.op == Op::TypeInt {
        ensure(
            VerifyRule::Environment,
            part.width == 32 || part.width == 64,
            || format!("Vulkan has no atomics of {} bits", part.width),
        )?;
    }
    Ok(())
}

/// Capabilities of floating-point atomics of each width: sums first, then minima and maxima.
const FLOATS: &[(u32, [Capability; 2])] = &[
    (
        16,
        [
            Capability::AtomicFloat16AddEXT,
            Capability::AtomicFloat16MinMaxEXT,
        ],
    ),
    (
        32,
        [
            Capability::AtomicFloat32AddEXT,
            Capability::AtomicFloat32MinMaxEXT,
        ],
    ),
    (
        64,
        [
            Capability::AtomicFloat64AddEXT,
            Capability::AtomicFloat64MinMaxEXT,
        ],
    ),
];

/// The capability for arithmetic on floats of this width, not only of another.
fn float_capability(
    cx: &VerifyContext<'_>,
    op: Op,
    shape: &super::signatures::TypeComponents,
) -> VerifyResult {
    let which = match op {
        Op::AtomicFAddEXT => 0,
        Op::AtomicFMinEXT | Op::AtomicFMaxEXT => 1,
        _ => return Ok(()),
    };
    let row = FLOATS.iter().find(|row| row.0 == shape.part.width);
    let Some(needed) = row.map(|row| row.1[which]).filter(|_| shape.count == 0) else {
        return Ok(());
    };
    ensure(
        VerifyRule::Capabilities,
        !cx.is_shader || cx.has_capability(needed),
        || {
            format!(
                "atomics on floats of {} bits need the capability {needed}",
                shape.part.width
            )
        },
    )
}

fn verify_atomic_class(cx: &VerifyContext<'_>, class: StorageClass) -> VerifyResult {
    let shared = matches!(
        class,
        StorageClass::Uniform
            | StorageClass::StorageBuffer
            | StorageClass::Workgroup
            | StorageClass::Image
            | StorageClass::PhysicalStorageBuffer
            | StorageClass::TaskPayloadWorkgroupEXT
            | StorageClass::NodePayloadAMDX
    );
    let in_kernels = matches!(
        class,
        StorageClass::Function
            | StorageClass::CrossWorkgroup
            | StorageClass::Generic
            | StorageClass::AtomicCounter
    );
    if cx.is_vulkan() {
        return ensure(VerifyRule::Atomics, shared, || {
            format!("Vulkan has no atomics on the class {class}")
        });
    }
    ensure(
        VerifyRule::Atomics,
        shared
            || in_kernels
            || class == StorageClass::DeviceOnlyALTERA
            || class == StorageClass::HostOnlyALTERA,
        || format!("there are no atomics on the class {class}"),
    )?;
    ensure(
        VerifyRule::Atomics,
        class != StorageClass::Function || !cx.is_shader,
        || "there are no atomics on variables of functions".to_owned(),
    )?;
    ensure(
        VerifyRule::Atomics,
        !cx.is_opencl()
            || matches!(
                class,
                StorageClass::Function
                    | StorageClass::Workgroup
                    | StorageClass::CrossWorkgroup
                    | StorageClass::Generic
            ),
        || format!("OpenCL has no atomics on the class {class}"),
    )
}

/// The execution models that a barrier may be run by, checked with the call graph.
pub(super) fn barrier_models(cx: &VerifyContext<'_>, model: ExecutionModel) -> bool {
    cx.version >= SpirvVersion::new(1, 3)
        || matches!(
            model,
            ExecutionModel::TessellationControl
                | ExecutionModel::GLCompute
                | ExecutionModel::Kernel
                | ExecutionModel::TaskNV
                | ExecutionModel::MeshNV
                | ExecutionModel::TaskEXT
                | ExecutionModel::MeshEXT
        )
}
