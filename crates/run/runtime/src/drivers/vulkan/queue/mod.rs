//! The queue: commands are recorded in batches, submitted, waited for, and replayed where a program repeats itself.
//!
//! # States of a batch
//!
//! ```text
//!            a command that no                 it is long, due or waited for
//!            batch was recorded for
//!   ┌──────┐ ─────────────────────► ┌───────────┐ ──────────────────────────────────► ┌───────────┐
//!   │ idle │                        │ recording │                                     │ submitted │
//!   │      │ ─────────────────────► ├───────────┤ ─────────► ┌──────┐ ──────────────► │           │
//!   └──────┘ a command that it      │ replaying │ all of its │ held │ the device is   └───────────┘
//!      ▲     was recorded for       └───────────┘ commands   └──────┘ idle, or              │
//!      │                                          came again          something waits       │
//!      └────────────────────────────────────────────────────────────────────────────────────┘
//!                              the timeline has the batch's value
//! ```
//!
//! - *Recording*: [`VulkanQueue::add_command`] appends commands to the current batch. Each command gets a dependency level
//!   (`dependency_levels`); commands of a level run concurrently, and a barrier separates levels. A batch is submitted when
//!   it is long, when something waits for it, or when the device is idle. In the last case the batch ends preferably
//!   before a command that has to wait for the last ones, since commands of different batches never run concurrently.
//! - *Replaying*: a finished batch keeps the launches, copies and fills that it was recorded for (`launch_recording`,
//!   `command_replay`). [`VulkanQueue::replay_command`] compares each one with them. While they are equal nothing is recorded. At the
//!   first difference another batch with the same prefix takes its place; if there is none, a new batch is made of the prefix.
//! - *Held*: a batch all of whose commands came again waits for the device. Several held batches become one when they are
//!   submitted: they ended where an earlier run found the device idle.
//! - *Submitted*: batches are in flight in order. The timeline semaphore counts them. A buffer knows the value at which the last
//!   command that writes it is done, so that reading it waits for that command alone.
//! - *Idle*: a finished batch is reused with its command buffer and its descriptor pools.
//!
//! Cost: as many batches as were in flight at once.

mod batch;
mod command;
mod command_replay;
mod dependency_levels;
mod launch_recording;
mod recycled_resources;
mod repeatable_command;
mod timestamps;

pub use batch::CommandBatch;
pub use command::{BatchCommand, DispatchCommand};
pub use dependency_levels::{BufferAccess, CommandAccesses, CommandKind, FEW_BUFFERS};
pub use recycled_resources::RecycledResources;
pub use repeatable_command::{CommandWork, RepeatableCommand, bind_range};

use super::device::{OwnedHandle, VulkanDevice};
use super::error::VulkanCallResult;
use super::memory::VulkanBuffer;
use crate::profile::LaunchTime;
use crate::{DeviceError, DeviceKind};
use ash::vk;
use launch_recording::SubmitPolicy;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Commands of a batch after which it is submitted.
pub const MOST_COMMANDS: usize = 128;

/// Commands after which a batch is submitted to an idle device, so that the device works while more is recorded: the least
/// number, and the number from which on this happens even if the next command could run beside the last ones.
const EARLY_COMMANDS: usize = 4;
const LATEST_EARLY_COMMANDS: usize = 16;

/// Most batches that are kept to be replayed.
const MOST_KEPT_BATCHES: usize = 64;

/// Time for which the host polls the timeline of a graphics card before its thread sleeps. Being woken takes longer than
/// many kernels run.
const SPIN_TIME: Duration = Duration::from_micros(500);

/// Settings of a queue.
#[derive(Clone, Copy, Default)]
pub struct QueueSettings {
    /// Longest time to wait for work.
    pub timeout: Option<Duration>,
    /// Whether launches are timed.
    pub times: bool,
}

