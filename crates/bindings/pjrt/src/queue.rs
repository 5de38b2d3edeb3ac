//! Queue of a device: jobs on its memory, run in their order.
//!
//! A device is used by one thread at a time, but a plugin is called by many. Callers submit jobs and do not wait for them; a
//! thread of the device runs them. A light job runs on the thread of its caller where the device is idle: to wake another
//! thread takes longer than such a job.

use crate::device_state::{DeviceArrayId, DeviceState};
use crate::error::{PluginError, PluginResult, catch_panic};
use crate::event::WorkEvent;
use crate::host_pool::HostPool;
use crate::plugin::is_processor;
use smallvec::SmallVec;
use spirula_runtime::{ComputeDevice, DeviceOptions};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::num::NonZero;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

/// Stack of a device's thread: compilers of kernels recurse.
const STACK: usize = 16 << 20;

/// The time that a job takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobWeight {
    /// Less than to wake a thread.
    Light,
    /// More, or unknown.
    Heavy,
}

/// The results of a job, which others may wait for.
#[derive(Default)]
pub struct JobPromise {
    /// The end of the job, if anyone may wait for it.
    pub event: Option<Arc<WorkEvent>>,
    /// The arrays that it makes. They get the error of a job that fails.
    pub arrays: SmallVec<[DeviceArrayId; 2]>,
}

impl JobPromise {
    /// The promise of a job that makes no arrays.
    pub fn from_event(event: &Arc<WorkEvent>) -> JobPromise {
        JobPromise {
            event: Some(event.clone()),
            arrays: SmallVec::new(),
        }
    }
}

/// A job that has ended, whose event is not complete yet. Functions that wait for the event may use the device, so the event
/// is completed when the device is free.
struct EndedJob {
    event: Option<Arc<WorkEvent>>,
    result: PluginResult<()>,
}

impl EndedJob {
    fn complete(self) {
        if let Some(event) = self.event {
            event.complete(self.result);
        }
    }
}

/// How far the work of a job has come.
pub enum JobProgress {
    /// It is complete.
    Done,
    /// It waits for work of the host, during which the device is free.
    Host(HostWork),
}

/// Work of the host. It returns how the job continues on the device.
pub type HostWork = Box<dyn FnOnce() -> JobWork + Send>;

/// The work of a job on the device.
pub type JobWork = Box<dyn FnOnce(&mut DeviceState) -> PluginResult<JobProgress> + Send>;

/// A job with its results.
struct DeviceJob {
    promise: JobPromise,
    work: JobWork,
}

/// The queue of a device.
pub struct DeviceQueue {
    shared: Arc<QueueShared>,
    thread: Mutex<Option<thread::JoinHandle<()>>>,
    /// Whether jobs are complete when they return, so that light ones may run at once.
    is_host: bool,
}

struct QueueShared {
    jobs: Mutex<JobList>,
    /// Number of jobs that were ever added.
    added: AtomicU64,
    /// Time for which the thread polls for the next job before it sleeps. To wake it takes as long as a small program.
    poll_time: Duration,
    /// Wakes the thread for jobs, and for the end.
    wake: Condvar,
    /// Wakes those that wait for the end of the thread.
    ended: Condvar,
    state: Mutex<DeviceState>,
    /// The thread that runs the jobs.
    runner: OnceLock<ThreadId>,
}

#[derive(Default)]
struct JobList {
    waiting: VecDeque<DeviceJob>,
    /// Whether a job runs.
    is_busy: bool,
    /// Whether the job that runs waits for the host.
    is_in_host: bool,
    /// Number of threads of the queue that are in functions of events.
    in_functions: usize,
    is_closed: bool,
}

impl JobList {
    /// Whether jobs wait that no thread runs, as the queue's are in functions of events.
    fn is_stuck(&self) -> bool {
        self.in_functions > 0 && !self.is_busy && !self.waiting.is_empty()
    }

    /// The next job, unless one runs.
    fn take_next(&mut self) -> Option<DeviceJob> {
        if self.is_busy {
            None
        } else {
            self.waiting.pop_front()
        }
    }
}

