//! Recording work, submitting it, waiting for it.
//!
//! Commands are recorded into a batch, which is submitted when it is long or waited for. The
//! timeline counts batches; a batch that is done is used again with its command buffer and its
//! descriptor pools. Cost: as many batches as were in flight at once.

use super::descriptors::Pools;
use super::device::{Device, Owned};
use super::error::Call;
use super::memory::Buffer;
use super::pipeline::Pipeline;
use crate::Error;
use ash::vk;
use std::collections::VecDeque;
use std::sync::Arc;

/// Commands of a batch after which it is submitted.
const LONGEST: usize = 64;

/// The queue of a device.
pub struct Queue {
    running: VecDeque<(u64, Batch)>,
    open: Option<Batch>,
    idle: Vec<Batch>,
    timeline: Owned<vk::Semaphore>,
    /// Value of the timeline when everything submitted is done.
    submitted: u64,
    pool: Owned<vk::CommandPool>,
    raw: vk::Queue,
    device: Arc<Device>,
}

/// Commands that are submitted together, and what they use.
pub struct Batch {
    /// Where commands are recorded.
    pub commands: vk::CommandBuffer,
    /// Where descriptor sets come from.
    pub pools: Pools,
    recorded: usize,
    buffers: Vec<Arc<Buffer>>,
    pipelines: Vec<Arc<Pipeline>>,
}

impl Batch {
    /// Keeps a buffer until the batch is done.
    pub fn uses(&mut self, buffer: &Arc<Buffer>) {
        self.buffers.push(Arc::clone(buffer));
    }

    /// Keeps a pipeline until the batch is done.
    pub fn runs(&mut self, pipeline: &Arc<Pipeline>) {
        self.pipelines.push(Arc::clone(pipeline));
    }

    fn clear(&mut self) -> Result<(), Error> {
        self.recorded = 0;
        self.buffers.clear();
        self.pipelines.clear();
        self.pools.reset()
    }
}

impl Queue {
    /// The device's queue.
    pub fn new(device: &Arc<Device>) -> Result<Queue, Error> {
        let functions = device.raw();
        let mut kind =
            vk::SemaphoreTypeCreateInfo::default().semaphore_type(vk::SemaphoreType::TIMELINE);
        let info = vk::SemaphoreCreateInfo::default().push_next(&mut kind);
        // SAFETY: the device is alive and has timelines, as all of Vulkan 1.2.
        let timeline = unsafe { functions.create_semaphore(&info, None) };
        let timeline = Owned::new(device, "vkCreateSemaphore", timeline)?;
        let info = vk::CommandPoolCreateInfo::default()
            .queue_family_index(device.family)
            .flags(vk::CommandPoolCreateFlags::RESET_COMMAND_BUFFER);
        // SAFETY: the device was opened with the family.
        let pool = unsafe { functions.create_command_pool(&info, None) };
        let pool = Owned::new(device, "vkCreateCommandPool", pool)?;
        // SAFETY: the device was opened with one queue of the family.
        let raw = unsafe { functions.get_device_queue(device.family, 0) };
        Ok(Queue {
            running: VecDeque::new(),
            open: None,
            idle: Vec::new(),
            timeline,
            submitted: 0,
            pool,
            raw,
            device: Arc::clone(device),
        })
    }

    /// Records a command, after a barrier that makes everything before it visible.
    pub fn record(
        &mut self,
        command: impl FnOnce(&Device, &mut Batch) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut batch = match self.open.take() {
            Some(batch) => batch,
            None => self.begin()?,
        };
        self.barrier(&batch, vk::PipelineStageFlags::ALL_COMMANDS);
        let done = command(&self.device, &mut batch);
        batch.recorded += 1;
        let is_full = batch.recorded >= LONGEST;
        self.open = Some(batch);
        done?;
        if is_full { self.submit() } else { Ok(()) }
    }

    /// Keeps a buffer until everything recorded so far is done.
    pub fn keep(&mut self, buffer: Arc<Buffer>) {
        let last = self.running.back_mut().map(|(_, batch)| batch);
        if let Some(batch) = self.open.as_mut().or(last) {
            batch.buffers.push(buffer);
        }
    }

    /// Waits until everything recorded is done.
    pub fn finish(&mut self) -> Result<(), Error> {
        self.submit()?;
        if self.running.is_empty() {
            return Ok(());
        }
        let (semaphores, values) = ([*self.timeline], [self.submitted]);
        let info = vk::SemaphoreWaitInfo::default()
            .semaphores(&semaphores)
            .values(&values);
        // SAFETY: the timeline is alive, and the value is one that was submitted.
        let waited = unsafe { self.device.raw().wait_semaphores(&info, u64::MAX) };
        let waited = waited.of("vkWaitSemaphores").map_err(|e| self.blame(e));
        // A device that was lost runs nothing any more.
        self.retire(if waited.is_ok() {
            self.submitted
        } else {
            u64::MAX
        })?;
        waited
    }

