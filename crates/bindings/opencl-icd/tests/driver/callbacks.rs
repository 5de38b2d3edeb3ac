//! Functions that are called with the status of commands.

use crate::caller::{ObjectKind, OwnedHandle};
use crate::events::{end_event, enqueue_fill, status, wait};
use crate::session::{TestSession, both_devices, create_buffer, create_context, create_queue};
use opencl_sys::*;
use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

/// Longest time that a test waits for a callback that has to come.
const PATIENCE: Duration = Duration::from_secs(60);

type StatusFunction = Box<dyn Fn(cl_event, cl_int) + Send>;

unsafe extern "C" fn call_boxed(event: cl_event, status: cl_int, data: *mut c_void) {
    // SAFETY: each callback gets a box of its own, once.
    let function = unsafe { Box::from_raw(data.cast::<StatusFunction>()) };
    function(event, status);
}

/// Calls a function at a status.
fn on_status(
    event: &OwnedHandle,
    at: cl_int,
    function: impl Fn(cl_event, cl_int) + Send + 'static,
) {
    let boxed: StatusFunction = Box::new(function);
    let data = Box::into_raw(Box::new(boxed)).cast();
    let code = cl!(clSetEventCallback(event.raw, at, Some(call_boxed), data));
    assert_eq!(code, CL_SUCCESS);
}

/// Sends the status at which a callback is called.
fn send_status(event: &OwnedHandle, at: cl_int, to: &Sender<(cl_int, cl_int)>) {
    let to = to.clone();
    on_status(event, at, move |_, reached| {
        to.send((at, reached)).expect("the test listens");
    });
}

fn receive<T>(from: &Receiver<T>) -> T {
    from.recv_timeout(PATIENCE).expect("the callback is called")
}

const STATUSES: [cl_int; 3] = [CL_SUBMITTED, CL_RUNNING, CL_COMPLETE];

#[test]
fn each_status_is_told_once() {
    let session = TestSession::new();
    let buffer = session.buffer(16);
    let gate = session.user_event();
    let event = enqueue_fill(session.queue.raw, &buffer, 1, 16, &[gate.raw]);
    let (to, from) = channel();
    for at in STATUSES.iter().chain(&STATUSES) {
        send_status(&event, *at, &to);
    }
    drop(to);
    assert!(from.try_recv().is_err(), "the command waits");
    end_event(&gate, CL_COMPLETE);
    session.finish();
    let told: Vec<(cl_int, cl_int)> = (0..6).map(|_| receive(&from)).collect();
    let expected = [
        CL_SUBMITTED,
        CL_SUBMITTED,
        CL_RUNNING,
        CL_RUNNING,
        CL_COMPLETE,
        CL_COMPLETE,
    ];
    assert_eq!(told, expected.map(|status| (status, status)));
    assert!(from.recv_timeout(PATIENCE).is_err(), "there are no more");
}

#[test]
fn callbacks_of_ended_commands_are_called_at_once() {
    let session = TestSession::new();
    let event = session.user_event();
    end_event(&event, CL_COMPLETE);
    let (to, from) = channel();
    for at in STATUSES {
        send_status(&event, at, &to);
        assert_eq!(receive(&from), (at, at));
    }
}

#[test]
fn failures_are_told_as_codes() {
    let session = TestSession::new();
    let buffer = session.buffer(16);
    let gate = session.user_event();
    let event = enqueue_fill(session.queue.raw, &buffer, 1, 16, &[gate.raw]);
    let (to, from) = channel();
    send_status(&event, CL_COMPLETE, &to);
    end_event(&gate, -5);
    let code = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
    assert_eq!(receive(&from), (CL_COMPLETE, code));
    send_status(&event, CL_COMPLETE, &to);
    assert_eq!(receive(&from), (CL_COMPLETE, code));
    send_status(&gate, CL_COMPLETE, &to);
    assert_eq!(receive(&from), (CL_COMPLETE, -5));
}

#[test]
fn wrong_callbacks_are_refused() {
    let session = TestSession::new();
    let event = session.user_event();
    for wrong in [CL_QUEUED, 4, -1] {
        let code = cl!(clSetEventCallback(
            event.raw,
            wrong,
            Some(call_boxed),
            null_mut()
        ));
        assert_eq!(code, CL_INVALID_VALUE);
    }
    let code = cl!(clSetEventCallback(event.raw, CL_COMPLETE, None, null_mut()));
    assert_eq!(code, CL_INVALID_VALUE);
}