impl DeviceQueue {
    /// The queue of a device that was opened with options, and exchanges elements through a pool.
    pub fn new(
        device: ComputeDevice,
        options: &DeviceOptions,
        pool: &Arc<HostPool>,
    ) -> PluginResult<DeviceQueue> {
        let is_host = is_processor(device.info());
        let state = DeviceState::new(device, options, pool);
        let shared = Arc::new(QueueShared {
            jobs: Mutex::default(),
            added: AtomicU64::new(0),
            poll_time: choose_poll_time(is_host),
            wake: Condvar::new(),
            ended: Condvar::new(),
            state: Mutex::new(state),
            runner: OnceLock::new(),
        });
        let builder = thread::Builder::new().name("spirula-device".to_owned());
        let of_thread = shared.clone();
        let thread = builder.stack_size(STACK).spawn(move || of_thread.run_all());
        let thread = thread
            .map_err(|error| PluginError::internal(format!("the device has no thread: {error}")))?;
        ALL_QUEUES
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(Arc::downgrade(&shared));
        Ok(DeviceQueue {
            shared,
            thread: Mutex::new(Some(thread)),
            is_host,
        })
    }

    /// Adds a job after all others. A function of the host that a job calls may submit jobs, too. These run at once, as the
    /// job would wait for them and they for the job.
    pub fn submit(
        &self,
        weight: JobWeight,
        promise: JobPromise,
        work: impl FnOnce(&mut DeviceState) -> PluginResult<()> + Send + 'static,
    ) {
        let work = move |state: &mut DeviceState| work(state).map(|()| JobProgress::Done);
        self.submit_staged(weight, promise, work);
    }

    /// The same for a job that may call functions of the host.
    pub fn submit_staged(
        &self,
        weight: JobWeight,
        promise: JobPromise,
        work: impl FnOnce(&mut DeviceState) -> PluginResult<JobProgress> + Send + 'static,
    ) {
        if is_within_host_work(&self.shared) {
            return self.shared.run_job(promise, work).complete();
        }
        let mut jobs = self.shared.lock_jobs();
        let is_idle = jobs.waiting.is_empty() && !jobs.is_busy;
        if is_idle && self.is_host && weight == JobWeight::Light {
            jobs.is_busy = true;
            drop(jobs);
            let ended = self.shared.run_job(promise, work);
            self.shared.finish_job();
            ended.complete();
        } else {
            let work: JobWork = Box::new(work);
            jobs.waiting.push_back(DeviceJob { promise, work });
            self.shared.added.fetch_add(1, Ordering::Release);
            let is_busy = jobs.is_busy;
            drop(jobs);
            if !is_busy {
                self.shared.wake.notify_one();
            }
        }
    }

    /// Runs a job and waits for its result. While the device waits for the host, the job runs at once. The host may
    /// wait for a lock that the caller holds, such as that of Python. A function that is called at the end of a job
    /// runs on the device's thread. If it waits, the thread runs the jobs before first. Jobs of devices whose threads
    /// are in such functions are run by other threads meanwhile: this device may exchange elements with them.
    pub fn run<R: Send + 'static>(
        &self,
        job: impl FnOnce(&mut DeviceState) -> PluginResult<R> + Send + 'static,
    ) -> PluginResult<R> {
        let (sender, receiver) = std::sync::mpsc::channel();
        let event = WorkEvent::new();
        let job = Arc::new(Mutex::new(Some(job)));
        let queued = job.clone();
        self.submit(
            JobWeight::Light,
            JobPromise::from_event(&event),
            move |state| {
                // The receiver waits below, unless it has taken the job itself.
                if let Some(job) = take_job(&queued) {
                    let _ = sender.send(job(state)?);
                }
                Ok(())
            },
        );
        if self.shared.is_runner() {
            self.shared.run_until(&event);
        }
        loop {
            let is_in_host = self.shared.lock_jobs().is_in_host;
            let job = if is_in_host { take_job(&job) } else { None };
            if let Some(job) = job {
                return job(&mut self.shared.lock_state());
            }
            if event.wait_for(HOST_POLL) {
                break;
            }
            relieve_queues();
        }
        event.wait()?;
        let received = receiver.recv();
        received.map_err(|_| PluginError::internal("a job of the device has no result"))
    }
}

