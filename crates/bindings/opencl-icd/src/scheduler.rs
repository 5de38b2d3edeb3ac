//! Scheduler of a device: commands run in the order in which they become ready.
//!
//! A device is used by one thread at a time. It is the scheduler's own thread, or a caller that waits for the end of a
//! command: it runs what is ready by itself, since to wake another thread takes longer than most commands.

use crate::error::{CallError, CallResult, catch_panic};
use crate::progress::{CommandProgress, EndedCallbacks};
use opencl_sys::{CL_COMPLETE, CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, CL_OUT_OF_RESOURCES};
use spirula_runtime::{ComputeDevice, KernelModuleScope, ResourceHandle};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::io::Write;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};

/// Stack of the thread: compilers of kernels recurse.
const STACK: usize = 16 << 20;

/// Most commands that the device has before their ends are awaited.
const MOST_ISSUED: usize = 256;

thread_local! {
    /// The schedulers whose commands this thread runs, the last one innermost.
    static RUNNING: RefCell<Vec<Arc<DeviceScheduler>>> = const { RefCell::new(Vec::new()) };
}

/// Waits for the end of a command of another thread, or of a user event. A function that is called at the end of a command
/// holds up the device which calls it. So it runs the commands of that device meanwhile.
pub fn wait_for_progress(progress: &CommandProgress) {
    let running = RUNNING.with_borrow(|running| running.last().cloned());
    match running {
        Some(scheduler) => scheduler.serve_until_end(progress),
        None => progress.block_until_end(),
    }
}

/// How far a command has come when its work returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommandEnd {
    /// It is complete.
    Complete,
    /// The device runs it, and orders further work after it.
    Issued,
}

/// The work of a command on the device of a scheduler, which it locks when it needs it.
pub type ScheduledWork = Arc<dyn Fn(&Arc<DeviceScheduler>) -> CallResult<CommandEnd> + Send + Sync>;

/// A command that was enqueued.
pub struct QueuedCommand {
    /// Its progress.
    pub progress: Arc<CommandProgress>,
    scheduler: Arc<DeviceScheduler>,
    /// Number of commands that it waits for, and one while it is being enqueued.
    waits: AtomicUsize,
    has_failed_wait: AtomicBool,
    /// Whether the end of its work is awaited at once, for its times.
    is_timed: bool,
    work: ScheduledWork,
    on_error: Box<dyn Fn(&CallError) + Send + Sync>,
}

/// The scheduler of a device.
pub struct DeviceScheduler {
    device: Mutex<ComputeDevice>,
    state: Mutex<SchedulerState>,
    /// Wakes the thread.
    wake: Condvar,
    number: usize,
    is_host: bool,
    /// Whether kernels may read after the end of memory.
    allows_overread: bool,
    /// Whether the device measures the times of launches.
    is_measuring: AtomicBool,
    retired: Mutex<Vec<RetiredObject>>,
}

/// An object of a device that nobody needs any more.
pub enum RetiredObject {
    /// A resource, and the owner of the memory that it uses.
    Resource(ResourceHandle, Option<Box<dyn Send>>),
    /// The kernels and variables of a program.
    Program(KernelModuleScope),
}

impl RetiredObject {
    fn destroy(self, device: &mut ComputeDevice) {
        // It is one of this device, and there is nobody to tell of a failure.
        match self {
            RetiredObject::Resource(resource, memory) => {
                let _ = device.destroy_resource(resource);
                drop(memory);
            }
            RetiredObject::Program(scope) => {
                let _ = device.end_scope(scope);
            }
        }
    }
}

#[derive(Default)]
struct SchedulerState {
    ready: VecDeque<Arc<QueuedCommand>>,
    /// Commands that the device has, and whose ends are awaited.
    issued: Vec<Arc<QueuedCommand>>,
    /// The thread that runs commands.
    runner: Option<ThreadId>,
    is_sleeping: bool,
    /// Number of functions of callers that wait on the thread that runs commands.
    waiting_runners: usize,
    /// Whether the thread ends once no command is ready, as the device is gone.
    is_ending: bool,
}

impl QueuedCommand {
    /// A command of work, which waits until [`QueuedCommand::release_wait`].
    pub fn new(
        scheduler: &Arc<DeviceScheduler>,
        is_timed: bool,
        work: ScheduledWork,
        on_error: Box<dyn Fn(&CallError) + Send + Sync>,
    ) -> Arc<QueuedCommand> {
        Arc::new(QueuedCommand {
            progress: CommandProgress::queued(),
            scheduler: scheduler.clone(),
            waits: AtomicUsize::new(1),
            has_failed_wait: AtomicBool::new(false),
            is_timed,
            work,
            on_error,
        })
    }

