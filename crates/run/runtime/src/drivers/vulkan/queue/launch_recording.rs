//! Launch recordings: the launches that a batch was recorded for, so that an identical sequence submits it again.
//!
//! Programs repeat sequences of launches: the same kernels over as many workgroups, with the same buffers and push constants.
//! Their commands, descriptor sets and barriers are then those that were recorded before. Handles of buffers and kernels are
//! never reused, so comparing them identifies a repeated launch. A recording with a handle of a destroyed buffer never matches again.
//! Cost: a comparison of some words for each launch.

use super::command::BatchCommand;
use super::dependency_levels::{BufferAccess, CommandAccesses, CommandKind};
use crate::{IndexSpace, KernelHandle, KernelLaunch, LaunchBinding, LaunchInputs};
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

/// The launches of a batch in their order, while the batch consists of launches alone.
#[derive(Default)]
pub struct LaunchRecording {
    /// Whether it is submitted as soon as the device is idle.
    pub submit_policy: SubmitPolicy,
    entries: Vec<RecordedLaunch>,
    /// Bindings of all launches in order, and how each is accessed.
    bound: Vec<LaunchBinding>,
    uses: Vec<BufferAccess>,
    /// Push constants of all launches in order.
    push: Vec<u8>,
    /// Whether the batch has commands that cannot be replayed.
    is_unrepeatable: bool,
    /// Whether this was composed of other recordings, so that the command buffer does not have it yet.
    is_unrecorded: bool,
    /// Number of launches that came again, while the batch is being replayed.
    replayed: Option<usize>,
}

/// A launch and the command that was recorded for it.
#[derive(Clone)]
struct RecordedLaunch {
    kernel: KernelHandle,
    size: IndexSpace,
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

    /// Notes a command: the launch that it is for, if that accesses nothing but buffers.
    pub fn note_command(
        &mut self,
        launch: Option<&KernelLaunch>,
        uses: Option<&CommandAccesses>,
        command: &BatchCommand,
    ) {
        let (Some(launch), Some(uses), false) = (launch, uses, self.is_unrepeatable) else {
            return self.mark_unrepeatable();
        };
        let LaunchInputs::Resources { bindings, push } = &launch.inputs else {
            return self.mark_unrepeatable();
        };
        let (bound, pushed) = (self.bound.len(), self.push.len());
        self.bound.extend_from_slice(bindings);
        self.uses.extend_from_slice(&uses.buffers);
        self.push.extend_from_slice(push);
        self.entries.push(RecordedLaunch {
            kernel: launch.kernel,
            size: launch.size,
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

    /// Whether the batch is being replayed: it was recorded before, and all launches have been equal so far.
    pub fn is_replaying(&self) -> bool {
        self.replayed.is_some()
    }

    /// The number of launches.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether all of its launches came again.
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

    /// Appends another recording, where all launches of both came again; the other one is empty then.
    pub fn append_recording(&mut self, other: &mut LaunchRecording) {
        let (bound, pushed) = (self.bound.len(), self.push.len());
        let moved = |range: Range<usize>, by: usize| range.start + by..range.end + by;
        self.entries
            .extend(other.entries.drain(..).map(|entry| RecordedLaunch {
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

    /// Whether a launch equals the first one.
    pub fn begins_with(&self, launch: &KernelLaunch) -> bool {
        self.is_kept() && self.is_at(0, launch)
    }

    /// Whether a launch equals the one at a position.
    fn is_at(&self, at: usize, launch: &KernelLaunch) -> bool {
        let LaunchInputs::Resources { bindings, push } = &launch.inputs else {
            return false;
        };
        self.recorded_launch(at) == Some((launch.kernel, launch.size, bindings, push))
    }

    /// The launch at a position: its kernel, size, bindings and push constants.
    fn recorded_launch(
        &self,
        at: usize,
    ) -> Option<(KernelHandle, IndexSpace, &[LaunchBinding], &[u8])> {
        let entry = self.entries.get(at)?;
        let (bound, push) = (entry.bound.clone(), entry.push.clone());
        Some((
            entry.kernel,
            entry.size,
            &self.bound[bound],
            &self.push[push],
        ))
    }

    /// Begins to be replayed.
    pub fn begin_replay(&mut self) {
        self.replayed = Some(0);
    }

    /// Whether a launch equals the next one, while the batch is being replayed.
    pub fn is_next(&self, launch: &KernelLaunch) -> bool {
        self.replayed.is_some_and(|at| self.is_at(at, launch))
    }

    /// Advances past the next launch; returns its accesses in the order of its bindings.
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

    /// Whether this has all launches that were replayed of another recording, and then this launch.
    pub fn continues_prefix(&self, replaying: &LaunchRecording, launch: &KernelLaunch) -> bool {
        let count = replaying.replayed.unwrap_or(usize::MAX);
        self.is_kept() && self.is_at(count, launch) && self.shares_launches(replaying, count)
    }

    /// Whether this has exactly the launches that were replayed of another recording.
    pub fn matches_prefix(&self, replaying: &LaunchRecording) -> bool {
        let count = self.entries.len();
        self.is_kept()
            && replaying.replayed == Some(count)
            && self.shares_launches(replaying, count)
    }

    /// Whether the first `count` launches are equal in both.
    fn shares_launches(&self, other: &LaunchRecording, count: usize) -> bool {
        (0..count).all(|at| {
            self.recorded_launch(at).is_some()
                && self.recorded_launch(at) == other.recorded_launch(at)
        })
    }

    /// Copies the launches that were replayed of another recording.
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
                kind: CommandKind::Launch,
                buffers: self.uses[entry.bound.clone()].iter().copied().collect(),
            };
            (uses, entry.command.clone())
        });
        Some(all.collect())
    }

    /// Whether all of its launches came again and the command buffer has them.
    pub fn is_recorded(&self) -> bool {
        self.is_fully_replayed() && !self.is_unrecorded
    }

    /// Ends the replay when the batch is done.
    pub fn end_replay(&mut self) {
        self.replayed = None;
    }
}