/// The queue of a device.
pub struct VulkanQueue {
    in_flight: VecDeque<Box<CommandBatch>>,
    current: Option<Box<CommandBatch>>,
    /// Batches to be submitted again, before the current one.
    held: VecDeque<Box<CommandBatch>>,
    /// A batch that was begun while the host waited for the device.
    prepared: Option<Box<CommandBatch>>,
    /// Finished batches, the oldest first.
    idle: VecDeque<Box<CommandBatch>>,
    /// Values of the timeline: when everything submitted is done, and the greatest that is known to be reached.
    submitted: u64,
    done: u64,
    /// The error after which nothing can be submitted any more.
    lost: Option<DeviceError>,
    /// Whether work may still be in flight that nobody waits for.
    abandoned: bool,
    /// Whether each command waits for all before it.
    ordered: bool,
    /// Value of the timeline when the last command that may access any buffer is done.
    unbounded: u64,
    times: Vec<LaunchTime>,
    settings: QueueSettings,
    objects: Arc<QueueObjects>,
    raw: vk::Queue,
    device: Arc<VulkanDevice>,
}

/// Objects that work in flight needs.
struct QueueObjects {
    timeline: OwnedHandle<vk::Semaphore>,
    pool: OwnedHandle<vk::CommandPool>,
}

impl VulkanQueue {
    /// The queue of a device.
    ///
    /// # Errors
    /// When its semaphore or command pool cannot be created.
    pub fn new(
        device: &Arc<VulkanDevice>,
        settings: QueueSettings,
    ) -> Result<VulkanQueue, DeviceError> {
        let functions = device.raw();
        let mut kind =
            vk::SemaphoreTypeCreateInfo::default().semaphore_type(vk::SemaphoreType::TIMELINE);
        let info = vk::SemaphoreCreateInfo::default().push_next(&mut kind);
        // SAFETY: the device is alive and has timelines, as all of Vulkan 1.2.
        let timeline = unsafe { functions.create_semaphore(&info, None) };
        let timeline = OwnedHandle::new(device, "vkCreateSemaphore", timeline)?;
        let info = vk::CommandPoolCreateInfo::default()
            .queue_family_index(device.family)
            .flags(vk::CommandPoolCreateFlags::RESET_COMMAND_BUFFER);
        // SAFETY: the device was opened with the family.
        let pool = unsafe { functions.create_command_pool(&info, None) };
        let pool = OwnedHandle::new(device, "vkCreateCommandPool", pool)?;
        // SAFETY: the device was opened with one queue of the family.
        let raw = unsafe { functions.get_device_queue(device.family, 0) };
        Ok(VulkanQueue {
            in_flight: VecDeque::new(),
            current: None,
            held: VecDeque::new(),
            prepared: None,
            idle: VecDeque::new(),
            submitted: 0,
            done: 0,
            lost: None,
            abandoned: false,
            ordered: false,
            unbounded: 0,
            times: Vec::new(),
            settings: QueueSettings {
                times: settings.times && device.physical.timestamps.is_some(),
                ..settings
            },
            objects: Arc::new(QueueObjects { timeline, pool }),
            raw,
            device: Arc::clone(device),
        })
    }

    /// Records a command whose accesses are unknown: it waits for all before it, and all that follow wait for it.
    pub fn record_exclusive(
        &mut self,
        command: impl FnOnce(&VulkanDevice, &mut CommandBatch) -> Result<(), DeviceError>,
    ) -> Result<(), DeviceError> {
        self.submit_if_due(None)?;
        self.change_open_batch(|device, batch| {
            batch.recording.mark_unrepeatable();
            batch.begin_fenced_command(device);
            command(device, batch)
        })
    }

    /// From now on every command waits for all before it: launches may reach buffers that are not among their bindings.
    pub fn order_all(&mut self) {
        self.ordered = true;
    }

    /// Notes that the command that was added last may access any buffer.
    pub fn note_unbounded_access(&mut self) {
        if let Some(batch) = &self.current {
            self.unbounded = batch.value;
        }
    }

