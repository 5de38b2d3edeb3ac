//! Events: how callers see the progress of commands, and lists of events that commands wait for.

use crate::boundary::require_array;
use crate::context::ClContext;
use crate::error::{CallError, CallResult, require};
use crate::handle::{ObjectHandle, create_object, declare_object, find_objects};
use crate::progress::CommandProgress;
use crate::queue::ClQueue;
use crate::scheduler::{QueuedCommand, wait_for_progress};
use opencl_sys::{
    CL_INVALID_CONTEXT, CL_INVALID_EVENT_WAIT_LIST, cl_command_type, cl_event, cl_uint,
};
use std::ptr;
use std::sync::Arc;

/// An event.
pub struct ClEvent {
    pub(crate) handle: ObjectHandle<ClEvent>,
    /// Its context.
    pub context: Arc<ClContext>,
    /// The queue of its command; `None` for user events.
    pub queue: Option<Arc<ClQueue>>,
    /// The kind of command.
    pub kind: cl_command_type,
    /// The progress of the command.
    pub progress: Arc<CommandProgress>,
}

declare_object!(ClEvent, "event", CL_INVALID_EVENT);

impl ClEvent {
    /// Waits for the end of the command.
    pub fn wait_for_end(&self) {
        match &self.queue {
            Some(queue) => queue.scheduler.wait_for_end(&self.progress),
            None => wait_for_progress(&self.progress),
        }
    }
}

/// Events that a command waits for.
pub struct EventWaitList {
    events: Vec<Arc<ClEvent>>,
}

impl EventWaitList {
    /// Reads the events of a context.
    ///
    /// # Errors
    /// When one of them is none, or of another context.
    ///
    /// # Safety
    /// The contract of the crate.
    pub unsafe fn read(
        context: &ClContext,
        count: cl_uint,
        list: *const cl_event,
    ) -> CallResult<EventWaitList> {
        let refuse = |error: CallError| CallError::new(CL_INVALID_EVENT_WAIT_LIST, error.message);
        require_array(list, count).map_err(refuse)?;
        let events: Vec<Arc<ClEvent>> = find_objects(list, count).map_err(refuse)?;
        for event in &events {
            context.require_same(&event.context, CL_INVALID_CONTEXT)?;
        }
        Ok(EventWaitList { events })
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// Lets a command of a queue wait for the events.
    pub fn hold_command(&self, command: &Arc<QueuedCommand>, queue: &ClQueue) {
        for event in &self.events {
            let of_device = |other: &Arc<ClQueue>| Arc::ptr_eq(&other.scheduler, &queue.scheduler);
            let needs_end = !event.queue.as_ref().is_some_and(of_device);
            command.add_wait(&event.progress, needs_end, true);
        }
    }
}

/// Where the event of a command goes, if the caller wants it.
#[derive(Clone, Copy)]
pub struct EventOutput(*mut cl_event);

impl EventOutput {
    /// The address where the caller wants the event, or null.
    pub fn new(pointer: *mut cl_event) -> EventOutput {
        EventOutput(pointer)
    }

    /// Gives the caller the event of a command.
    ///
    /// # Safety
    /// The contract of the crate.
    pub unsafe fn give(
        self,
        queue: &Arc<ClQueue>,
        kind: cl_command_type,
        progress: &Arc<CommandProgress>,
    ) {
        if self.0.is_null() {
            return;
        }
        let event = create_object(|handle| ClEvent {
            handle,
            context: queue.context.clone(),
            queue: Some(queue.clone()),
            kind,
            progress: progress.clone(),
        });
        ptr::write_unaligned(self.0, event.handle.as_raw());
    }
}

/// The events of a list that is not empty, all of one context.
///
/// # Errors
/// When there are none, one of them is none, or they are of different contexts.
///
/// # Safety
/// The contract of the crate.
pub unsafe fn read_event_list(
    count: cl_uint,
    list: *const cl_event,
) -> CallResult<Vec<Arc<ClEvent>>> {
    let is_list = count > 0 && !list.is_null();
    require(
        is_list,
        opencl_sys::CL_INVALID_VALUE,
        "there are no events to wait for",
    )?;
    let events: Vec<Arc<ClEvent>> = find_objects(list, count)?;
    for event in &events {
        events[0]
            .context
            .require_same(&event.context, CL_INVALID_CONTEXT)?;
    }
    Ok(events)
}
