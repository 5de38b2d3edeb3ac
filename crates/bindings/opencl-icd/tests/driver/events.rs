//! Events: wait lists, user events that end late or fail, markers, barriers and times.

use crate::caller::{ObjectKind, OwnedHandle, ask_value, check, wait_list};
use crate::session::{BASIC, TestSession, enqueue_marker, launch, set_object, set_value};
use opencl_sys::*;
use std::ptr::{null, null_mut};

pub fn status(event: &OwnedHandle) -> cl_int {
    let asked = ask_value(|size, value, out| {
        let name = CL_EVENT_COMMAND_EXECUTION_STATUS;
        cl!(clGetEventInfo(event.raw, name, size, value, out))
    });
    asked.expect("events have a status")
}

pub fn end_event(event: &OwnedHandle, status: cl_int) {
    assert_eq!(cl!(clSetUserEventStatus(event.raw, status)), CL_SUCCESS);
}

pub fn wait(events: &[cl_event]) -> Result<(), cl_int> {
    let (count, list) = wait_list(events);
    check(cl!(clWaitForEvents(count, list)))
}

/// A fill of a buffer with a byte, and its event.
pub fn enqueue_fill(
    queue: cl_command_queue,
    buffer: &OwnedHandle,
    byte: u8,
    size: usize,
    waits: &[cl_event],
) -> OwnedHandle {
    let (count, list) = wait_list(waits);
    let (pattern, mut event) = ((&raw const byte).cast(), null_mut());
    let out = &raw mut event;
    let code = cl!(clEnqueueFillBuffer(
        queue, buffer.raw, pattern, 1, 0, size, count, list, out
    ));
    OwnedHandle::new(ObjectKind::Event, event, code).expect("it is enqueued")
}

#[test]
fn commands_wait_for_user_events() {
    for session in [TestSession::new(), TestSession::out_of_order()] {
        let buffer = session.filled(&[7_u8; 16]);
        let gate = session.user_event();
        assert_eq!(status(&gate), CL_SUBMITTED);
        let held = enqueue_fill(session.queue.raw, &buffer, 9, 16, &[gate.raw]);
        let second = enqueue_fill(session.queue.raw, &buffer, 5, 8, &[held.raw]);
        std::thread::yield_now();
        assert_eq!(status(&held), CL_QUEUED);
        assert_eq!(status(&second), CL_QUEUED);
        end_event(&gate, CL_COMPLETE);
        assert_eq!(wait(&[second.raw, held.raw, gate.raw]), Ok(()));
        assert_eq!([status(&held), status(&second)], [CL_COMPLETE; 2]);
        let expected: Vec<u8> = [[5; 8], [9; 8]].concat();
        assert_eq!(session.read::<u8>(&buffer, 16), expected);
    }
}

#[test]
fn failures_go_to_those_that_wait() {
    for session in [TestSession::new(), TestSession::out_of_order()] {
        let queue = session.queue.raw;
        let buffer = session.filled(&[7_u8; 16]);
        let gate = session.user_event();
        let failed = enqueue_fill(queue, &buffer, 9, 16, &[gate.raw]);
        let next = enqueue_fill(queue, &buffer, 9, 16, &[failed.raw]);
        let marker = enqueue_marker(queue, &[next.raw]);
        end_event(&gate, -77);
        assert_eq!(status(&gate), -77);
        let code = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
        for event in [&failed, &next, &marker, &gate] {
            assert_eq!(wait(&[event.raw]), Err(code));
            assert!(status(event) < 0);
        }
        assert_eq!(status(&failed), code);
        let late = enqueue_fill(queue, &buffer, 9, 16, &[gate.raw]);
        assert_eq!(wait(&[late.raw]), Err(code), "the event failed before");
        session.finish();
        assert_eq!(session.read::<u8>(&buffer, 16), [7; 16], "nothing was run");
    }
}

#[test]
fn commands_after_a_failure_run_unless_they_wait_for_it() {
    let session = TestSession::new();
    let queue = session.queue.raw;
    let buffer = session.filled(&[7_u8; 16]);
    let gate = session.user_event();
    let failed = enqueue_fill(queue, &buffer, 9, 16, &[gate.raw]);
    let free = enqueue_fill(queue, &buffer, 3, 16, &[]);
    end_event(&gate, -1);
    assert_eq!(wait(&[free.raw]), Ok(()));
    assert!(status(&failed) < 0);
    assert_eq!(session.read::<u8>(&buffer, 16), [3; 16]);
}

