//! Transfers: copies between buffers and fills, which are recorded and replayed as launches are.

use super::super::memory::VulkanBuffer;
use super::super::queue::{
    BatchCommand, BufferAccess, CommandAccesses, CommandBatch, CommandWork, RepeatableCommand,
    bind_range,
};
use super::super::staging::LITTLE;
use super::VulkanDriver;
use crate::DeviceError;
use crate::driver::{BufferCopy, PatternFill};
use ash::vk;
use std::sync::Arc;

impl VulkanDriver {
    /// Records a copy, or replays it.
    pub(super) fn copy_range(&mut self, copy: &BufferCopy) -> Result<(), DeviceError> {
        let [from, to] = [self.find_buffer(copy.from)?, self.find_buffer(copy.to)?];
        let bindings = [
            bind_range(copy.from, copy.from_offset, copy.size),
            bind_range(copy.to, copy.to_offset, copy.size),
        ];
        let asked = RepeatableCommand {
            work: CommandWork::Copy,
            bindings: &bindings,
            push: &[],
        };
        self.add_transfer(asked, &[(&from, false), (&to, true)], |_, _| {
            Ok(BatchCommand::Copy {
                from: from.raw(),
                to: to.raw(),
                region: vk::BufferCopy {
                    src_offset: copy.from_offset,
                    dst_offset: copy.to_offset,
                    size: copy.size,
                },
            })
        })
    }

    /// Records a fill, or replays it. A pattern that is no word is copied to the beginning of the range, which is then
    /// copied to the part that follows. Each copy is twice as long as the one before.
    pub(super) fn fill_range(&mut self, fill: &PatternFill<'_>) -> Result<(), DeviceError> {
        if let Some(word) = fill.find_word() {
            return self.fill_with(fill, |_, _, buffer| {
                Ok(BatchCommand::Fill {
                    buffer,
                    offset: fill.offset,
                    size: fill.size,
                    word,
                })
            });
        }
        let most = LITTLE / fill.pattern.len() * fill.pattern.len();
        let first = fill.size.min(most as u64);
        let data = fill.pattern.repeat(first as usize / fill.pattern.len());
        let memory = Arc::clone(&self.memory);
        let beginning = PatternFill {
            size: first,
            ..*fill
        };
        self.fill_with(&beginning, |driver, batch, to| {
            let (from, at) = batch.write_scratch(driver, &memory, &data)?;
            batch.note_buffer_read(&from);
            Ok(BatchCommand::Copy {
                from: from.raw(),
                to,
                region: vk::BufferCopy {
                    src_offset: at,
                    dst_offset: fill.offset,
                    size: first,
                },
            })
        })?;
        let mut done = first;
        while done < fill.size {
            let size = done.min(fill.size - done);
            self.copy_range(&BufferCopy {
                from: fill.buffer,
                from_offset: fill.offset,
                to: fill.buffer,
                to_offset: fill.offset + done,
                size,
            })?;
            done += size;
        }
        Ok(())
    }

    /// Records a fill by one command, or replays it.
    fn fill_with(
        &mut self,
        fill: &PatternFill<'_>,
        build: impl FnOnce(
            &super::VulkanDevice,
            &mut CommandBatch,
            vk::Buffer,
        ) -> Result<BatchCommand, DeviceError>,
    ) -> Result<(), DeviceError> {
        let buffer = self.find_buffer(fill.buffer)?;
        let asked = RepeatableCommand {
            work: CommandWork::Fill,
            bindings: &[bind_range(fill.buffer, fill.offset, fill.size)],
            push: fill.pattern,
        };
        self.add_transfer(asked, &[(&buffer, true)], |device, batch| {
            build(device, batch, buffer.raw())
        })
    }

    /// Adds a command that accesses its bindings, or replays it. `buffers` are those of the bindings, and whether each is written.
    fn add_transfer(
        &mut self,
        asked: RepeatableCommand<'_>,
        buffers: &[(&Arc<VulkanBuffer>, bool)],
        build: impl FnOnce(&super::VulkanDevice, &mut CommandBatch) -> Result<BatchCommand, DeviceError>,
    ) -> Result<(), DeviceError> {
        if self.replay_command(&asked)? {
            return Ok(());
        }
        let accesses = asked.bindings.iter().zip(buffers);
        let accesses = accesses.map(|(bound, (buffer, is_written))| BufferAccess {
            buffer: buffer.raw(),
            is_written: *is_written,
            region: bound.region,
        });
        let uses = CommandAccesses {
            kind: asked.work.kind(),
            buffers: accesses.collect(),
        };
        let added = self
            .queue
            .add_command(Some(&asked), Some(&uses), |device, batch| {
                for (buffer, is_written) in buffers {
                    if *is_written {
                        batch.note_buffer_write(buffer);
                    } else {
                        batch.note_buffer_read(buffer);
                    }
                }
                build(device, batch)
            });
        self.check_validation(added)
    }
}