impl Drop for DeviceQueue {
    /// Runs the jobs that wait, and ends the thread.
    fn drop(&mut self) {
        self.shared.lock_jobs().is_closed = true;
        self.shared.wake.notify_one();
        let slot = self
            .thread
            .get_mut()
            .unwrap_or_else(PoisonError::into_inner);
        let Some(handle) = slot.take() else { return };
        // The last owner may be a job of this thread, which then ends by itself.
        if handle.thread().id() != thread::current().id() {
            self.shared.join_thread(handle);
        }
    }
}

/// Processors below which a thread that polls would take the place of the program.
const MANY_PROCESSORS: usize = 4;

/// The time for which the thread of a device polls for jobs. A device that is the host's own processor needs it for the work.
fn choose_poll_time(is_host: bool) -> Duration {
    let processors = thread::available_parallelism().map_or(1, NonZero::get);
    if is_host || processors < MANY_PROCESSORS {
        Duration::ZERO
    } else {
        Duration::from_micros(100)
    }
}

/// Takes a job that another thread may take, too.
fn take_job<F>(job: &Mutex<Option<F>>) -> Option<F> {
    job.lock().unwrap_or_else(PoisonError::into_inner).take()
}

/// The time between looks whether the device waits for the host.
const HOST_POLL: Duration = Duration::from_millis(2);

thread_local! {
    /// The queues whose jobs wait for work of the host that this thread does.
    static HOST_WORK: RefCell<Vec<*const QueueShared>> = const { RefCell::new(Vec::new()) };
}

/// The queues of all devices.
static ALL_QUEUES: Mutex<Vec<Weak<QueueShared>>> = Mutex::new(Vec::new());

/// Runs the jobs of devices whose threads are in functions of events, each on a thread of its own. Such a function may wait for a
/// lock that the caller holds, such as that of Python, or for another device; the caller waits for the jobs.
fn relieve_queues() {
    let mut all = ALL_QUEUES.lock().unwrap_or_else(PoisonError::into_inner);
    all.retain(|queue| queue.strong_count() > 0);
    let queues: Vec<Arc<QueueShared>> = all.iter().filter_map(Weak::upgrade).collect();
    drop(all);
    for queue in queues {
        if queue.lock_jobs().is_stuck() {
            let builder = thread::Builder::new().name("spirula-relief".to_owned());
            // Without a thread the wait goes on.
            let _ = builder.stack_size(STACK).spawn(move || queue.run_waiting());
        }
    }
}

/// Whether this thread does work of the host for a job of the queue.
fn is_within_host_work(queue: &Arc<QueueShared>) -> bool {
    HOST_WORK.with_borrow(|queues| queues.contains(&Arc::as_ptr(queue)))
}

