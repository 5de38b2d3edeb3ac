//! Commands that are submitted together, and what they use.

use super::super::descriptors::DescriptorPools;
use super::super::device::{OwnedHandle, VulkanDevice};
use super::super::error::VulkanCallResult;
use super::super::image::VulkanImage;
use super::super::memory::{VulkanBuffer, VulkanMemory};
use super::super::pipeline::ComputePipeline;
use super::command::BatchCommand;
use super::command_replay::LaunchRecording;
use super::dependency_levels::{CommandAccesses, DependencyLevels, LevelBarrier};
use super::recycled_resources::RecycledResources;
use super::timestamps::LaunchTimestamps;
use crate::DeviceError;
use ash::vk;
use gpu_allocator::MemoryLocation;
use std::sync::Arc;

/// Bytes of a buffer for small data.
const SCRATCH: u64 = 64 << 10;

/// Commands that wait for others to be put into their waves. Those before them are recorded meanwhile, as the device may have
/// nothing to do when the batch is handed over.
const PENDING: usize = 12;

/// Commands that are submitted together, and what they use.
pub struct CommandBatch {
    /// Where commands are recorded.
    pub commands: vk::CommandBuffer,
    /// Where descriptor sets come from.
    pub pools: DescriptorPools,
    /// Number of commands.
    pub count: usize,
    /// Value of the timeline when they are done.
    pub value: u64,
    /// What they were recorded for.
    pub tape: LaunchRecording,
    buffers: Vec<Arc<VulkanBuffer>>,
    images: Vec<Arc<VulkanImage>>,
    samplers: Vec<Arc<OwnedHandle<vk::Sampler>>>,
    pipelines: Vec<Arc<ComputePipeline>>,
    scratch: BatchScratch,
    waves: DependencyLevels,
    /// Commands that are not recorded yet, with their waves.
    pending: Vec<(usize, BatchCommand)>,
    /// When launches ran, where they are timed.
    pub stamps: LaunchTimestamps,
}

/// Small data for launches: buffers that are filled from the start for each batch.
#[derive(Default)]
struct BatchScratch {
    buffers: RecycledResources<VulkanBuffer>,
    /// Bytes that are used of the current one.
    used: u64,
}