    /// Waits for another command, too.
    pub fn add_wait(self: &Arc<Self>, other: &CommandProgress, needs_end: bool, fails_too: bool) {
        self.waits.fetch_add(1, Ordering::Relaxed);
        if !other.add_dependent(self, needs_end, fails_too) {
            self.waits.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// A command that it waited for has failed.
    pub fn note_failed_wait(&self) {
        self.has_failed_wait.store(true, Ordering::Release);
    }

    /// It waits for one command less. With the last one it is ready.
    pub fn release_wait(self: &Arc<Self>) {
        if self.waits.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.progress.mark_submitted();
            self.scheduler.push_ready(self.clone());
        }
    }

    fn run_work(&self) -> CallResult<CommandEnd> {
        if self.has_failed_wait.load(Ordering::Acquire) {
            let message = "a command in the wait list has failed";
            let code = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
            return Err(CallError::new(code, message));
        }
        if self.is_timed {
            self.scheduler.begin_timed_command()?;
        }
        self.progress.mark_running();
        let end = catch_panic(|| (self.work)(&self.scheduler))?;
        if self.is_timed && end == CommandEnd::Issued {
            let mut device = self.scheduler.lock_device();
            device.wait_idle()?;
            if let Some(time) = device.take_device_time() {
                self.progress.note_device_time(time);
            }
            return Ok(CommandEnd::Complete);
        }
        Ok(end)
    }

    fn finish(&self, result: &CallResult<()>) -> EndedCallbacks {
        if let Err(error) = result {
            (self.on_error)(error);
        }
        self.progress.finish(result)
    }
}

impl DeviceScheduler {
    /// The scheduler of a device, with its thread.
    ///
    /// # Errors
    /// When there is no thread.
    pub fn start(device: ComputeDevice) -> CallResult<Arc<DeviceScheduler>> {
        static NUMBERS: AtomicUsize = AtomicUsize::new(0);
        let is_host = device.info().id.starts_with("cpu");
        let allows_overread = device.info().id == "cpu";
        let scheduler = Arc::new(DeviceScheduler {
            device: Mutex::new(device),
            state: Mutex::default(),
            wake: Condvar::new(),
            number: NUMBERS.fetch_add(1, Ordering::Relaxed),
            is_host,
            allows_overread,
            is_measuring: AtomicBool::new(false),
            retired: Mutex::default(),
        });
        let builder = thread::Builder::new().name("spirula-opencl".to_owned());
        let of_thread = scheduler.clone();
        let spawned = builder
            .stack_size(STACK)
            .spawn(move || of_thread.run_thread());
        spawned.map_err(|_| CallError::new(CL_OUT_OF_RESOURCES, "the device has no thread"))?;
        Ok(scheduler)
    }

    /// A number that no other device has.
    pub fn number(&self) -> usize {
        self.number
    }

    /// Whether the memory of the device is that of the host.
    pub fn is_host(&self) -> bool {
        self.is_host
    }

    /// Whether kernels may read after the end of memory. The sanitizer tells of it.
    pub fn allows_overread(&self) -> bool {
        self.allows_overread
    }

    /// Whether the sanitizer checks the accesses of kernels.
    pub fn is_checking(&self) -> bool {
        self.is_host && !self.allows_overread
    }

    /// The device, once no command runs.
    pub fn lock_device(&self) -> MutexGuard<'_, ComputeDevice> {
        self.device.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets the device measure the times of launches, and awaits those that are not to be counted. The processor needs neither:
    /// a launch there ends with its call.
    fn begin_timed_command(&self) -> CallResult<()> {
        if self.is_host {
            return Ok(());
        }
        let mut device = self.lock_device();
        if !self.is_measuring.swap(true, Ordering::Relaxed) {
            device.measure_times(true)?;
        }
        device.wait_idle()?;
        device.take_device_time();
        Ok(())
    }

    fn lock_state(&self) -> MutexGuard<'_, SchedulerState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push_ready(&self, command: Arc<QueuedCommand>) {
        let mut state = self.lock_state();
        state.ready.push_back(command);
        let wakes = state.is_sleeping && state.runner.is_none();
        let wakes_runner = state.waiting_runners > 0;
        drop(state);
        if wakes_runner {
            self.wake.notify_all();
        } else if wakes {
            self.wake.notify_one();
        }
    }

    /// Waits for the end of a command. The caller runs what is ready, if nobody does. A function that is called at the end of
    /// a command may wait, too.
    pub fn wait_for_end(self: &Arc<Self>, progress: &CommandProgress) {
        while !progress.has_ended() && self.run_ready(Some(progress)) {}
        wait_for_progress(progress);
    }

    /// Runs commands that become ready until another one has ended, as nobody else does while this thread waits.
    fn serve_until_end(self: &Arc<Self>, progress: &CommandProgress) {
        let waker = self.clone();
        let wake = move |_| {
            // The thread that waits has the lock until it sleeps.
            drop(waker.lock_state());
            waker.wake.notify_all();
        };
        progress.add_callback(CL_COMPLETE, Box::new(wake));
        while !progress.has_ended() {
            if self.run_ready(Some(progress)) {
                continue;
            }
            let mut state = self.lock_state();
            state.waiting_runners += 1;
            while state.ready.is_empty() && !progress.has_ended() {
                let woken = self.wake.wait(state);
                state = woken.unwrap_or_else(PoisonError::into_inner);
            }
            state.waiting_runners -= 1;
        }
    }

