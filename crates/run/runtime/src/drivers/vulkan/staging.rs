//! Staging: copies between the host and buffers.
//!
//! Host-visible memory is copied in place, once the device is done with that buffer. Other memory is copied through staging buffers
//! that are visible to both. Small writes are recorded with other commands, without waiting. Large copies are done in pieces: the device
//! copies one while the host copies another.

use super::memory::{VulkanBuffer, VulkanMemory, pad_size};
use super::queue::BatchCommand;
use super::queue::CommandBatch;
use super::queue::VulkanQueue;
use super::queue::{BufferAccess, CommandAccesses, CommandKind};
use crate::DeviceError;
use ash::vk;
use gpu_allocator::MemoryLocation;
use smallvec::smallvec;
use std::sync::Arc;

/// Bytes that are copied at a time.
const PIECE: usize = 4 << 20;

/// Bytes that are written without waiting for the device.
pub const LITTLE: usize = 16 << 10;

/// The staging buffers, created when they are first needed.
pub struct StagingBuffers {
    memory: Arc<VulkanMemory>,
    up: [Option<Arc<VulkanBuffer>>; 2],
    down: [Option<Arc<VulkanBuffer>>; 2],
}

impl StagingBuffers {
    /// Staging for buffers of this memory.
    pub fn new(memory: &Arc<VulkanMemory>) -> StagingBuffers {
        StagingBuffers {
            memory: Arc::clone(memory),
            up: [None, None],
            down: [None, None],
        }
    }

    /// Clears a buffer, ordered before all commands that are recorded later.
    pub fn clear_buffer(
        &self,
        queue: &mut VulkanQueue,
        buffer: &Arc<VulkanBuffer>,
    ) -> Result<(), DeviceError> {
        zero_buffer(&self.memory, queue, buffer)
    }

    /// Copies into a buffer, ordered after all recorded commands that use it.
    pub fn write_buffer(
        &mut self,
        queue: &mut VulkanQueue,
        buffer: &Arc<VulkanBuffer>,
        offset: u64,
        data: &[u8],
    ) -> Result<(), DeviceError> {
        let is_seen = self.memory.direct && buffer.is_writable();
        if is_seen && queue.is_done(buffer.writable_at()) {
            return buffer.write_bytes(offset, data);
        }
        if data.len() <= LITTLE {
            return self.copy_inline_data(queue, buffer, offset, data);
        }
        if is_seen {
            queue.wait_for_access(buffer.writable_at())?;
            return buffer.write_bytes(offset, data);
        }
        let mut at = offset;
        for (number, data) in data.chunks(PIECE).enumerate() {
            let up = &mut self.up[number % 2];
            let up = ensure_staging_buffer(&self.memory, up, MemoryLocation::CpuToGpu)?;
            queue.wait_for_access(up.writable_at())?;
            up.write_bytes(0, data)?;
            let length = data.len() as u64;
            submit_copy(
                queue,
                BufferPosition::new(&up, 0),
                BufferPosition::new(buffer, at),
                length,
            )?;
            at += length;
        }
        Ok(())
    }

    /// Records a copy from scratch memory of the batch.
    fn copy_inline_data(
        &self,
        queue: &mut VulkanQueue,
        buffer: &Arc<VulkanBuffer>,
        offset: u64,
        data: &[u8],
    ) -> Result<(), DeviceError> {
        let uses = list_copy_accesses(None, buffer);
        queue.add_command(None, Some(&uses), |device, batch| {
            let (from, at) = batch.write_scratch(device, &self.memory, data)?;
            let length = data.len() as u64;
            Ok(record_copy(
                batch,
                BufferPosition::new(&from, at),
                BufferPosition::new(buffer, offset),
                length,
            ))
        })
    }

    /// Copies out of several buffers, from an offset each. Small copies wait only once.
    pub fn read_all(
        &mut self,
        queue: &mut VulkanQueue,
        parts: &mut [(&Arc<VulkanBuffer>, u64, &mut [u8])],
    ) -> Result<(), DeviceError> {
        let total: usize = parts.iter().map(|(_, _, out)| out.len()).sum();
        let is_seen = |b: &VulkanBuffer, length| self.memory.direct && b.is_readable(length);
        if total > PIECE || parts.iter().any(|(b, _, out)| is_seen(b, out.len())) {
            let mut parts = parts.iter_mut();
            return parts
                .try_for_each(|(buffer, at, out)| self.read_buffer(queue, buffer, *at, out));
        }
        let down = &mut self.down[0];
        let down = ensure_staging_buffer(&self.memory, down, MemoryLocation::GpuToCpu)?;
        let mut at = 0;
        for (buffer, offset, out) in &*parts {
            let length = out.len() as u64;
            // The ranges of the staging buffer are disjoint.
            let uses = CommandAccesses {
                kind: CommandKind::Copy,
                buffers: smallvec![access_whole_buffer(buffer, false)],
            };
            queue.add_command(None, Some(&uses), |_, batch| {
                Ok(record_copy(
                    batch,
                    BufferPosition::new(buffer, *offset),
                    BufferPosition::new(&down, at),
                    length,
                ))
            })?;
            at += length;
        }
        queue.finish_all()?;
        let mut at = 0;
        for (_, _, out) in parts {
            down.read_bytes(at, out)?;
            at += out.len() as u64;
        }
        Ok(())
    }

