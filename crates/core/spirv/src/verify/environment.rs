//! Rule 23: restrictions of client interfaces.

use super::context::{VerifyContext, VerifyResult, ensure, make_fault};
use super::rules::VerifyRule;
use crate::grammar::Op;
use crate::grammar::enumerants::{AddressingModel, Capability, MemoryModel, StorageClass};
use crate::ir::ModuleSection;
use crate::target::TargetEnvironment;

/// Whether the environment has a storage class.
pub(super) fn takes_class(cx: &VerifyContext<'_>, class: StorageClass) -> bool {
    if !cx.is_vulkan() {
        return true;
    }
    !matches!(
        class,
        StorageClass::CrossWorkgroup
            | StorageClass::Generic
            | StorageClass::AtomicCounter
            | StorageClass::DeviceOnlyALTERA
            | StorageClass::HostOnlyALTERA
            | StorageClass::CodeSectionINTEL
    )
}

/// Checks the memory model.
pub(super) fn memory_model(cx: &VerifyContext<'_>) -> VerifyResult {
    let (addressing, model) = (cx.addressing, cx.memory_model);
    if cx.has_capability(Capability::VulkanMemoryModel) {
        ensure(
            VerifyRule::Environment,
            model == MemoryModel::Vulkan,
            || "the capability VulkanMemoryModel requires that memory model".to_owned(),
        )?;
    }
    if cx.is_vulkan() {
        ensure(
            VerifyRule::Environment,
            matches!(
                addressing,
                AddressingModel::Logical | AddressingModel::PhysicalStorageBuffer64
            ),
            || format!("Vulkan does not know the addressing model {addressing}"),
        )?;
    }
    if cx.is_opencl() {
        ensure(
            VerifyRule::Environment,
            matches!(
                addressing,
                AddressingModel::Physical32 | AddressingModel::Physical64
            ),
            || format!("OpenCL does not know the addressing model {addressing}"),
        )?;
        ensure(
            VerifyRule::Environment,
            model == MemoryModel::OpenCL,
            || format!("OpenCL does not know the memory model {model}"),
        )?;
    }
    Ok(())
}

/// Checks the module as a whole: its version, and that it has an entry point or an export.
pub(super) fn verify_module_environment(cx: &VerifyContext<'_>) -> VerifyResult {
    let newest = cx.options.target.version;
    ensure(VerifyRule::Versions, cx.version <= newest, || {
        format!(
            "the module is of SPIR-V {}, the target environment takes {newest} at most",
            cx.version
        )
    })?;
    let entries = cx.module.section_insts(ModuleSection::EntryPoints);
    let has_entry = entries
        .into_iter()
        .any(|i| matches!(i.op(), Op::EntryPoint | Op::ConditionalEntryPointINTEL));
    ensure(
        VerifyRule::EntryPoints,
        has_entry
            || cx.has_capability(Capability::Linkage)
            || cx.has_capability(Capability::GraphARM),
        || "the module has neither an entry point nor the capability Linkage".to_owned(),
    )?;
    if matches!(cx.options.target.environment, TargetEnvironment::Vulkan(..))
        && cx.has_capability(Capability::Linkage)
    {
        return Err(make_fault(
            VerifyRule::Environment,
            "Vulkan does not take modules that are linked",
        ));
    }
    Ok(())
}
