//! Command queues: the order of the commands that callers enqueue.

use crate::context::ClContext;
use crate::device::ClDevice;
use crate::error::{CallError, CallResult};
use crate::event::{EventOutput, EventWaitList};
use crate::handle::{ObjectHandle, declare_object};
use crate::progress::CommandProgress;
use crate::scheduler::{CommandEnd, DeviceScheduler, QueuedCommand, ScheduledWork};
use opencl_sys::{
    CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE,
    CL_QUEUE_PROFILING_ENABLE, cl_command_queue_properties, cl_command_type, cl_queue_properties,
};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Least number of commands after which those that have ended are forgotten.
const FORGET_AFTER: usize = 64;

/// A command queue.
pub struct ClQueue {
    pub(crate) handle: ObjectHandle<ClQueue>,
    /// Its context.
    pub context: Arc<ClContext>,
    /// Its device.
    pub device: Arc<ClDevice>,
    /// The scheduler of its device.
    pub scheduler: Arc<DeviceScheduler>,
    /// The properties that it was created with, as words.
    pub property_words: Vec<cl_queue_properties>,
    properties: AtomicU64,
    state: Mutex<QueueState>,
}

declare_object!(ClQueue, "command queue", CL_INVALID_COMMAND_QUEUE);

#[derive(Default)]
struct QueueState {
    /// Commands that may not have ended.
    outstanding: Vec<Arc<CommandProgress>>,
    /// Their number at which those that have ended are forgotten. It doubles with those that have not.
    forget_at: usize,
    /// The last command of a queue in order, or the last barrier of another.
    barrier: Option<Arc<CommandProgress>>,
}

/// Which commands of its queue a command waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommandOrder {
    /// Those before it in a queue in order, and barriers.
    Usual,
    /// All before it, unless it has a wait list.
    Marker,
    /// As a marker; and all after it wait for it.
    Barrier,
}

/// A call that enqueues a command.
pub struct EnqueueCall {
    /// The kind of command.
    pub kind: cl_command_type,
    /// Events that it waits for.
    pub waits: EventWaitList,
    /// Whether the call returns when the command has ended.
    pub is_blocking: bool,
    /// Where its event goes.
    pub event: EventOutput,
}

impl ClQueue {
    /// A queue without commands.
    pub fn new(
        handle: ObjectHandle<ClQueue>,
        context: &Arc<ClContext>,
        device: &Arc<ClDevice>,
        scheduler: &Arc<DeviceScheduler>,
        properties: cl_command_queue_properties,
    ) -> ClQueue {
        ClQueue {
            handle,
            context: context.clone(),
            device: device.clone(),
            scheduler: scheduler.clone(),
            property_words: Vec::new(),
            properties: AtomicU64::new(properties),
            state: Mutex::default(),
        }
    }

    /// Its properties.
    pub fn properties(&self) -> cl_command_queue_properties {
        self.properties.load(Ordering::Relaxed)
    }

    /// Sets or clears properties, and returns those before.
    pub fn change_properties(
        &self,
        changed: cl_command_queue_properties,
        enabled: bool,
    ) -> cl_command_queue_properties {
        if enabled {
            self.properties.fetch_or(changed, Ordering::Relaxed)
        } else {
            self.properties.fetch_and(!changed, Ordering::Relaxed)
        }
    }

    /// Whether the times of its commands are measured.
    pub fn is_timed(&self) -> bool {
        self.properties() & CL_QUEUE_PROFILING_ENABLE != 0
    }

    fn is_in_order(&self) -> bool {
        self.properties() & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE == 0
    }

    fn lock_state(&self) -> MutexGuard<'_, QueueState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Enqueues a command.
    ///
    /// # Errors
    /// Where the call waits, when the command fails.
    ///
    /// # Safety
    /// The contract of the crate.
    pub unsafe fn enqueue(
        self: &Arc<Self>,
        call: &EnqueueCall,
        work: ScheduledWork,
    ) -> CallResult<()> {
        let progress = self.add_command(CommandOrder::Usual, &call.waits, work);
        call.event.give(self, call.kind, &progress);
        if !call.is_blocking {
            return Ok(());
        }
        self.scheduler.wait_for_end(&progress);
        match progress.status() {
            status if status >= 0 => Ok(()),
            status => Err(CallError::new(status, describe_failure(status))),
        }
    }

    /// Enqueues a command that does nothing but to wait for others.
    ///
    /// # Safety
    /// The contract of the crate.
    pub unsafe fn enqueue_marker(self: &Arc<Self>, call: &EnqueueCall, order: CommandOrder) {
        // The end is that of all work which the device has.
        let work: ScheduledWork = Arc::new(|_| Ok(CommandEnd::Issued));
        let progress = self.add_command(order, &call.waits, work);
        call.event.give(self, call.kind, &progress);
    }

    /// Adds a command after those that it has to wait for.
    fn add_command(
        self: &Arc<Self>,
        order: CommandOrder,
        waits: &EventWaitList,
        work: ScheduledWork,
    ) -> Arc<CommandProgress> {
        let context = self.context.clone();
        let on_error = Box::new(move |error: &CallError| context.report_error(error));
        let command = QueuedCommand::new(&self.scheduler, self.is_timed(), work, on_error);
        let progress = command.progress.clone();
        waits.hold_command(&command, self);
        let is_in_order = self.is_in_order();
        let mut state = self.lock_state();
        if let Some(barrier) = &state.barrier {
            command.add_wait(barrier, false, false);
        }
        if order != CommandOrder::Usual && waits.is_empty() {
            for other in &state.outstanding {
                command.add_wait(other, false, false);
            }
        }
        if is_in_order || order == CommandOrder::Barrier {
            state.barrier = Some(progress.clone());
        }
        if state.outstanding.len() >= state.forget_at {
            state.outstanding.retain(|other| !other.has_ended());
            state.forget_at = FORGET_AFTER.max(2 * state.outstanding.len());
        }
        state.outstanding.push(progress.clone());
        drop(state);
        command.release_wait();
        progress
    }

    /// Waits for the ends of all commands so far.
    pub fn wait_for_all(&self) {
        let outstanding = self.lock_state().outstanding.clone();
        for progress in outstanding.iter().rev() {
            self.scheduler.wait_for_end(progress);
        }
    }
}

fn describe_failure(status: i32) -> &'static str {
    match status {
        CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST => "a command in the wait list has failed",
        _ => "the command has failed",
    }
}
