//! Timestamps: times of launches by the device's clock.

use super::super::device::{OwnedHandle, VulkanDevice};
use super::MOST_COMMANDS;
use crate::profile::LaunchTime;
use crate::{DeviceError, KernelHandle};
use ash::vk;
use std::sync::Arc;
use std::time::Duration;

/// Most timestamps of a batch: two for each launch that it can have.
const TIMESTAMP_COUNT: u32 = 2 * MOST_COMMANDS as u32;

/// Two timestamps for each launch of a batch, where launches are timed.
#[derive(Default)]
pub struct LaunchTimestamps {
    pool: Option<OwnedHandle<vk::QueryPool>>,
    timed: Vec<KernelHandle>,
}

impl LaunchTimestamps {
    /// Timestamps of a batch whose launches are timed. The device's queue has to have timestamps.
    ///
    /// # Errors
    /// When there is no memory for them.
    pub fn new(device: &Arc<VulkanDevice>) -> Result<LaunchTimestamps, DeviceError> {
        let info = vk::QueryPoolCreateInfo::default()
            .query_type(vk::QueryType::TIMESTAMP)
            .query_count(TIMESTAMP_COUNT);
        // SAFETY: the device is alive, and its queue has timestamps.
        let made = unsafe { device.raw().create_query_pool(&info, None) };
        Ok(LaunchTimestamps {
            pool: Some(OwnedHandle::new(device, "vkCreateQueryPool", made)?),
            timed: Vec::new(),
        })
    }

    /// Resets the queries for a batch that begins.
    pub fn reset_queries(&self, device: &VulkanDevice, commands: vk::CommandBuffer) {
        let Some(pool) = &self.pool else { return };
        // SAFETY: the commands are being recorded; the pool has as many queries.
        unsafe {
            device
                .raw()
                .cmd_reset_query_pool(commands, **pool, 0, TIMESTAMP_COUNT);
        }
    }

    /// Records the time before a launch, or after it.
    pub fn record_timestamp(
        &mut self,
        device: &VulkanDevice,
        commands: vk::CommandBuffer,
        kernel: KernelHandle,
        is_end: bool,
    ) {
        let Some(pool) = &self.pool else { return };
        let number = 2 * self.timed.len() as u32 + u32::from(is_end);
        let stage = vk::PipelineStageFlags::COMPUTE_SHADER;
        // SAFETY: the commands are being recorded; a batch has no more launches than the pool has pairs.
        unsafe {
            device
                .raw()
                .cmd_write_timestamp(commands, stage, **pool, number);
        }
        if is_end {
            self.timed.push(kernel);
        }
    }

    /// Times of the launches, once they are done.
    pub fn take_times(&mut self, device: &VulkanDevice) -> Vec<LaunchTime> {
        let timed = std::mem::take(&mut self.timed);
        let (Some(pool), false) = (&self.pool, timed.is_empty()) else {
            return Vec::new();
        };
        let mut values = vec![0_u64; 2 * timed.len()];
        let flags = vk::QueryResultFlags::TYPE_64;
        // SAFETY: the pool has the queries, and the values have room for them.
        let got = unsafe {
            device
                .raw()
                .get_query_pool_results(**pool, 0, &mut values, flags)
        };
        if got.is_err() {
            return Vec::new();
        }
        let (mask, period) = device.physical.timestamps.unwrap_or((0, 1.0));
        let (pairs, _) = values.as_chunks::<2>();
        let origin = values[0];
        let measure = |from: u64, to: u64| {
            let ticks = to.wrapping_sub(from) & mask;
            Duration::from_nanos((ticks as f64 * f64::from(period)) as u64)
        };
        let spans = pairs
            .iter()
            .map(|[start, end]| [measure(origin, *start), measure(*start, *end)]);
        LaunchTime::align_all(&timed.into_iter().zip(spans).collect::<Vec<_>>())
    }
}
