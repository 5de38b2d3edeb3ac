//! Command-buffer replay: a sequence of commands that was recorded before is submitted again without recording.

use super::batch::CommandBatch;
use super::launch_recording::{LaunchRecording, SubmitPolicy};
use super::{BufferAccess, MOST_COMMANDS, RepeatableCommand, VulkanQueue};
use crate::DeviceError;
use std::collections::VecDeque;

impl VulkanQueue {
    /// Replays a command from a finished batch, if all commands since that batch began are equal to those that it was
    /// recorded for. Otherwise does nothing and returns `false`. `note` gets the number of each binding, how it is
    /// accessed, and the value of the timeline when that is done.
    pub fn replay_command(
        &mut self,
        asked: &RepeatableCommand<'_>,
        mut note: impl FnMut(usize, &BufferAccess, u64),
    ) -> Result<bool, DeviceError> {
        if self.ordered {
            return Ok(false);
        }
        let is_other = |batch: &CommandBatch| {
            batch.recording.is_replaying() && !batch.recording.is_next(asked)
        };
        if self.current.as_deref().is_some_and(is_other) && !self.switch_recording(asked)? {
            self.hold_partial_replay()?;
        }
        if self.current.is_none() {
            self.current = self.find_recorded(asked)?;
        }
        let replaying = self.current.as_mut();
        let Some(batch) = replaying.filter(|batch| batch.recording.is_replaying()) else {
            return Ok(false);
        };
        let value = batch.value;
        let uses = batch.recording.replay_next();
        for (at, used) in uses.iter().enumerate() {
            note(at, used, value);
        }
        if batch.recording.is_fully_replayed() {
            self.hold_replayed_batch();
            let count: usize = self.held.iter().map(|batch| batch.recording.len()).sum();
            if count >= MOST_COMMANDS {
                self.submit_held()?;
            } else if self.may_submit_early() && self.is_idle()? {
                self.submit_early()?;
            }
        }
        Ok(true)
    }

    /// Whether the held batches may be submitted before more launches come.
    fn may_submit_early(&self) -> bool {
        let last = self.held.back();
        last.is_some_and(|batch| batch.recording.submit_policy != SubmitPolicy::Deferred)
    }

    /// Holds the current batch, if all of its commands came again.
    fn hold_replayed_batch(&mut self) {
        let whole = self
            .current
            .take_if(|batch| batch.recording.is_fully_replayed());
        self.held.extend(whole);
    }

    /// Holds what was replayed of the current batch: the batch itself if that is all of it, else a batch of just that prefix.
    pub(super) fn hold_partial_replay(&mut self) -> Result<(), DeviceError> {
        self.hold_replayed_batch();
        let Some(mut replaying) = self.current.take_if(|batch| batch.recording.is_replaying())
        else {
            return Ok(());
        };
        let batch =
            match self.take_idle(|recording| recording.matches_prefix(&replaying.recording))? {
                Some(mut batch) => {
                    batch.replace_replaying(&mut replaying);
                    batch
                }
                None => {
                    let mut batch = self.take_empty_batch()?;
                    batch.copy_replayed_prefix(&mut replaying);
                    batch
                }
            };
        self.held.push_back(batch);
        replaying.release_finished()?;
        self.idle.push_front(replaying);
        Ok(())
    }

    /// Finds a finished batch whose first command is this one, and begins to replay it.
    fn find_recorded(
        &mut self,
        asked: &RepeatableCommand<'_>,
    ) -> Result<Option<Box<CommandBatch>>, DeviceError> {
        self.check_lost()?;
        let mut batch = self.take_idle(|recording| recording.begins_with(asked))?;
        if let Some(batch) = &mut batch {
            batch.value = self.submitted + self.held.len() as u64 + 1;
            batch.recording.begin_replay();
        }
        Ok(batch)
    }

    /// Replaces the current batch by another one with the same prefix whose next command is this one, if there is one.
    fn switch_recording(&mut self, asked: &RepeatableCommand<'_>) -> Result<bool, DeviceError> {
        let Some(mut left) = self.current.take() else {
            return Ok(false);
        };
        match self.take_idle(|recording| recording.continues_prefix(&left.recording, asked)) {
            Ok(Some(mut batch)) => {
                batch.replace_replaying(&mut left);
                self.current = Some(batch);
                left.release_finished()?;
                self.idle.push_front(left);
                Ok(true)
            }
            none => {
                self.current = Some(left);
                none.map(|_| false)
            }
        }
    }

    /// Takes the longest finished batch whose recording is wanted. The queue may still switch to another one later.
    fn take_idle(
        &mut self,
        is_wanted: impl Fn(&LaunchRecording) -> bool,
    ) -> Result<Option<Box<CommandBatch>>, DeviceError> {
        let find = |idle: &VecDeque<Box<CommandBatch>>| {
            let wanted = idle
                .iter()
                .enumerate()
                .filter(|(_, b)| is_wanted(&b.recording));
            wanted
                .max_by_key(|(_, b)| b.recording.len())
                .map(|(at, _)| at)
        };
        let mut found = find(&self.idle);
        if found.is_none() && !self.in_flight.is_empty() {
            let done = self.query_timeline()?;
            self.retire_batches(done)?;
            found = find(&self.idle);
        }
        Ok(found.and_then(|at| self.idle.remove(at)))
    }

    /// Notes that the batch being recorded is exceptional and will not be replayed.
    pub fn mark_unrepeatable(&mut self) {
        if let Some(batch) = self
            .current
            .as_mut()
            .filter(|b| !b.recording.is_replaying())
        {
            batch.recording.mark_unrepeatable();
        }
    }
}
