//! Copies between the host and buffers.
//!
//! Memory that the host sees is copied in place, once the device is done with that buffer. Other memory goes
//! through buffers that both see: little that is written goes with the work that is recorded, without
//! waiting; what is more goes in pieces.

use super::batch::CommandBatch;
use super::command::BatchCommand;
use super::memory::{VulkanBuffer, VulkanMemory, padded};
use super::queue::VulkanQueue;
use super::waves::{BufferAccess, CommandAccesses, CommandKind};
use crate::DeviceError;
use ash::vk;
use gpu_allocator::MemoryLocation;
use smallvec::smallvec;
use std::sync::Arc;

/// Bytes that are copied at a time.
const PIECE: usize = 16 << 20;

/// Bytes that are written without waiting for the device.
const LITTLE: usize = 16 << 10;

/// The buffers that copies go through, made when they are first needed.
pub struct StagingBuffers {
    memory: Arc<VulkanMemory>,
    up: Option<Arc<VulkanBuffer>>,
    down: Option<Arc<VulkanBuffer>>,
}

impl StagingBuffers {
    /// Copies for buffers of this memory.
    pub fn new(memory: &Arc<VulkanMemory>) -> StagingBuffers {
        StagingBuffers {
            memory: Arc::clone(memory),
            up: None,
            down: None,
        }
    }

    /// Makes a buffer zeros, before all that is recorded after.
    pub fn clear(
        &self,
        queue: &mut VulkanQueue,
        buffer: &Arc<VulkanBuffer>,
    ) -> Result<(), DeviceError> {
        clear(&self.memory, queue, buffer)
    }

    /// Copies into a buffer, after all that was recorded and uses it.
    pub fn write(
        &mut self,
        queue: &mut VulkanQueue,
        buffer: &Arc<VulkanBuffer>,
        offset: u64,
        data: &[u8],
    ) -> Result<(), DeviceError> {
        let is_seen = self.memory.direct && buffer.is_writable();
        if is_seen && queue.is_done(buffer.writable_at()) {
            return buffer.write(offset, data);
        }
        if data.len() <= LITTLE {
            return self.send(queue, buffer, offset, data);
        }
        if is_seen {
            wait(queue, buffer.writable_at())?;
            return buffer.write(offset, data);
        }
        let up = piece(&self.memory, &mut self.up, MemoryLocation::CpuToGpu)?;
        let mut at = offset;
        for data in data.chunks(PIECE) {
            up.write(0, data)?;
            let length = data.len() as u64;
            copy(queue, (&up, 0), (buffer, at), length)?;
            at += length;
        }
        Ok(())
    }

    /// Has the device copy from memory of the batch, in its turn.
    fn send(
        &self,
        queue: &mut VulkanQueue,
        buffer: &Arc<VulkanBuffer>,
        offset: u64,
        data: &[u8],
    ) -> Result<(), DeviceError> {
        let uses = copies(None, buffer);
        queue.add(None, Some(&uses), |device, batch| {
            let (from, at) = batch.scratch(device, &self.memory, data)?;
            let length = data.len() as u64;
            Ok(copied(batch, (&from, at), (buffer, offset), length))
        })
    }

    /// Copies out of several buffers, from an offset each, waiting once where all that is copied is
    /// little.
    pub fn read_all(
        &mut self,
        queue: &mut VulkanQueue,
        parts: &mut [(&Arc<VulkanBuffer>, u64, &mut [u8])],
    ) -> Result<(), DeviceError> {
        let total: usize = parts.iter().map(|(_, _, out)| out.len()).sum();
        let is_seen = |b: &VulkanBuffer, length| self.memory.direct && b.is_readable(length);
        if total > PIECE || parts.iter().any(|(b, _, out)| is_seen(b, out.len())) {
            let mut parts = parts.iter_mut();
            return parts.try_for_each(|(buffer, at, out)| self.read(queue, buffer, *at, out));
        }
        let down = piece(&self.memory, &mut self.down, MemoryLocation::GpuToCpu)?;
        let mut at = 0;
        for (buffer, offset, out) in &*parts {
            let length = out.len() as u64;
            // Parts of the buffer that both see are different ones.
            let uses = CommandAccesses {
                kind: CommandKind::Copy,
                buffers: smallvec![used(buffer, false)],
            };
            queue.add(None, Some(&uses), |_, batch| {
                Ok(copied(batch, (buffer, *offset), (&down, at), length))
            })?;
            at += length;
        }
        queue.finish()?;
        let mut at = 0;
        for (_, _, out) in parts {
            down.read(at, out)?;
            at += out.len() as u64;
        }
        Ok(())
    }

