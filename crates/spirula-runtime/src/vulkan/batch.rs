//! Commands that are submitted together, and what they use.

use super::descriptors::Pools;
use super::device::{Device, Owned};
use super::error::Call;
use super::hazards::Hazards;
use super::image::Image;
use super::memory::{Buffer, Memory};
use super::pipeline::Pipeline;
use super::queue::LONGEST;
use crate::{Error, Kernel};
use ash::vk;
use gpu_allocator::MemoryLocation;
use std::sync::Arc;
use std::time::Duration;

/// Bytes of a buffer for small data.
const SCRATCH: u64 = 64 << 10;

/// Commands that are submitted together, and what they use.
pub struct Batch {
    /// Where commands are recorded.
    pub commands: vk::CommandBuffer,
    /// Where descriptor sets come from.
    pub pools: Pools,
    /// Number of commands.
    pub recorded: usize,
    /// What commands that follow have to wait for.
    pub hazards: Hazards,
    /// Value of the timeline when they are done.
    pub value: u64,
    buffers: Vec<Arc<Buffer>>,
    images: Vec<Arc<Image>>,
    samplers: Vec<Arc<Owned<vk::Sampler>>>,
    pipelines: Vec<Arc<Pipeline>>,
    scratch: Scratch,
    /// Two timestamps for each launch, where launches are timed.
    stamps: Option<Owned<vk::QueryPool>>,
    timed: Vec<Kernel>,
}

/// Small data for launches: buffers that are filled from the start for each batch.
#[derive(Default)]
struct Scratch {
    buffers: Vec<Arc<Buffer>>,
    current: usize,
    used: u64,
}

impl Batch {
    /// An empty batch.
    pub fn new(
        device: &Arc<Device>,
        pool: vk::CommandPool,
        is_timed: bool,
    ) -> Result<Batch, Error> {
        let info = vk::CommandBufferAllocateInfo::default()
            .command_pool(pool)
            .command_buffer_count(1);
        // SAFETY: the pool is alive.
        let commands = unsafe { device.raw().allocate_command_buffers(&info) };
        let commands = commands.of("vkAllocateCommandBuffers")?;
        let commands = *commands.first().ok_or_else(|| {
            Error::Failed("vkAllocateCommandBuffers: nothing was returned".to_owned())
        })?;
        let stamps = is_timed.then(|| {
            let info = vk::QueryPoolCreateInfo::default()
                .query_type(vk::QueryType::TIMESTAMP)
                .query_count(2 * LONGEST as u32);
            // SAFETY: the device is alive, and its queue has timestamps.
            let made = unsafe { device.raw().create_query_pool(&info, None) };
            Owned::new(device, "vkCreateQueryPool", made)
        });
        Ok(Batch {
            commands,
            pools: Pools::new(device),
            recorded: 0,
            hazards: Hazards::default(),
            value: 0,
            buffers: Vec::new(),
            images: Vec::new(),
            samplers: Vec::new(),
            pipelines: Vec::new(),
            scratch: Scratch::default(),
            stamps: stamps.transpose()?,
            timed: Vec::new(),
        })
    }

    /// Begins to record what is done at a value of the timeline.
    pub fn begin(&mut self, device: &Device, value: u64) -> Result<(), Error> {
        self.value = value;
        self.hazards.begin();
        let info = vk::CommandBufferBeginInfo::default()
            .flags(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT);
        // SAFETY: the command buffer is not in use, as its batch was not running.
        let begun = unsafe { device.raw().begin_command_buffer(self.commands, &info) };
        begun.of("vkBeginCommandBuffer")?;
        if let Some(stamps) = &self.stamps {
            // SAFETY: the commands are being recorded; the pool has as many queries.
            unsafe {
                let count = 2 * LONGEST as u32;
                device
                    .raw()
                    .cmd_reset_query_pool(self.commands, **stamps, 0, count);
            }
        }
        Ok(())
    }

    /// Keeps a buffer until the batch is done.
    pub fn keep(&mut self, buffer: Arc<Buffer>) {
        self.buffers.push(buffer);
    }

