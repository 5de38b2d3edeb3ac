//! Memory stores: the bytes of memory objects, on the host and on the devices of a context.
//!
//! A store has a block on the host and a resource on each device that uses it, all made when they are first needed. Some of
//! them are valid. The processor uses the block of the host itself. Where the host accesses the memory of the only other device
//! as fast as its own, that memory is the block.

use crate::error::{CallError, CallResult};
use crate::region::copy_row;
use crate::scheduler::{DeviceScheduler, RetiredObject};
use spirula_runtime::{BufferHandle, HostMemory, ImageShape, ResourceHandle, SamplerState};
use std::ops::Range;
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Bytes of memory for a number of bytes, with room that kernels may access after them.
///
/// Programs load whole vectors at the end of a buffer, and round its elements up to a whole workgroup. Other devices
/// allow it, as memory comes in pages there. The room is that of 1024 invocations with 16 bytes each, or as large as
/// the buffer, but at least a page.
pub fn add_overread(bytes: u64) -> u64 {
    bytes.saturating_add(bytes.clamp(4096, 16 << 10))
}

/// The kind of resource that a store becomes on a device.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum StoreContent {
    /// A buffer.
    Buffer,
    /// An image, whose texels follow each other.
    Image(ImageShape),
    /// A pipe, whose memory describes it. All devices have to be processors.
    Pipe,
}

/// How a command uses a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreAccess {
    /// It reads.
    Read,
    /// It reads and writes.
    ReadWrite,
    /// It writes everything.
    Overwrite,
}

/// The bytes of a memory object.
pub struct MemoryStore {
    size: u64,
    content: StoreContent,
    /// The device whose memory may be the block on the host.
    home: Option<Arc<DeviceScheduler>>,
    state: Mutex<StoreState>,
}

struct StoreState {
    block: HostBlock,
    is_host_valid: bool,
    residences: Vec<StoreResidence>,
}

/// The block on the host.
enum HostBlock {
    Missing,
    Owned(HostMemory),
    /// Memory of the caller.
    Borrowed(NonNull<u8>),
    /// Memory of another store, from an offset on.
    Part(Arc<MemoryStore>, u64),
    /// Memory of the device that is the store's home.
    Mapped(NonNull<u8>),
}

// SAFETY: the memory is used under the lock of the store, or as the caller of OpenCL orders it.
unsafe impl Send for HostBlock {}

/// A store on a device.
struct StoreResidence {
    scheduler: Arc<DeviceScheduler>,
    resource: ResourceHandle,
    /// Not used for the processor, whose resource is the block of the host.
    is_valid: bool,
    /// Whether the resource is the block of the host.
    is_mapped: bool,
}

impl MemoryStore {
    /// A store of undefined content, in memory of the caller if that is given. `home` is the only device that uses it.
    pub fn new(
        size: u64,
        content: StoreContent,
        borrowed: Option<NonNull<u8>>,
        home: Option<&Arc<DeviceScheduler>>,
    ) -> MemoryStore {
        MemoryStore {
            size,
            content,
            home: home.filter(|device| !device.is_host()).cloned(),
            state: Mutex::new(StoreState {
                block: borrowed.map_or(HostBlock::Missing, HostBlock::Borrowed),
                is_host_valid: borrowed.is_some(),
                residences: Vec::new(),
            }),
        }
    }

    /// A store in the memory of another one, for images over buffers. All devices have to be processors.
    pub fn over_buffer(
        size: u64,
        content: StoreContent,
        buffer: &Arc<MemoryStore>,
        offset: u64,
    ) -> MemoryStore {
        MemoryStore {
            size,
            content,
            home: None,
            state: Mutex::new(StoreState {
                block: HostBlock::Part(buffer.clone(), offset),
                is_host_valid: true,
                residences: Vec::new(),
            }),
        }
    }

    /// Number of bytes.
    pub fn size(&self) -> u64 {
        self.size
    }

    fn lock(&self) -> MutexGuard<'_, StoreState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The address of the block on the host, whose content may not be valid.
    ///
    /// # Errors
    /// When there is no memory for it.
    pub fn host_address(&self) -> CallResult<NonNull<u8>> {
        self.block_address(&mut self.lock())
    }

