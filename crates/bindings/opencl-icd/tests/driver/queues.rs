//! Queues: their properties, and the order of many commands.

use crate::caller::{ask_list, ask_value, check};
use crate::events::{end_event, enqueue_fill, wait};
use crate::session::{
    BASIC, TestSession, create_queue, enqueue_marker, launch, read_buffer, set_object, set_value,
    use_many_handles, write_buffer,
};
use opencl_sys::*;
use std::ptr::{null, null_mut};

#[test]
fn properties_are_those_of_the_creation() {
    let session = TestSession::new();
    let (context, device) = (session.context.raw, session.device);
    let flags = [
        0,
        CL_QUEUE_PROFILING_ENABLE,
        CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE,
        CL_QUEUE_PROFILING_ENABLE | CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE,
    ];
    for flags in flags {
        let queue = create_queue(context, device, flags).expect("it has queues");
        let told: Result<u64, _> = ask_value(|size, value, out| {
            cl!(clGetCommandQueueInfo(
                queue.raw,
                CL_QUEUE_PROPERTIES,
                size,
                value,
                out
            ))
        });
        assert_eq!(told, Ok(flags));
        let words: Result<Vec<u64>, _> = ask_list(|size, value, out| {
            let name = CL_QUEUE_PROPERTIES_ARRAY;
            cl!(clGetCommandQueueInfo(queue.raw, name, size, value, out))
        });
        assert_eq!(words, Ok(vec![CL_QUEUE_PROPERTIES as u64, flags, 0]));
    }
    let made = create_queue(context, device, 1 << 20);
    assert_eq!(made.err(), Some(CL_INVALID_VALUE));
    let mut code = 1;
    let unknown = [0x7777_u64, 1, 0];
    let list = unknown.as_ptr();
    let made = cl!(clCreateCommandQueueWithProperties(
        context,
        device,
        list,
        &raw mut code
    ));
    assert_eq!((made.is_null(), code), (true, CL_INVALID_VALUE));
}

#[test]
fn queues_in_order_keep_it() {
    let session = TestSession::new();
    let queue = session.queue.raw;
    let buffer = session.filled(&[0_u32; 64]);
    let kernel = session.kernel(BASIC, "add_value");
    set_object(&kernel, 0, &buffer);
    let mut expected = 0_u32;
    for round in 0..2000_u32 {
        if round % 7 == 0 {
            let pattern = (&raw const round).cast();
            let (memory, event) = (buffer.raw, null_mut());
            assert_eq!(
                check(cl!(clEnqueueFillBuffer(
                    queue,
                    memory,
                    pattern,
                    4,
                    0,
                    256,
                    0,
                    null(),
                    event
                ))),
                Ok(())
            );
            expected = round;
        } else {
            assert_eq!(set_value(&kernel, 1, &round), Ok(()));
            assert_eq!(session.launch(&kernel, &[64]), Ok(()));
            expected += round;
        }
    }
    assert_eq!(session.read::<u32>(&buffer, 64), [expected; 64]);
}

#[test]
fn long_chains_of_events_end() {
    let _guard = use_many_handles();
    let session = TestSession::out_of_order();
    let buffer = session.filled(&[0_u32; 4]);
    let kernel = session.kernel(BASIC, "count_up");
    set_object(&kernel, 0, &buffer);
    let gate = session.user_event();
    let mut last = enqueue_marker(session.queue.raw, &[gate.raw]);
    for _ in 0..20_000 {
        let (mut event, one) = (null_mut(), 1_usize);
        let (size, out) = (&raw const one, &raw mut event);
        let waits = &raw const last.raw;
        assert_eq!(
            check(cl!(clEnqueueNDRangeKernel(
                session.queue.raw,
                kernel.raw,
                1,
                null(),
                size,
                null(),
                1,
                waits,
                out
            ))),
            Ok(())
        );
        last.raw = std::mem::replace(&mut event, last.raw);
        assert_eq!(last.kind.release(event), CL_SUCCESS);
    }
    end_event(&gate, CL_COMPLETE);
    assert_eq!(wait(&[last.raw]), Ok(()));
    assert_eq!(session.read::<u32>(&buffer, 1), [20_000]);
}

