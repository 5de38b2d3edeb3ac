//! Exchange memory of a device: its imports of the host pool, by which it copies elements to and from the host without the processor.
//!
//! A device that cannot import memory of the host copies through buffers of the driver.

use crate::error::PluginResult;
use crate::host_pool::{HostPool, HostPoolMemory, LEAST_BYTES, find_place};
use spirula_exchange::frame::ByteBlock;
use spirula_runtime::{BufferHandle, ComputeDevice, DeviceError};
use std::sync::Arc;

/// Imports and blocks of a device.
pub struct ExchangeMemory {
    pool: Arc<HostPool>,
    imports: Vec<HostPoolImport>,
    /// Blocks that copies to the device read, until the device is idle.
    read_blocks: Vec<ByteBlock>,
    /// Whether the device has not refused an import.
    can_import: bool,
}

/// Memory of the host as a buffer of the device.
struct HostPoolImport {
    buffer: BufferHandle,
    memory: Arc<HostPoolMemory>,
}

/// Elements that the device sent, and the buffer that still has them.
pub struct SentElements {
    /// The elements.
    pub block: ByteBlock,
    /// The buffer, which begins with the elements.
    pub source: Option<BufferHandle>,
}

impl ExchangeMemory {
    /// The memory of a device before its first exchange.
    pub fn new(pool: Arc<HostPool>) -> ExchangeMemory {
        ExchangeMemory {
            pool,
            imports: Vec::new(),
            read_blocks: Vec::new(),
            can_import: true,
        }
    }

    /// The pool, which all devices of the process share.
    pub fn pool(&self) -> &Arc<HostPool> {
        &self.pool
    }

    /// Drops the imports of a device that was lost.
    pub fn forget_device(&mut self) {
        self.imports.clear();
        self.read_blocks.clear();
    }

    /// Copies the first bytes of a buffer to the host; `None` if they are few, or if the device cannot import memory.
    ///
    /// # Errors
    /// When the device fails, or the host has no memory.
    pub fn download_block(
        &mut self,
        device: &mut ComputeDevice,
        source: BufferHandle,
        length: usize,
    ) -> PluginResult<Option<ByteBlock>> {
        if length < LEAST_BYTES || !self.can_import {
            return Ok(None);
        }
        let lease = self.pool.lease(length)?;
        let Some(target) = self.find_or_import(device, lease.memory())? else {
            return Ok(None);
        };
        device.copy_buffer(source, 0, target, 0, length as u64)?;
        self.wait_idle(device)?;
        Ok(Some(lease.into_block()))
    }

    /// Copies blocks to a buffer, one after the other. Parts of what the device sent itself are copied on the device.
    ///
    /// # Errors
    /// When the device fails.
    pub fn upload_blocks(
        &mut self,
        device: &mut ComputeDevice,
        parts: &[ByteBlock],
        sent: Option<&SentElements>,
        target: BufferHandle,
    ) -> PluginResult<()> {
        let mut offset = 0;
        for part in parts.iter().filter(|part| !part.is_empty()) {
            let size = part.len() as u64;
            if let Some((source, place)) = find_sent(part, sent) {
                device.copy_buffer(source, place, target, offset, size)?;
            } else if let Some((import, place)) = self.find_import(device, part)? {
                device.copy_buffer(import, place, target, offset, size)?;
                self.read_blocks.push(part.clone());
            } else {
                device.write_buffer(target, offset, part)?;
            }
            offset += size;
        }
        Ok(())
    }

    /// The import that has a block, and the block's place in it.
    fn find_import(
        &mut self,
        device: &mut ComputeDevice,
        part: &ByteBlock,
    ) -> PluginResult<Option<(BufferHandle, u64)>> {
        if part.len() < LEAST_BYTES || !self.can_import {
            return Ok(None);
        }
        let Some((memory, place)) = self.pool.find_memory(part) else {
            return Ok(None);
        };
        let import = self.find_or_import(device, &memory)?;
        Ok(import.map(|import| (import, place as u64)))
    }

