//! Batches: commands that are submitted together, and the resources that they use.

use super::super::descriptors::DescriptorPools;
use super::super::device::{OwnedHandle, VulkanDevice};
use super::super::error::VulkanCallResult;
use super::super::image::VulkanImage;
use super::super::memory::{VulkanBuffer, VulkanMemory};
use super::super::pipeline::ComputePipeline;
use super::command::BatchCommand;
use super::dependency_levels::{CommandAccesses, DependencyLevels, LevelBarrier};
use super::launch_recording::LaunchRecording;
use super::recycled_resources::RecycledResources;
use super::timestamps::LaunchTimestamps;
use crate::DeviceError;
use ash::vk;
use gpu_allocator::MemoryLocation;
use std::sync::Arc;

/// Bytes of a buffer for small data.
const SCRATCH_BYTES: u64 = 64 << 10;

/// Most commands that wait for others to join their dependency levels. Earlier levels are recorded meanwhile, since the device
/// may be idle when the batch is submitted.
const MOST_PENDING: usize = 12;

/// Commands that are submitted together, and the resources that they use.
pub struct CommandBatch {
    /// The command buffer.
    pub commands: vk::CommandBuffer,
    /// Pools of descriptor sets.
    pub pools: DescriptorPools,
    /// Number of commands.
    pub count: usize,
    /// Value of the timeline when the commands are done.
    pub value: u64,
    /// The launches that the commands were recorded for.
    pub recording: LaunchRecording,
    buffers: Vec<Arc<VulkanBuffer>>,
    images: Vec<Arc<VulkanImage>>,
    samplers: Vec<Arc<OwnedHandle<vk::Sampler>>>,
    pipelines: Vec<Arc<ComputePipeline>>,
    scratch: BatchScratch,
    levels: DependencyLevels,
    /// Commands that are not recorded yet, with their dependency levels.
    pending: Vec<(usize, BatchCommand)>,
    /// Timestamps of launches, where they are timed.
    pub timestamps: LaunchTimestamps,
}

/// Scratch memory for small data of launches: buffers that each batch fills from the start.
#[derive(Default)]
struct BatchScratch {
    buffers: RecycledResources<VulkanBuffer>,
    /// Bytes of the current buffer that are used.
    used: u64,
}

impl CommandBatch {
    /// An empty batch.
    ///
    /// # Errors
    /// When its command buffer or its timestamps cannot be created.
    pub fn new(
        device: &Arc<VulkanDevice>,
        pool: vk::CommandPool,
        is_timed: bool,
    ) -> Result<CommandBatch, DeviceError> {
        let info = vk::CommandBufferAllocateInfo::default()
            .command_pool(pool)
            .command_buffer_count(1);
        // SAFETY: the pool is alive.
        let commands = unsafe { device.raw().allocate_command_buffers(&info) };
        let commands = commands.check_call("vkAllocateCommandBuffers")?;
        let commands = *commands.first().ok_or_else(|| {
            DeviceError::Failed("vkAllocateCommandBuffers: nothing was returned".to_owned())
        })?;
        let timestamps = if is_timed {
            LaunchTimestamps::new(device)?
        } else {
            LaunchTimestamps::default()
        };
        Ok(CommandBatch {
            commands,
            pools: DescriptorPools::new(device),
            count: 0,
            value: 0,
            recording: LaunchRecording::default(),
            buffers: Vec::new(),
            images: Vec::new(),
            samplers: Vec::new(),
            pipelines: Vec::new(),
            scratch: BatchScratch::default(),
            levels: DependencyLevels::default(),
            pending: Vec::new(),
            timestamps,
        })
    }

    /// Begins to record commands that are done at a value of the timeline.
    pub fn begin_recording(
        &mut self,
        device: &VulkanDevice,
        value: u64,
    ) -> Result<(), DeviceError> {
        self.value = value;
        self.levels.reset_levels();
        let info = vk::CommandBufferBeginInfo::default();
        // SAFETY: the command buffer is not in use, as its batch is not in flight.
        let begun = unsafe { device.raw().begin_command_buffer(self.commands, &info) };
        begun.check_call("vkBeginCommandBuffer")?;
        self.timestamps.reset_queries(device, self.commands);
        Ok(())
    }

