//! Recording work, submitting it, waiting for it.
//!
//! Commands are collected in a batch, which is recorded and submitted when it is long, waited for, or the device
//! has nothing else to do; preferably before a command that has to wait for the last ones, as what is in different batches
//! never runs side by side. Where a program asks for what a batch that is done was recorded for, in the same order, that batch is
//! handed over again as it is (`command_replay`). Such batches are held while the device is busy, and become one if there are several: they
//! ended where a run before found the device idle. The timeline counts batches: a buffer knows the value at which the last command that writes it is done, so
//! that reading it waits for that alone. A batch that is done is used again with its command buffer and its
//! descriptor pools. Cost: as many batches as were in flight at once.

use self::batch::CommandBatch;
use self::command::BatchCommand;
mod batch;
mod command;
mod command_replay;
mod dependency_levels;
mod recycled_resources;
mod timestamps;

pub use batch::CommandBatch;
pub use command::{BatchCommand, DispatchCommand};
pub use dependency_levels::{BufferAccess, CommandAccesses, CommandKind, FEW};
pub use recycled_resources::RecycledResources;

use super::device::{OwnedHandle, VulkanDevice};
use super::error::VulkanCallResult;
use super::memory::VulkanBuffer;
use crate::{DeviceError, DeviceKernel, DeviceKind, KernelLaunch};
use ash::vk;
use command_replay::{LaunchRecording, SubmitPolicy};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Commands of a batch after which it is submitted.
pub const LONGEST: usize = 128;

/// Commands from which on a batch is submitted to a device that has nothing else to do, so that it works
/// while more is recorded; and those from which on that is done even if the next command could run beside the last ones.
const SHORT: usize = 4;
const MIDDLE: usize = 16;

/// Batches that are kept to be handed over again.
const KEPT: usize = 64;

/// How long the end of work on a graphics card is looked for before the thread sleeps until it is
/// woken, which takes longer than many kernels do.
const LOOK: Duration = Duration::from_micros(500);

/// How a queue is driven.
#[derive(Clone, Copy, Default)]
pub struct QueueSettings {
    /// Longest time that work is waited for.
    pub timeout: Option<Duration>,
    /// Whether launches are timed.
    pub times: bool,
}

/// The queue of a device.
pub struct VulkanQueue {
    running: VecDeque<Box<CommandBatch>>,
    open: Option<Box<CommandBatch>>,
    /// Batches to be handed over again, before the open one.
    held: VecDeque<Box<CommandBatch>>,
    /// A batch that was begun while there was nothing else to do.
    ready: Option<Box<CommandBatch>>,
    /// Batches that are done, the one that has been for longest first.
    idle: VecDeque<Box<CommandBatch>>,
    /// Value of the timeline when everything submitted is done, and that when what is known to be done is.
    submitted: u64,
    done: u64,
    /// Why nothing can be submitted any more.
    lost: Option<DeviceError>,
    /// Whether work may still be running that nobody waits for.
    abandoned: bool,
    /// Whether each command waits for all before it.
    ordered: bool,
    times: Vec<(DeviceKernel, Duration)>,
    settings: QueueSettings,
    objects: Arc<QueueObjects>,
    raw: vk::Queue,
    device: Arc<VulkanDevice>,
}

/// What work that is running needs.
struct QueueObjects {
    timeline: OwnedHandle<vk::Semaphore>,
    pool: OwnedHandle<vk::CommandPool>,
}

impl VulkanQueue {
    /// The device's queue.
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
            running: VecDeque::new(),
            open: None,
            held: VecDeque::new(),
            ready: None,
            idle: VecDeque::new(),
            submitted: 0,
            done: 0,
            lost: None,
            abandoned: false,
            ordered: false,
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

    /// Records a command of which nothing is known: it waits for all before it, and all that follow wait for it.
    pub fn record_exclusive(
        &mut self,
        command: impl FnOnce(&VulkanDevice, &mut CommandBatch) -> Result<(), DeviceError>,
    ) -> Result<(), DeviceError> {
        self.make_way(None)?;
        self.change_open_batch(|device, batch| {
            batch.tape.mark_unrepeatable();
            batch.begin_fenced_command(device);
            command(device, batch)
        })
    }

    /// Has every command wait for all before it, from now on: launches may reach buffers that are not told of.
    pub fn order_all(&mut self) {
        self.ordered = true;
    }