    /// Copies out of a buffer, ordered after all recorded commands that write it.
    pub fn read_buffer(
        &mut self,
        queue: &mut VulkanQueue,
        buffer: &Arc<VulkanBuffer>,
        offset: u64,
        out: &mut [u8],
    ) -> Result<(), DeviceError> {
        if self.memory.direct && buffer.is_readable(out.len()) {
            queue.wait_for_access(buffer.readable_at())?;
            return buffer.read_bytes(offset, out);
        }
        let mut at = offset;
        let mut last: Option<PendingRead<'_>> = None;
        for (number, out) in out.chunks_mut(PIECE).enumerate() {
            let down = &mut self.down[number % 2];
            let down = ensure_staging_buffer(&self.memory, down, MemoryLocation::GpuToCpu)?;
            let length = out.len() as u64;
            let done_at = submit_copy(
                queue,
                BufferPosition::new(buffer, at),
                BufferPosition::new(&down, 0),
                length,
            )?;
            at += length;
            let read = PendingRead { down, done_at, out };
            if let Some(last) = last.replace(read) {
                last.finish(queue)?;
            }
        }
        last.map_or(Ok(()), |last| last.finish(queue))
    }
}

/// A piece that the device copies to a staging buffer.
struct PendingRead<'o> {
    down: Arc<VulkanBuffer>,
    /// The value of the timeline at which the copy is done.
    done_at: u64,
    out: &'o mut [u8],
}

impl PendingRead<'_> {
    fn finish(self, queue: &mut VulkanQueue) -> Result<(), DeviceError> {
        queue.wait_for(self.done_at)?;
        self.down.read_bytes(0, self.out)
    }
}

/// Clears a buffer, ordered before all commands that are recorded later.
pub fn zero_buffer(
    memory: &VulkanMemory,
    queue: &mut VulkanQueue,
    buffer: &Arc<VulkanBuffer>,
) -> Result<(), DeviceError> {
    // Memory that the host cannot read is also slow to write.
    let size = buffer.size as usize;
    if memory.direct && buffer.is_writable() && (size <= LITTLE || buffer.is_readable(size)) {
        return buffer.fill_zeros();
    }
    let uses = list_copy_accesses(None, buffer);
    queue.add_command(None, Some(&uses), |_, batch| {
        batch.note_buffer_write(buffer);
        Ok(BatchCommand::Fill {
            buffer: buffer.raw(),
            offset: 0,
            size: pad_size(buffer.size),
            word: 0,
        })
    })
}

fn ensure_staging_buffer(
    memory: &Arc<VulkanMemory>,
    buffer: &mut Option<Arc<VulkanBuffer>>,
    location: MemoryLocation,
) -> Result<Arc<VulkanBuffer>, DeviceError> {
    if let Some(buffer) = buffer {
        return Ok(Arc::clone(buffer));
    }
    let made = Arc::new(memory.create_buffer(PIECE as u64, location)?);
    Ok(Arc::clone(buffer.insert(made)))
}

/// A position in a buffer, in bytes.
#[derive(Clone, Copy)]
struct BufferPosition<'b> {
    buffer: &'b Arc<VulkanBuffer>,
    offset: u64,
}

impl<'b> BufferPosition<'b> {
    fn new(buffer: &'b Arc<VulkanBuffer>, offset: u64) -> BufferPosition<'b> {
        BufferPosition { buffer, offset }
    }
}

/// Submits a copy after all that is recorded. Returns the value of the timeline at which it is done.
fn submit_copy(
    queue: &mut VulkanQueue,
    from: BufferPosition<'_>,
    to: BufferPosition<'_>,
    length: u64,
) -> Result<u64, DeviceError> {
    let uses = list_copy_accesses(Some(from.buffer), to.buffer);
    queue.add_command(None, Some(&uses), |_, batch| {
        Ok(record_copy(batch, from, to, length))
    })?;
    queue.submit_all()
}

/// The accesses of a copy.
fn list_copy_accesses(from: Option<&Arc<VulkanBuffer>>, to: &Arc<VulkanBuffer>) -> CommandAccesses {
    let from = from.map(|buffer| access_whole_buffer(buffer, false));
    CommandAccesses {
        kind: CommandKind::Copy,
        buffers: from
            .into_iter()
            .chain([access_whole_buffer(to, true)])
            .collect(),
    }
}

fn access_whole_buffer(buffer: &VulkanBuffer, is_written: bool) -> BufferAccess {
    BufferAccess {
        buffer: buffer.raw(),
        is_written,
        region: None,
    }
}

/// A copy between different buffers, which the batch keeps alive.
fn record_copy(
    batch: &mut CommandBatch,
    from: BufferPosition<'_>,
    to: BufferPosition<'_>,
    length: u64,
) -> BatchCommand {
    batch.note_buffer_read(from.buffer);
    batch.note_buffer_write(to.buffer);
    BatchCommand::Copy {
        from: from.buffer.raw(),
        to: to.buffer.raw(),
        region: vk::BufferCopy {
            src_offset: from.offset,
            dst_offset: to.offset,
            size: length,
        },
    }
}
