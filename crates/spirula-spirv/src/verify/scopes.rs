//! Rule 19: scopes, memory semantics, barriers and atomics.

use super::context::{Check, Cx, ensure, fault};
use super::rules::Rule;
use crate::grammar::enumerants::{
    Capability, ExecutionModel, MemoryModel, MemorySemantics, Scope, StorageClass,
};
use crate::grammar::{Class, Kind, Op, Version};
use crate::ir::InstRef;

/// The value of a scope or of semantics, when it is a constant that nothing changes.
fn value(cx: &Cx<'_>, id: u32, what: &str) -> Result<Option<u32>, super::context::Fault> {
    let shape = cx.value_shape(id);
    ensure(
        Rule::Atomics,
        shape.op == Op::TypeInt && shape.width == 32,
        || format!("the {what} %{id} is no integer of 32 bits"),
    )?;
    let found = cx.constant(id);
    let specialised = cx.has(Capability::CooperativeMatrixNV) && cx.is_constant(id);
    ensure(
        Rule::Atomics,
        found.is_some() || !cx.is_shader || specialised,
        || format!("the {what} %{id} is no constant that is known"),
    )?;
    Ok(found.map(|v| v as u32))
}

fn known(cx: &Cx<'_>, id: u32) -> Result<Option<Scope>, super::context::Fault> {
    let Some(value) = value(cx, id, "scope")? else {
        return Ok(None);
    };
    ensure(
        Rule::Atomics,
        Kind::Scope.info().enumerant(value).is_some(),
        || format!("{value} is no scope"),
    )?;
    Ok(Some(Scope(value)))
}