    fn block_address(&self, state: &mut StoreState) -> CallResult<NonNull<u8>> {
        if let HostBlock::Missing = state.block {
            if let Some(address) = self.map_home(state)? {
                return Ok(address);
            }
            let memory = HostMemory::with_zeros(add_overread(self.size));
            state.block = HostBlock::Owned(memory.ok_or_else(CallError::out_of_memory)?);
        }
        match &mut state.block {
            HostBlock::Owned(memory) => {
                let first = NonNull::new(memory.bytes_mut().as_mut_ptr());
                first.ok_or_else(CallError::out_of_memory)
            }
            HostBlock::Borrowed(pointer) => Ok(*pointer),
            HostBlock::Mapped(address) => Ok(*address),
            HostBlock::Part(store, offset) => {
                let first = store.host_address()?;
                // SAFETY: the offset is within the other store, as its creator has checked.
                Ok(unsafe { first.add(*offset as usize) })
            }
            HostBlock::Missing => Err(CallError::out_of_memory()),
        }
    }

    /// Makes the memory of the home the block on the host, if the host accesses that memory as fast as its own.
    fn map_home(&self, state: &mut StoreState) -> CallResult<Option<NonNull<u8>>> {
        let Some(home) = self
            .home
            .as_ref()
            .filter(|_| self.content == StoreContent::Buffer)
        else {
            return Ok(None);
        };
        let own = self.find_residence(state, home)?;
        let residence = &mut state.residences[own];
        let address = home.lock_device().host_address(residence.resource)?;
        if let Some(address) = address {
            residence.is_mapped = true;
            state.block = HostBlock::Mapped(address);
        }
        Ok(address)
    }

    /// The bytes of the block on the host.
    ///
    /// # Safety
    /// Nobody else uses the bytes meanwhile.
    unsafe fn block_bytes<'a>(&self, state: &mut StoreState) -> CallResult<&'a mut [u8]> {
        let first = self.block_address(state)?;
        Ok(std::slice::from_raw_parts_mut(
            first.as_ptr(),
            self.size as usize,
        ))
    }

    /// Sets the content before the store is used.
    ///
    /// # Errors
    /// When there is no memory for it.
    ///
    /// # Safety
    /// `from` has as many bytes as the store.
    pub unsafe fn set_content(&self, from: *const u8) -> CallResult<()> {
        let mut state = self.lock();
        let to = self.block_address(&mut state)?;
        std::ptr::copy_nonoverlapping(from, to.as_ptr(), self.size as usize);
        state.is_host_valid = true;
        Ok(())
    }

    /// Makes the block on the host valid and free for the caller, who gets its address.
    ///
    /// # Errors
    /// When there is no memory for it, or a device fails.
    pub fn fetch_to_host(&self) -> CallResult<NonNull<u8>> {
        let mut state = self.lock();
        let address = self.block_address(&mut state)?;
        self.fetch_locked(&mut state)?;
        self.await_mapped_use(&state)?;
        Ok(address)
    }

    /// Makes the block on the host free for the caller, who replaces all its bytes.
    ///
    /// # Errors
    /// When there is no memory for it, or a device fails.
    pub fn discard_to_host(&self) -> CallResult<()> {
        let mut state = self.lock();
        self.block_address(&mut state)?;
        self.await_mapped_use(&state)?;
        state.is_host_valid = true;
        state.residences.iter_mut().for_each(|r| r.is_valid = false);
        Ok(())
    }

    /// Waits until the device whose memory is the block does not use it.
    fn await_mapped_use(&self, state: &StoreState) -> CallResult<()> {
        let mut mapped = state.residences.iter();
        if let Some(mapped) = mapped.find(|residence| residence.is_mapped) {
            mapped.scheduler.lock_device().wait_idle()?;
        }
        Ok(())
    }

    fn fetch_locked(&self, state: &mut StoreState) -> CallResult<()> {
        if state.is_host_valid {
            return Ok(());
        }
        // SAFETY: commands that use the bytes are ordered.
        let bytes = unsafe { self.block_bytes(state)? };
        if let Some(valid) = state.residences.iter().find(|r| r.is_valid) {
            let mut device = valid.scheduler.lock_device();
            if valid.is_mapped {
                device.wait_idle()?
            } else {
                device.read_resource(valid.resource, 0, bytes)?
            }
        }
        state.is_host_valid = true;
        Ok(())
    }