    /// Keeps an image until the batch is done.
    pub fn holds(&mut self, image: &Arc<Image>) {
        self.images.push(Arc::clone(image));
    }

    /// Keeps a sampler until the batch is done.
    pub fn samples(&mut self, sampler: &Arc<Owned<vk::Sampler>>) {
        self.samplers.push(Arc::clone(sampler));
    }

    /// Takes note that a command reads a buffer.
    pub fn reads(&mut self, buffer: &Arc<Buffer>) {
        buffer.mark_used(self.value);
        self.buffers.push(Arc::clone(buffer));
    }

    /// Takes note that a command may write a buffer.
    pub fn writes(&mut self, buffer: &Arc<Buffer>) {
        buffer.mark_written(self.value);
        self.reads(buffer);
    }

    /// Keeps a pipeline until the batch is done.
    pub fn runs(&mut self, pipeline: &Arc<Pipeline>) {
        self.pipelines.push(Arc::clone(pipeline));
    }

    /// Names of the kernels in it.
    pub fn kernels(&self) -> impl Iterator<Item = &str> {
        self.pipelines.iter().map(|p| p.name.as_str())
    }

    /// Puts small data where a launch of this batch can read it: the buffer, and the first byte in it.
    pub fn scratch(
        &mut self,
        device: &Device,
        memory: &Arc<Memory>,
        data: &[u8],
    ) -> Result<(Arc<Buffer>, u64), Error> {
        let align = device.physical.limits.min_storage_buffer_offset_alignment;
        let size = (data.len() as u64).max(1);
        let scratch = &mut self.scratch;
        loop {
            if scratch.current == scratch.buffers.len() {
                let buffer = memory.create(SCRATCH.max(size), MemoryLocation::CpuToGpu)?;
                scratch.buffers.push(Arc::new(buffer));
            }
            let buffer = &scratch.buffers[scratch.current];
            let at = scratch.used.next_multiple_of(align.max(1));
            if at + size <= buffer.size {
                buffer.write(at, data)?;
                scratch.used = at + size;
                return Ok((Arc::clone(buffer), at));
            }
            scratch.current += 1;
            scratch.used = 0;
        }
    }

    /// Stamps the time before a launch, or after it.
    pub fn stamp(&mut self, device: &Device, kernel: Kernel, is_end: bool) {
        let Some(stamps) = &self.stamps else { return };
        let number = 2 * self.timed.len() as u32 + u32::from(is_end);
        let stage = vk::PipelineStageFlags::COMPUTE_SHADER;
        // SAFETY: the commands are being recorded; a batch has no more launches than the pool has pairs.
        unsafe {
            device
                .raw()
                .cmd_write_timestamp(self.commands, stage, **stamps, number);
        }
        if is_end {
            self.timed.push(kernel);
        }
    }

    /// How long the launches took, once they are done.
    pub fn times(&mut self, device: &Device) -> Vec<(Kernel, Duration)> {
        let timed = std::mem::take(&mut self.timed);
        let (Some(stamps), false) = (&self.stamps, timed.is_empty()) else {
            return Vec::new();
        };
        let mut values = vec![0_u64; 2 * timed.len()];
        let flags = vk::QueryResultFlags::TYPE_64;
        // SAFETY: the pool has the queries, and the values have room for them.
        let got = unsafe {
            device
                .raw()
                .get_query_pool_results(**stamps, 0, &mut values, flags)
        };
        if got.is_err() {
            return Vec::new();
        }
        let (mask, period) = device.physical.timestamps.unwrap_or((0, 1.0));
        let (pairs, _) = values.as_chunks::<2>();
        let spans = pairs.iter().map(|[start, end]| {
            let ticks = end.wrapping_sub(*start) & mask;
            Duration::from_nanos((ticks as f64 * f64::from(period)) as u64)
        });
        timed.into_iter().zip(spans).collect()
    }

    /// Lets go of what was used, once it is done.
    pub fn clear(&mut self) -> Result<(), Error> {
        self.recorded = 0;
        self.buffers.clear();
        self.images.clear();
        self.samplers.clear();
        self.pipelines.clear();
        self.scratch.current = 0;
        self.scratch.used = 0;
        self.pools.reset()
    }
}