    /// Waits until no command runs.
    pub fn wait_for_idle(self: &Arc<Self>) {
        while self.run_ready(None) {}
        // A failure belongs to the command that it is of.
        let _ = self.lock_device().wait_idle();
    }

    /// Runs commands that are ready, until there are none or a command has ended. Returns whether any was run.
    fn run_ready(self: &Arc<Self>, until: Option<&CommandProgress>) -> bool {
        let this_thread = thread::current().id();
        let mut state = self.lock_state();
        let is_nested = state.runner == Some(this_thread);
        let is_idle = state.ready.is_empty() && state.issued.is_empty();
        if is_idle || (state.runner.is_some() && !is_nested) {
            return false;
        }
        state.runner = Some(this_thread);
        if !is_nested {
            RUNNING.with_borrow_mut(|running| running.push(self.clone()));
        }
        while !until.is_some_and(CommandProgress::has_ended) {
            let next = state.ready.pop_front();
            if next.is_none() && state.issued.is_empty() {
                break;
            }
            drop(state);
            match next {
                Some(command) => self.run_command(&command),
                None => self.finish_issued(),
            }
            state = self.lock_state();
        }
        if !state.issued.is_empty() {
            drop(state);
            self.finish_issued();
            state = self.lock_state();
        }
        if !is_nested {
            state.runner = None;
            RUNNING.with_borrow_mut(Vec::pop);
        }
        let wakes = !state.ready.is_empty() && state.is_sleeping;
        drop(state);
        if wakes {
            self.wake.notify_one();
        }
        true
    }

    /// Runs a command. Ends are reported when the device is free, as the functions that are called then may use it.
    fn run_command(&self, command: &Arc<QueuedCommand>) {
        let end = command.run_work();
        self.tidy_up(&mut self.lock_device());
        match end {
            Ok(CommandEnd::Complete) => command.finish(&Ok(())).call(),
            Err(error) => command.finish(&Err(error)).call(),
            Ok(CommandEnd::Issued) => {
                // A function that is called by a dependent may wait for the command.
                let mut state = self.lock_state();
                state.issued.push(command.clone());
                let is_full = state.issued.len() >= MOST_ISSUED;
                drop(state);
                command.progress.mark_issued();
                if is_full {
                    self.finish_issued();
                }
            }
        }
    }

    /// Waits for the device, and ends the commands that it had.
    fn finish_issued(&self) {
        let issued = std::mem::take(&mut self.lock_state().issued);
        if issued.is_empty() {
            return;
        }
        let mut device = self.lock_device();
        let waited = catch_panic(|| Ok(device.wait_idle()?));
        device.take_device_time();
        self.tidy_up(&mut device);
        drop(device);
        let ended: Vec<_> = issued.iter().map(|c| c.finish(&waited)).collect();
        drop(issued);
        ended.into_iter().for_each(EndedCallbacks::call);
    }

    /// Writes what kernels have printed, and destroys what nobody needs any more.
    fn tidy_up(&self, device: &mut ComputeDevice) {
        let printed = device.take_printed();
        if !printed.is_empty() {
            DeviceScheduler::deliver_printed(&printed);
        }
        for retired in std::mem::take(&mut *self.lock_retired()) {
            retired.destroy(device);
        }
    }

    fn lock_retired(&self) -> MutexGuard<'_, Vec<RetiredObject>> {
        self.retired.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Destroys an object when the device is free, without waiting for it.
    pub fn retire_object(&self, retired: RetiredObject) {
        match self.device.try_lock() {
            Ok(mut device) => retired.destroy(&mut device),
            Err(_) => self.lock_retired().push(retired),
        }
    }

    fn deliver_printed(printed: &[u8]) {
        let mut out = std::io::stdout().lock();
        // There is nobody to tell that the output is closed.
        let _ = out.write_all(printed).and_then(|()| out.flush());
    }

    /// Ends the thread. The caller knows that there will be no more commands.
    pub fn end_thread(&self) {
        self.lock_state().is_ending = true;
        self.wake.notify_all();
    }

    /// Runs commands until the device is gone, or the process ends.
    fn run_thread(self: &Arc<Self>) {
        loop {
            let mut state = self.lock_state();
            while state.ready.is_empty() || state.runner.is_some() {
                if state.is_ending {
                    return;
                }
                state.is_sleeping = true;
                let woken = self.wake.wait(state);
                state = woken.unwrap_or_else(PoisonError::into_inner);
            }
            state.is_sleeping = false;
            drop(state);
            self.run_ready(None);
        }
    }
}