    /// Adds a command that uses nothing but what is told, which runs as soon as the commands that it has to wait for
    /// are done. Launches that are timed run alone. One that is a launch, as it was asked for, may be repeated.
    pub fn add_command(
        &mut self,
        launch: Option<&KernelLaunch>,
        uses: Option<&CommandAccesses>,
        command: impl FnOnce(&VulkanDevice, &mut CommandBatch) -> Result<BatchCommand, DeviceError>,
    ) -> Result<(), DeviceError> {
        let uses = uses.filter(|_| !self.ordered && !self.settings.times);
        self.make_way(uses)?;
        self.change_open_batch(|device, batch| {
            let command = command(device, batch)?;
            batch.tape.note_command(launch, uses, &command);
            batch.add_command(device, uses, command);
            Ok(())
        })
    }

    /// Does a launch with what was recorded for it in a batch that is done, if everything asked for since that batch began
    /// is the same; else nothing is done. `note` is told how each of what is bound is used, and the value of the timeline
    /// when that is done.
    pub fn replay_launch(
        &mut self,
        launch: &KernelLaunch,
        mut note: impl FnMut(usize, &BufferAccess, u64),
    ) -> Result<bool, DeviceError> {
        if self.ordered {
            return Ok(false);
        }
        let is_other =
            |batch: &CommandBatch| batch.tape.is_followed() && !batch.tape.is_next(launch);
        if self.open.as_deref().is_some_and(is_other) && !self.change_over(launch)? {
            self.hold_followed_batch()?;
        }
        if self.open.is_none() {
            self.open = self.recorded_for(launch)?;
        }
        let followed = self.open.as_mut();
        let Some(batch) = followed.filter(|batch| batch.tape.is_followed()) else {
            return Ok(false);
        };
        let value = batch.value;
        let uses = batch.tape.follow_next();
        for (at, used) in uses.iter().enumerate() {
            note(at, used, value);
        }
        if batch.tape.is_whole() {
            self.hold_whole_batch();
            let count: usize = self.held.iter().map(|batch| batch.tape.len()).sum();
            if count >= LONGEST {
                self.submit_held()?;
            } else if self.is_hasty() && self.is_idle()? {
                self.submit_early()?;
            }
        }
        Ok(true)
    }

    /// Whether what is held may be handed over before more is asked for.
    fn is_hasty(&self) -> bool {
        let last = self.held.back();
        last.is_some_and(|batch| batch.tape.haste != SubmitPolicy::Patient)
    }

    /// Has the open batch held, where all that it was recorded for was asked for again.
    fn hold_whole_batch(&mut self) {
        let whole = self.open.take_if(|batch| batch.tape.is_whole());
        self.held.extend(whole);
    }

    /// Has what was asked for of the open batch held, where that is followed: all of it, or by another one that is for just that.
    fn hold_followed_batch(&mut self) -> Result<(), DeviceError> {
        self.hold_whole_batch();
        let Some(mut followed) = self.open.take_if(|batch| batch.tape.is_followed()) else {
            return Ok(());
        };
        let batch = match self.take_idle(|tape| tape.ends_with(&followed.tape))? {
            Some(mut batch) => {
                batch.replace_followed(&mut followed);
                batch
            }
            None => {
                let mut batch = self.take_empty_batch()?;
                batch.take_part(&mut followed);
                batch
            }
        };
        self.held.push_back(batch);
        followed.release_finished()?;
        self.idle.push_front(followed);
        Ok(())
    }

    /// A batch that is done and was recorded for a launch and what followed it then.
    fn recorded_for(
        &mut self,
        launch: &KernelLaunch,
    ) -> Result<Option<Box<CommandBatch>>, DeviceError> {
        self.check_lost()?;
        let mut batch = self.take_idle(|tape| tape.begins_with(launch))?;
        if let Some(batch) = &mut batch {
            batch.value = self.submitted + self.held.len() as u64 + 1;
            batch.tape.begin_following();
        }
        Ok(batch)
    }

    /// Follows another batch in the place of the open one, recorded for the same so far and for a launch next, if there is one.
    fn change_over(&mut self, launch: &KernelLaunch) -> Result<bool, DeviceError> {
        let Some(mut left) = self.open.take() else {
            return Ok(false);
        };
        match self.take_idle(|tape| tape.goes_on(&left.tape, launch)) {
            Ok(Some(mut batch)) => {
                batch.replace_followed(&mut left);
                self.open = Some(batch);
                left.release_finished()?;
                self.idle.push_front(left);
                Ok(true)
            }
            none => {
                self.open = Some(left);
                none.map(|_| false)
            }
        }
    }

