//! Host pool: memory of the host for the elements that devices exchange. Devices import it, and copy to and from it directly.
//!
//! Memory is kept and used again. To map memory, and to import it, takes longer than to copy elements. A lease has the memory for
//! itself until it becomes a block; the memory is free again when nobody has the block any more.

use crate::error::PluginResult;
use crate::host_array::missing_memory;
use spirula_exchange::frame::ByteBlock;
use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Unit of sizes and addresses. Devices import whole pages.
const PAGE: usize = 64 << 10;

/// Bytes of elements for which memory is worth keeping.
pub const LEAST_BYTES: usize = 128 << 10;

/// Most bytes of free memory that the pool keeps.
const MOST_FREE_BYTES: usize = 1 << 30;

/// Memory of the host. Only the holder of a lease accesses the bytes, and devices by its order.
pub struct HostPoolMemory {
    address: NonNull<u8>,
    layout: Layout,
    is_leased: AtomicBool,
    /// Whether the pool has given it up, so that devices end their imports.
    is_retired: AtomicBool,
}

// SAFETY: the value owns its bytes, and leases order the accesses to them.
unsafe impl Send for HostPoolMemory {}
// SAFETY: a shared reference gives the address alone.
unsafe impl Sync for HostPoolMemory {}

impl HostPoolMemory {
    fn new(length: usize) -> PluginResult<HostPoolMemory> {
        let missing = || missing_memory(length as u64);
        let size = length.max(1).checked_next_multiple_of(PAGE);
        let layout = size.and_then(|size| Layout::from_size_align(size, PAGE).ok());
        let layout = layout.ok_or_else(missing)?;
        // SAFETY: the size is not 0.
        let address = unsafe { alloc_zeroed(layout) };
        Ok(HostPoolMemory {
            address: NonNull::new(address).ok_or_else(missing)?,
            layout,
            is_leased: AtomicBool::new(true),
            is_retired: AtomicBool::new(false),
        })
    }

    /// Address of the first byte.
    pub fn address(&self) -> NonNull<u8> {
        self.address
    }

    /// Number of bytes.
    pub fn size(&self) -> usize {
        self.layout.size()
    }

    /// Whether devices have to end their imports.
    pub fn is_retired(&self) -> bool {
        self.is_retired.load(Ordering::Acquire)
    }

    /// Leases the memory if it is free and suits a given number of bytes.
    fn lease(&self, length: usize) -> bool {
        let is_fit = (length..=length.saturating_mul(2).max(PAGE)).contains(&self.size());
        is_fit && !self.is_leased.swap(true, Ordering::Acquire)
    }
}

impl Drop for HostPoolMemory {
    fn drop(&mut self) {
        // SAFETY: the memory is of this layout, and has no other user.
        unsafe { dealloc(self.address.as_ptr(), self.layout) }
    }
}

/// Memory that one holder may write.
pub struct HostLease {
    memory: Arc<HostPoolMemory>,
    length: usize,
}

impl HostLease {
    /// The memory.
    pub fn memory(&self) -> &Arc<HostPoolMemory> {
        &self.memory
    }

    /// The bytes.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: the memory has as many initialised bytes, and the only lease of it is borrowed.
        unsafe { std::slice::from_raw_parts_mut(self.memory.address.as_ptr(), self.length) }
    }

    /// The block of these bytes, which no one writes any more.
    pub fn into_block(self) -> ByteBlock {
        ByteBlock::from_owner(self)
    }
}

impl AsRef<[u8]> for HostLease {
    fn as_ref(&self) -> &[u8] {
        // SAFETY: the memory has as many initialised bytes, which are written by `bytes_mut` alone, or by a device on behalf of the
        // only owner of this lease.
        unsafe { std::slice::from_raw_parts(self.memory.address.as_ptr(), self.length) }
    }
}

impl Drop for HostLease {
    fn drop(&mut self) {
        self.memory.is_leased.store(false, Ordering::Release);
    }
}

/// The memory of a process for exchanges.
#[derive(Default)]
pub struct HostPool {
    memories: Mutex<Vec<Arc<HostPoolMemory>>>,
}

impl HostPool {
    /// Memory for a given number of bytes, with any content.
    ///
    /// # Errors
    /// When the host has none.
    pub fn lease(&self, length: usize) -> PluginResult<HostLease> {
        let mut memories = self.lock();
        let free = memories.iter().find(|memory| memory.lease(length));
        let memory = match free {
            Some(memory) => memory.clone(),
            None => {
                retire_free(&mut memories, length);
                let memory = Arc::new(HostPoolMemory::new(length)?);
                memories.push(memory.clone());
                memory
            }
        };
        Ok(HostLease { memory, length })
    }

