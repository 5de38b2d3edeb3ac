//! Shared virtual memory: allocations that kernels and the host address alike.

use crate::memory_store::add_overread;
use crate::scheduler::{DeviceScheduler, RetiredObject};
use spirula_runtime::{BufferHandle, HostMemory};
use std::collections::BTreeMap;
use std::ffi::c_void;
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The allocations of a context, by their addresses.
pub struct SvmTable {
    blocks: Mutex<BTreeMap<usize, SvmBlock>>,
    /// The devices of the context that check accesses, and therefore have to know the allocations.
    checking: Vec<Arc<DeviceScheduler>>,
}

/// An allocation, which owns its bytes.
pub struct SvmBlock {
    memory: Arc<Mutex<HostMemory>>,
    facts: SvmFacts,
    /// The buffers by which devices that check accesses know it.
    known: Vec<(Arc<DeviceScheduler>, BufferHandle)>,
}

impl Drop for SvmBlock {
    fn drop(&mut self) {
        for (scheduler, buffer) in self.known.drain(..) {
            let memory = Box::new(self.memory.clone());
            scheduler.retire_object(RetiredObject::Resource(buffer.into(), Some(memory)));
        }
    }
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
    /// A table without allocations, for a context of devices.
    pub fn new(schedulers: &[Arc<DeviceScheduler>]) -> SvmTable {
        let checking = schedulers.iter().filter(|s| s.is_checking());
        SvmTable {
            blocks: Mutex::default(),
            checking: checking.cloned().collect(),
        }
    }

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
        let mut memory = HostMemory::with_zeros(add_overread(size as u64))?;
        let address = memory.bytes_mut().as_mut_ptr() as usize;
        let facts = SvmFacts {
            address,
            size,
            usm_type,
            usm_flags,
            device,
        };
        let block = SvmBlock {
            known: self.announce(memory.bytes_mut(), size as u64),
            memory: Arc::new(Mutex::new(memory)),
            facts,
        };
        self.lock().insert(address, block);
        Some(address as *mut c_void)
    }

    /// Makes memory known to the devices that check accesses. Where that fails, they report accesses to it.
    fn announce(&self, memory: &mut [u8], size: u64) -> Vec<(Arc<DeviceScheduler>, BufferHandle)> {
        let address = NonNull::from(memory).cast();
        let known = self.checking.iter().filter_map(|scheduler| {
            // SAFETY: the memory outlives the buffer: it goes with it when that is retired.
            let buffer = unsafe { scheduler.lock_device().import_buffer(address, size) };
            Some((scheduler.clone(), buffer.ok()?))
        });
        known.collect()
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