/// Checks a memory scope.
pub(super) fn memory(cx: &Cx<'_>, id: u32) -> Check {
    let Some(scope) = known(cx, id)? else {
        return Ok(());
    };
    if scope == Scope::QueueFamily {
        ensure(Rule::Atomics, cx.has(Capability::VulkanMemoryModel), || {
            "the scope QueueFamily needs the Vulkan memory model".to_owned()
        })?;
    }
    if scope == Scope::Device && cx.has(Capability::VulkanMemoryModel) {
        ensure(
            Rule::Atomics,
            cx.has(Capability::VulkanMemoryModelDeviceScope),
            || "the scope Device needs the capability VulkanMemoryModelDeviceScope".to_owned(),
        )?;
    }
    if !cx.is_vulkan() {
        return Ok(());
    }
    ensure(
        Rule::Atomics,
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
pub(super) fn execution(cx: &Cx<'_>, inst: InstRef<'_>, id: u32) -> Check {
    let Some(scope) = known(cx, id)? else {
        return Ok(());
    };
    let class = inst.op().info().map(|i| i.class);
    if class == Some(Class::NonUniform) {
        ensure(
            Rule::Atomics,
            matches!(scope, Scope::Workgroup | Scope::Subgroup),
            || format!("the scope is {scope}, neither Workgroup nor Subgroup"),
        )?;
    }
    if !cx.is_vulkan() {
        return Ok(());
    }
    if class == Some(Class::NonUniform)
        && !matches!(inst.op(), Op::GroupNonUniformRotateKHR)
        && cx.version >= Version::new(1, 3)
    {
        ensure(Rule::Atomics, scope == Scope::Subgroup, || {
            format!("Vulkan has this operation for the scope Subgroup, not {scope}")
        })?;
    }
    ensure(
        Rule::Atomics,
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

/// Checks memory semantics. `failure` says that they are those of a comparison that failed.
fn semantics(cx: &Cx<'_>, inst: InstRef<'_>, id: u32, failure: bool) -> Check {
    let Some(value) = value(cx, id, "semantics")? else {
        return Ok(());
    };
    let found = MemorySemantics(value);
    ensure(Rule::Atomics, (value & ORDERS).count_ones() <= 1, || {
        format!("the semantics {found} have more than one order")
    })?;
    if cx.memory_model == MemoryModel::Vulkan
        && value & MemorySemantics::SequentiallyConsistent.0 != 0
    {
        return Err(fault(
            Rule::Atomics,
            "the Vulkan memory model has no SequentiallyConsistent",
        ));
    }
    let vulkan_only = MemorySemantics::OutputMemory.0
        | MemorySemantics::MakeAvailable.0
        | MemorySemantics::MakeVisible.0
        | MemorySemantics::Volatile.0;
    ensure(
        Rule::Atomics,
        value & vulkan_only == 0 || cx.has(Capability::VulkanMemoryModel),
        || format!("{found} needs the Vulkan memory model"),
    )?;
    let has = |what: MemorySemantics| value & what.0 != 0;
    ensure(
        Rule::Atomics,
        !has(MemorySemantics::Volatile)
            || inst.op().info().is_some_and(|i| i.class == Class::Atomic),
        || "only atomics are volatile".to_owned(),
    )?;
    ensure(
        Rule::Atomics,
        !has(MemorySemantics::UniformMemory) || cx.is_shader,
        || "UniformMemory needs the capability Shader".to_owned(),
    )?;
    let releases = has(MemorySemantics::Release) || has(MemorySemantics::AcquireRelease);
    let acquires = has(MemorySemantics::Acquire) || has(MemorySemantics::AcquireRelease);
    ensure(
        Rule::Atomics,
        !has(MemorySemantics::MakeAvailable) || releases,
        || "MakeAvailable goes with a release".to_owned(),
    )?;
    ensure(
        Rule::Atomics,
        !has(MemorySemantics::MakeVisible) || acquires,
        || "MakeVisible goes with an acquire".to_owned(),
    )?;
    ensure(
        Rule::Atomics,
        !(has(MemorySemantics::MakeAvailable) || has(MemorySemantics::MakeVisible))
            || value & CLASSES != 0,
        || "the semantics name no storage class".to_owned(),
    )?;
    if failure {
        ensure(Rule::Atomics, !releases, || {
            "a comparison that failed does not release".to_owned()
        })?;
    }
    if cx.is_vulkan() {
        semantics_in_vulkan(inst, value)?;
    }
    Ok(())
}

fn semantics_in_vulkan(inst: InstRef<'_>, value: u32) -> Check {
    let op = inst.op();
    let has = |what: MemorySemantics| value & what.0 != 0;
    let orders = value & ORDERS != 0;
    let classes = value
        & (MemorySemantics::UniformMemory.0
            | MemorySemantics::WorkgroupMemory.0
            | MemorySemantics::ImageMemory.0
            | MemorySemantics::OutputMemory.0)
        != 0;
    match op {
        Op::MemoryBarrier => {
            ensure(Rule::Atomics, orders, || {
                "a memory barrier has an order in Vulkan".to_owned()
            })?;
            ensure(Rule::Atomics, classes, || {
                "a memory barrier names a storage class in Vulkan".to_owned()
            })
        }
        Op::ControlBarrier => ensure(
            Rule::Atomics,
            !orders && value & CLASSES == 0 || orders && classes,
            || "the barrier has an order and a storage class, or neither, in Vulkan".to_owned(),
        ),
        Op::AtomicLoad => ensure(
            Rule::Atomics,
            !has(MemorySemantics::Release)
                && !has(MemorySemantics::AcquireRelease)
                && !has(MemorySemantics::SequentiallyConsistent),
            || "a load does not release".to_owned(),
        ),
        Op::AtomicStore => ensure(
            Rule::Atomics,
            !has(MemorySemantics::Acquire)
                && !has(MemorySemantics::AcquireRelease)
                && !has(MemorySemantics::SequentiallyConsistent),
            || "a store does not acquire".to_owned(),
        ),
        _ => Ok(()),
    }
}

/// Checks barriers.
pub(super) fn barrier(cx: &Cx<'_>, inst: InstRef<'_>) -> Check {
    match inst.op() {
        Op::ControlBarrier => {
            execution(cx, inst, inst.word(0))?;
            memory(cx, inst.word(1))?;
            semantics(cx, inst, inst.word(2), false)
        }
        Op::MemoryBarrier => {
            memory(cx, inst.word(0))?;
            semantics(cx, inst, inst.word(1), false)
        }
        Op::MemoryNamedBarrier => {
            ensure(
                Rule::Atomics,
                cx.value_shape(inst.word(0)).op == Op::TypeNamedBarrier,
                || "the operand is no named barrier".to_owned(),
            )?;
            memory(cx, inst.word(1))?;
            semantics(cx, inst, inst.word(2), false)
        }
        _ => Ok(()),
    }
}

/// Checks an atomic.
pub(super) fn atomic(cx: &Cx<'_>, inst: InstRef<'_>) -> Check {
    let is_store = matches!(inst.op(), Op::AtomicStore | Op::AtomicFlagClear);
    let is_flag = matches!(inst.op(), Op::AtomicFlagTestAndSet | Op::AtomicFlagClear);
    let pointer = cx.value_shape(inst.word(0));
    ensure(Rule::Atomics, super::memory::is_pointer(pointer.op), || {
        "the operand is no pointer".to_owned()
    })?;
    let data = if pointer.op == Op::TypeUntypedPointerKHR {
        if is_store {
            cx.ty(*inst.operands().get(3).unwrap_or(&0))
        } else {
            inst.words()[0]
        }
    } else {
        pointer.part
    };
    let shape = cx.shape(data);
    if is_flag {
        ensure(
            Rule::Atomics,
            shape.op == Op::TypeInt && shape.width == 32,
            || "the flag is no integer of 32 bits".to_owned(),
        )?;
        let result = inst.result_type().map_or(Op::TypeBool, |t| cx.op(t.word()));
        ensure(Rule::Atomics, result == Op::TypeBool, || {
            "the result is no boolean".to_owned()
        })?;
    } else {
        numbers(cx, inst, data)?;
    }
    class(cx, pointer.class)?;
    memory(cx, inst.word(1))?;
    semantics(cx, inst, inst.word(2), false)?;
    if matches!(
        inst.op(),
        Op::AtomicCompareExchange | Op::AtomicCompareExchangeWeak
    ) {
        semantics(cx, inst, inst.word(3), true)?;
        for at in [4, 5] {
            ensure(
                Rule::Atomics,
                cx.ty(inst.word(at)) == inst.words()[0],
                || "value and comparator are not of the result's type".to_owned(),
            )?;
        }
    } else if let (Some(value), false) = (inst.operands().get(3), is_flag) {
        ensure(Rule::Atomics, cx.ty(*value) == data, || {
            format!(
                "the value is of {}, not of {}",
                cx.describe(cx.ty(*value)),
                cx.describe(data)
            )
        })?;
    }
    Ok(())
}

/// Which kinds of numbers an atomic works on.
fn numbers(cx: &Cx<'_>, inst: InstRef<'_>, data: u32) -> Check {
    let shape = super::signatures::parts(cx, data);
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
                    || part.width == 16 && cx.has(Capability::AtomicFloat16VectorNV))
        }
        Op::TypePointer => cx.is_kernel,
        _ => false,
    };
    ensure(Rule::Atomics, fits, || {
        format!("it does not work on {}", cx.describe(data))
    })?;
    if let Some(result) = inst.result_type() {
        ensure(Rule::Atomics, result.word() == data, || {
            format!(
                "the result is of {}, the pointer points to {}",
                cx.describe(result.word()),
                cx.describe(data)
            )
        })?;
    }
    if part.op == Op::TypeInt && part.width == 64 {
        let image = cx.op(inst.word(0)) == Op::ImageTexelPointer;
        ensure(
            Rule::Capabilities,
            cx.has(if image {
                Capability::Int64ImageEXT
            } else {
                Capability::Int64Atomics
            }) || cx.has(Capability::Int64Atomics),
            || "atomics of 64 bits need the capability Int64Atomics".to_owned(),
        )?;
    }
    if cx.is_vulkan() && part.op == Op::TypeInt {
        ensure(
            Rule::Environment,
            part.width == 32 || part.width == 64,
            || format!("Vulkan has no atomics of {} bits", part.width),
        )?;
    }
    Ok(())
}

fn class(cx: &Cx<'_>, class: StorageClass) -> Check {
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
        return ensure(Rule::Atomics, shared, || {
            format!("Vulkan has no atomics on the class {class}")
        });
    }
    ensure(
        Rule::Atomics,
        shared
            || in_kernels
            || class == StorageClass::DeviceOnlyALTERA
            || class == StorageClass::HostOnlyALTERA,
        || format!("there are no atomics on the class {class}"),
    )?;
    ensure(
        Rule::Atomics,
        class != StorageClass::Function || !cx.is_shader,
        || "there are no atomics on variables of functions".to_owned(),
    )?;
    ensure(
        Rule::Atomics,
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
pub(super) fn barrier_models(cx: &Cx<'_>, model: ExecutionModel) -> bool {
    cx.version >= Version::new(1, 3)
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