    /// Copies out of a buffer, after all that was recorded and writes it.
    pub fn read(
        &mut self,
        queue: &mut VulkanQueue,
        buffer: &Arc<VulkanBuffer>,
        offset: u64,
        out: &mut [u8],
    ) -> Result<(), DeviceError> {
        if self.memory.direct && buffer.is_readable(out.len()) {
            wait(queue, buffer.readable_at())?;
            return buffer.read(offset, out);
        }
        let down = piece(&self.memory, &mut self.down, MemoryLocation::GpuToCpu)?;
        let mut at = offset;
        for out in out.chunks_mut(PIECE) {
            let length = out.len() as u64;
            copy(queue, (buffer, at), (&down, 0), length)?;
            down.read(0, out)?;
            at += length;
        }
        Ok(())
    }
}

/// Makes a buffer zeros, before all that is recorded after.
pub fn clear(
    memory: &VulkanMemory,
    queue: &mut VulkanQueue,
    buffer: &Arc<VulkanBuffer>,
) -> Result<(), DeviceError> {
    // What the host cannot read it also writes slowly.
    let size = buffer.size as usize;
    if memory.direct && buffer.is_writable() && (size <= LITTLE || buffer.is_readable(size)) {
        return buffer.clear();
    }
    let uses = copies(None, buffer);
    queue.add(None, Some(&uses), |_, batch| {
        batch.writes(buffer);
        Ok(BatchCommand::Clear {
            buffer: buffer.raw(),
            size: padded(buffer.size),
        })
    })
}

/// Waits for a value of the timeline, or for everything.
fn wait(queue: &mut VulkanQueue, value: Option<u64>) -> Result<(), DeviceError> {
    match value {
        Some(value) => queue.wait_for(value),
        None => queue.finish(),
    }
}

fn piece(
    memory: &Arc<VulkanMemory>,
    buffer: &mut Option<Arc<VulkanBuffer>>,
    location: MemoryLocation,
) -> Result<Arc<VulkanBuffer>, DeviceError> {
    if let Some(buffer) = buffer {
        return Ok(Arc::clone(buffer));
    }
    let made = Arc::new(memory.create(PIECE as u64, location)?);
    Ok(Arc::clone(buffer.insert(made)))
}

fn copy(
    queue: &mut VulkanQueue,
    from: (&Arc<VulkanBuffer>, u64),
    to: (&Arc<VulkanBuffer>, u64),
    length: u64,
) -> Result<(), DeviceError> {
    let uses = copies(Some(from.0), to.0);
    queue.add(None, Some(&uses), |_, batch| {
        Ok(copied(batch, from, to, length))
    })?;
    queue.finish()
}

/// What a copy uses.
fn copies(from: Option<&Arc<VulkanBuffer>>, to: &Arc<VulkanBuffer>) -> CommandAccesses {
    let from = from.map(|buffer| used(buffer, false));
    CommandAccesses {
        kind: CommandKind::Copy,
        buffers: from.into_iter().chain([used(to, true)]).collect(),
    }
}

fn used(buffer: &VulkanBuffer, is_written: bool) -> BufferAccess {
    BufferAccess {
        buffer: buffer.raw(),
        is_written,
        region: None,
    }
}

/// A copy within buffers that are different, which are kept.
fn copied(
    batch: &mut CommandBatch,
    from: (&Arc<VulkanBuffer>, u64),
    to: (&Arc<VulkanBuffer>, u64),
    length: u64,
) -> BatchCommand {
    batch.reads(from.0);
    batch.writes(to.0);
    BatchCommand::Copy {
        from: from.0.raw(),
        to: to.0.raw(),
        region: vk::BufferCopy {
            src_offset: from.1,
            dst_offset: to.1,
            size: length,
        },
    }
}
