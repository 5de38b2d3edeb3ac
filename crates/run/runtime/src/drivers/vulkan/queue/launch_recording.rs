//! Launch recordings: the launches, copies and fills that a batch was recorded for, so that an identical sequence submits it again.
//!
//! Programs repeat sequences of commands: the same kernels over as many workgroups, with the same buffers and push constants.
//! Their commands, descriptor sets and barriers are then those that were recorded before. Handles of buffers and kernels are
//! never reused, so comparing them identifies a repeated command. A recording with a handle of a destroyed buffer never matches again.
//! Cost: a comparison of some words for each command.

use super::command::BatchCommand;
use super::dependency_levels::{BufferAccess, CommandAccesses};
use super::repeatable_command::{CommandWork, RepeatableCommand};
use crate::LaunchBinding;
use std::ops::Range;

/// Whether a batch is submitted as soon as the device is idle.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub enum SubmitPolicy {
    /// It is, if the device becomes idle in time.
    #[default]
    Undecided,
    /// It was submitted to an idle device.
    Early,
    /// It is not: so few launches follow at once that it is better to submit all together.
    Deferred,
}

/// The commands of a batch in their order, while the batch consists of repeatable ones alone.
#[derive(Default)]
pub struct LaunchRecording {
    /// Whether it is submitted as soon as the device is idle.
    pub submit_policy: SubmitPolicy,
    entries: Vec<RecordedCommand>,
    /// Bindings of all commands in order, and how each is accessed.
    bound: Vec<LaunchBinding>,
    uses: Vec<BufferAccess>,
    /// Push constants of all commands in order.
    push: Vec<u8>,
    /// Whether the batch has commands that cannot be replayed.
    is_unrepeatable: bool,
    /// Whether this was composed of other recordings, so that the command buffer does not have it yet.
    is_unrecorded: bool,
    /// Number of commands that came again, while the batch is being replayed.
    replayed: Option<usize>,
}

/// A repeatable command and how it was recorded.
#[derive(Clone)]
struct RecordedCommand {
    work: CommandWork,
    /// Its ranges of the lists of bindings and push constants.
    bound: Range<usize>,
    push: Range<usize>,
    command: BatchCommand,
}

impl LaunchRecording {
    /// Forgets everything.
    pub fn clear(&mut self) {
        self.entries.clear();
        self.bound.clear();
        self.uses.clear();
        self.push.clear();
        self.submit_policy = SubmitPolicy::Undecided;
        self.is_unrepeatable = false;
        self.is_unrecorded = false;
        self.replayed = None;
    }

    /// Notes a command. It is repeatable if it was asked for so and accesses nothing but buffers.
    pub fn note_command(
        &mut self,
        asked: Option<&RepeatableCommand<'_>>,
        uses: Option<&CommandAccesses>,
        command: &BatchCommand,
    ) {
        let (Some(asked), Some(uses), false) = (asked, uses, self.is_unrepeatable) else {
            return self.mark_unrepeatable();
        };
        let (bound, pushed) = (self.bound.len(), self.push.len());
        self.bound.extend_from_slice(asked.bindings);
        self.uses.extend_from_slice(&uses.buffers);
        self.push.extend_from_slice(asked.push);
        self.entries.push(RecordedCommand {
            work: asked.work,
            bound: bound..self.bound.len(),
            push: pushed..self.push.len(),
            command: command.clone(),
        });
    }

    /// Notes that the batch will not be replayed.
    pub fn mark_unrepeatable(&mut self) {
        self.is_unrepeatable = true;
    }

    /// Whether the batch is kept for replay.
    pub fn is_kept(&self) -> bool {
        !self.is_unrepeatable && !self.entries.is_empty()
    }

    /// Whether the batch is being replayed: it was recorded before, and all commands have been equal so far.
    pub fn is_replaying(&self) -> bool {
        self.replayed.is_some()
    }

    /// The number of commands.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether all of its commands came again.
    pub fn is_fully_replayed(&self) -> bool {
        self.replayed == Some(self.entries.len())
    }

    /// Notes the batch that was submitted after this one. If this one was submitted early and both are short, it waits for
    /// its successor the next time.
    pub fn note_successor(&mut self, next: &LaunchRecording, short: usize) {
        if self.submit_policy == SubmitPolicy::Early
            && next.is_kept()
            && self.len() + next.len() <= short
        {
            self.submit_policy = SubmitPolicy::Deferred;
        }
    }