    /// Takes the longest batch of those with such a tape; who follows it may still change over to another.
    fn take_idle(
        &mut self,
        is_wanted: impl Fn(&LaunchRecording) -> bool,
    ) -> Result<Option<Box<CommandBatch>>, DeviceError> {
        let find = |idle: &VecDeque<Box<CommandBatch>>| {
            let wanted = idle.iter().enumerate().filter(|(_, b)| is_wanted(&b.tape));
            wanted.max_by_key(|(_, b)| b.tape.len()).map(|(at, _)| at)
        };
        let mut found = find(&self.idle);
        if found.is_none() && !self.running.is_empty() {
            let done = self.query_timeline()?;
            self.retire_batches(done)?;
            found = find(&self.idle);
        }
        Ok(found.and_then(|at| self.idle.remove(at)))
    }

    /// Takes note that what is being recorded is out of the ordinary, and not worth to be handed over again.
    pub fn mark_unrepeatable(&mut self) {
        if let Some(batch) = self.open.as_mut().filter(|b| !b.tape.is_followed()) {
            batch.tape.mark_unrepeatable();
        }
    }

    /// Submits the open batch if that is due before a command, of which nothing may be known.
    fn make_way(&mut self, uses: Option<&CommandAccesses>) -> Result<(), DeviceError> {
        let Some(batch) = &self.open else {
            return Ok(());
        };
        let is_due = match batch.count {
            LONGEST.. => return self.submit_recorded(),
            SHORT.. => self.is_idle()? && (batch.count >= MIDDLE || batch.needs_wait(uses)),
            _ => false,
        };
        if is_due { self.submit_early() } else { Ok(()) }
    }

    /// Hands what is recorded to a device that has nothing else to do.
    fn submit_early(&mut self) -> Result<(), DeviceError> {
        self.submit_recorded()?;
        if let Some(batch) = self.running.back_mut() {
            batch.tape.haste = SubmitPolicy::Hasty;
        }
        Ok(())
    }

    /// Changes the open batch.
    fn change_open_batch(
        &mut self,
        change: impl FnOnce(&VulkanDevice, &mut CommandBatch) -> Result<(), DeviceError>,
    ) -> Result<(), DeviceError> {
        self.hold_followed_batch()?;
        self.submit_held()?;
        let mut batch = match self.open.take() {
            Some(batch) => batch,
            None => self.begin_batch()?,
        };
        let done = change(&self.device, &mut batch);
        self.open = Some(batch);
        done
    }

    /// Whether everything submitted is done.
    fn is_idle(&self) -> Result<bool, DeviceError> {
        Ok(self.query_timeline()? >= self.submitted)
    }

    /// The value that the timeline has.
    fn query_timeline(&self) -> Result<u64, DeviceError> {
        // SAFETY: the timeline is alive.
        let value = unsafe {
            self.device
                .raw()
                .get_semaphore_counter_value(*self.objects.timeline)
        };
        value.check_call("vkGetSemaphoreCounterValue")
    }

    /// Looks whether the timeline has a value, for a moment. A device that is the host's own
    /// processor needs it for the work.
    fn looks_until(&self, value: u64) -> bool {
        if self.device.physical.info.kind == DeviceKind::Cpu {
            return false;
        }
        let start = Instant::now();
        loop {
            // What goes wrong is told by the wait that follows.
            match self.query_timeline() {
                Ok(reached) if reached >= value => return true,
                Ok(_) if start.elapsed() < LOOK => std::hint::spin_loop(),
                _ => return false,
            }
        }
    }

    /// Whether a value of the timeline is known to be reached; `None` stands for all that is recorded.
    pub fn is_done(&self, value: Option<u64>) -> bool {
        match value {
            Some(value) => value <= self.done,
            None => self.open.is_none() && self.held.is_empty() && self.submitted <= self.done,
        }
    }

    /// Keeps a buffer until everything recorded so far is done.
    pub fn keep_buffer(&mut self, buffer: Arc<VulkanBuffer>) {
        let last = self.held.back_mut().or(self.running.back_mut());
        if let Some(batch) = self.open.as_mut().or(last) {
            batch.keep_buffer(buffer);
        }
    }

    /// Waits until everything recorded is done.
    pub fn finish_all(&mut self) -> Result<(), DeviceError> {
        self.submit_recorded()?;
        self.wait_for(self.submitted)
    }