    /// Appends the next batch, where all launches of both came again; the other one is empty then.
    pub fn append_batch(&mut self, other: &mut CommandBatch) {
        self.value = other.value;
        self.recording.append_recording(&mut other.recording);
        self.pools.absorb_sets(&mut other.pools);
        self.scratch.buffers.absorb_all(&mut other.scratch.buffers);
        other.scratch.used = 0;
        self.buffers.append(&mut other.buffers);
        self.pipelines.append(&mut other.pipelines);
    }

    /// Takes the place of another batch that is being replayed.
    pub fn replace_replaying(&mut self, other: &mut CommandBatch) {
        self.value = other.value;
        self.recording.adopt_progress(&other.recording);
        self.buffers.append(&mut other.buffers);
    }

    /// Copies the launches that were replayed of another batch; this one is empty before.
    pub fn copy_replayed_prefix(&mut self, other: &mut CommandBatch) {
        self.value = other.value;
        self.recording.copy_replayed_prefix(&other.recording);
        self.pools.share_sets(&other.pools);
        self.scratch.buffers.share_all(&other.scratch.buffers);
        self.buffers.append(&mut other.buffers);
        self.pipelines
            .extend(other.pipelines.iter().map(Arc::clone));
        if self.pools.shares_too_many() || self.scratch.buffers.shares_too_many() {
            self.recording.mark_unrepeatable();
        }
    }

    /// Whether a command would have to wait for the last ones. The accesses of a command without `uses` are unknown.
    pub fn needs_wait(&self, uses: Option<&CommandAccesses>) -> bool {
        self.levels.begins_level(uses)
    }

    /// Adds a command that accesses nothing but `uses`; it is recorded with its dependency level.
    pub fn add_command(
        &mut self,
        device: &VulkanDevice,
        uses: Option<&CommandAccesses>,
        command: BatchCommand,
    ) {
        let level = self.levels.place_command(uses);
        self.pending.push((level, command));
        self.count += 1;
        let first = self.pending.iter().map(|(level, _)| *level).min();
        if let Some(first) = first.filter(|_| self.pending.len() > MOST_PENDING) {
            self.record_levels(device, first);
        }
    }

    /// Prepares for a command whose accesses are unknown, to be recorded next: it waits for all before it.
    pub fn begin_fenced_command(&mut self, device: &VulkanDevice) {
        let level = self.levels.place_command(None);
        self.record_levels(device, level);
        self.enter_level(device, level);
        self.count += 1;
    }

    /// Records the pending commands of all dependency levels up to `last`, level by level.
    fn record_levels(&mut self, device: &VulkanDevice, last: usize) {
        let mut pending = std::mem::take(&mut self.pending);
        pending.sort_by_key(|(level, _)| *level);
        let count = pending.partition_point(|(level, _)| *level <= last);
        for (level, command) in pending.drain(..count) {
            self.enter_level(device, level);
            command.record_command(device, self.commands, &mut self.timestamps);
        }
        self.pending = pending;
    }

    /// Begins a dependency level, unless it is the one that was recorded last.
    fn enter_level(&mut self, device: &VulkanDevice, level: usize) {
        if level > self.levels.recorded_level() {
            record_barrier(device, self.commands, self.levels.barrier_before(level));
            self.levels.mark_recorded(level);
        }
    }

    /// Ends the commands; the host sees what they wrote once they are done.
    pub fn end_recording(&mut self, device: &VulkanDevice) -> Result<(), DeviceError> {
        if self.recording.is_recorded() {
            return Ok(());
        }
        if let Some(all) = self.recording.take_replayed_commands() {
            self.begin_recording(device, self.value)?;
            for (uses, command) in all {
                self.add_command(device, Some(&uses), command);
            }
        }
        self.record_levels(device, usize::MAX);
        record_barrier(device, self.commands, LevelBarrier::HOST);
        // SAFETY: the command buffer is being recorded, here alone.
        let ended = unsafe { device.raw().end_command_buffer(self.commands) };
        ended.check_call("vkEndCommandBuffer")
    }

