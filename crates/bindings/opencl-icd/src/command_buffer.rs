//! Command buffers: commands that are recorded once, and enqueued as one command (`cl_khr_command_buffer`).
//!
//! The commands run in the order in which they were recorded. Each waits for commands before it only, so that this order keeps
//! to all synchronization points.

use crate::error::{CallError, CallResult, require};
use crate::handle::{ObjectHandle, declare_object};
use crate::queue::ClQueue;
use crate::scheduler::{CommandEnd, ScheduledWork};
use opencl_sys::{
    CL_COMMAND_BUFFER_STATE_EXECUTABLE_KHR, CL_COMMAND_BUFFER_STATE_RECORDING_KHR,
    CL_INVALID_SYNC_POINT_WAIT_LIST_KHR, cl_command_buffer_properties_khr,
    cl_command_buffer_state_khr, cl_sync_point_khr,
};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A command buffer.
pub struct ClCommandBuffer {
    pub(crate) handle: ObjectHandle<ClCommandBuffer>,
    /// The queue that it was created for.
    pub queue: Arc<ClQueue>,
    /// The properties that it was created with, as words.
    pub property_words: Vec<cl_command_buffer_properties_khr>,
    recording: Mutex<CommandRecording>,
}

declare_object!(
    ClCommandBuffer,
    "command buffer",
    CL_INVALID_COMMAND_BUFFER_KHR
);

/// The commands of a command buffer.
#[derive(Default)]
struct CommandRecording {
    works: Vec<ScheduledWork>,
    /// The work of all of them, once no more can be recorded.
    whole: Option<ScheduledWork>,
}

impl ClCommandBuffer {
    /// A command buffer without commands.
    pub fn new(
        handle: ObjectHandle<ClCommandBuffer>,
        queue: Arc<ClQueue>,
        property_words: Vec<cl_command_buffer_properties_khr>,
    ) -> ClCommandBuffer {
        ClCommandBuffer {
            handle,
            queue,
            property_words,
            recording: Mutex::default(),
        }
    }

    fn lock_recording(&self) -> MutexGuard<'_, CommandRecording> {
        self.recording
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether commands can be recorded, or the buffer can be enqueued.
    pub fn state(&self) -> cl_command_buffer_state_khr {
        match self.lock_recording().whole {
            None => CL_COMMAND_BUFFER_STATE_RECORDING_KHR,
            Some(_) => CL_COMMAND_BUFFER_STATE_EXECUTABLE_KHR,
        }
    }

    /// Refuses further commands once it is finalized.
    ///
    /// # Errors
    /// `CL_INVALID_OPERATION`.
    pub fn require_recording(&self) -> CallResult<()> {
        match self.state() {
            CL_COMMAND_BUFFER_STATE_RECORDING_KHR => Ok(()),
            _ => Err(CallError::invalid_operation(
                "the command buffer is finalized",
            )),
        }
    }

    /// Refuses a synchronization point that no command has.
    ///
    /// # Errors
    /// `CL_INVALID_SYNC_POINT_WAIT_LIST_KHR`.
    pub fn check_points(&self, points: &[cl_sync_point_khr]) -> CallResult<()> {
        let count = self.lock_recording().works.len();
        let is_known = |point: &cl_sync_point_khr| (1..=count).contains(&(*point as usize));
        require(
            points.iter().all(is_known),
            CL_INVALID_SYNC_POINT_WAIT_LIST_KHR,
            "no command has the synchronization point",
        )
    }

    /// Records a command, and returns its synchronization point: its number from 1 on.
    ///
    /// # Errors
    /// When the buffer is finalized.
    pub fn record(&self, work: ScheduledWork) -> CallResult<cl_sync_point_khr> {
        let mut recording = self.lock_recording();
        if recording.whole.is_some() {
            let message = "the command buffer is finalized";
            return Err(CallError::invalid_operation(message));
        }
        recording.works.push(work);
        Ok(recording.works.len() as cl_sync_point_khr)
    }

    /// Ends the recording.
    ///
    /// # Errors
    /// When it has ended.
    pub fn finalize(&self) -> CallResult<()> {
        let mut recording = self.lock_recording();
        if recording.whole.is_some() {
            let message = "the command buffer is finalized already";
            return Err(CallError::invalid_operation(message));
        }
        recording.whole = Some(join_works(std::mem::take(&mut recording.works)));
        Ok(())
    }

    /// The work of all commands.
    ///
    /// # Errors
    /// When the buffer is not finalized.
    pub fn whole_work(&self) -> CallResult<ScheduledWork> {
        let whole = self.lock_recording().whole.clone();
        whole.ok_or_else(|| CallError::invalid_operation("the command buffer is not finalized"))
    }
}

/// One work that does others in their order. The first failure ends it.
fn join_works(works: Vec<ScheduledWork>) -> ScheduledWork {
    Arc::new(move |scheduler| {
        let mut end = CommandEnd::Complete;
        for work in &works {
            if work(scheduler)? == CommandEnd::Issued {
                end = CommandEnd::Issued;
            }
        }
        Ok(end)
    })
}