    /// The resource on a device, valid unless it is overwritten. If it is written, it alone stays valid.
    ///
    /// # Errors
    /// When there is no memory for it, or a device fails.
    pub fn acquire(
        &self,
        scheduler: &Arc<DeviceScheduler>,
        access: StoreAccess,
    ) -> CallResult<ResourceHandle> {
        let mut state = self.lock();
        let is_host = scheduler.is_host();
        if is_host && access != StoreAccess::Overwrite {
            self.fetch_locked(&mut state)?;
        }
        let own = self.find_residence(&mut state, scheduler)?;
        let resource = state.residences[own].resource;
        let is_copy = !is_host && !state.residences[own].is_mapped;
        let is_stale = is_copy && !state.residences[own].is_valid;
        if is_stale && access != StoreAccess::Overwrite {
            let has_content = state.is_host_valid || state.residences.iter().any(|r| r.is_valid);
            if has_content {
                self.fetch_locked(&mut state)?;
                // SAFETY: commands that use the bytes are ordered.
                let bytes = unsafe { self.block_bytes(&mut state)? };
                scheduler.lock_device().write_resource(resource, 0, bytes)?;
            }
        }
        state.residences[own].is_valid = true;
        if access != StoreAccess::Read {
            state.is_host_valid = is_host;
            for (number, other) in state.residences.iter_mut().enumerate() {
                other.is_valid = number == own;
            }
        }
        Ok(resource)
    }

    /// The position of the residence on a device, which is made if there is none.
    fn find_residence(
        &self,
        state: &mut StoreState,
        scheduler: &Arc<DeviceScheduler>,
    ) -> CallResult<usize> {
        let known = state.residences.iter();
        let mut known = known.map(|residence| residence.scheduler.number());
        if let Some(own) = known.position(|number| number == scheduler.number()) {
            return Ok(own);
        }
        let block = if scheduler.is_host() {
            Some(self.block_address(state)?)
        } else {
            None
        };
        let resource = self.create_resource(scheduler, block)?;
        state.residences.push(StoreResidence {
            scheduler: scheduler.clone(),
            resource,
            is_valid: false,
            is_mapped: false,
        });
        Ok(state.residences.len() - 1)
    }

    fn create_resource(
        &self,
        scheduler: &DeviceScheduler,
        block: Option<NonNull<u8>>,
    ) -> CallResult<ResourceHandle> {
        let mut device = scheduler.lock_device();
        let sampler = SamplerState::default();
        Ok(match (self.content, block) {
            // SAFETY: the block outlives the resource: it goes with it when that is retired, or belongs to the caller.
            (StoreContent::Buffer, Some(block)) => unsafe {
                device.import_buffer(block, self.size)?.into()
            },
            // SAFETY: as above.
            (StoreContent::Image(shape), Some(block)) => unsafe {
                device.import_image(&shape, &sampler, block)?.into()
            },
            // SAFETY: as above.
            (StoreContent::Pipe, Some(block)) => unsafe {
                device.import_pipe(block, self.size)?.into()
            },
            (StoreContent::Pipe, None) => {
                return Err(CallError::invalid_operation("the device has no pipes"));
            }
            (StoreContent::Buffer, None) => device.create_buffer(self.size)?.into(),
            (StoreContent::Image(shape), None) => device.create_image(&shape, &sampler)?.into(),
        })
    }

    /// The buffer on a device that is not the processor, where it is to be read or written by the device itself. `None`
    /// on the processor, and for images.
    ///
    /// # Errors
    /// When there is no memory for it, or a device fails.
    pub fn acquire_buffer(
        &self,
        scheduler: &Arc<DeviceScheduler>,
        range: &Range<u64>,
        access: StoreAccess,
    ) -> CallResult<Option<BufferHandle>> {
        if scheduler.is_host() || self.content != StoreContent::Buffer {
            return Ok(None);
        }
        let resource = self.acquire(scheduler, self.widen_access(range, access))?;
        Ok(match resource {
            ResourceHandle::Buffer(buffer) => Some(buffer),
            _ => None,
        })
    }

    /// The access to the whole store by one to a part of it.
    fn widen_access(&self, range: &Range<u64>, access: StoreAccess) -> StoreAccess {
        match access {
            StoreAccess::Overwrite if *range != (0..self.size) => StoreAccess::ReadWrite,
            access => access,
        }
    }

