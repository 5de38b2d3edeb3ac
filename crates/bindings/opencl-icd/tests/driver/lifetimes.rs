//! Lives of objects: many of them, and objects that are released while commands run.

use crate::buffer_boxes::random_bytes;
use crate::caller::{ObjectKind, OwnedHandle};
use crate::events::{end_event, enqueue_fill, wait};
use crate::session::{
    BASIC, TestSession, create_buffer, create_context, create_kernel, create_queue, devices,
    hold_handles, launch, set_object, set_value, use_many_handles,
};
use opencl_sys::*;
use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicUsize, Ordering};

unsafe extern "C" fn count_end(_: *mut c_void, data: *mut c_void) {
    // SAFETY: the test gives a counter, which lives as long as the process.
    unsafe { &*data.cast::<AtomicUsize>() }.fetch_add(1, Ordering::AcqRel);
}

/// Counts the end of an object.
fn watch_end(object: &OwnedHandle, count: &'static AtomicUsize) {
    let data = (&raw const *count).cast_mut().cast();
    let code = if object.kind == ObjectKind::Context {
        cl!(clSetContextDestructorCallback(
            object.raw,
            Some(count_end),
            data
        ))
    } else {
        cl!(clSetMemObjectDestructorCallback(
            object.raw,
            Some(count_end),
            data
        ))
    };
    assert_eq!(code, CL_SUCCESS);
}

#[test]
fn thousands_of_contexts_come_and_go() {
    let _guard = use_many_handles();
    static ENDED: AtomicUsize = AtomicUsize::new(0);
    let device = devices()[0];
    for number in 0..10_000 {
        let context = create_context(&[device]).expect("there is a processor");
        watch_end(&context, &ENDED);
        let queue = create_queue(context.raw, device, 0).expect("it has queues");
        if number % 10 == 0 {
            let made = create_buffer(context.raw, 0, 64, null_mut());
            let buffer = made.expect("there is memory");
            watch_end(&buffer, &ENDED);
            drop(enqueue_fill(queue.raw, &buffer, 1, 64, &[]));
            assert_eq!(cl!(clFinish(queue.raw)), CL_SUCCESS);
        }
    }
    // Commands that have ended may be let go a little later.
    while ENDED.load(Ordering::Acquire) < 11_000 {
        std::thread::yield_now();
    }
    assert_eq!(ENDED.load(Ordering::Acquire), 11_000);
}

#[test]
fn objects_are_released_in_any_order_while_commands_run() {
    let _guard = use_many_handles();
    static ENDED: AtomicUsize = AtomicUsize::new(0);
    for seed in 0..200 {
        let session = TestSession::out_of_order();
        let program = session.program(BASIC);
        let kernel = create_kernel(&program, "add_value").expect("it is there");
        let buffer = session.filled(&[0_u32; 4096]);
        watch_end(&buffer, &ENDED);
        watch_end(&session.context, &ENDED);
        set_object(&kernel, 0, &buffer);
        assert_eq!(set_value(&kernel, 1, &1_u32), Ok(()));
        let gate = session.user_event();
        let queue = session.queue.raw;
        let waits = [gate.raw];
        for _ in 0..4 {
            assert_eq!(
                launch(queue, kernel.raw, None, &[4096], None, &waits),
                Ok(())
            );
        }
        let last = enqueue_fill(queue, &buffer, 3, 64, &[gate.raw]);
        assert_eq!(ObjectKind::Event.retain(gate.raw), CL_SUCCESS);
        let gate_raw = gate.raw;
        let TestSession { queue, context, .. } = session;
        let mut objects = vec![program, kernel, buffer, queue, context, gate];
        let order = random_bytes(seed, 8);
        let late = usize::from(order[7]) % 7;
        for (number, choice) in order.iter().take(6).enumerate() {
            if number == late {
                assert_eq!(cl!(clSetUserEventStatus(gate_raw, CL_COMPLETE)), CL_SUCCESS);
            }
            drop(objects.swap_remove(usize::from(*choice) % objects.len()));
        }
        if late == 6 {
            assert_eq!(cl!(clSetUserEventStatus(gate_raw, CL_COMPLETE)), CL_SUCCESS);
        }
        assert_eq!(wait(&[last.raw]), Ok(()));
        assert_eq!(ObjectKind::Event.release(gate_raw), CL_SUCCESS);
    }
    while ENDED.load(Ordering::Acquire) < 400 {
        std::thread::yield_now();
    }
}

#[test]
fn commands_that_never_run_hold_nothing_up() {
    let _guard = use_many_handles();
    let session = TestSession::new();
    let gate = session.user_event();
    let queue = create_queue(session.context.raw, session.device, 0).expect("it has queues");
    let buffer = session.buffer(64);
    let mut last = enqueue_fill(queue.raw, &buffer, 1, 64, &[gate.raw]);
    for _ in 0..50_000 {
        last = enqueue_fill(queue.raw, &buffer, 1, 64, &[last.raw]);
    }
    // The chain of commands is let go without having run.
    drop(gate);
    drop(last);
    drop(queue);
    drop(buffer);
    let other = session.filled(&[5_u8; 4]);
    assert_eq!(session.read::<u8>(&other, 4), [5; 4]);
}

#[test]
fn commands_hold_their_objects_until_they_end() {
    let _guard = hold_handles();
    let session = TestSession::new();
    let gate = session.user_event();
    let buffer = session.buffer(64);
    let raw = buffer.raw;
    let event = enqueue_fill(session.queue.raw, &buffer, 1, 64, &[gate.raw]);
    drop(buffer);
    assert_eq!(ObjectKind::Memory.count(raw), Ok(0), "the command holds it");
    end_event(&gate, CL_COMPLETE);
    assert_eq!(wait(&[event.raw]), Ok(()));
    session.finish();
    // Another command lets go of those before it.
    while ObjectKind::Memory.count(raw).is_ok() {
        session.finish();
        std::thread::yield_now();
    }
    assert_eq!(ObjectKind::Memory.count(raw), Err(CL_INVALID_MEM_OBJECT));
}

#[test]
fn contexts_tell_their_end_last_first() {
    static ORDER: std::sync::Mutex<Vec<usize>> = std::sync::Mutex::new(Vec::new());
    unsafe extern "C" fn note(_: cl_context, data: *mut c_void) {
        ORDER.lock().expect("it is free").push(data as usize);
    }
    let context = create_context(&devices()[..1]).expect("there is a processor");
    for number in 1..=3_usize {
        let data = number as *mut c_void;
        let code = cl!(clSetContextDestructorCallback(
            context.raw,
            Some(note),
            data
        ));
        assert_eq!(code, CL_SUCCESS);
    }
    let code = cl!(clSetContextDestructorCallback(
        context.raw,
        None,
        null_mut()
    ));
    assert_eq!(code, CL_INVALID_VALUE);
    drop(context);
    assert_eq!(*ORDER.lock().expect("it is free"), [3, 2, 1]);
}
