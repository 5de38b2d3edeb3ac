//! Memory of the process: none is left of objects that are released.
//!
//! Each test runs again in a process of its own, as all tests of this program share the allocator that counts.

use crate::alone::run_alone;
use crate::caller::ask_value;
use crate::events::wait;
use crate::program_sources::{load, open};
use crate::session::{
    BASIC, TestSession, assemble, build, create_context, create_kernel, create_queue, devices,
    enqueue_marker, launch, load_module, set_object, set_value,
};
use opencl_sys::*;
use peak_alloc::PeakAlloc;

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

/// Bytes that tables may have grown by in all rounds: less than one for each round of 64 bytes.
const SLACK: usize = 4096;

/// The allocated bytes, once what others let go of is gone: at most `expected`, or those after a second.
fn measure_bytes(expected: usize) -> usize {
    for _ in 0..100 {
        if ALLOCATOR.current_usage() <= expected {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    ALLOCATOR.current_usage()
}

/// Does something often, and often again. The second time must leave no memory behind.
fn check_rounds(count: usize, mut round: impl FnMut()) {
    (0..count).for_each(|_| round());
    let before = measure_bytes(0);
    (0..count).for_each(|_| round());
    let after = measure_bytes(before + SLACK);
    assert!(
        after <= before + SLACK,
        "{count} rounds leave {} bytes behind",
        after - before
    );
}

/// Uses an object of each kind, and lets go of all of them.
fn use_objects(device: cl_device_id, module: &[u8]) {
    let context = create_context(&[device]).expect("it is a device");
    let queue = create_queue(context.raw, device, 0).expect("it has queues");
    let session = TestSession {
        queue,
        context,
        device,
    };
    let program = load_module(session.context.raw, module).expect("it is a module");
    assert_eq!(build(&program, ""), Ok(()));
    let kernel = create_kernel(&program, "add_value").expect("it is there");
    let buffer = session.filled(&[1_u32; 64]);
    set_object(&kernel, 0, &buffer);
    assert_eq!(set_value(&kernel, 1, &2_u32), Ok(()));
    let queue = session.queue.raw;
    for local in [None, Some(&[8][..])] {
        assert_eq!(launch(queue, kernel.raw, None, &[64], local, &[]), Ok(()));
    }
    let marker = enqueue_marker(queue, &[]);
    assert_eq!(wait(&[marker.raw]), Ok(()));
    assert_eq!(session.read::<u32>(&buffer, 64), [5; 64]);
}

#[test]
fn released_objects_leave_no_memory_behind() {
    if !run_alone("memory_use::released_objects_leave_no_memory_behind", &[]) {
        return;
    }
    let module = assemble(BASIC);
    for device in devices() {
        check_rounds(100, || use_objects(device, &module));
    }
}

#[test]
fn contexts_leave_no_memory_behind() {
    if !run_alone("memory_use::contexts_leave_no_memory_behind", &[]) {
        return;
    }
    let device = devices()[0];
    check_rounds(10_000, || {
        let context = create_context(&[device]).expect("it is a device");
        drop(create_queue(context.raw, device, 0).expect("it has queues"));
    });
}

#[test]
fn builds_that_fail_leave_no_memory_behind() {
    if !run_alone("memory_use::builds_that_fail_leave_no_memory_behind", &[]) {
        return;
    }
    let session = TestSession::new();
    let context = session.context.raw;
    let module = assemble(BASIC);
    check_rounds(100, || {
        assert!(load_module(context, &module[..module.len() - 4]).is_err());
        let program = load_module(context, &module).expect("it is a module");
        assert_eq!(
            build(&program, "-no-such-option"),
            Err(CL_INVALID_BUILD_OPTIONS)
        );
        assert!(create_kernel(&program, "add_value").is_err());
        assert_eq!(build(&program, ""), Ok(()));
        assert!(create_kernel(&program, "no_such_kernel").is_err());
    });
    let Some(session) = open() else { return };
    check_rounds(10, || {
        let program = load(&session, &["kernel void f( {"]);
        assert_eq!(build(&program, ""), Err(CL_BUILD_PROGRAM_FAILURE));
    });
}

#[test]
fn sources_leave_no_more_memory_behind_than_the_cache_holds() {
    if !run_alone(
        "memory_use::sources_leave_no_more_memory_behind_than_the_cache_holds",
        &[],
    ) {
        return;
    }
    let Some(session) = open() else { return };
    let program = load(
        &session,
        &["kernel void f(global int *out) { out[0] = 1; }"],
    );
    check_rounds(20, || assert_eq!(build(&program, ""), Ok(())));
    let references = ask_value::<cl_uint>(|size, value, out| {
        let name = CL_PROGRAM_REFERENCE_COUNT;
        cl!(clGetProgramInfo(program.raw, name, size, value, out))
    });
    assert_eq!(references, Ok(1));
}