    /// Copies bytes to the caller, as a command of a device.
    ///
    /// # Errors
    /// When a device fails.
    pub fn read_bytes(
        &self,
        scheduler: &Arc<DeviceScheduler>,
        range: Range<u64>,
        out: &mut [u8],
    ) -> CallResult<()> {
        if scheduler.is_host() || self.lock().is_host_valid {
            let copy = |bytes: &mut [u8]| copy_row(out, bytes);
            return self.edit_bytes(scheduler, range, StoreAccess::Read, copy);
        }
        let resource = self.acquire(scheduler, StoreAccess::Read)?;
        let mut device = scheduler.lock_device();
        Ok(device.read_resource(resource, range.start, out)?)
    }

    /// Copies bytes of the caller, as a command of a device.
    ///
    /// # Errors
    /// When a device fails.
    pub fn write_bytes(
        &self,
        scheduler: &Arc<DeviceScheduler>,
        range: Range<u64>,
        data: &[u8],
    ) -> CallResult<()> {
        let access = StoreAccess::Overwrite;
        if scheduler.is_host() {
            return self.edit_bytes(scheduler, range, access, |bytes| copy_row(bytes, data));
        }
        let resource = self.acquire(scheduler, self.widen_access(&range, access))?;
        let mut device = scheduler.lock_device();
        Ok(device.write_resource(resource, range.start, data)?)
    }

    /// Reads or changes bytes, as a command of a device.
    ///
    /// # Errors
    /// When there is no memory for a copy, or a device fails.
    pub fn edit_bytes(
        &self,
        scheduler: &Arc<DeviceScheduler>,
        range: Range<u64>,
        access: StoreAccess,
        edit: impl FnOnce(&mut [u8]),
    ) -> CallResult<()> {
        let (start, end) = (range.start as usize, range.end as usize);
        let mut state = self.lock();
        let is_read_there = access == StoreAccess::Read && state.is_host_valid;
        if scheduler.is_host() || is_read_there {
            self.fetch_locked(&mut state)?;
            // SAFETY: commands that use the bytes are ordered.
            let bytes = unsafe { self.block_bytes(&mut state)? };
            edit(&mut bytes[start..end]);
            if access != StoreAccess::Read {
                state.residences.iter_mut().for_each(|r| r.is_valid = false);
            }
            return Ok(());
        }
        drop(state);
        let resource = self.acquire(scheduler, self.widen_access(&range, access))?;
        let mut copy = Vec::new();
        let reserved = copy.try_reserve_exact(end - start);
        reserved.map_err(|_| CallError::out_of_memory())?;
        copy.resize(end - start, 0);
        let mut device = scheduler.lock_device();
        if access != StoreAccess::Overwrite {
            device.read_resource(resource, range.start, &mut copy)?;
        }
        edit(&mut copy);
        if access != StoreAccess::Read {
            device.write_resource(resource, range.start, &copy)?;
        }
        Ok(())
    }

    /// Copies bytes that the caller changed on the host to the devices where the others are valid.
    ///
    /// # Errors
    /// When a device fails.
    pub fn publish_from_host(&self, range: Range<u64>) -> CallResult<()> {
        let mut state = self.lock();
        // SAFETY: commands that use the bytes are ordered.
        let bytes = unsafe { self.block_bytes(&mut state)? };
        let changed = &bytes[range.start as usize..range.end as usize];
        for residence in &mut state.residences {
            let is_copy = !residence.is_mapped && !residence.scheduler.is_host();
            if residence.is_valid && is_copy {
                let mut device = residence.scheduler.lock_device();
                device.write_resource(residence.resource, range.start, changed)?;
            }
        }
        state.is_host_valid = true;
        Ok(())
    }
}

impl Drop for MemoryStore {
    fn drop(&mut self) {
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        let mut memory = match std::mem::replace(&mut state.block, HostBlock::Missing) {
            HostBlock::Owned(memory) => Some(memory),
            _ => None,
        };
        for residence in state.residences.drain(..) {
            let memory = if residence.scheduler.is_host() {
                memory.take()
            } else {
                None
            };
            let memory = memory.map(|memory| Box::new(memory) as Box<dyn Send>);
            let retired = RetiredObject::Resource(residence.resource, memory);
            residence.scheduler.retire_object(retired);
        }
    }
}