#[test]
fn failed_gates_end_long_chains() {
    let _guard = use_many_handles();
    let session = TestSession::new();
    let buffer = session.filled(&[0_u8; 16]);
    let gate = session.user_event();
    let mut last = enqueue_fill(session.queue.raw, &buffer, 1, 16, &[gate.raw]);
    for _ in 0..20_000 {
        last = enqueue_fill(session.queue.raw, &buffer, 1, 16, &[last.raw]);
    }
    end_event(&gate, -1);
    let code = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
    assert_eq!(wait(&[last.raw]), Err(code));
    session.finish();
    assert_eq!(session.read::<u8>(&buffer, 16), [0; 16]);
}

#[test]
fn queues_of_one_context_wait_for_each_other() {
    let session = TestSession::new();
    let second = create_queue(session.context.raw, session.device, 0).expect("it has queues");
    let buffer = session.filled(&[0_u8; 16]);
    let mut last = enqueue_marker(session.queue.raw, &[]);
    for round in 0..200 {
        let queue = if round % 2 == 0 {
            &second
        } else {
            &session.queue
        };
        last = enqueue_fill(queue.raw, &buffer, round, 16, &[last.raw]);
    }
    let mut bytes = [0_u8; 16];
    assert_eq!(
        read_buffer(second.raw, buffer.raw, 0, &mut bytes, &[last.raw]),
        Ok(())
    );
    assert_eq!(bytes, [199; 16]);
}

#[test]
fn commands_end_after_their_queue_is_released() {
    let session = TestSession::new();
    let queue = create_queue(session.context.raw, session.device, 0).expect("it has queues");
    let buffer = session.filled(&[0_u8; 16]);
    let gate = session.user_event();
    let event = enqueue_fill(queue.raw, &buffer, 6, 16, &[gate.raw]);
    drop(queue);
    end_event(&gate, CL_COMPLETE);
    assert_eq!(wait(&[event.raw]), Ok(()));
    assert_eq!(session.read::<u8>(&buffer, 16), [6; 16]);
}

#[test]
fn blocking_commands_tell_failures() {
    let session = TestSession::new();
    let (queue, buffer) = (session.queue.raw, session.buffer(16));
    let gate = session.user_event();
    end_event(&gate, -9);
    let code = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
    let written = write_buffer(queue, buffer.raw, 0, &[1_u8; 16], &[gate.raw]);
    assert_eq!(written, Err(code));
    let mut bytes = [0_u8; 16];
    let read = read_buffer(queue, buffer.raw, 0, &mut bytes, &[gate.raw]);
    assert_eq!(read, Err(code));
}

#[test]
fn properties_change_where_callers_may() {
    let session = TestSession::new();
    let queue = session.queue.raw;
    let mut old = 7;
    let flag = CL_QUEUE_PROFILING_ENABLE;
    let code = cl!(clSetCommandQueueProperty(
        queue,
        flag,
        CL_TRUE,
        &raw mut old
    ));
    assert_eq!((code, old), (CL_SUCCESS, 0));
    let code = cl!(clSetCommandQueueProperty(
        queue,
        flag,
        CL_FALSE,
        &raw mut old
    ));
    assert_eq!((code, old), (CL_SUCCESS, flag));
    let code = cl!(clSetCommandQueueProperty(
        queue,
        1 << 9,
        CL_TRUE,
        null_mut()
    ));
    assert_eq!(code, CL_INVALID_VALUE);
    let kernel = session.kernel(BASIC, "count_up");
    let unset = launch(queue, kernel.raw, None, &[1], None, &[]);
    assert_eq!(unset, Err(CL_INVALID_KERNEL_ARGS));
}
