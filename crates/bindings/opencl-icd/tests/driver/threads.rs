//! Threads that share contexts, queues and kernels.

use crate::caller::{OBJECT_KINDS, ObjectKind};
use crate::events::{end_event, enqueue_fill, wait};
use crate::objects::SampleObjects;
use crate::session::{
    BASIC, TestSession, build, create_buffer, create_kernel, load_module, set_object, set_value,
    use_many_handles,
};
use opencl_sys::*;
use std::ptr::null_mut;
use std::thread::scope;

const THREADS: u32 = 16;

/// Runs a function on all threads.
fn run_all(function: impl Fn(u32) + Sync) {
    scope(|scope| {
        for number in 0..THREADS {
            let function = &function;
            scope.spawn(move || function(number));
        }
    });
}

#[test]
fn threads_share_a_queue_and_a_kernel() {
    for session in [TestSession::new(), TestSession::out_of_order()] {
        let kernel = session.kernel(BASIC, "count_up");
        let counter = session.filled(&[0_u32; 4]);
        set_object(&kernel, 0, &counter);
        run_all(|_| {
            for round in 0..50 {
                assert_eq!(session.launch(&kernel, &[64]), Ok(()));
                if round % 10 == 0 {
                    session.finish();
                }
            }
        });
        session.finish();
        assert_eq!(session.read::<u32>(&counter, 1), [THREADS * 50 * 64]);
    }
}

#[test]
fn threads_have_buffers_in_one_context() {
    let session = TestSession::out_of_order();
    let program = session.program(BASIC);
    run_all(|number| {
        let kernel = create_kernel(&program, "add_value").expect("it is there");
        for round in 0..30_u32 {
            let content: Vec<u32> = (0..256).map(|n| n * number).collect();
            let buffer = session.filled(&content);
            set_object(&kernel, 0, &buffer);
            assert_eq!(set_value(&kernel, 1, &round), Ok(()));
            assert_eq!(session.launch(&kernel, &[256]), Ok(()));
            session.finish();
            let expected: Vec<u32> = content.iter().map(|n| n + round).collect();
            assert_eq!(session.read::<u32>(&buffer, 256), expected);
        }
    });
}

#[test]
fn threads_build_programs_of_one_module() {
    let session = TestSession::new();
    let bytes = crate::session::assemble(BASIC);
    run_all(|_| {
        let program = load_module(session.context.raw, &bytes).expect("it is a module");
        assert_eq!(build(&program, ""), Ok(()));
        let kernel = create_kernel(&program, "count_up").expect("it is there");
        let counter = session.filled(&[0_u32]);
        set_object(&kernel, 0, &counter);
        assert_eq!(session.launch(&kernel, &[10]), Ok(()));
        assert_eq!(session.read::<u32>(&counter, 1), [10]);
    });
}

#[test]
fn one_program_is_built_by_all_threads() {
    let session = TestSession::new();
    let program = session.program(BASIC);
    run_all(|_| {
        for _ in 0..20 {
            // Another thread may have a kernel, or has just begun to build.
            let built = build(&program, "");
            assert!([Ok(()), Err(CL_INVALID_OPERATION)].contains(&built));
            drop(create_kernel(&program, "count_up"));
        }
    });
    assert_eq!(build(&program, ""), Ok(()));
    assert!(create_kernel(&program, "count_up").is_ok());
}

#[test]
fn threads_wait_for_the_same_event() {
    let session = TestSession::new();
    let buffer = session.buffer(64);
    for _ in 0..20 {
        let gate = session.user_event();
        let event = enqueue_fill(session.queue.raw, &buffer, 1, 64, &[gate.raw]);
        run_all(|number| {
            let (gate, event) = (&gate, &event);
            if number == THREADS / 2 {
                end_event(gate, CL_COMPLETE);
            }
            assert_eq!(wait(&[event.raw, gate.raw]), Ok(()));
        });
    }
}

#[test]
fn one_thread_ends_a_user_event() {
    let session = TestSession::new();
    for _ in 0..20 {
        let gate = session.user_event();
        let ended = std::sync::atomic::AtomicU32::new(0);
        run_all(|_| {
            let gate = &gate;
            let code = cl!(clSetUserEventStatus(gate.raw, CL_COMPLETE));
            if code == CL_SUCCESS {
                ended.fetch_add(1, std::sync::atomic::Ordering::AcqRel);
            } else {
                assert_eq!(code, CL_INVALID_OPERATION);
            }
        });
        assert_eq!(ended.into_inner(), 1);
    }
}

#[test]
fn references_of_threads_add_up() {
    let samples = SampleObjects::new();
    run_all(|_| {
        for kind in OBJECT_KINDS {
            let raw = samples.find(kind).raw;
            for _ in 0..100 {
                assert_eq!(kind.retain(raw), CL_SUCCESS);
            }
            for _ in 0..100 {
                assert_eq!(kind.release(raw), CL_SUCCESS);
            }
        }
    });
    for kind in OBJECT_KINDS {
        assert_eq!(kind.count(samples.find(kind).raw), Ok(1), "{kind:?}");
    }
}

#[test]
fn threads_create_and_release_objects_of_one_context() {
    let _guard = use_many_handles();
    let session = TestSession::new();
    run_all(|number| {
        let session = &session;
        for round in 0..200 {
            let size = 1 + (number as usize * 37 + round) % 512;
            let made = create_buffer(session.context.raw, 0, size, null_mut());
            let buffer = made.expect("there is memory");
            let event = enqueue_fill(session.queue.raw, &buffer, 1, size, &[]);
            assert_eq!(ObjectKind::Memory.count(buffer.raw), Ok(1));
            drop(buffer);
            if round % 8 == 0 {
                assert_eq!(wait(&[event.raw]), Ok(()));
            }
        }
    });
    session.finish();
}
