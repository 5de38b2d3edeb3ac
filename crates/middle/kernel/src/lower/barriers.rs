//! Barriers and memory fences.

use super::context::KernelLowering;
use crate::ir::{KernelSyncScope, SyncKind};
use spirula_spirv::grammar::Op;

/// Acquire and release, for workgroup memory.
const SHARED_SEMANTICS: u32 = 0x108;

/// Acquire and release, for storage buffers and workgroup memory.
const DEVICE_SEMANTICS: u32 = 0x148;

/// Make available and make visible, which Vulkan's memory model requires.
const MADE_VISIBLE: u32 = 0x6000;

/// The scope of the device.
const DEVICE: u32 = 1;

/// The scope of a workgroup.
const WORKGROUP: u32 = 2;

/// The widest scope that every device with Vulkan's memory model has.
const QUEUE_FAMILY: u32 = 5;

impl KernelLowering<'_> {
    pub(super) fn lower_sync(&mut self, kind: SyncKind, scope: KernelSyncScope) {
        match kind {
            SyncKind::Fence => self.emit_fence(scope == KernelSyncScope::Shared),
            SyncKind::Barrier => self.emit_barrier(scope),
            SyncKind::Error => {
                self.emit_barrier(scope);
                self.leave_if_failed();
                self.pending = false;
            }
        }
    }

    /// Emits a barrier of the workgroup. It makes earlier accesses visible to the workgroup alone; only fences have
    /// a wider scope.
    pub(super) fn emit_barrier(&mut self, scope: KernelSyncScope) {
        let semantics = self.memory_semantics(scope);
        let operands = [WORKGROUP, WORKGROUP, semantics].map(|word| self.const_u32(word));
        self.emit_effect(Op::ControlBarrier, &operands);
    }

    /// The memory semantics that make earlier accesses visible.
    fn memory_semantics(&self, scope: KernelSyncScope) -> u32 {
        let memory = match scope {
            KernelSyncScope::Shared => SHARED_SEMANTICS,
            KernelSyncScope::Device => DEVICE_SEMANTICS,
        };
        if self.memory_use.has_fragments {
            memory | MADE_VISIBLE
        } else {
            memory
        }
    }

    pub(super) fn emit_fence(&mut self, is_shared: bool) {
        let (reach, scope) = match (is_shared, self.memory_use.has_fragments) {
            (true, _) => (WORKGROUP, KernelSyncScope::Shared),
            (false, true) => (QUEUE_FAMILY, KernelSyncScope::Device),
            (false, false) => (DEVICE, KernelSyncScope::Device),
        };
        let semantics = self.memory_semantics(scope);
        let operands = [reach, semantics].map(|word| self.const_u32(word));
        self.emit_effect(Op::MemoryBarrier, &operands);
    }
}
