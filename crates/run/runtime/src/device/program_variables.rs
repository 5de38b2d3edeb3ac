//! Program variables: buffers with the variables at program scope of modules whose kernels became shaders.
//!
//! Each module of a device has one buffer in each scope, since all its kernels share the variables. Values persist from launch to launch.

use crate::BufferHandle;
use spirula_spirv::reflect::ProgramMemory;

/// The buffers of modules, by the number that identifies their variables.
#[derive(Default)]
pub struct ProgramVariableBuffers {
    made: Vec<(u64, BufferHandle)>,
}

impl ProgramVariableBuffers {
    /// The buffer of a module, if it has one already.
    pub fn get(&self, key: u64) -> Option<BufferHandle> {
        let found = self.made.iter().find(|(known, _)| *known == key);
        found.map(|(_, buffer)| *buffer)
    }

    /// Notes the buffer of a module.
    pub fn insert_buffer(&mut self, key: u64, buffer: BufferHandle) {
        self.made.push((key, buffer));
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
