//! Barriers, memory semantics and scopes.
//!
//! The Vulkan memory model has no sequential consistency, and an order makes memory available and
//! visible only where it is told to; both are what OpenCL's acquire and release mean.

use super::Lower;
use spirula_source::Diagnostic;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::{MemorySemantics as Semantics, Scope};
use spirula_spirv::ir::InstRef;

type Done = Result<(), Diagnostic>;

/// What an operation on memory may order.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// What comes before and after.
    Both,
    /// What comes after: loads.
    Acquire,
    /// What comes before: stores.
    Release,
}

impl Lower<'_> {
    /// A scope of the source as a constant.
    pub fn scope(&mut self, source: Id) -> Result<Id, Diagnostic> {
        let scope = self.facts.constant(source);
        let scope =
            scope.ok_or_else(|| self.facts.refuse(source, "a scope that is no constant"))?;
        let scope = match Scope(scope as u32) {
            // One queue sees all that a kernel does, and needs no feature of its own.
            Scope::CrossDevice | Scope::Device => Scope::QueueFamily,
            scope => scope,
        };
        Ok(self.b.constant_u32(scope.0))
    }

    /// Semantics of the source as those that an operation may have.
    pub fn semantics(&mut self, source: Id, order: Order) -> Result<Id, Diagnostic> {
        let value = self.facts.constant(source);
        let value = value.ok_or_else(|| {
            self.facts
                .refuse(source, "memory semantics that are no constant")
        })?;
        let value = semantics(Semantics(value as u32), order);
        Ok(self.b.constant_u32(value.0))
    }
}

fn semantics(source: Semantics, order: Order) -> Semantics {
    let is = |what: Semantics| source.0 & what.0 != 0;
    let consistent = is(Semantics::AcquireRelease) || is(Semantics::SequentiallyConsistent);
    let acquires = (consistent || is(Semantics::Acquire)) && order != Order::Release;
    let releases = (consistent || is(Semantics::Release)) && order != Order::Acquire;
    let mut made = match (acquires, releases) {
        (true, true) => Semantics::AcquireRelease,
        (true, false) => Semantics::Acquire,
        (false, true) => Semantics::Release,
        (false, false) => return Semantics::None,
    };
    let everywhere = !is(Semantics::WorkgroupMemory) && !is(Semantics::CrossWorkgroupMemory);
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

/// `OpControlBarrier`.
pub fn control(l: &mut Lower<'_>, inst: InstRef<'_>) -> Done {
    let execution = l.scope(inst.id(0))?;
    // The memory of a barrier of the workgroup is ordered for the workgroup.
    let memory = l.scope(inst.id(1))?;
    let semantics = l.semantics(inst.id(2), Order::Both)?;
    l.effect(Op::ControlBarrier, &[execution, memory, semantics]);
    Ok(())
}

/// `OpMemoryBarrier`.
pub fn memory(l: &mut Lower<'_>, inst: InstRef<'_>) -> Done {
    let scope = l.scope(inst.id(0))?;
    let semantics = l.semantics(inst.id(1), Order::Both)?;
    l.effect(Op::MemoryBarrier, &[scope, semantics]);
    Ok(())
}
