//! Barriers, memory semantics and scopes.
//!
//! The Vulkan memory model has no sequential consistency, and an order makes memory available and
//! visible only where it is told to; both are what OpenCL's acquire and release mean. What orders memory for
//! the invocation alone orders nothing: Vulkan demands that it is relaxed (VUID-StandaloneSpirv-None-04641),
//! and that a barrier of memory orders something (VUID-StandaloneSpirv-OpMemoryBarrier-04732).

use super::ShaderLowering;
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::{MemorySemantics as Semantics, Scope};
use spirula_spirv::ir::InstRef;

/// What an operation on memory may order.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum AllowedSemantics {
    /// What comes before and after.
    Both,
    /// What comes after: loads.
    Acquire,
    /// What comes before: stores.
    Release,
}

impl ShaderLowering<'_> {
    /// A scope of the source as a constant.
    pub fn scope(&mut self, source: Id) -> Result<Id, SourceDiagnostic> {
        let scope = self.scope_of(source)?;
        Ok(self.b.constant_u32(scope.0))
    }

    fn scope_of(&self, source: Id) -> Result<Scope, SourceDiagnostic> {
        let scope = self.facts.constant(source);
        let scope =
            scope.ok_or_else(|| self.facts.refuse(source, "a scope that is no constant"))?;
        Ok(match Scope(scope as u32) {
            // One queue sees all that a kernel does, and needs no feature of its own.
            Scope::CrossDevice | Scope::Device => Scope::QueueFamily,
            scope => scope,
        })
    }

    /// Semantics of the source as those that an operation of a scope may have.
    pub fn semantics(
        &mut self,
        source: Id,
        scope: Id,
        order: AllowedSemantics,
    ) -> Result<Id, SourceDiagnostic> {
        let semantics = self.semantics_of(source, scope, order)?;
        Ok(self.b.constant_u32(semantics.0))
    }

    fn semantics_of(
        &self,
        source: Id,
        scope: Id,
        order: AllowedSemantics,
    ) -> Result<Semantics, SourceDiagnostic> {
        let value = self.facts.constant(source);
        let value = value.ok_or_else(|| {
            self.facts
                .refuse(source, "memory semantics that are no constant")
        })?;
        Ok(match self.scope_of(scope)? {
            Scope::Invocation => Semantics::None,
            _ => semantics(Semantics(value as u32), order),
        })
    }

    /// Has memory ordered for a scope, where that orders anything.
    fn fence(&mut self, scope: Id, semantics: Id) -> Result<(), SourceDiagnostic> {
        let order = self.semantics_of(semantics, scope, AllowedSemantics::Both)?;
        if order != Semantics::None {
            let (scope, order) = (self.scope(scope)?, self.b.constant_u32(order.0));
            self.effect(Op::MemoryBarrier, &[scope, order]);
        }
        Ok(())
    }
}

fn semantics(source: Semantics, order: AllowedSemantics) -> Semantics {
    let is = |what: Semantics| source.0 & what.0 != 0;
    let consistent = is(Semantics::AcquireRelease) || is(Semantics::SequentiallyConsistent);
    let acquires = (consistent || is(Semantics::Acquire)) && order != AllowedSemantics::Release;
    let releases = (consistent || is(Semantics::Release)) && order != AllowedSemantics::Acquire;
    let mut made = match (acquires, releases) {
        (true, true) => Semantics::AcquireRelease,
        (true, false) => Semantics::Acquire,
        (false, true) => Semantics::Release,
        (false, false) => return Semantics::None,
    };
    if is(Semantics::ImageMemory) {
        made |= Semantics::ImageMemory;
    }
    let named =
        Semantics::WorkgroupMemory | Semantics::CrossWorkgroupMemory | Semantics::ImageMemory;
    let everywhere = !is(named);
    if everywhere || is(Semantics::WorkgroupMemory) {
        made |= Semantics::WorkgroupMemory;
    }
    if everywhere || is(Semantics::CrossWorkgroupMemory) {
        made |= Semantics::UniformMemory;
    }
    if acquires {
        made |= Semantics::MakeVisible;
    }
    if releases {
        made |= Semantics::MakeAvailable;
    }
    made
}

/// `OpControlBarrier`: Vulkan has those of workgroups and subgroups. An invocation does not wait for itself.
pub fn control(l: &mut ShaderLowering<'_>, inst: InstRef<'_>) -> Result<(), SourceDiagnostic> {
    let (execution, memory, semantics) = (inst.id(0), inst.id(1), inst.id(2));
    match l.scope_of(execution)? {
        Scope::Workgroup | Scope::Subgroup => {}
        Scope::Invocation => return l.fence(memory, semantics),
        _ => return Err(crate::facts::refuse(inst, "a barrier beyond the workgroup")),
    }
    let semantics = l.semantics(semantics, memory, AllowedSemantics::Both)?;
    let (execution, memory) = (l.scope(execution)?, l.scope(memory)?);
    l.effect(Op::ControlBarrier, &[execution, memory, semantics]);
    Ok(())
}

/// `OpMemoryBarrier`.
pub fn memory(l: &mut ShaderLowering<'_>, inst: InstRef<'_>) -> Result<(), SourceDiagnostic> {
    l.fence(inst.id(0), inst.id(1))
}