    /// Appends another recording, where all commands of both came again; the other one is empty then.
    pub fn append_recording(&mut self, other: &mut LaunchRecording) {
        let (bound, pushed) = (self.bound.len(), self.push.len());
        let moved = |range: Range<usize>, by: usize| range.start + by..range.end + by;
        self.entries
            .extend(other.entries.drain(..).map(|entry| RecordedCommand {
                bound: moved(entry.bound, bound),
                push: moved(entry.push, pushed),
                ..entry
            }));
        self.bound.append(&mut other.bound);
        self.uses.append(&mut other.uses);
        self.push.append(&mut other.push);
        self.is_unrepeatable |= other.is_unrepeatable;
        (self.submit_policy, self.is_unrecorded) = (SubmitPolicy::Undecided, true);
        self.replayed = Some(self.entries.len());
        other.clear();
    }

    /// Whether a command equals the first one.
    pub fn begins_with(&self, asked: &RepeatableCommand<'_>) -> bool {
        self.is_kept() && self.is_at(0, asked)
    }

    /// Whether a command equals the one at a position.
    fn is_at(&self, at: usize, asked: &RepeatableCommand<'_>) -> bool {
        self.recorded_command(at).as_ref() == Some(asked)
    }

    /// The command at a position.
    fn recorded_command(&self, at: usize) -> Option<RepeatableCommand<'_>> {
        let entry = self.entries.get(at)?;
        Some(RepeatableCommand {
            work: entry.work,
            bindings: &self.bound[entry.bound.clone()],
            push: &self.push[entry.push.clone()],
        })
    }

    /// Begins to be replayed.
    pub fn begin_replay(&mut self) {
        self.replayed = Some(0);
    }

    /// Whether a command equals the next one, while the batch is being replayed.
    pub fn is_next(&self, asked: &RepeatableCommand<'_>) -> bool {
        self.replayed.is_some_and(|at| self.is_at(at, asked))
    }

    /// Advances past the next command; returns its accesses in the order of its bindings.
    pub fn replay_next(&mut self) -> &[BufferAccess] {
        let Some((at, entry)) = self
            .replayed
            .and_then(|at| Some((at, self.entries.get(at)?)))
        else {
            return &[];
        };
        self.replayed = Some(at + 1);
        &self.uses[entry.bound.clone()]
    }

    /// Whether this has all commands that were replayed of another recording, and then this one.
    pub fn continues_prefix(
        &self,
        replaying: &LaunchRecording,
        asked: &RepeatableCommand<'_>,
    ) -> bool {
        let count = replaying.replayed.unwrap_or(usize::MAX);
        self.is_kept() && self.is_at(count, asked) && self.shares_commands(replaying, count)
    }

    /// Whether this has exactly the commands that were replayed of another recording.
    pub fn matches_prefix(&self, replaying: &LaunchRecording) -> bool {
        let count = self.entries.len();
        self.is_kept()
            && replaying.replayed == Some(count)
            && self.shares_commands(replaying, count)
    }

    /// Whether the first `count` commands are equal in both.
    fn shares_commands(&self, other: &LaunchRecording, count: usize) -> bool {
        (0..count).all(|at| {
            self.recorded_command(at).is_some()
                && self.recorded_command(at) == other.recorded_command(at)
        })
    }

    /// Copies the commands that were replayed of another recording.
    pub fn copy_replayed_prefix(&mut self, replaying: &LaunchRecording) {
        let count = replaying.replayed.unwrap_or(0);
        let entries = &replaying.entries[..count];
        let [bound, push] = entries
            .last()
            .map_or([0, 0], |last| [last.bound.end, last.push.end]);
        self.entries.extend(entries.iter().cloned());
        self.bound.extend_from_slice(&replaying.bound[..bound]);
        self.uses.extend_from_slice(&replaying.uses[..bound]);
        self.push.extend_from_slice(&replaying.push[..push]);
        self.is_unrecorded = true;
        self.replayed = Some(count);
    }

    /// Counts as replayed as far as another recording was.
    pub fn adopt_progress(&mut self, replaying: &LaunchRecording) {
        self.replayed = replaying.replayed;
    }

    /// Ends the replay of a recording that has to be recorded: returns all of its commands.
    pub fn take_replayed_commands(&mut self) -> Option<Vec<(CommandAccesses, BatchCommand)>> {
        self.replayed.take()?;
        self.is_unrecorded = false;
        let all = self.entries.iter().map(|entry| {
            let uses = CommandAccesses {
                kind: entry.work.kind(),
                buffers: self.uses[entry.bound.clone()].iter().copied().collect(),
            };
            (uses, entry.command.clone())
        });
        Some(all.collect())
    }

    /// Whether all of its commands came again and the command buffer has them.
    pub fn is_recorded(&self) -> bool {
        self.is_fully_replayed() && !self.is_unrecorded
    }

    /// Ends the replay when the batch is done.
    pub fn end_replay(&mut self) {
        self.replayed = None;
    }
}