    /// Waits until the timeline has a value.
    pub fn wait_for(&mut self, value: u64) -> Result<(), DeviceError> {
        if value <= self.done {
            return Ok(());
        }
        // All of it, also what is not waited for: the host has nothing to add before it knows.
        self.submit_recorded()?;
        self.check_lost()?;
        // What could not be submitted will never be done; batches that were joined are done together, at the value of the last.
        let mut running = self.running.iter().map(|batch| batch.value);
        let value = running.find(|v| *v >= value).unwrap_or(self.submitted);
        if self.ready.is_none() {
            self.ready = Some(self.begin_batch()?);
        }
        if self.looks_until(value) {
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
                // A device that was lost runs nothing any more.
                self.retire_batches(u64::MAX)?;
                Err(error)
            }
        }
    }

    /// Times of launches that are done.
    pub fn take_times(&mut self) -> Vec<(DeviceKernel, Duration)> {
        std::mem::take(&mut self.times)
    }

    /// Whether work may still be running that nobody waits for, so that nothing it uses may go.
    pub fn is_abandoned(&self) -> bool {
        self.abandoned
    }

    fn check_lost(&self) -> Result<(), DeviceError> {
        self.lost.clone().map_or(Ok(()), Err)
    }

    /// Takes note that the device is of no use any more; the error, with the kernels that may have caused it.
    fn mark_lost(&mut self, error: DeviceError) -> DeviceError {
        let error = self.blame_kernels(error);
        self.lost.get_or_insert(error).clone()
    }

    /// Hands what is recorded to the device.
    fn submit_recorded(&mut self) -> Result<(), DeviceError> {
        self.hold_followed_batch()?;
        self.submit_held()?;
        self.open
            .take()
            .map_or(Ok(()), |batch| self.hand_over(batch))
    }

    /// Hands what is held to the device, as one batch.
    fn submit_held(&mut self) -> Result<(), DeviceError> {
        let mut held = std::mem::take(&mut self.held).into_iter();
        let Some(mut batch) = held.next() else {
            return Ok(());
        };
        for mut next in held {
            batch.append_batch(&mut next);
            self.idle.push_back(next);
        }
        self.hand_over(batch)
    }

    fn hand_over(&mut self, mut batch: Box<CommandBatch>) -> Result<(), DeviceError> {
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
        // `running` until the timeline says that they are done.
        let submitted = unsafe { functions.queue_submit(self.raw, &[info], vk::Fence::null()) };
        if let Some(before) = self.running.back_mut() {
            before.tape.is_before(&batch.tape, MIDDLE);
        }
        self.running.push_back(batch);
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
        if let Some(mut batch) = self.ready.take() {
            // Others may have been handed over since it was begun.
            batch.value = self.submitted + 1;
            return Ok(batch);
        }
        let done = self.query_timeline()?;
        self.retire_batches(done)?;
        let mut batch = self.take_empty_batch()?;
        batch.begin_recording(&self.device, self.submitted + 1)?;
        Ok(batch)
    }

    /// An empty batch: one that is not worth to be kept, or a new one.
    fn take_empty_batch(&mut self) -> Result<Box<CommandBatch>, DeviceError> {
        let mut idle = self.idle.iter();
        let unused = idle.position(|batch| !batch.tape.is_kept());
        let oldest = (self.idle.len() >= KEPT).then_some(0);
        let Some(mut batch) = unused.or(oldest).and_then(|at| self.idle.remove(at)) else {
            let (pool, is_timed) = (*self.objects.pool, self.settings.times);
            return Ok(Box::new(CommandBatch::new(&self.device, pool, is_timed)?));
        };
        if batch.tape.is_kept() {
            batch.release_all()?;
        }
        Ok(batch)
    }

    /// Lets go of what the batches up to a value of the timeline used.
    fn retire_batches(&mut self, done: u64) -> Result<(), DeviceError> {
        self.done = self.done.max(done.min(self.submitted));
        while let Some(mut batch) = self.running.pop_front_if(|batch| batch.value <= done) {
            self.times.extend(batch.stamps.take_durations(&self.device));
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
        let running = self.running.iter();
        let mut names: Vec<_> = running.flat_map(|batch| batch.kernel_names()).collect();
        names.sort_unstable();
        names.dedup();
        match names.is_empty() {
            true => error,
            false => DeviceError::Failed(format!("{text}, while running {}", names.join(", "))),
        }
    }
}

impl Drop for VulkanQueue {
    fn drop(&mut self) {
        if self.abandoned {
            // They keep the device with everything that the running work uses.
            std::mem::forget(std::mem::take(&mut self.running));
            std::mem::forget(Arc::clone(&self.objects));
        } else if !self.running.is_empty() {
            self.device.wait_idle();
        }
    }
}