    /// A block of these bytes.
    ///
    /// # Errors
    /// When the host has no memory.
    pub fn copy_bytes(&self, bytes: &[u8]) -> PluginResult<ByteBlock> {
        self.fill_block(bytes.len(), |block| {
            block.copy_from_slice(bytes);
            Ok(())
        })
    }

    /// A block of a given number of bytes, which a function fills.
    ///
    /// # Errors
    /// When the host has no memory, and those of the function.
    pub fn fill_block(
        &self,
        length: usize,
        fill: impl FnOnce(&mut [u8]) -> PluginResult<()>,
    ) -> PluginResult<ByteBlock> {
        if length < LEAST_BYTES {
            let mut bytes = vec![0; length];
            fill(&mut bytes)?;
            return Ok(bytes.into());
        }
        let mut lease = self.lease(length)?;
        fill(lease.bytes_mut())?;
        Ok(lease.into_block())
    }

    /// The memory that has these bytes, and their place in it.
    pub fn find_memory(&self, bytes: &[u8]) -> Option<(Arc<HostPoolMemory>, usize)> {
        let find = |memory: &Arc<HostPoolMemory>| {
            let place = find_place(bytes, memory.address.as_ptr(), memory.size())?;
            Some((memory.clone(), place))
        };
        self.lock().iter().find_map(find)
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Arc<HostPoolMemory>>> {
        self.memories.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The place of bytes in memory of a length; `None` if they are not within.
pub fn find_place(bytes: &[u8], start: *const u8, length: usize) -> Option<usize> {
    let place = (bytes.as_ptr() as usize).checked_sub(start as usize)?;
    let is_within = place.checked_add(bytes.len())? <= length;
    is_within.then_some(place)
}

/// Gives up the oldest free memory, so that the rest and that number of bytes is within the limit.
fn retire_free(memories: &mut Vec<Arc<HostPoolMemory>>, length: usize) {
    let is_free = |memory: &Arc<HostPoolMemory>| !memory.is_leased.load(Ordering::Relaxed);
    let free = memories.iter().filter(|memory| is_free(memory));
    let mut total: usize = free.map(|memory| memory.size()).sum();
    memories.retain(|memory| {
        let is_over = total > 0 && total.saturating_add(length) > MOST_FREE_BYTES;
        if !is_over || !is_free(memory) {
            return true;
        }
        total -= memory.size();
        memory.is_retired.store(true, Ordering::Release);
        false
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_used_again_once_it_is_free() {
        let pool = HostPool::default();
        let make = |number: u8| pool.copy_bytes(&vec![number; LEAST_BYTES]).unwrap();
        let first = make(1);
        let second = make(2);
        assert_ne!(first.as_ptr(), second.as_ptr());
        assert_eq!((first[0], second[0]), (1, 2));
        let part = first.slice(8..16);
        let place = first.as_ptr();
        drop(first);
        assert_ne!(make(3).as_ptr(), place, "a part is in use");
        assert_eq!(part[..], [1; 8]);
        drop(part);
        let fourth = make(4);
        assert_eq!(fourth.as_ptr(), place);
        assert_eq!((second[0], fourth[7]), (2, 4));
    }

    #[test]
    fn memory_of_bytes_is_found() {
        let pool = HostPool::default();
        let block = pool.copy_bytes(&vec![7; 3 * LEAST_BYTES]).unwrap();
        let (memory, place) = pool.find_memory(&block.slice(100..200)).unwrap();
        assert_eq!(place, 100);
        assert!(memory.size() >= block.len() && !memory.is_retired());
        assert!(pool.find_memory(&[0; 8]).is_none());
        let few = pool.copy_bytes(&[1, 2]).unwrap();
        assert!(pool.find_memory(&few).is_none());
    }

    #[test]
    fn little_free_memory_is_kept() {
        let pool = HostPool::default();
        let half = pool.lease(MOST_FREE_BYTES / 2).unwrap();
        let memory = half.memory().clone();
        drop(half);
        let held = pool.lease(MOST_FREE_BYTES / 8).unwrap();
        assert!(!memory.is_retired());
        drop(pool.lease(MOST_FREE_BYTES / 2 + PAGE).unwrap());
        assert!(memory.is_retired());
        assert!(!held.memory().is_retired());
    }
}
