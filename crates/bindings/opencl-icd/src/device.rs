//! Devices: their facts, and the device of the runtime, which is opened when a context needs it.

use crate::error::CallResult;
use crate::handle::{ObjectHandle, declare_object};
use crate::scheduler::DeviceScheduler;
use opencl_sys::cl_device_partition_property;
use spirula_runtime::{ComputeDevice, DeviceInfo, DeviceKind, DeviceOptions, find_cache_folder};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// A device of the platform.
pub struct ClDevice {
    pub(crate) handle: ObjectHandle<ClDevice>,
    /// Facts of the runtime's device.
    pub info: DeviceInfo,
    /// The share of another device, for a sub-device.
    pub share: Option<DeviceShare>,
    opened: Mutex<Option<Arc<DeviceScheduler>>>,
}

declare_object!(ClDevice, "device", CL_INVALID_DEVICE);

/// The part of a device that a sub-device is.
pub struct DeviceShare {
    /// The device that it is a part of.
    pub parent: Arc<ClDevice>,
    /// The threads that its launches may have.
    pub threads: usize,
    /// How the parent was divided, as the caller said it.
    pub partition: Vec<cl_device_partition_property>,
}

impl ClDevice {
    /// A part of the processor, which is not opened yet.
    ///
    /// # Errors
    /// When the processor cannot be opened with a given number of threads.
    pub fn part_of(handle: ObjectHandle<ClDevice>, share: DeviceShare) -> CallResult<ClDevice> {
        let options = choose_options(Some(share.threads));
        let device = ComputeDevice::open(&share.parent.info.id, &options)?;
        let mut made = ClDevice::new(handle, device.info().clone());
        made.share = Some(share);
        Ok(made)
    }

    /// The number of threads that launches may have at once; 0 for a device that is not the processor.
    pub fn count_threads(&self) -> usize {
        if self.is_processor() {
            self.info.compute_units as usize
        } else {
            0
        }
    }

    /// A device that is not opened yet.
    pub fn new(handle: ObjectHandle<ClDevice>, info: DeviceInfo) -> ClDevice {
        ClDevice {
            handle,
            info,
            share: None,
            opened: Mutex::new(None),
        }
    }

    /// Whether it is the processor, whose memory is that of the host.
    pub fn is_processor(&self) -> bool {
        self.info.kind == DeviceKind::Cpu && self.info.id.starts_with("cpu")
    }

    /// The scheduler of the device, which is opened if it is not yet.
    ///
    /// # Errors
    /// When the device cannot be opened.
    pub fn open_scheduler(&self) -> CallResult<Arc<DeviceScheduler>> {
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(scheduler) = &*opened {
            return Ok(scheduler.clone());
        }
        let threads = self.share.as_ref().map(|share| share.threads);
        let device = ComputeDevice::open(&self.info.id, &choose_options(threads))?;
        let scheduler = DeviceScheduler::start(device)?;
        *opened = Some(scheduler.clone());
        Ok(scheduler)
    }

    /// Most bytes of a buffer.
    pub fn max_buffer_size(&self) -> u64 {
        self.info.limits.buffer_size
    }

    /// Whether kernels may have doubles.
    pub fn has_doubles(&self) -> bool {
        self.is_processor() || self.info.special_values & 64 != 0
    }

    /// Whether kernels may compute with halves.
    pub fn has_halves(&self) -> bool {
        self.is_processor() || self.info.special_values & 16 != 0
    }
}

impl Drop for ClDevice {
    fn drop(&mut self) {
        let opened = self.opened.get_mut();
        if let Some(scheduler) = opened.unwrap_or_else(PoisonError::into_inner).take() {
            scheduler.end_thread();
        }
    }
}

/// The options of devices: `SPIRULA_TIMEOUT` is the longest time of a launch in seconds.
fn choose_options(threads: Option<usize>) -> DeviceOptions {
    let seconds = std::env::var("SPIRULA_TIMEOUT").ok();
    let seconds = seconds.and_then(|text| text.parse::<f64>().ok());
    let timeout = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    DeviceOptions {
        timeout: timeout.filter(|timeout| !timeout.is_zero()),
        cache: find_cache_folder(),
        threads,
        ..DeviceOptions::default()
    }
}
