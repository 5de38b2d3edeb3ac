//! What a batch was recorded for, so that it can be handed over again.
//!
//! Programs ask for the same launches over and over: the same kernels over as many workgroups, with the same buffers
//! and push constants. Their commands, with descriptor sets and barriers, are then those that were recorded before. Handles
//! of buffers and kernels are never used again, so that the same numbers mean the same things, and one that names a buffer
//! which is gone is not asked for any more. Who follows a tape to a launch that differs goes on by another tape that begins alike,
//! or has its beginning recorded by itself, so that both are there the next time. Cost: a comparison of some words for each launch.

use super::command::BatchCommand;
use super::dependency_levels::{BufferAccess, CommandAccesses, CommandKind};
use crate::{DeviceKernel, IndexSpace, KernelLaunch, LaunchBinding, LaunchInputs};
use std::ops::Range;

/// Whether a batch is handed over as soon as the device has nothing else to do.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub enum SubmitPolicy {
    /// It is, if that comes about.
    #[default]
    Open,
    /// It was.
    Hasty,
    /// It is not: so few launches come right behind that it is better to hand all over together.
    Patient,
}

/// The launches of a batch in their order, as long as they are all of it.
#[derive(Default)]
pub struct LaunchRecording {
    /// Whether it is handed over as soon as it can be.
    pub haste: SubmitPolicy,
    entries: Vec<RecordedLaunch>,
    /// What each launch was given, one behind the other, and how it uses that.
    bound: Vec<LaunchBinding>,
    uses: Vec<BufferAccess>,
    /// Their push constants, likewise.
    push: Vec<u8>,
    /// Whether the batch has something else, too.
    is_spoilt: bool,
    /// Whether this was put together of what others were recorded for, and was not recorded itself.
    is_unrecorded: bool,
    /// How many of the launches were asked for again, while the batch is followed.
    followed: Option<usize>,
}

/// A launch: what was asked for, and what was recorded.
#[derive(Clone)]
struct RecordedLaunch {
    kernel: DeviceKernel,
    size: IndexSpace,
    /// Its parts of the lists.
    bound: Range<usize>,
    push: Range<usize>,
    command: BatchCommand,
}

impl LaunchRecording {
    /// Begins anew.
    pub fn clear(&mut self) {
        self.entries.clear();
        self.bound.clear();
        self.uses.clear();
        self.push.clear();
        self.haste = SubmitPolicy::Open;
        self.is_spoilt = false;
        self.is_unrecorded = false;
        self.followed = None;
    }

