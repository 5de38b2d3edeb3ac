//! Native kernels: their arguments, their order, and errors.

use crate::caller::{ObjectKind, OwnedHandle, ask_value, check, wait_list};
use crate::session::{TestSession, create_context, create_part, create_queue};
use opencl_sys::*;
use std::ffi::c_void;
use std::ptr::{null, null_mut};

/// The arguments of `add_numbers`.
#[repr(C)]
struct AddArguments {
    value: u32,
    count: u32,
    numbers: *mut u32,
    missing: *mut u32,
}

/// Adds a value to numbers, unless a pointer is given that should be null.
unsafe extern "C" fn add_numbers(arguments: *mut c_void) {
    // SAFETY: the tests pass such arguments, whose buffer is large enough.
    unsafe {
        let arguments = &*arguments.cast::<AddArguments>();
        if arguments.missing.is_null() {
            for number in 0..arguments.count as usize {
                *arguments.numbers.add(number) += arguments.value;
            }
        }
    }
}

/// Enqueues `add_numbers`, and returns its event.
fn enqueue_add(
    queue: cl_command_queue,
    value: u32,
    buffer: &OwnedHandle,
    waits: &[cl_event],
) -> Result<OwnedHandle, cl_int> {
    let mut arguments = AddArguments {
        value,
        count: 4,
        numbers: null_mut(),
        missing: null_mut::<u32>().wrapping_add(1),
    };
    let memories = [buffer.raw, null_mut()];
    let mut places: [*const c_void; 2] = [
        (&raw const arguments.numbers).cast(),
        (&raw const arguments.missing).cast(),
    ];
    let (count, list) = wait_list(waits);
    let mut event = null_mut();
    let code = cl!(clEnqueueNativeKernel(
        queue,
        Some(add_numbers),
        (&raw mut arguments).cast(),
        size_of::<AddArguments>(),
        2,
        memories.as_ptr(),
        places.as_mut_ptr(),
        count,
        list,
        &raw mut event
    ));
    // The arguments were copied.
    std::hint::black_box(&mut arguments).value = 1000;
    OwnedHandle::new(ObjectKind::Event, event, code)
}

#[test]
fn functions_of_the_caller_run_in_order() {
    let session = TestSession::new();
    let capabilities = ask_value::<u64>(|size, value, out| {
        let name = CL_DEVICE_EXECUTION_CAPABILITIES;
        cl!(clGetDeviceInfo(session.device, name, size, value, out))
    });
    let both = CL_EXEC_KERNEL | CL_EXEC_NATIVE_KERNEL;
    assert_eq!(capabilities, Ok(both));
    let numbers = session.filled(&[1_u32, 2, 3, 4]);
    let gate = session.user_event();
    let event = enqueue_add(session.queue.raw, 10, &numbers, &[gate.raw]);
    let event = event.expect("the processor runs functions");
    let kind = ask_value(|size, value, out| {
        ObjectKind::Event.ask(event.raw, CL_EVENT_COMMAND_TYPE, size, value, out)
    });
    assert_eq!(kind, Ok(CL_COMMAND_NATIVE_KERNEL));
    enqueue_add(session.queue.raw, 5, &numbers, &[]).expect("as above");
    assert_eq!(cl!(clSetUserEventStatus(gate.raw, CL_COMPLETE)), CL_SUCCESS);
    assert_eq!(session.read::<u32>(&numbers, 4), [16, 17, 18, 19]);
}

#[test]
fn parts_of_buffers_have_their_own_addresses() {
    let session = TestSession::new();
    let numbers = session.filled(&[0_u32; 64]);
    let part = create_part(&numbers, CL_MEM_READ_WRITE, 128, 16).expect("it is aligned");
    enqueue_add(session.queue.raw, 3, &part, &[]).expect("the processor runs functions");
    let found = session.read::<u32>(&numbers, 64);
    assert_eq!(found[30..38], [0, 0, 3, 3, 3, 3, 0, 0]);
}

#[test]
fn wrong_arguments_are_refused() {
    let session = TestSession::new();
    let buffer = session.buffer(16);
    let mut bytes = [0_u64; 4];
    let first = bytes.as_mut_ptr().cast::<c_void>();
    let enqueue =
        |function, (pointer, size), count, memories: &[cl_mem], places: &[*const c_void]| {
            let memories = if memories.is_empty() {
                null()
            } else {
                memories.as_ptr()
            };
            let places = match places {
                [] => null_mut(),
                some => some.as_ptr().cast_mut(),
            };
            let queue = session.queue.raw;
            let none = null_mut();
            check(cl!(clEnqueueNativeKernel(
                queue,
                function,
                pointer,
                size,
                count,
                memories,
                places,
                0,
                null(),
                none
            )))
        };
    let add: Option<unsafe extern "C" fn(*mut c_void)> = Some(add_numbers);
    let value = Err(CL_INVALID_VALUE);
    let (list, inside) = ([buffer.raw], [first.cast_const()]);
    assert_eq!(enqueue(None, (first, 32), 0, &[], &[]), value);
    assert_eq!(enqueue(add, (null_mut(), 32), 0, &[], &[]), value);
    assert_eq!(enqueue(add, (first, 0), 0, &[], &[]), value);
    assert_eq!(enqueue(add, (null_mut(), 0), 1, &list, &inside), value);
    assert_eq!(enqueue(add, (first, 32), 1, &[], &inside), value);
    assert_eq!(enqueue(add, (first, 32), 1, &list, &[]), value);
    assert_eq!(enqueue(add, (first, 32), 0, &list, &[]), value);
    let outside = [first.wrapping_byte_add(28).cast_const()];
    assert_eq!(enqueue(add, (first, 32), 1, &list, &outside), value);
    let wrong = [session.queue.raw.cast()];
    let object = Err(CL_INVALID_MEM_OBJECT);
    assert_eq!(enqueue(add, (first, 32), 1, &wrong, &inside), object);
    let Some([_, other]) = crate::session::both_devices() else {
        return;
    };
    let context = create_context(&[other]).expect("it is a device");
    let queue = create_queue(context.raw, other, 0).expect("it has queues");
    let refused = enqueue_add(queue.raw, 1, &buffer, &[]).err();
    assert_eq!(refused, Some(CL_INVALID_OPERATION));
}
