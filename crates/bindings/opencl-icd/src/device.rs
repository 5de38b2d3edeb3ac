//! Devices: their facts, and the device of the runtime, which is opened when a context needs it.

use crate::error::CallResult;
use crate::handle::{ObjectHandle, declare_object};
use crate::scheduler::DeviceScheduler;
use spirula_runtime::{ComputeDevice, DeviceInfo, DeviceKind, DeviceOptions, find_cache_folder};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// A device of the platform.
pub struct ClDevice {
    pub(crate) handle: ObjectHandle<ClDevice>,
    /// Facts of the runtime's device.
    pub info: DeviceInfo,
    opened: Mutex<Option<Arc<DeviceScheduler>>>,
}

declare_object!(ClDevice, "device", CL_INVALID_DEVICE);

impl ClDevice {
    /// A device that is not opened yet.
    pub fn new(handle: ObjectHandle<ClDevice>, info: DeviceInfo) -> ClDevice {
        ClDevice {
            handle,
            info,
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
        let device = ComputeDevice::open(&self.info.id, &choose_options())?;
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

/// The options of devices: `SPIRULA_TIMEOUT` is the longest time of a launch in seconds.
fn choose_options() -> DeviceOptions {
    let seconds = std::env::var("SPIRULA_TIMEOUT").ok();
    let seconds = seconds.and_then(|text| text.parse::<f64>().ok());
    let timeout = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    DeviceOptions {
        timeout: timeout.filter(|timeout| !timeout.is_zero()),
        cache: find_cache_folder(),
        ..DeviceOptions::default()
    }
}