    /// Takes note of a command: of the launch that it is of, if that uses nothing but buffers.
    pub fn note_command(
        &mut self,
        launch: Option<&KernelLaunch>,
        uses: Option<&CommandAccesses>,
        command: &BatchCommand,
    ) {
        let (Some(launch), Some(uses), false) = (launch, uses, self.is_spoilt) else {
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

    /// Takes note that the batch is not to be handed over again.
    pub fn mark_unrepeatable(&mut self) {
        self.is_spoilt = true;
    }

    /// Whether there is something that may be asked for again.
    pub fn is_kept(&self) -> bool {
        !self.is_spoilt && !self.entries.is_empty()
    }

    /// Whether the batch is followed: it was recorded before, and what is asked for has been the same so far.
    pub fn is_followed(&self) -> bool {
        self.followed.is_some()
    }

    /// The number of launches.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether all of it was asked for again.
    pub fn is_whole(&self) -> bool {
        self.followed == Some(self.entries.len())
    }

    /// Takes note of what was handed over behind it: it waits for that the next time if it was hasty and both are short.
    pub fn is_before(&mut self, next: &LaunchRecording, short: usize) {
        if self.haste == SubmitPolicy::Hasty && next.is_kept() && self.len() + next.len() <= short {
            self.haste = SubmitPolicy::Patient;
        }
    }

    /// Adds all that another one has, where all of both was asked for again.
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
        self.is_spoilt |= other.is_spoilt;
        (self.haste, self.is_unrecorded) = (SubmitPolicy::Open, true);
        self.followed = Some(self.entries.len());
        other.clear();
    }

    /// Whether a launch is the first.
    pub fn begins_with(&self, launch: &KernelLaunch) -> bool {
        self.is_kept() && self.is_at(0, launch)
    }

    /// Whether a launch is the one at a place.
    fn is_at(&self, at: usize, launch: &KernelLaunch) -> bool {
        let LaunchInputs::Resources { bindings, push } = &launch.inputs else {
            return false;
        };
        self.recorded_launch(at) == Some((launch.kernel, launch.size, bindings, push))
    }

    /// What was asked for at a place: a kernel, its size, what it was given and its push constants.
    fn recorded_launch(
        &self,
        at: usize,
    ) -> Option<(DeviceKernel, IndexSpace, &[LaunchBinding], &[u8])> {
        let entry = self.entries.get(at)?;
        let (bound, push) = (entry.bound.clone(), entry.push.clone());
        Some((
            entry.kernel,
            entry.size,
            &self.bound[bound],
            &self.push[push],
        ))
    }

    /// Begins to be followed.
    pub fn begin_following(&mut self) {
        self.followed = Some(0);
    }

    /// Whether a launch is the next, while the batch is followed.
    pub fn is_next(&self, launch: &KernelLaunch) -> bool {
        self.followed.is_some_and(|at| self.is_at(at, launch))
    }

    /// Goes on behind the next launch: what that uses, in the order of what is bound.
    pub fn follow_next(&mut self) -> &[BufferAccess] {
        let Some((at, entry)) = self
            .followed
            .and_then(|at| Some((at, self.entries.get(at)?)))
        else {
            return &[];
        };
        self.followed = Some(at + 1);
        &self.uses[entry.bound.clone()]
    }

    /// Whether this is for all that was asked for of another one that is followed, and then for a launch.
    pub fn goes_on(&self, followed: &LaunchRecording, launch: &KernelLaunch) -> bool {
        let count = followed.followed.unwrap_or(usize::MAX);
        self.is_kept() && self.is_at(count, launch) && self.is_like(followed, count)
    }

    /// Whether this is for all that was asked for of another one that is followed, and for nothing else.
    pub fn ends_with(&self, followed: &LaunchRecording) -> bool {
        let count = self.entries.len();
        self.is_kept() && followed.followed == Some(count) && self.is_like(followed, count)
    }

    /// Whether so many launches are the same in both.
    fn is_like(&self, other: &LaunchRecording, count: usize) -> bool {
        (0..count).all(|at| {
            self.recorded_launch(at).is_some()
                && self.recorded_launch(at) == other.recorded_launch(at)
        })
    }

    /// Has what was asked for so far of another one that is followed.
    pub fn take_part(&mut self, followed: &LaunchRecording) {
        let count = followed.followed.unwrap_or(0);
        let entries = &followed.entries[..count];
        let [bound, push] = entries
            .last()
            .map_or([0, 0], |last| [last.bound.end, last.push.end]);
        self.entries.extend(entries.iter().cloned());
        self.bound.extend_from_slice(&followed.bound[..bound]);
        self.uses.extend_from_slice(&followed.uses[..bound]);
        self.push.extend_from_slice(&followed.push[..push]);
        self.is_unrecorded = true;
        self.followed = Some(count);
    }

    /// Is followed as far as another one was.
    pub fn adopt_progress(&mut self, followed: &LaunchRecording) {
        self.followed = followed.followed;
    }

    /// Is no longer followed, where it is to be recorded: all that it is for.
    pub fn take_followed_commands(&mut self) -> Option<Vec<(CommandAccesses, BatchCommand)>> {
        self.followed.take()?;
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

    /// Whether all of it was asked for again, and can be handed over as it is.
    pub fn is_recorded(&self) -> bool {
        self.is_whole() && !self.is_unrecorded
    }

    /// Ends that when the batch is done.
    pub fn stop_following(&mut self) {
        self.followed = None;
    }
}