impl QueueShared {
    fn lock_state(&self) -> MutexGuard<'_, DeviceState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for the end of the thread, unless the device waits for the host. That may wait for a lock that the caller
    /// holds; the thread then ends later.
    fn join_thread(&self, handle: thread::JoinHandle<()>) {
        let mut jobs = self.lock_jobs();
        while !handle.is_finished() && !jobs.is_in_host {
            let waited = self.ended.wait_timeout(jobs, HOST_POLL);
            jobs = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        drop(jobs);
        if handle.is_finished() {
            let _ = handle.join();
        }
    }

    /// Does work of the host for the job that runs.
    fn do_host_work(&self, work: HostWork) -> PluginResult<JobWork> {
        let before = std::mem::replace(&mut self.lock_jobs().is_in_host, true);
        HOST_WORK.with_borrow_mut(|queues| queues.push(self));
        let done = catch_panic(work);
        HOST_WORK.with_borrow_mut(|queues| queues.pop());
        self.lock_jobs().is_in_host = before;
        done
    }

    fn lock_jobs(&self) -> MutexGuard<'_, JobList> {
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the calling thread is that of the device.
    fn is_runner(&self) -> bool {
        self.runner.get() == Some(&thread::current().id())
    }

    /// Runs jobs until the queue is closed.
    fn run_all(&self) {
        self.runner.get_or_init(|| thread::current().id());
        let mut jobs = self.lock_jobs();
        while !jobs.is_closed || !jobs.waiting.is_empty() {
            jobs = self.run_next(jobs);
        }
        self.ended.notify_all();
    }

    /// Runs jobs on the device's thread until an event is complete.
    fn run_until(&self, event: &WorkEvent) {
        let mut jobs = self.lock_jobs();
        while event.result().is_none() {
            jobs = self.run_next(jobs);
        }
    }

    /// Runs the jobs that wait, unless one runs.
    fn run_waiting(&self) {
        let mut jobs = self.lock_jobs();
        while let Some(job) = jobs.take_next() {
            jobs = self.run_taken(jobs, job);
        }
    }

    /// Runs the next job, or waits for one.
    fn run_next<'a>(&'a self, mut jobs: MutexGuard<'a, JobList>) -> MutexGuard<'a, JobList> {
        match jobs.take_next() {
            Some(job) => self.run_taken(jobs, job),
            None => self.wait_for_job(jobs),
        }
    }

    /// Polls for a job for a moment, then sleeps until it is woken.
    fn wait_for_job<'a>(&'a self, jobs: MutexGuard<'a, JobList>) -> MutexGuard<'a, JobList> {
        let seen = self.added.load(Ordering::Acquire);
        let jobs = if self.poll_time.is_zero() || jobs.is_closed || jobs.is_busy {
            jobs
        } else {
            drop(jobs);
            let start = Instant::now();
            while self.added.load(Ordering::Acquire) == seen && start.elapsed() < self.poll_time {
                std::hint::spin_loop();
            }
            self.lock_jobs()
        };
        if jobs.is_closed || self.added.load(Ordering::Acquire) != seen {
            return jobs;
        }
        let woken = self.wake.wait(jobs);
        woken.unwrap_or_else(PoisonError::into_inner)
    }

    fn run_taken<'a>(
        &'a self,
        mut jobs: MutexGuard<'a, JobList>,
        job: DeviceJob,
    ) -> MutexGuard<'a, JobList> {
        jobs.is_busy = true;
        drop(jobs);
        let ended = self.run_job(job.promise, job.work);
        let mut jobs = self.lock_jobs();
        jobs.is_busy = false;
        jobs.in_functions += 1;
        if !jobs.waiting.is_empty() {
            // The functions may take any time, and another thread of the queue may be free.
            self.wake.notify_one();
        }
        drop(jobs);
        ended.complete();
        let mut jobs = self.lock_jobs();
        jobs.in_functions -= 1;
        jobs
    }

    /// Runs a job. A panic is the error of this job only.
    fn run_job(
        &self,
        promise: JobPromise,
        work: impl FnOnce(&mut DeviceState) -> PluginResult<JobProgress>,
    ) -> EndedJob {
        let mut state = self.lock_state();
        let mut progress = catch_panic(|| work(&mut state)).flatten();
        while let Ok(JobProgress::Host(host)) = progress {
            drop(state);
            let next = self.do_host_work(host);
            state = self.lock_state();
            progress = next.and_then(|next| catch_panic(|| next(&mut state)).flatten());
        }
        let result = progress.map(|_| ());
        if let Err(error) = &result {
            state.fail_arrays(&promise.arrays, error);
            state.reopen_if_lost(error);
        }
        state.end_visits();
        EndedJob {
            event: promise.event,
            result,
        }
    }

    /// Marks the end of a job that ran on the thread of its caller.
    fn finish_job(&self) {
        let mut jobs = self.lock_jobs();
        jobs.is_busy = false;
        let is_waiting = !jobs.waiting.is_empty() || jobs.is_closed;
        drop(jobs);
        if is_waiting {
            self.wake.notify_one();
        }
    }
}

#[cfg(test)]
mod tests;