#[test]
fn callbacks_may_enqueue_and_release() {
    let session = TestSession::new();
    let buffer = session.buffer(16);
    let gate = session.user_event();
    let event = enqueue_fill(session.queue.raw, &buffer, 1, 16, &[gate.raw]);
    let (queue, memory) = (session.queue.raw as usize, buffer.raw as usize);
    for at in STATUSES {
        let (to, from) = channel();
        on_status(&event, at, move |event, _| {
            let target = OwnedHandle {
                raw: memory as cl_mem,
                kind: ObjectKind::Memory,
            };
            assert_eq!(ObjectKind::Event.retain(event), CL_SUCCESS);
            let size = 16;
            let next = enqueue_fill(queue as cl_command_queue, &target, 2, size, &[]);
            std::mem::forget(target);
            assert_eq!(ObjectKind::Event.release(event), CL_SUCCESS);
            to.send(next).expect("the test listens");
        });
        if at == CL_SUBMITTED {
            end_event(&gate, CL_COMPLETE);
        }
        let next = receive(&from);
        assert_eq!(wait(&[next.raw]), Ok(()));
    }
    assert_eq!(session.read::<u8>(&buffer, 16), [2; 16]);
}

#[test]
fn callbacks_may_wait_for_other_commands() {
    for session in [TestSession::new(), TestSession::out_of_order()] {
        let buffer = session.buffer(16);
        let gate = session.user_event();
        let event = enqueue_fill(session.queue.raw, &buffer, 1, 16, &[gate.raw]);
        let next = enqueue_fill(session.queue.raw, &buffer, 2, 16, &[event.raw]);
        let (to, from) = channel();
        let raw = next.raw as usize;
        on_status(&event, CL_COMPLETE, move |_, _| {
            to.send(wait(&[raw as cl_event])).expect("the test listens");
        });
        end_event(&gate, CL_COMPLETE);
        assert_eq!(receive(&from), Ok(()));
        assert_eq!(status(&next), CL_COMPLETE);
    }
}

#[test]
fn callbacks_may_wait_for_what_others_end_later() {
    let session = TestSession::out_of_order();
    let buffer = session.buffer(16);
    let (gate, later) = (session.user_event(), session.user_event());
    let event = enqueue_fill(session.queue.raw, &buffer, 1, 16, &[gate.raw]);
    let held = enqueue_fill(session.queue.raw, &buffer, 2, 16, &[later.raw]);
    let (begun, has_begun) = channel();
    let (to, from) = channel();
    let raw = held.raw as usize;
    on_status(&event, CL_COMPLETE, move |_, _| {
        begun.send(()).expect("the test listens");
        to.send(wait(&[raw as cl_event])).expect("the test listens");
    });
    end_event(&gate, CL_COMPLETE);
    receive(&has_begun);
    std::thread::sleep(Duration::from_millis(50));
    end_event(&later, CL_COMPLETE);
    assert_eq!(receive(&from), Ok(()));
    session.finish();
}

#[test]
fn callbacks_of_any_device_may_wait() {
    let Some(devices) = both_devices() else {
        return;
    };
    let context = create_context(&devices).expect("both are there");
    for device in devices {
        let queue = create_queue(context.raw, device, 0).expect("it has queues");
        let buffer = create_buffer(context.raw, 0, 1024, null_mut()).expect("there is memory");
        let mut code = 1;
        let raw = cl!(clCreateUserEvent(context.raw, &raw mut code));
        let gate = OwnedHandle::new(ObjectKind::Event, raw, code).expect("it is one");
        let first = enqueue_fill(queue.raw, &buffer, 1, 1024, &[gate.raw]);
        let last = enqueue_fill(queue.raw, &buffer, 2, 1024, &[first.raw]);
        let (to, from) = channel();
        let raw = last.raw as usize;
        on_status(&first, CL_COMPLETE, move |_, _| {
            to.send(wait(&[raw as cl_event])).expect("the test listens");
        });
        end_event(&gate, CL_COMPLETE);
        assert_eq!(receive(&from), Ok(()));
    }
}
