//! Buffers with the variables at program scope of modules whose kernels became shaders.
//!
//! One for each module of a device, as all its kernels share the variables; what a launch leaves in them
//! the next one finds.

use crate::DeviceBuffer;
use spirula_spirv::ir::SpirvModule;
use spirula_spirv::reflect::ProgramMemory;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Modules are told apart by their words.
#[derive(Default)]
pub struct ProgramVariableBuffers {
    made: Vec<(u64, DeviceBuffer)>,
}

/// What a module is known by.
pub fn hash_module(module: &SpirvModule) -> u64 {
    let mut hasher = DefaultHasher::new();
    module.to_bytes().hash(&mut hasher);
    hasher.finish()
}

impl ProgramVariableBuffers {
    /// The buffer of a module, if it has one already.
    pub fn get(&self, key: u64) -> Option<DeviceBuffer> {
        let found = self.made.iter().find(|(known, _)| *known == key);
        found.map(|(_, buffer)| *buffer)
    }

    /// Notes the buffer of a module.
    pub fn insert_buffer(&mut self, key: u64, buffer: DeviceBuffer) {
        self.made.push((key, buffer));
    }
}

/// What the buffer has at first, where it is at an address.
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
