//! Work that does not end well: endless kernels, kernels outside of memory, and processes that exit.

use crate::alone::run_alone;
use crate::caller::{ObjectKind, OwnedHandle};
use crate::events::{enqueue_fill, status, wait};
use crate::session::{BASIC, TestSession, set_object, set_value};
use opencl_sys::*;
use std::ptr::{null, null_mut};
use std::time::{Duration, Instant};

/// A kernel that counts and never ends.
const ENDLESS: &str = "OpCapability Kernel
OpCapability Addresses
OpMemoryModel Physical64 OpenCL
OpEntryPoint Kernel %main \"never_end\"
%void = OpTypeVoid
%uint = OpTypeInt 32 0
%pointer = OpTypePointer CrossWorkgroup %uint
%fn = OpTypeFunction %void %pointer
%n0 = OpConstant %uint 0
%n1 = OpConstant %uint 1
%main = OpFunction %void None %fn
%out = OpFunctionParameter %pointer
%entry = OpLabel
OpBranch %loop
%loop = OpLabel
%old = OpAtomicIAdd %uint %out %n1 %n0 %n1
OpBranch %loop
OpFunctionEnd
";

/// The variables of a process whose launches may take a second.
const LIMITED: &[(&str, &str)] = &[("SPIRULA_TIMEOUT", "1")];

/// Enqueues one invocation of a kernel, and returns its event.
fn launch_one(session: &TestSession, kernel: &OwnedHandle) -> OwnedHandle {
    let (size, mut event) = (1_usize, null_mut());
    let (queue, raw, global) = (session.queue.raw, kernel.raw, &raw const size);
    let (offset, local, waits) = (null(), null(), null());
    let out = &raw mut event;
    let code = cl!(clEnqueueNDRangeKernel(
        queue, raw, 1, offset, global, local, 0, waits, out
    ));
    OwnedHandle::new(ObjectKind::Event, event, code).expect("it is enqueued")
}

/// Checks that a launch fails, and with it a command that waits for it.
fn check_failure(session: &TestSession, launch: &OwnedHandle) {
    let code = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
    assert_eq!(wait(&[launch.raw]), Err(code));
    assert!(status(launch) < 0, "the event has the error");
    let buffer = session.buffer(16);
    let after = enqueue_fill(session.queue.raw, &buffer, 1, 16, &[launch.raw]);
    assert_eq!(wait(&[after.raw]), Err(code));
}

/// Checks that a queue still runs kernels.
fn check_use(session: &TestSession) {
    let kernel = session.kernel(BASIC, "add_value");
    let buffer = session.filled(&[1_u32; 16]);
    set_object(&kernel, 0, &buffer);
    assert_eq!(set_value(&kernel, 1, &2_u32), Ok(()));
    assert_eq!(session.launch(&kernel, &[16]), Ok(()));
    assert_eq!(session.read::<u32>(&buffer, 16), [3; 16]);
}

#[test]
fn endless_kernels_end_at_the_limit() {
    if !run_alone("endings::endless_kernels_end_at_the_limit", LIMITED) {
        return;
    }
    let session = TestSession::new();
    let kernel = session.kernel(ENDLESS, "never_end");
    let buffer = session.filled(&[0_u32; 4]);
    set_object(&kernel, 0, &buffer);
    check_failure(&session, &launch_one(&session, &kernel));
    check_use(&session);
}

#[test]
fn kernels_outside_of_memory_end_with_an_error() {
    if !run_alone("endings::kernels_outside_of_memory_end_with_an_error", &[]) {
        return;
    }
    let session = TestSession::new();
    let kernel = session.kernel(BASIC, "walk_list");
    // A list whose first element says that the next one is at no address of the process.
    let wild = session.filled(&[0x1234_5678_9000_u64; 4]);
    set_object(&kernel, 0, &wild);
    let buffer = session.filled(&[0_u32; 4]);
    set_object(&kernel, 1, &buffer);
    check_failure(&session, &launch_one(&session, &kernel));
    check_use(&session);
}

#[test]
fn groups_that_pass_the_end_of_a_buffer_harm_nothing() {
    let session = TestSession::new();
    let kernel = session.kernel(BASIC, "add_value");
    let buffers: Vec<OwnedHandle> = (0..50).map(|_| session.filled(&[7_u32; 3])).collect();
    assert_eq!(set_value(&kernel, 1, &2_u32), Ok(()));
    for buffer in buffers.iter().skip(1).step_by(2) {
        set_object(&kernel, 0, buffer);
        assert_eq!(session.launch(&kernel, &[1024]), Ok(()));
    }
    for (number, buffer) in buffers.iter().enumerate() {
        let expected = [7 + 2 * (number as u32 % 2); 3];
        assert_eq!(session.read::<u32>(buffer, 3), expected);
    }
}

/// Ends the process while a kernel runs, and commands and callbacks wait.
fn exit_while_kernels_run(exit: impl FnOnce()) {
    let session = TestSession::out_of_order();
    let kernel = session.kernel(ENDLESS, "never_end");
    let buffer = session.filled(&[0_u32; 4]);
    let gate = session.user_event();
    let waiting = enqueue_fill(session.queue.raw, &buffer, 1, 16, &[gate.raw]);
    set_object(&kernel, 0, &buffer);
    let launch = launch_one(&session, &kernel);
    assert_eq!(cl!(clFlush(session.queue.raw)), CL_SUCCESS);
    let start = Instant::now();
    while status(&launch) > CL_RUNNING && start.elapsed() < Duration::from_millis(300) {
        std::thread::sleep(Duration::from_millis(10));
    }
    std::mem::forget((waiting, launch, gate, session, kernel, buffer));
    exit();
}

#[test]
fn processes_exit_while_kernels_run() {
    if run_alone("endings::processes_exit_while_kernels_run", &[]) {
        exit_while_kernels_run(|| std::process::exit(0));
    }
}

#[test]
fn processes_return_while_kernels_run() {
    if run_alone("endings::processes_return_while_kernels_run", &[]) {
        exit_while_kernels_run(|| {});
    }
}
