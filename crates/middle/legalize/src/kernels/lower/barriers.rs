//! Barriers, memory semantics and scopes.
//!
//! The Vulkan memory model has no sequential consistency. An order makes memory available and visible only where the instruction says
//! so; OpenCL's acquire and release mean both. Semantics at the scope of one invocation order nothing: Vulkan demands that they are
//! relaxed (VUID-StandaloneSpirv-None-04641), and that a memory barrier orders something
//! (VUID-StandaloneSpirv-OpMemoryBarrier-04732).

use super::ShaderLowering;
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::{MemorySemantics as Semantics, Scope};
use spirula_spirv::ir::InstRef;

/// The accesses that an operation on memory may order.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum AllowedSemantics {
    /// Accesses before and after.
    Both,
    /// Accesses after: loads.
    Acquire,
    /// Accesses before: stores.
    Release,
}

impl ShaderLowering<'_> {
    /// A scope of the source as a constant.
    pub fn lower_scope(&mut self, source: Id) -> Result<Id, SourceDiagnostic> {
        let scope = self.scope_of(source)?;
        Ok(self.b.constant_u32(scope.0))
    }

    fn scope_of(&self, source: Id) -> Result<Scope, SourceDiagnostic> {
        let scope = self.info.read_constant(source);
        let scope =
            scope.ok_or_else(|| self.info.diagnose_id(source, "a scope that is no constant"))?;
        Ok(match Scope(scope as u32) {
            // The scope of the queue family suffices, and needs no feature.
            Scope::CrossDevice | Scope::Device => Scope::QueueFamily,
            scope => scope,
        })
    }

    /// Semantics of the source, restricted to those that an operation of a scope may have.
    pub fn lower_semantics(
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
        let value = self.info.read_constant(source);
        let value = value.ok_or_else(|| {
            self.info
                .diagnose_id(source, "memory semantics that are no constant")
        })?;
        Ok(match self.scope_of(scope)? {
            Scope::Invocation => Semantics::None,
            _ => restrict_semantics(Semantics(value as u32), order),
        })
    }

    /// Emits a memory barrier for a scope, where that orders anything.
    fn emit_fence(&mut self, scope: Id, semantics: Id) -> Result<(), SourceDiagnostic> {
        let order = self.semantics_of(semantics, scope, AllowedSemantics::Both)?;
        if order != Semantics::None {
            let (scope, order) = (self.lower_scope(scope)?, self.b.constant_u32(order.0));
            self.emit_effect(Op::MemoryBarrier, &[scope, order]);
        }
        Ok(())
    }
}

fn restrict_semantics(source: Semantics, order: AllowedSemantics) -> Semantics {
    let is = |flag: Semantics| source.0 & flag.0 != 0;
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

/// `OpControlBarrier`: Vulkan has those of workgroups and subgroups. At the scope of one invocation it is nothing.
pub fn lower_control_barrier(
    l: &mut ShaderLowering<'_>,
    inst: InstRef<'_>,
) -> Result<(), SourceDiagnostic> {
    let (execution, memory, semantics) =
        (inst.id_operand(0), inst.id_operand(1), inst.id_operand(2));
    match l.scope_of(execution)? {
        Scope::Workgroup | Scope::Subgroup => {}
        Scope::Invocation => return l.emit_fence(memory, semantics),
        _ => {
            return Err(crate::error::diagnose_instruction(
                inst,
                "a barrier beyond the workgroup",
            ));
        }
    }
    let semantics = l.lower_semantics(semantics, memory, AllowedSemantics::Both)?;
    let (execution, memory) = (l.lower_scope(execution)?, l.lower_scope(memory)?);
    l.emit_effect(Op::ControlBarrier, &[execution, memory, semantics]);
    Ok(())
}

/// `OpMemoryBarrier`.
pub fn lower_memory_barrier(
    l: &mut ShaderLowering<'_>,
    inst: InstRef<'_>,
) -> Result<(), SourceDiagnostic> {
    l.emit_fence(inst.id_operand(0), inst.id_operand(1))
}
