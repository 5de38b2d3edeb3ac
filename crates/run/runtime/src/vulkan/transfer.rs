//! Copies between the host and buffers.
//!
//! Memory that the host sees is copied in place, once the device is done with that buffer. Other memory goes
//! through buffers that both see: little that is written goes with the work that is recorded, without
//! waiting; what is more goes in pieces.

use super::batch::Batch;
use super::command::Command;
use super::memory::{Buffer, Memory, padded};
use super::queue::Queue;
use super::waves::{Kind, Use, Uses};
use crate::Error;
use ash::vk;
use gpu_allocator::MemoryLocation;
use smallvec::smallvec;
use std::sync::Arc;

/// Bytes that are copied at a time.
const PIECE: usize = 16 << 20;

/// Bytes that are written without waiting for the device.
const LITTLE: usize = 16 << 10;

/// The buffers that copies go through, made when they are first needed.
pub struct Transfer {
    memory: Arc<Memory>,
    up: Option<Arc<Buffer>>,
    down: Option<Arc<Buffer>>,
}

impl Transfer {
    /// Copies for buffers of this memory.
    pub fn new(memory: &Arc<Memory>) -> Transfer {
        Transfer {
            memory: Arc::clone(memory),
            up: None,
            down: None,
        }
    }

    /// Makes a buffer zeros, before all that is recorded after.
    pub fn clear(&self, queue: &mut Queue, buffer: &Arc<Buffer>) -> Result<(), Error> {
        clear(&self.memory, queue, buffer)
    }

    /// Copies into a buffer, after all that was recorded and uses it.
    pub fn write(
        &mut self,
        queue: &mut Queue,
        buffer: &Arc<Buffer>,
        offset: u64,
        data: &[u8],
    ) -> Result<(), Error> {
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
        queue: &mut Queue,
        buffer: &Arc<Buffer>,
        offset: u64,
        data: &[u8],
    ) -> Result<(), Error> {
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
        queue: &mut Queue,
        parts: &mut [(&Arc<Buffer>, u64, &mut [u8])],
    ) -> Result<(), Error> {
        let total: usize = parts.iter().map(|(_, _, out)| out.len()).sum();
        let is_seen = |b: &Buffer, length| self.memory.direct && b.is_readable(length);
        if total > PIECE || parts.iter().any(|(b, _, out)| is_seen(b, out.len())) {
            let mut parts = parts.iter_mut();
            return parts.try_for_each(|(buffer, at, out)| self.read(queue, buffer, *at, out));
        }
        let down = piece(&self.memory, &mut self.down, MemoryLocation::GpuToCpu)?;
        let mut at = 0;
        for (buffer, offset, out) in &*parts {
            let length = out.len() as u64;
            // Parts of the buffer that both see are different ones.
            let uses = Uses {
                kind: Kind::Copy,
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
        queue: &mut Queue,
        buffer: &Arc<Buffer>,
        offset: u64,
        out: &mut [u8],
    ) -> Result<(), Error> {
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
pub fn clear(memory: &Memory, queue: &mut Queue, buffer: &Arc<Buffer>) -> Result<(), Error> {
    // What the host cannot read it also writes slowly.
    let size = buffer.size as usize;
    if memory.direct && buffer.is_writable() && (size <= LITTLE || buffer.is_readable(size)) {
        return buffer.clear();
    }
    let uses = copies(None, buffer);
    queue.add(None, Some(&uses), |_, batch| {
        batch.writes(buffer);
        Ok(Command::Clear {
            buffer: buffer.raw(),
            size: padded(buffer.size),
        })
    })
}

/// Waits for a value of the timeline, or for everything.
fn wait(queue: &mut Queue, value: Option<u64>) -> Result<(), Error> {
    match value {
        Some(value) => queue.wait_for(value),
        None => queue.finish(),
    }
}

fn piece(
    memory: &Arc<Memory>,
    buffer: &mut Option<Arc<Buffer>>,
    location: MemoryLocation,
) -> Result<Arc<Buffer>, Error> {
    if let Some(buffer) = buffer {
        return Ok(Arc::clone(buffer));
    }
    let made = Arc::new(memory.create(PIECE as u64, location)?);
    Ok(Arc::clone(buffer.insert(made)))
}

fn copy(
    queue: &mut Queue,
    from: (&Arc<Buffer>, u64),
    to: (&Arc<Buffer>, u64),
    length: u64,
) -> Result<(), Error> {
    let uses = copies(Some(from.0), to.0);
    queue.add(None, Some(&uses), |_, batch| {
        Ok(copied(batch, from, to, length))
    })?;
    queue.finish()
}

/// What a copy uses.
fn copies(from: Option<&Arc<Buffer>>, to: &Arc<Buffer>) -> Uses {
    let from = from.map(|buffer| used(buffer, false));
    Uses {
        kind: Kind::Copy,
        buffers: from.into_iter().chain([used(to, true)]).collect(),
    }
}

fn used(buffer: &Buffer, is_written: bool) -> Use {
    Use {
        buffer: buffer.raw(),
        is_written,
        region: None,
    }
}

/// A copy within buffers that are different, which are kept.
fn copied(
    batch: &mut Batch,
    from: (&Arc<Buffer>, u64),
    to: (&Arc<Buffer>, u64),
    length: u64,
) -> Command {
    batch.reads(from.0);
    batch.writes(to.0);
    Command::Copy {
        from: from.0.raw(),
        to: to.0.raw(),
        region: vk::BufferCopy {
            src_offset: from.1,
            dst_offset: to.1,
            size: length,
        },
    }
}
