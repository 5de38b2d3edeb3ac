//! Session of a profile: it begins and ends on all devices, and has what they noted.

use super::extension::OpaqueProfiler;
use super::space::{DevicePlane, write_space};
use crate::device::Device;
use crate::error::{PluginError, PluginResult};
use crate::handle::ApiObject;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Instant, SystemTime};

/// Whether a profile is being taken. Devices have one timeline.
static IS_TAKEN: AtomicBool = AtomicBool::new(false);

/// The time of the host by both clocks.
#[derive(Clone, Copy, Debug)]
pub struct ClockOrigin {
    pub instant: Instant,
    pub time: SystemTime,
}

/// The devices that take a profile, and its begin.
struct RunningProfile(Vec<Arc<Device>>, ClockOrigin);

/// A profile of all devices that there are when it begins.
#[derive(Default)]
pub struct ProfilerSession {
    running: Mutex<Option<RunningProfile>>,
    /// The bytes of the profile that has ended, an `XSpace`.
    ended: OnceLock<Vec<u8>>,
}

impl ApiObject for ProfilerSession {
    type Opaque = OpaqueProfiler;
    const NAME: &'static str = "profiler";
}

impl ProfilerSession {
    /// Begins the profile. While another one is taken, it has no devices: JAX takes one for each platform of the plugin, and
    /// the first has the devices of all.
    ///
    /// # Errors
    /// When the profile has ended before, or a device fails.
    pub fn start(&self) -> PluginResult<()> {
        if self.ended.get().is_some() {
            return Err(PluginError::invalid("the profile has ended"));
        }
        let mut running = self.lock_running();
        if running.is_some() || IS_TAKEN.swap(true, Ordering::AcqRel) {
            return Ok(());
        }
        let origin = ClockOrigin {
            instant: Instant::now(),
            time: SystemTime::now(),
        };
        let devices = Device::list_queue_owners();
        let begun = devices
            .iter()
            .try_for_each(|device| device.queue.run(|state| state.begin_timeline()));
        *running = Some(RunningProfile(devices, origin));
        drop(running);
        begun.inspect_err(|_| self.stop())
    }

    /// Ends the profile, once the devices have done their work. A device that fails has no part in it.
    pub fn stop(&self) {
        let Some(RunningProfile(devices, origin)) = self.lock_running().take() else {
            return;
        };
        let take = |device: &Arc<Device>| DevicePlane {
            name: format!("/device:CUSTOM:{}", device.description.text),
            timeline: device.queue.run(|state| state.end_timeline()),
        };
        let planes: Vec<DevicePlane> = devices.iter().map(take).collect();
        self.ended.get_or_init(|| write_space(&planes, origin));
        IS_TAKEN.store(false, Ordering::Release);
    }

    /// The profile as bytes of an `XSpace`, none before its end.
    pub fn bytes(&self) -> &[u8] {
        self.ended.get().map_or(&[], Vec::as_slice)
    }

    fn lock_running(&self) -> MutexGuard<'_, Option<RunningProfile>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for ProfilerSession {
    fn drop(&mut self) {
        self.stop();
    }
}