    /// Adds a command that accesses nothing but `uses`; it runs as soon as the commands that it depends on are done. Launches
    /// that are timed run alone. A command for what is `asked` can be replayed.
    pub fn add_command(
        &mut self,
        asked: Option<&RepeatableCommand<'_>>,
        uses: Option<&CommandAccesses>,
        command: impl FnOnce(&VulkanDevice, &mut CommandBatch) -> Result<BatchCommand, DeviceError>,
    ) -> Result<(), DeviceError> {
        let uses = uses.filter(|_| !self.ordered && !self.settings.times);
        self.submit_if_due(uses)?;
        self.change_open_batch(|device, batch| {
            let command = command(device, batch)?;
            batch.recording.note_command(asked, uses, &command);
            batch.add_command(device, uses, command);
            Ok(())
        })
    }

    /// Submits the current batch, if that is due before a command whose accesses may be unknown.
    fn submit_if_due(&mut self, uses: Option<&CommandAccesses>) -> Result<(), DeviceError> {
        let Some(batch) = &self.current else {
            return Ok(());
        };
        let is_due = match batch.count {
            MOST_COMMANDS.. => return self.submit_recorded(),
            EARLY_COMMANDS.. => {
                self.is_idle()? && (batch.count >= LATEST_EARLY_COMMANDS || batch.needs_wait(uses))
            }
            _ => false,
        };
        if is_due { self.submit_early() } else { Ok(()) }
    }

    /// Submits what is recorded to an idle device.
    fn submit_early(&mut self) -> Result<(), DeviceError> {
        self.submit_recorded()?;
        if let Some(batch) = self.in_flight.back_mut() {
            batch.recording.submit_policy = SubmitPolicy::Early;
        }
        Ok(())
    }

    /// Changes the current batch, which is begun if there is none.
    fn change_open_batch(
        &mut self,
        change: impl FnOnce(&VulkanDevice, &mut CommandBatch) -> Result<(), DeviceError>,
    ) -> Result<(), DeviceError> {
        self.hold_partial_replay()?;
        self.submit_held()?;
        let mut batch = match self.current.take() {
            Some(batch) => batch,
            None => self.begin_batch()?,
        };
        let done = change(&self.device, &mut batch);
        self.current = Some(batch);
        done
    }

    /// Whether everything submitted is done.
    fn is_idle(&self) -> Result<bool, DeviceError> {
        Ok(self.query_timeline()? >= self.submitted)
    }

    /// The value of the timeline.
    fn query_timeline(&self) -> Result<u64, DeviceError> {
        // SAFETY: the timeline is alive.
        let value = unsafe {
            self.device
                .raw()
                .get_semaphore_counter_value(*self.objects.timeline)
        };
        value.check_call("vkGetSemaphoreCounterValue")
    }

    /// Polls the timeline for a moment until it has a value. On a device that is the host's own processor this returns at
    /// once, since the processor is needed for the work.
    fn spin_until(&self, value: u64) -> bool {
        if self.device.physical.info.kind == DeviceKind::Cpu {
            return false;
        }
        let start = Instant::now();
        loop {
            // Errors are reported by the wait that follows.
            match self.query_timeline() {
                Ok(reached) if reached >= value => return true,
                Ok(_) if start.elapsed() < SPIN_TIME => std::hint::spin_loop(),
                _ => return false,
            }
        }
    }

    /// Whether the host may access a buffer, all known commands for which are done at a value of the timeline. `None`
    /// stands for all that is recorded.
    pub fn is_done(&self, value: Option<u64>) -> bool {
        match value {
            Some(value) => value.max(self.unbounded) <= self.done,
            None => self.current.is_none() && self.held.is_empty() && self.submitted <= self.done,
        }
    }

    /// Keeps a buffer until everything recorded so far is done.
    pub fn keep_buffer(&mut self, buffer: Arc<VulkanBuffer>) {
        let last = self.held.back_mut().or(self.in_flight.back_mut());
        if let Some(batch) = self.current.as_mut().or(last) {
            batch.keep_buffer(buffer);
        }
    }

    /// Submits everything recorded. Returns the value of the timeline at which it is done.
    pub fn submit_all(&mut self) -> Result<u64, DeviceError> {
        self.submit_recorded()?;
        Ok(self.submitted)
    }

    /// Waits until everything recorded is done.
    pub fn finish_all(&mut self) -> Result<(), DeviceError> {
        self.submit_recorded()?;
        self.wait_for(self.submitted)
    }