#[test]
fn user_events_end_once() {
    let session = TestSession::new();
    let event = session.user_event();
    for wrong in [CL_SUBMITTED, CL_RUNNING, CL_QUEUED, 17] {
        let code = cl!(clSetUserEventStatus(event.raw, wrong));
        assert_eq!(code, CL_INVALID_VALUE);
    }
    end_event(&event, CL_COMPLETE);
    for status in [CL_COMPLETE, -1] {
        let code = cl!(clSetUserEventStatus(event.raw, status));
        assert_eq!(code, CL_INVALID_OPERATION);
    }
    let marker = enqueue_marker(session.queue.raw, &[]);
    let code = cl!(clSetUserEventStatus(marker.raw, CL_COMPLETE));
    assert_eq!(code, CL_INVALID_EVENT);
}

#[test]
fn user_events_tell_what_they_are() {
    let session = TestSession::new();
    let event = session.user_event();
    let kind: Result<cl_uint, _> = ask_value(|size, value, out| {
        cl!(clGetEventInfo(
            event.raw,
            CL_EVENT_COMMAND_TYPE,
            size,
            value,
            out
        ))
    });
    assert_eq!(kind, Ok(CL_COMMAND_USER));
    let queue: Result<usize, _> = ask_value(|size, value, out| {
        cl!(clGetEventInfo(
            event.raw,
            CL_EVENT_COMMAND_QUEUE,
            size,
            value,
            out
        ))
    });
    assert_eq!(queue, Ok(0));
    end_event(&event, CL_COMPLETE);
    let times: Result<u64, _> = ask_value(|size, value, out| {
        let name = CL_PROFILING_COMMAND_END;
        cl!(clGetEventProfilingInfo(event.raw, name, size, value, out))
    });
    assert_eq!(times, Err(CL_PROFILING_INFO_NOT_AVAILABLE));
}

#[test]
fn markers_wait_for_all_before_them() {
    let session = TestSession::out_of_order();
    let queue = session.queue.raw;
    let buffer = session.filled(&[0_u8; 16]);
    let gate = session.user_event();
    let held = enqueue_fill(queue, &buffer, 1, 16, &[gate.raw]);
    let free = enqueue_fill(queue, &session.buffer(16), 1, 16, &[]);
    assert_eq!(wait(&[free.raw]), Ok(()));
    let marker = enqueue_marker(queue, &[]);
    let other = enqueue_marker(queue, &[free.raw]);
    assert_eq!(wait(&[other.raw]), Ok(()), "it waits for its list alone");
    assert_eq!(status(&marker), CL_QUEUED);
    assert_eq!(status(&held), CL_QUEUED);
    end_event(&gate, CL_COMPLETE);
    assert_eq!(wait(&[marker.raw]), Ok(()));
    assert_eq!(status(&held), CL_COMPLETE);
}

#[test]
fn barriers_hold_those_behind_them() {
    let session = TestSession::out_of_order();
    let queue = session.queue.raw;
    let buffer = session.filled(&[0_u8; 16]);
    let gate = session.user_event();
    let code = cl!(clEnqueueBarrierWithWaitList(
        queue,
        1,
        &raw const gate.raw,
        null_mut()
    ));
    assert_eq!(code, CL_SUCCESS);
    let after = enqueue_fill(queue, &buffer, 4, 16, &[]);
    let second_gate = session.user_event();
    let code = cl!(clEnqueueWaitForEvents(queue, 1, &raw const second_gate.raw));
    assert_eq!(code, CL_SUCCESS);
    let last = enqueue_fill(queue, &buffer, 5, 8, &[]);
    end_event(&second_gate, CL_COMPLETE);
    std::thread::yield_now();
    assert_eq!([status(&after), status(&last)], [CL_QUEUED; 2]);
    end_event(&gate, CL_COMPLETE);
    assert_eq!(wait(&[last.raw]), Ok(()));
    session.finish();
    let mut event = null_mut();
    assert_eq!(cl!(clEnqueueMarker(queue, &raw mut event)), CL_SUCCESS);
    let marker = OwnedHandle::new(ObjectKind::Event, event, CL_SUCCESS).expect("it is one");
    assert_eq!(cl!(clEnqueueBarrier(queue)), CL_SUCCESS);
    assert_eq!(wait(&[marker.raw]), Ok(()));
    assert_eq!(cl!(clEnqueueMarker(queue, null_mut())), CL_INVALID_VALUE);
    assert_eq!(
        cl!(clEnqueueWaitForEvents(queue, 0, null())),
        CL_INVALID_VALUE
    );
}

