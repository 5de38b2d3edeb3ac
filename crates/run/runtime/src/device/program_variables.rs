//! Program variables: buffers with the variables at program scope of modules whose kernels became shaders.
//!
//! Each module of a device has one buffer in each scope, since all its kernels share the variables. Values persist from launch to launch.

use crate::{BufferHandle, KernelModuleScope};
use spirula_spirv::reflect::ProgramMemory;

/// The buffers of modules, by the number that identifies their variables.
#[derive(Default)]
pub struct ProgramVariableBuffers {
    made: Vec<ModuleVariableBuffer>,
}

struct ModuleVariableBuffer {
    scope: KernelModuleScope,
    key: u64,
    buffer: BufferHandle,
}

impl ProgramVariableBuffers {
    /// The buffer of a module, if it has one already.
    pub fn get(&self, key: u64) -> Option<BufferHandle> {
        let found = self.made.iter().find(|made| made.key == key);
        found.map(|made| made.buffer)
    }

    /// Notes the buffer of a module in a scope.
    pub fn insert_buffer(&mut self, scope: KernelModuleScope, key: u64, buffer: BufferHandle) {
        self.made.push(ModuleVariableBuffer { scope, key, buffer });
    }

    /// Forgets the buffers of a scope, which are returned.
    pub fn remove_scope(&mut self, scope: KernelModuleScope) -> Vec<BufferHandle> {
        let removed = self.made.extract_if(.., |made| made.scope == scope);
        removed.map(|made| made.buffer).collect()
    }
}

/// The initial contents of the buffer at an address.
pub fn build_contents(memory: &ProgramMemory, address: u64) -> Vec<u8> {
    let mut bytes = memory.bytes.clone();
    for (to, at) in &memory.pointers {
        let at = *at as usize;
        if let Some(room) = bytes.get_mut(at..at.saturating_add(8)) {
            room.copy_from_slice(&(address + u64::from(*to)).to_le_bytes());
        }
    }
    bytes
}
