//! Tests of the queue: jobs that wait for the host.

use super::*;

fn open_queue() -> Arc<DeviceQueue> {
    let options = DeviceOptions::default();
    let device = ComputeDevice::open("cpu", &options);
    let queue = DeviceQueue::new(
        device.expect("there is a processor"),
        &options,
        &Arc::default(),
    );
    Arc::new(queue.expect("it has a thread"))
}

/// Work that notes its name.
fn note(
    log: &Arc<Mutex<Vec<&'static str>>>,
    name: &'static str,
) -> impl FnOnce(&mut DeviceState) -> PluginResult<()> + Send + 'static {
    let log = log.clone();
    move |_| {
        log.lock().expect("nobody panics").push(name);
        Ok(())
    }
}

/// Submits a job that waits for the test to begin. Returns its end, and the sender of the begin.
fn hold_queue(queue: &DeviceQueue) -> (Arc<WorkEvent>, std::sync::mpsc::Sender<()>) {
    let event = WorkEvent::new();
    let (begin, started) = std::sync::mpsc::channel();
    let promise = JobPromise::from_event(&event);
    queue.submit(JobWeight::Heavy, promise, move |_| {
        started.recv().expect("the test begins");
        Ok(())
    });
    (event, begin)
}

/// Submits a job to each of two queues, of which the second waits for the first, as in an exchange. Returns their ends.
fn let_queues_meet(one: &DeviceQueue, two: &DeviceQueue) -> [Arc<WorkEvent>; 2] {
    let ends = [(); 2].map(|()| WorkEvent::new());
    let [first, second] = [0, 1].map(|at| JobPromise::from_event(&ends[at]));
    let (meet, met) = std::sync::mpsc::channel();
    one.submit(JobWeight::Heavy, first, move |_| {
        meet.send(()).expect("the other device waits");
        Ok(())
    });
    two.submit(JobWeight::Heavy, second, move |_| {
        let wait = met.recv_timeout(Duration::from_secs(60));
        wait.map_err(|_| PluginError::internal("the devices did not meet"))
    });
    ends
}

/// Jobs that the host submits for a job run before that continues, and those of others afterwards.
#[test]
fn jobs_of_the_host_run_at_once() {
    let queue = open_queue();
    let log = Arc::new(Mutex::new(Vec::new()));
    let [first, nested, last] = [(); 3].map(|()| WorkEvent::new());
    let (started, begin) = std::sync::mpsc::channel();
    let (inner, of_nested) = (queue.clone(), nested.clone());
    let (in_nested, in_end) = (note(&log, "nested"), note(&log, "end"));
    queue.submit_staged(
        JobWeight::Heavy,
        JobPromise::from_event(&first),
        move |_| {
            Ok(JobProgress::Host(Box::new(move || {
                started.send(()).expect("the test waits");
                inner.submit(
                    JobWeight::Heavy,
                    JobPromise::from_event(&of_nested),
                    in_nested,
                );
                // The job before has its result, so that waiting for it is possible.
                of_nested.wait().expect("it has run");
                assert_eq!(inner.run(|_| Ok(5)), Ok(5));
                Box::new(|state| in_end(state).map(|()| JobProgress::Done))
            })))
        },
    );
    begin.recv().expect("the job begins");
    queue.submit(
        JobWeight::Light,
        JobPromise::from_event(&last),
        note(&log, "last"),
    );
    last.wait().expect("it has run");
    assert_eq!(
        *log.lock().expect("nobody panics"),
        ["nested", "end", "last"]
    );
}

/// A caller that waits with a lock which the host needs is answered while the host waits for the lock.
#[test]
fn callers_are_answered_while_a_job_waits_for_the_host() {
    let queue = open_queue();
    let lock = Arc::new(Mutex::new(()));
    let guard = lock.lock().expect("nobody panics");
    let event = WorkEvent::new();
    let of_host = lock.clone();
    queue.submit_staged(JobWeight::Heavy, JobPromise::from_event(&event), |_| {
        Ok(JobProgress::Host(Box::new(move || {
            drop(of_host.lock());
            Box::new(|_| Ok(JobProgress::Done))
        })))
    });
    assert_eq!(queue.run(|_| Ok(7)), Ok(7));
    drop(guard);
    assert_eq!(event.wait(), Ok(()));
}