#[test]
fn times_of_commands_are_in_order() {
    let session = TestSession::with_flags(CL_QUEUE_PROFILING_ENABLE);
    let buffer = session.filled(&[0_u32; 1024]);
    let kernel = session.kernel(BASIC, "add_value");
    set_object(&kernel, 0, &buffer);
    assert_eq!(set_value(&kernel, 1, &1_u32), Ok(()));
    let mut last_end = 0;
    for _ in 0..20 {
        let queue = session.queue.raw;
        assert_eq!(launch(queue, kernel.raw, None, &[1024], None, &[]), Ok(()));
        let event = enqueue_fill(queue, &buffer, 1, 4096, &[]);
        assert_eq!(wait(&[event.raw]), Ok(()));
        let names = [
            CL_PROFILING_COMMAND_QUEUED,
            CL_PROFILING_COMMAND_SUBMIT,
            CL_PROFILING_COMMAND_START,
            CL_PROFILING_COMMAND_END,
            CL_PROFILING_COMMAND_COMPLETE,
        ];
        let times = names.map(|name| {
            let asked: Result<u64, _> = ask_value(|size, value, out| {
                cl!(clGetEventProfilingInfo(event.raw, name, size, value, out))
            });
            asked.expect("the queue measures times")
        });
        assert!(times.is_sorted(), "{times:?}");
        assert!(times[2] >= last_end, "the queue is in order");
        last_end = times[3];
        let mut code = cl!(clGetEventProfilingInfo(
            event.raw,
            1,
            0,
            null_mut(),
            null_mut()
        ));
        assert_eq!(code, CL_INVALID_VALUE);
        let mut room = 0_u32;
        let to = (&raw mut room).cast();
        let name = CL_PROFILING_COMMAND_END;
        code = cl!(clGetEventProfilingInfo(event.raw, name, 4, to, null_mut()));
        assert_eq!(code, CL_INVALID_VALUE);
    }
}

#[test]
fn times_are_not_known_too_early_or_without_the_property() {
    let ask = |event: &OwnedHandle| {
        ask_value::<u64>(|size, value, out| {
            let name = CL_PROFILING_COMMAND_START;
            cl!(clGetEventProfilingInfo(event.raw, name, size, value, out))
        })
    };
    let untimed = TestSession::new();
    let marker = enqueue_marker(untimed.queue.raw, &[]);
    assert_eq!(wait(&[marker.raw]), Ok(()));
    assert_eq!(ask(&marker), Err(CL_PROFILING_INFO_NOT_AVAILABLE));
    let timed = TestSession::with_flags(CL_QUEUE_PROFILING_ENABLE);
    let gate = timed.user_event();
    let held = enqueue_marker(timed.queue.raw, &[gate.raw]);
    assert_eq!(ask(&held), Err(CL_PROFILING_INFO_NOT_AVAILABLE));
    end_event(&gate, CL_COMPLETE);
    assert_eq!(wait(&[held.raw]), Ok(()));
    assert!(ask(&held).is_ok());
}

#[test]
fn events_name_their_command() {
    let session = TestSession::new();
    let buffer = session.buffer(16);
    let event = enqueue_fill(session.queue.raw, &buffer, 1, 16, &[]);
    let kind: Result<cl_uint, _> = ask_value(|size, value, out| {
        cl!(clGetEventInfo(
            event.raw,
            CL_EVENT_COMMAND_TYPE,
            size,
            value,
            out
        ))
    });
    assert_eq!(kind, Ok(CL_COMMAND_FILL_BUFFER));
    let queue: Result<usize, _> = ask_value(|size, value, out| {
        cl!(clGetEventInfo(
            event.raw,
            CL_EVENT_COMMAND_QUEUE,
            size,
            value,
            out
        ))
    });
    assert_eq!(queue, Ok(session.queue.raw as usize));
}