    /// Keeps a buffer until the batch is done.
    pub fn keep_buffer(&mut self, buffer: Arc<VulkanBuffer>) {
        self.buffers.push(buffer);
    }

    /// Keeps an image until the batch is done.
    pub fn keep_image(&mut self, image: &Arc<VulkanImage>) {
        self.images.push(Arc::clone(image));
    }

    /// Keeps a sampler until the batch is done.
    pub fn keep_sampler(&mut self, sampler: &Arc<OwnedHandle<vk::Sampler>>) {
        self.samplers.push(Arc::clone(sampler));
    }

    /// Notes that a command reads a buffer.
    pub fn note_buffer_read(&mut self, buffer: &Arc<VulkanBuffer>) {
        buffer.mark_used(self.value, false);
        self.buffers.push(Arc::clone(buffer));
    }

    /// Notes that a command may write a buffer.
    pub fn note_buffer_write(&mut self, buffer: &Arc<VulkanBuffer>) {
        buffer.mark_used(self.value, true);
        self.buffers.push(Arc::clone(buffer));
    }

    /// Keeps a pipeline until the batch is done.
    pub fn keep_pipeline(&mut self, pipeline: &Arc<ComputePipeline>) {
        self.pipelines.push(Arc::clone(pipeline));
    }

    /// Names of the kernels in it.
    pub fn kernel_names(&self) -> impl Iterator<Item = &str> {
        self.pipelines.iter().map(|p| p.name.as_str())
    }

    /// Writes small data to scratch memory for a launch of this batch; returns the buffer and the offset in it.
    pub fn write_scratch(
        &mut self,
        device: &VulkanDevice,
        memory: &Arc<VulkanMemory>,
        data: &[u8],
    ) -> Result<(Arc<VulkanBuffer>, u64), DeviceError> {
        let align = device.physical.limits.min_storage_buffer_offset_alignment;
        let size = (data.len() as u64).max(1);
        let scratch = &mut self.scratch;
        loop {
            let Some(buffer) = scratch.buffers.current() else {
                let buffer =
                    memory.create_buffer(SCRATCH_BYTES.max(size), MemoryLocation::CpuToGpu)?;
                scratch.buffers.push_owned(buffer);
                continue;
            };
            let at = scratch.used.next_multiple_of(align.max(1));
            if at + size <= buffer.size {
                buffer.write_bytes(at, data)?;
                scratch.used = at + size;
                return Ok((Arc::clone(buffer), at));
            }
            scratch.buffers.advance();
            scratch.used = 0;
        }
    }

    /// Releases the resources of a finished batch, except for those that replaying it needs.
    pub fn release_finished(&mut self) -> Result<(), DeviceError> {
        if !self.recording.is_kept() {
            return self.release_all();
        }
        self.recording.end_replay();
        self.count = 0;
        // Destroying a buffer keeps it alive as long as it is used.
        self.buffers.clear();
        Ok(())
    }

    /// Releases all resources.
    pub fn release_all(&mut self) -> Result<(), DeviceError> {
        self.recording.clear();
        self.count = 0;
        self.pending.clear();
        self.buffers.clear();
        self.images.clear();
        self.samplers.clear();
        self.pipelines.clear();
        self.scratch.buffers.clear();
        self.scratch.used = 0;
        self.pools.recycle_sets()
    }
}

fn record_barrier(device: &VulkanDevice, commands: vk::CommandBuffer, barrier: LevelBarrier) {
    let memory = vk::MemoryBarrier::default()
        .src_access_mask(barrier.written)
        .dst_access_mask(barrier.seen);
    // SAFETY: the command buffer is being recorded, here alone.
    unsafe {
        device.raw().cmd_pipeline_barrier(
            commands,
            barrier.from,
            barrier.to,
            vk::DependencyFlags::empty(),
            &[memory],
            &[],
            &[],
        );
    }
}
