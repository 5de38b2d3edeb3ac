//! Shared virtual memory: allocations that kernels and the host address alike.

use crate::memory_store::OVERREAD;
use spirula_runtime::HostMemory;
use std::collections::BTreeMap;
use std::ffi::c_void;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The allocations of a context, by their addresses.
#[derive(Default)]
pub struct SvmTable {
    blocks: Mutex<BTreeMap<usize, SvmBlock>>,
}

/// An allocation, which owns its bytes.
pub struct SvmBlock {
    _memory: HostMemory,
    facts: SvmFacts,
}

/// Facts of an allocation.
#[derive(Clone, Copy, Debug)]
pub struct SvmFacts {
    /// First address.
    pub address: usize,
    /// Bytes.
    pub size: usize,
    /// The kind of allocation of `cl_intel_unified_shared_memory`; 0 for OpenCL's own.
    pub usm_type: u32,
    /// The flags of `cl_intel_unified_shared_memory`.
    pub usm_flags: u64,
    /// The handle of the device that it was allocated for, or 0.
    pub device: usize,
}

impl SvmTable {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<usize, SvmBlock>> {
        self.blocks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Allocates zeros, aligned to at least 128 bytes. `None` where the memory does not suffice.
    pub fn allocate(
        &self,
        size: usize,
        usm_type: u32,
        usm_flags: u64,
        device: usize,
    ) -> Option<*mut c_void> {
        let mut memory = HostMemory::with_zeros((size as u64).saturating_add(OVERREAD))?;
        let address = memory.bytes_mut().as_mut_ptr() as usize;
        let facts = SvmFacts {
            address,
            size,
            usm_type,
            usm_flags,
            device,
        };
        self.lock().insert(
            address,
            SvmBlock {
                _memory: memory,
                facts,
            },
        );
        Some(address as *mut c_void)
    }

    /// Takes an allocation out of the table. Its memory is freed when the result is dropped.
    pub fn remove(&self, address: *mut c_void) -> Option<SvmBlock> {
        self.lock().remove(&(address as usize))
    }

    /// The allocation that an address is in.
    pub fn find(&self, address: *const c_void) -> Option<SvmFacts> {
        let address = address as usize;
        let blocks = self.lock();
        let facts = blocks.range(..=address).next_back()?.1.facts;
        (address < facts.address + facts.size.max(1)).then_some(facts)
    }
}