    /// Waits until the host may access a buffer, all known commands for which are done at a value of the timeline.
    /// `None` stands for all that is recorded.
    pub fn wait_for_access(&mut self, value: Option<u64>) -> Result<(), DeviceError> {
        match value {
            Some(value) => self.wait_for(value.max(self.unbounded)),
            None => self.finish_all(),
        }
    }

    /// Waits until the timeline has a value.
    pub fn wait_for(&mut self, value: u64) -> Result<(), DeviceError> {
        if value <= self.done {
            return Ok(());
        }
        // Everything is submitted, since the host adds nothing before the wait ends.
        self.submit_recorded()?;
        self.check_lost()?;
        // A batch that could not be submitted is never done. Batches that were joined are done together, at the value of the last.
        let mut values = self.in_flight.iter().map(|batch| batch.value);
        let value = values.find(|v| *v >= value).unwrap_or(self.submitted);
        if self.prepared.is_none() {
            self.prepared = Some(self.begin_batch()?);
        }
        if self.spin_until(value) {
            return self.retire_batches(value);
        }
        let (semaphores, values) = ([*self.objects.timeline], [value]);
        let info = vk::SemaphoreWaitInfo::default()
            .semaphores(&semaphores)
            .values(&values);
        let most = self.settings.timeout.map_or(u64::MAX, |t| {
            u64::try_from(t.as_nanos()).unwrap_or(u64::MAX)
        });
        // SAFETY: the timeline is alive, and the value is one that was submitted.
        let waited = unsafe { self.device.raw().wait_semaphores(&info, most) };
        match waited {
            Ok(()) => self.retire_batches(value),
            Err(vk::Result::TIMEOUT) => {
                let time = self.settings.timeout.unwrap_or_default();
                let text = format!("the device was not done after {time:?}");
                self.abandoned = true;
                Err(self.mark_lost(DeviceError::Failed(text)))
            }
            Err(result) => {
                let error = super::error::call_error("vkWaitSemaphores", result);
                let error = self.mark_lost(error);
                // A lost device runs nothing any more.
                self.retire_batches(u64::MAX)?;
                Err(error)
            }
        }
    }

    /// Measures the times of launches from now on, where the device can, or no longer. Nothing runs; batches that were recorded
    /// the other way are not replayed any more.
    pub fn measure_times(&mut self, is_on: bool) {
        if self.settings.times != is_on && self.device.physical.timestamps.is_some() {
            self.settings.times = is_on;
            self.prepared = None;
            self.idle.clear();
        }
    }

    /// Times of finished launches since the last call.
    pub fn take_times(&mut self) -> Vec<LaunchTime> {
        std::mem::take(&mut self.times)
    }

    /// Whether work may still be in flight that nobody waits for, so that its resources must not be freed.
    pub fn is_abandoned(&self) -> bool {
        self.abandoned
    }

    /// Whether the device was lost.
    pub fn is_lost(&self) -> bool {
        self.lost.is_some()
    }

    fn check_lost(&self) -> Result<(), DeviceError> {
        self.lost.clone().map_or(Ok(()), Err)
    }

    /// Notes that the device is lost; returns the error with the kernels that may have caused it.
    fn mark_lost(&mut self, error: DeviceError) -> DeviceError {
        let error = self.blame_kernels(error);
        self.lost.get_or_insert(error).clone()
    }

    /// Submits everything that is recorded.
    fn submit_recorded(&mut self) -> Result<(), DeviceError> {
        self.hold_partial_replay()?;
        self.submit_held()?;
        self.current
            .take()
            .map_or(Ok(()), |batch| self.submit_batch(batch))
    }

    /// Submits the held batches as one.
    fn submit_held(&mut self) -> Result<(), DeviceError> {
        let mut held = std::mem::take(&mut self.held).into_iter();
        let Some(mut batch) = held.next() else {
            return Ok(());
        };
        for mut next in held {
            batch.append_batch(&mut next);
            self.idle.push_back(next);
        }
        self.submit_batch(batch)
    }