impl CommandBatch {
    /// An empty batch.
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
        let stamps = match is_timed {
            true => LaunchTimestamps::new(device)?,
            false => LaunchTimestamps::default(),
        };
        Ok(CommandBatch {
            commands,
            pools: DescriptorPools::new(device),
            count: 0,
            value: 0,
            tape: LaunchRecording::default(),
            buffers: Vec::new(),
            images: Vec::new(),
            samplers: Vec::new(),
            pipelines: Vec::new(),
            scratch: BatchScratch::default(),
            waves: DependencyLevels::default(),
            pending: Vec::new(),
            stamps,
        })
    }

    /// Begins to record what is done at a value of the timeline.
    pub fn begin_recording(
        &mut self,
        device: &VulkanDevice,
        value: u64,
    ) -> Result<(), DeviceError> {
        self.value = value;
        self.waves.reset_levels();
        let info = vk::CommandBufferBeginInfo::default();
        // SAFETY: the command buffer is not in use, as its batch was not running.
        let begun = unsafe { device.raw().begin_command_buffer(self.commands, &info) };
        begun.check_call("vkBeginCommandBuffer")?;
        self.stamps.reset_queries(device, self.commands);
        Ok(())
    }

    /// Has what another batch, which comes behind it, was recorded for: all of both was asked for again. The other one is empty then.
    pub fn append_batch(&mut self, other: &mut CommandBatch) {
        self.value = other.value;
        self.tape.append_recording(&mut other.tape);
        self.pools.absorb_sets(&mut other.pools);
        self.scratch.buffers.absorb_all(&mut other.scratch.buffers);
        other.scratch.used = 0;
        self.buffers.append(&mut other.buffers);
        self.pipelines.append(&mut other.pipelines);
    }

    /// Is followed in the place of another batch.
    pub fn replace_followed(&mut self, other: &mut CommandBatch) {
        self.value = other.value;
        self.tape.adopt_progress(&other.tape);
        self.buffers.append(&mut other.buffers);
    }

    /// Has what was asked for so far of another batch that is followed; it is empty before.
    pub fn take_part(&mut self, other: &mut CommandBatch) {
        self.value = other.value;
        self.tape.take_part(&other.tape);
        self.pools.share_sets(&other.pools);
        self.scratch.buffers.share_all(&other.scratch.buffers);
        self.buffers.append(&mut other.buffers);
        self.pipelines
            .extend(other.pipelines.iter().map(Arc::clone));
        if self.pools.is_long() || self.scratch.buffers.is_long() {
            self.tape.mark_unrepeatable();
        }
    }

    /// Whether a command would have to wait for the last ones. Nothing is known of one without uses.
    pub fn needs_wait(&self, uses: Option<&CommandAccesses>) -> bool {
        self.waves.is_new(uses)
    }

    /// Adds a command that uses nothing but what is told; it is recorded with its wave.
    pub fn add_command(
        &mut self,
        device: &VulkanDevice,
        uses: Option<&CommandAccesses>,
        command: BatchCommand,
    ) {
        let wave = self.waves.place_command(uses);
        self.pending.push((wave, command));
        self.count += 1;
        let first = self.pending.iter().map(|(wave, _)| *wave).min();
        if let Some(first) = first.filter(|_| self.pending.len() > PENDING) {
            self.record_levels(device, first);
        }
    }

    /// Makes ready for a command of which nothing is known, to be recorded next: it waits for all.
    pub fn begin_fenced_command(&mut self, device: &VulkanDevice) {
        let wave = self.waves.place_command(None);
        self.record_levels(device, wave);
        self.enter_level(device, wave);
        self.count += 1;
    }

    /// Records what was added for waves up to one, wave after wave.
    fn record_levels(&mut self, device: &VulkanDevice, last: usize) {
        let mut pending = std::mem::take(&mut self.pending);
        pending.sort_by_key(|(wave, _)| *wave);
        let count = pending.partition_point(|(wave, _)| *wave <= last);
        for (wave, command) in pending.drain(..count) {
            self.enter_level(device, wave);
            command.record_command(device, self.commands, &mut self.stamps);
        }
        self.pending = pending;
    }

    /// Begins a wave, unless it is the one that was recorded last.
    fn enter_level(&mut self, device: &VulkanDevice, wave: usize) {
        if wave > self.waves.recorded_level() {
            record_barrier(device, self.commands, self.waves.barrier_before(wave));
            self.waves.mark_recorded(wave);
        }
    }

    /// Ends the commands, after which the host sees what they wrote.
    pub fn end_recording(&mut self, device: &VulkanDevice) -> Result<(), DeviceError> {
        if self.tape.is_recorded() {
            return Ok(());
        }
        if let Some(all) = self.tape.take_followed_commands() {
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

    /// Takes note that a command reads a buffer.
    pub fn note_buffer_read(&mut self, buffer: &Arc<VulkanBuffer>) {
        buffer.mark_used(self.value, false);
        self.buffers.push(Arc::clone(buffer));
    }

    /// Takes note that a command may write a buffer.
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

    /// Puts small data where a launch of this batch can read it: the buffer, and the first byte in it.
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
                let buffer = memory.create_buffer(SCRATCH.max(size), MemoryLocation::CpuToGpu)?;
                scratch.buffers.push_owned(buffer);
                continue;
            };
            let at = scratch.used.next_multiple_of(align.max(1));
            if at + size <= buffer.size {
                buffer.write_bytes(at, data)?;
                scratch.used = at + size;
                return Ok((Arc::clone(buffer), at));
            }
            scratch.buffers.go_on();
            scratch.used = 0;
        }
    }

    /// Lets go of what was used, once it is done, but for what it takes to be handed over again.
    pub fn release_finished(&mut self) -> Result<(), DeviceError> {
        if !self.tape.is_kept() {
            return self.release_all();
        }
        self.tape.stop_following();
        self.count = 0;
        // Who destroys a buffer has it kept as long as it is used.
        self.buffers.clear();
        Ok(())
    }

    /// Lets go of everything.
    pub fn release_all(&mut self) -> Result<(), DeviceError> {
        self.tape.clear();
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