    /// Hands what is recorded to the device.
    fn submit(&mut self) -> Result<(), Error> {
        let Some(batch) = self.open.take() else {
            return Ok(());
        };
        self.barrier(&batch, vk::PipelineStageFlags::HOST);
        let functions = self.device.raw();
        // SAFETY: the command buffer is being recorded, here alone.
        unsafe { functions.end_command_buffer(batch.commands) }.of("vkEndCommandBuffer")?;
        let (commands, semaphores) = ([batch.commands], [*self.timeline]);
        let values = [self.submitted + 1];
        let mut timeline =
            vk::TimelineSemaphoreSubmitInfo::default().signal_semaphore_values(&values);
        let info = vk::SubmitInfo::default()
            .command_buffers(&commands)
            .signal_semaphores(&semaphores)
            .push_next(&mut timeline);
        // SAFETY: the commands are complete, and the batch with all that they use is kept in
        // `running` until the timeline says that they are done.
        let submitted = unsafe { functions.queue_submit(self.raw, &[info], vk::Fence::null()) };
        self.running.push_back((values[0], batch));
        if let Err(e) = submitted.of("vkQueueSubmit") {
            let error = self.blame(e);
            self.device.idle();
            self.retire(u64::MAX)?;
            return Err(error);
        }
        self.submitted = values[0];
        Ok(())
    }

    fn begin(&mut self) -> Result<Batch, Error> {
        // SAFETY: the timeline is alive.
        let done = unsafe {
            self.device
                .raw()
                .get_semaphore_counter_value(*self.timeline)
        };
        self.retire(done.of("vkGetSemaphoreCounterValue")?)?;
        let batch = match self.idle.pop() {
            Some(batch) => batch,
            None => self.batch()?,
        };
        let info = vk::CommandBufferBeginInfo::default()
            .flags(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT);
        // SAFETY: the command buffer is not in use, as its batch was not running.
        let begun = unsafe {
            self.device
                .raw()
                .begin_command_buffer(batch.commands, &info)
        };
        begun.of("vkBeginCommandBuffer")?;
        Ok(batch)
    }

    fn batch(&self) -> Result<Batch, Error> {
        let info = vk::CommandBufferAllocateInfo::default()
            .command_pool(*self.pool)
            .command_buffer_count(1);
        // SAFETY: the pool is alive.
        let commands = unsafe { self.device.raw().allocate_command_buffers(&info) };
        let commands = commands.of("vkAllocateCommandBuffers")?;
        let commands = *commands.first().ok_or_else(|| {
            Error::Failed("vkAllocateCommandBuffers: nothing was returned".to_owned())
        })?;
        Ok(Batch {
            commands,
            pools: Pools::new(&self.device),
            recorded: 0,
            buffers: Vec::new(),
            pipelines: Vec::new(),
        })
    }

    /// Makes all memory that was written visible to what comes after, and to a stage.
    fn barrier(&self, batch: &Batch, to: vk::PipelineStageFlags) {
        let all = vk::AccessFlags::MEMORY_READ | vk::AccessFlags::MEMORY_WRITE;
        let access = match to {
            vk::PipelineStageFlags::HOST => vk::AccessFlags::HOST_READ,
            _ => all,
        };
        let barrier = vk::MemoryBarrier::default()
            .src_access_mask(all)
            .dst_access_mask(access);
        // SAFETY: the command buffer is being recorded, here alone.
        unsafe {
            self.device.raw().cmd_pipeline_barrier(
                batch.commands,
                vk::PipelineStageFlags::ALL_COMMANDS,
                to,
                vk::DependencyFlags::empty(),
                &[barrier],
                &[],
                &[],
            );
        }
    }

    /// Lets go of what the batches up to a value of the timeline used.
    fn retire(&mut self, done: u64) -> Result<(), Error> {
        while let Some((_, mut batch)) = self.running.pop_front_if(|(value, _)| *value <= done) {
            batch.clear()?;
            self.idle.push(batch);
        }
        Ok(())
    }

    /// The error with the kernels that may have caused it.
    fn blame(&self, error: Error) -> Error {
        let Error::Failed(text) = &error else {
            return error;
        };
        let running = self.running.iter().flat_map(|(_, b)| &b.pipelines);
        let mut names: Vec<_> = running.map(|p| p.name.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        match names.is_empty() {
            true => error,
            false => Error::Failed(format!("{text}, while running {}", names.join(", "))),
        }
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        if !self.running.is_empty() {
            self.device.idle();
        }
    }
}