    fn submit_batch(&mut self, mut batch: Box<CommandBatch>) -> Result<(), DeviceError> {
        batch.end_recording(&self.device)?;
        let functions = self.device.raw();
        let (commands, semaphores) = ([batch.commands], [*self.objects.timeline]);
        let values = [batch.value];
        let mut timeline =
            vk::TimelineSemaphoreSubmitInfo::default().signal_semaphore_values(&values);
        let info = vk::SubmitInfo::default()
            .command_buffers(&commands)
            .signal_semaphores(&semaphores)
            .push_next(&mut timeline);
        // SAFETY: the commands are complete, and the batch with all that they use is kept in
        // `in_flight` until the timeline says that they are done.
        let submitted = unsafe { functions.queue_submit(self.raw, &[info], vk::Fence::null()) };
        if let Some(before) = self.in_flight.back_mut() {
            before
                .recording
                .note_successor(&batch.recording, LATEST_EARLY_COMMANDS);
        }
        self.in_flight.push_back(batch);
        if let Err(e) = submitted.check_call("vkQueueSubmit") {
            let error = match submitted {
                Err(vk::Result::ERROR_DEVICE_LOST) => self.mark_lost(e),
                _ => self.blame_kernels(e),
            };
            self.device.wait_idle();
            self.retire_batches(u64::MAX)?;
            return Err(error);
        }
        self.submitted = values[0];
        Ok(())
    }

    fn begin_batch(&mut self) -> Result<Box<CommandBatch>, DeviceError> {
        self.check_lost()?;
        if let Some(mut batch) = self.prepared.take() {
            // Others may have been submitted since it was begun.
            batch.value = self.submitted + 1;
            return Ok(batch);
        }
        let done = self.query_timeline()?;
        self.retire_batches(done)?;
        let mut batch = self.take_empty_batch()?;
        batch.begin_recording(&self.device, self.submitted + 1)?;
        Ok(batch)
    }

    /// An empty batch: one that is not kept for replay, the oldest one if too many are kept, or a new one.
    fn take_empty_batch(&mut self) -> Result<Box<CommandBatch>, DeviceError> {
        let mut idle = self.idle.iter();
        let unused = idle.position(|batch| !batch.recording.is_kept());
        let oldest = (self.idle.len() >= MOST_KEPT_BATCHES).then_some(0);
        let Some(mut batch) = unused.or(oldest).and_then(|at| self.idle.remove(at)) else {
            let (pool, is_timed) = (*self.objects.pool, self.settings.times);
            return Ok(Box::new(CommandBatch::new(&self.device, pool, is_timed)?));
        };
        if batch.recording.is_kept() {
            batch.release_all()?;
        }
        Ok(batch)
    }

    /// Releases the resources of all batches up to a value of the timeline.
    fn retire_batches(&mut self, done: u64) -> Result<(), DeviceError> {
        self.done = self.done.max(done.min(self.submitted));
        while let Some(mut batch) = self.in_flight.pop_front_if(|batch| batch.value <= done) {
            self.times.extend(batch.timestamps.take_times(&self.device));
            batch.release_finished()?;
            self.idle.push_back(batch);
        }
        Ok(())
    }

    /// The error with the kernels that may have caused it.
    fn blame_kernels(&self, error: DeviceError) -> DeviceError {
        let DeviceError::Failed(text) = &error else {
            return error;
        };
        let batches = self.in_flight.iter();
        let mut names: Vec<_> = batches.flat_map(|batch| batch.kernel_names()).collect();
        names.sort_unstable();
        names.dedup();
        if names.is_empty() {
            return error;
        }
        DeviceError::Failed(format!("{text}, while running {}", names.join(", ")))
    }
}

impl Drop for VulkanQueue {
    fn drop(&mut self) {
        if self.abandoned {
            // They keep the device with everything that the work in flight uses.
            std::mem::forget(std::mem::take(&mut self.in_flight));
            std::mem::forget(Arc::clone(&self.objects));
        } else if !self.in_flight.is_empty() {
            self.device.wait_idle();
        }
    }
}