    /// The buffer of some memory; `None` if the device cannot import it.
    fn find_or_import(
        &mut self,
        device: &mut ComputeDevice,
        memory: &Arc<HostPoolMemory>,
    ) -> PluginResult<Option<BufferHandle>> {
        let mut imports = self.imports.iter();
        if let Some(known) = imports.find(|known| Arc::ptr_eq(&known.memory, memory)) {
            return Ok(Some(known.buffer));
        }
        // SAFETY: the import keeps the memory. Leases order the accesses of this device, of others and of the processor: the device
        // writes for the owner of a lease, and reads while it has the block.
        let imported = unsafe { device.import_buffer(memory.address(), memory.size() as u64) };
        match imported {
            Ok(buffer) => {
                let memory = memory.clone();
                self.imports.push(HostPoolImport { buffer, memory });
                Ok(Some(buffer))
            }
            Err(DeviceError::Unsupported(_)) => {
                self.can_import = false;
                Ok(None)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Waits for the device, and ends what it needs no more.
    fn wait_idle(&mut self, device: &mut ComputeDevice) -> PluginResult<()> {
        device.wait_idle()?;
        self.read_blocks.clear();
        let is_retired = |import: &mut HostPoolImport| import.memory.is_retired();
        for import in self.imports.extract_if(.., is_retired) {
            device.destroy_buffer(import.buffer)?;
        }
        Ok(())
    }
}

/// The buffer of the device that has a part of what it sent, and the part's place in it.
fn find_sent(part: &ByteBlock, sent: Option<&SentElements>) -> Option<(BufferHandle, u64)> {
    let SentElements { block, source } = sent?;
    let place = find_place(part, block.as_ptr(), block.len())?;
    source.map(|source| (source, place as u64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use spirula_runtime::DeviceOptions;

    /// Two devices pass elements of one to the other by the pool, as often as its memory is used again.
    #[test]
    fn devices_copy_through_the_pool() {
        let pool = Arc::new(HostPool::default());
        let open = || ComputeDevice::open("cpu", &DeviceOptions::default()).unwrap();
        let [mut first, mut second] = [open(), open()];
        let mut memories = [0, 1].map(|_| ExchangeMemory::new(pool.clone()));
        for round in 0..4_u8 {
            let elements: Vec<u8> = (0..LEAST_BYTES).map(|at| at as u8 ^ round).collect();
            let source = first.upload_data(&elements).unwrap();
            let block = memories[0].download_block(&mut first, source, LEAST_BYTES);
            let block = block.unwrap().expect("the processor imports memory");
            assert!(block == elements);
            let few = ByteBlock::from(vec![round; 8]);
            let parts = [few.clone(), block.clone(), block.slice(16..32)];
            let length = LEAST_BYTES as u64 + 24;
            let target = second.create_buffer(length).unwrap();
            memories[1]
                .upload_blocks(&mut second, &parts, None, target)
                .unwrap();
            let own_target = first.create_buffer(length).unwrap();
            let source = Some(source);
            let sent = SentElements { block, source };
            memories[0]
                .upload_blocks(&mut first, &parts, Some(&sent), own_target)
                .unwrap();
            let found = second.download_buffer(target).unwrap();
            assert!(found == parts.concat());
            assert!(first.download_buffer(own_target).unwrap() == found);
        }
        assert!(memories.iter().all(|memory| memory.imports.len() <= 4));
        // The first device ends its reads at its next exchange, and keeps nothing of its own.
        assert_eq!(memories[0].read_blocks.len(), 0);
        assert_eq!(memories[1].read_blocks.len(), 4);
    }

    #[test]
    fn few_bytes_take_the_usual_way() {
        let mut device = ComputeDevice::open("cpu", &DeviceOptions::default()).unwrap();
        let source = device.upload_data(&[1_u8; 64]).unwrap();
        let mut memory = ExchangeMemory::new(Arc::default());
        let block = memory.download_block(&mut device, source, 64).unwrap();
        assert!(block.is_none());
    }
}