/// The arguments that the function of an event in the next test gets.
struct AddressQuestion {
    queue: Arc<DeviceQueue>,
    answer: Mutex<std::sync::mpsc::Sender<PluginResult<u32>>>,
}

/// Asks a question, at the end of an event.
unsafe extern "C" fn ask(_: *mut crate::generated::PjrtError, argument: *mut std::ffi::c_void) {
    // SAFETY: the argument is that of a registration below, which is called once.
    let question = unsafe { Box::from_raw(argument.cast::<AddressQuestion>()) };
    let answer = question.queue.run(|_| Ok(3));
    let sender = question.answer.lock().expect("nobody panics");
    sender.send(answer).expect("the test waits");
}

/// A function of an event may wait for a job, though others are before it and the thread of the device calls the function.
#[test]
fn functions_of_events_may_wait_for_jobs() {
    let queue = open_queue();
    let log = Arc::new(Mutex::new(Vec::new()));
    let second = WorkEvent::new();
    let (first, begin) = hold_queue(&queue);
    let (answer, answered) = std::sync::mpsc::channel();
    let promise = JobPromise::from_event(&second);
    queue.submit(JobWeight::Heavy, promise, note(&log, "second"));
    let question = AddressQuestion {
        queue: queue.clone(),
        answer: Mutex::new(answer),
    };
    let argument = Box::into_raw(Box::new(question));
    first.call_function_when_ready(Some(ask), argument.cast());
    begin.send(()).expect("the job waits");
    assert_eq!(answered.recv(), Ok(Ok(3)));
    assert_eq!(*log.lock().expect("nobody panics"), ["second"]);
}

/// Jobs run though the thread of their device waits for another device in a function of an event, and that one for these jobs.
#[test]
fn functions_of_events_may_wait_for_other_devices() {
    let (one, two) = (open_queue(), open_queue());
    let (first, begin) = hold_queue(&one);
    let (answer, answered) = std::sync::mpsc::channel();
    let question = AddressQuestion {
        queue: two.clone(),
        answer: Mutex::new(answer),
    };
    let argument = Box::into_raw(Box::new(question));
    first.call_function_when_ready(Some(ask), argument.cast());
    let [last, other] = let_queues_meet(&one, &two);
    begin.send(()).expect("the job waits");
    assert_eq!(answered.recv(), Ok(Ok(3)));
    assert_eq!((last.wait(), other.wait()), (Ok(()), Ok(())));
}

/// Waits for a lock, at the end of an event.
unsafe extern "C" fn take_lock(
    _: *mut crate::generated::PjrtError,
    argument: *mut std::ffi::c_void,
) {
    // SAFETY: the argument is that of the registration below, which is called once.
    let lock = unsafe { Box::from_raw(argument.cast::<Arc<Mutex<()>>>()) };
    drop(lock.lock());
}

/// A caller that waits with a lock is answered though a function of an event waits for the lock.
#[test]
fn callers_are_answered_while_a_function_of_an_event_waits() {
    let (one, two) = (open_queue(), open_queue());
    let lock = Arc::new(Mutex::new(()));
    let guard = lock.lock().expect("nobody panics");
    let (first, begin) = hold_queue(&one);
    let argument = Box::into_raw(Box::new(lock.clone()));
    first.call_function_when_ready(Some(take_lock), argument.cast());
    begin.send(()).expect("the job waits");
    first.wait().expect("it has run");
    let [last, other] = let_queues_meet(&one, &two);
    assert_eq!((one.run(|_| Ok(1)), two.run(|_| Ok(2))), (Ok(1), Ok(2)));
    drop(guard);
    assert_eq!((last.wait(), other.wait()), (Ok(()), Ok(())));
}

/// A panic of the host is the error of its job only.
#[test]
fn a_panic_of_the_host_is_an_error_of_its_job() {
    let queue = open_queue();
    let event = WorkEvent::new();
    let promise = JobPromise::from_event(&event);
    queue.submit_staged(JobWeight::Heavy, promise, |_| {
        Ok(JobProgress::Host(Box::new(|| panic!("a broken function"))))
    });
    let error = event.wait().expect_err("it has failed");
    assert!(error.message.contains("a broken function"), "{error:?}");
    assert_eq!(queue.run(|_| Ok(1)), Ok(1));
}
