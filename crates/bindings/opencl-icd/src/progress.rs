//! Progress of commands: their status, their times, and those who wait for them.

use crate::clock::read_clock;
use crate::error::CallResult;
use crate::scheduler::QueuedCommand;
use opencl_sys::{CL_COMPLETE, CL_QUEUED, CL_RUNNING, CL_SUBMITTED, cl_int};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// A function that is called with the status of a command.
pub type StatusCallback = Box<dyn FnOnce(cl_int) + Send>;

/// Functions that are to be called since a command has ended.
pub struct EndedCallbacks(Vec<(cl_int, StatusCallback)>);

impl EndedCallbacks {
    /// Calls them.
    pub fn call(self) {
        self.0.into_iter().for_each(|(status, call)| call(status));
    }
}

/// Times of a command by the clock of commands; 0 where it has not come so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CommandTimes {
    /// It was enqueued.
    pub queued: u64,
    /// It had nothing more to wait for.
    pub submitted: u64,
    /// The device began it.
    pub started: u64,
    /// The device ended it.
    pub ended: u64,
}

/// The progress of a command, or of a user event.
pub struct CommandProgress {
    state: Mutex<ProgressState>,
    ended: Condvar,
}

struct ProgressState {
    status: cl_int,
    /// Whether the device orders all further work after the command.
    is_issued: bool,
    times: CommandTimes,
    callbacks: Vec<(cl_int, StatusCallback)>,
    dependents: Vec<CommandDependent>,
}

/// A command that waits for another.
struct CommandDependent {
    command: Arc<QueuedCommand>,
    /// Whether it has to wait for the end, and not only for the device to have begun.
    needs_end: bool,
    /// Whether it fails if the other fails.
    fails_too: bool,
}

impl CommandProgress {
    /// The progress of a command that was enqueued.
    pub fn queued() -> Arc<CommandProgress> {
        CommandProgress::with_status(CL_QUEUED)
    }

    /// The progress of something that nobody runs: a user event, or a command that waits for others only.
    pub fn submitted() -> Arc<CommandProgress> {
        CommandProgress::with_status(CL_SUBMITTED)
    }

    fn with_status(status: cl_int) -> Arc<CommandProgress> {
        let times = CommandTimes {
            queued: read_clock(),
            ..CommandTimes::default()
        };
        Arc::new(CommandProgress {
            state: Mutex::new(ProgressState {
                status,
                is_issued: false,
                times,
                callbacks: Vec::new(),
                dependents: Vec::new(),
            }),
            ended: Condvar::new(),
        })
    }

    fn lock(&self) -> MutexGuard<'_, ProgressState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// `CL_QUEUED` to `CL_COMPLETE`, or a negative error.
    pub fn status(&self) -> cl_int {
        self.lock().status
    }

    /// Whether the command has ended.
    pub fn has_ended(&self) -> bool {
        self.status() <= CL_COMPLETE
    }

    /// Its times so far.
    pub fn times(&self) -> CommandTimes {
        self.lock().times
    }

    /// Lets a command wait for this one. Returns whether it has to.
    pub fn add_dependent(
        &self,
        command: &Arc<QueuedCommand>,
        needs_end: bool,
        fails_too: bool,
    ) -> bool {
        let mut state = self.lock();
        if state.status <= CL_COMPLETE {
            if state.status < 0 && fails_too {
                command.note_failed_wait();
            }
            return false;
        }
        if state.is_issued && !needs_end {
            return false;
        }
        state.dependents.push(CommandDependent {
            command: command.clone(),
            needs_end,
            fails_too,
        });
        true
    }

    /// Calls a function once the command has a status, or one after it. It is called at once where that is so.
    pub fn add_callback(&self, status: cl_int, callback: StatusCallback) {
        let mut state = self.lock();
        if state.status > status {
            return state.callbacks.push((status, callback));
        }
        let reached = if state.status < 0 {
            state.status
        } else {
            status
        };
        drop(state);
        callback(reached);
    }

    /// The command has nothing more to wait for.
    pub fn mark_submitted(&self) {
        self.reach_status(CL_SUBMITTED, |times, now| times.submitted = now);
    }

    /// The device begins the command.
    pub fn mark_running(&self) {
        self.reach_status(CL_RUNNING, |times, now| times.started = now);
    }

    /// Notes the time that the device took for the command, which has just ended there.
    pub fn note_device_time(&self, time: Duration) {
        let times = &mut self.lock().times;
        let now = read_clock();
        let nanoseconds = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        times.ended = now;
        times.started = now.saturating_sub(nanoseconds).max(times.submitted);
    }

    fn reach_status(&self, status: cl_int, note: impl FnOnce(&mut CommandTimes, u64)) {
        let mut state = self.lock();
        if state.status <= status {
            return;
        }
        state.status = status;
        note(&mut state.times, read_clock());
        let callbacks = take_callbacks(&mut state.callbacks, status);
        drop(state);
        callbacks.into_iter().for_each(|call| call(status));
    }

    /// The device orders all further work after the command.
    pub fn mark_issued(&self) {
        let mut state = self.lock();
        state.is_issued = true;
        let (waiting, released) = std::mem::take(&mut state.dependents)
            .into_iter()
            .partition(|dependent| dependent.needs_end);
        state.dependents = waiting;
        drop(state);
        release_dependents(released, false);
    }

    /// The command has ended. The first end counts. The caller calls the functions that are returned, once it has notified the
    /// ends of all commands: they may wait for any of these.
    #[must_use]
    pub fn finish(&self, result: &CallResult<()>) -> EndedCallbacks {
        let status = match result {
            Ok(()) => CL_COMPLETE,
            Err(error) => error.code.min(-1),
        };
        let mut state = self.lock();
        if state.status <= CL_COMPLETE {
            return EndedCallbacks(Vec::new());
        }
        state.status = status;
        let now = read_clock();
        let times = &mut state.times;
        for time in [&mut times.submitted, &mut times.started] {
            if *time == 0 {
                *time = now;
            }
        }
        if times.ended == 0 {
            times.ended = now;
        }
        let callbacks = std::mem::take(&mut state.callbacks);
        let dependents = std::mem::take(&mut state.dependents);
        drop(state);
        self.ended.notify_all();
        release_dependents(dependents, status < 0);
        let reached = |wanted| if status < 0 { status } else { wanted };
        let callbacks = callbacks.into_iter();
        EndedCallbacks(
            callbacks
                .map(|(wanted, call)| (reached(wanted), call))
                .collect(),
        )
    }

    /// Waits for the end on a condition variable. [`QueuedCommand::wait`] also runs commands meanwhile.
    pub fn block_until_end(&self) {
        let mut state = self.lock();
        while state.status > CL_COMPLETE {
            let woken = self.ended.wait(state);
            state = woken.unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// The callbacks that a status calls. The status of a later one is lower.
fn take_callbacks(
    callbacks: &mut Vec<(cl_int, StatusCallback)>,
    status: cl_int,
) -> Vec<StatusCallback> {
    let all = std::mem::take(callbacks);
    let (reached, later) = all.into_iter().partition(|(wanted, _)| *wanted >= status);
    *callbacks = later;
    let reached: Vec<(cl_int, StatusCallback)> = reached;
    reached.into_iter().map(|(_, call)| call).collect()
}

fn release_dependents(dependents: Vec<CommandDependent>, has_failed: bool) {
    for dependent in dependents {
        if has_failed && dependent.fails_too {
            dependent.command.note_failed_wait();
        }
        dependent.command.release_wait();
    }
}
