//! Queues on devices: their creation, kernels that enqueue blocks, times, and errors.

use crate::caller::{ObjectKind, OwnedHandle, ask_list, ask_value};
use crate::program_sources::open_program;
use crate::session::{
    TestSession, both_devices, create_context, create_kernel, create_queue, enqueue_marker, launch,
    set_object, set_value,
};
use opencl_sys::*;
use std::ptr::{null, null_mut};

const ON_DEVICE: u64 = CL_QUEUE_ON_DEVICE | CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE;

fn ask_queue<T: Default>(queue: &OwnedHandle, name: cl_uint) -> Result<T, cl_int> {
    ask_value(|size, value, out| queue.kind.ask(queue.raw, name, size, value, out))
}

fn create_sized(session: &TestSession, flags: u64, size: u64) -> Result<OwnedHandle, cl_int> {
    let words = [
        u64::from(CL_QUEUE_PROPERTIES),
        flags,
        u64::from(CL_QUEUE_SIZE),
        size,
        0,
    ];
    let mut code = 1;
    let (context, device, out) = (session.context.raw, session.device, &raw mut code);
    let list = words.as_ptr();
    let raw = cl!(clCreateCommandQueueWithProperties(
        context, device, list, out
    ));
    OwnedHandle::new(ObjectKind::Queue, raw, code)
}

/// Kernels that enqueue blocks.
const SOURCE: &str = "
kernel void tree(queue_t queue, global int *out, int depth) {
    atomic_inc(&out[depth]);
    if (depth == 0) return;
    if (get_global_id(0) != 0) return;
    void (^block)(void) = ^{ atomic_add(&out[depth - 1], 10); };
    enqueue_kernel(queue, CLK_ENQUEUE_FLAGS_WAIT_KERNEL, ndrange_1D(8), block);
}
kernel void chain(global int *out) {
    queue_t queue = get_default_queue();
    clk_event_t first, second;
    int failed = enqueue_kernel(queue, CLK_ENQUEUE_FLAGS_NO_WAIT, ndrange_1D(4), 0, NULL, &first,
        ^{ atomic_add(&out[0], 1); });
    failed |= enqueue_kernel(queue, CLK_ENQUEUE_FLAGS_NO_WAIT, ndrange_1D(1), 1, &first, &second,
        ^{ out[1] = out[0] * 100; });
    failed |= enqueue_kernel(queue, CLK_ENQUEUE_FLAGS_NO_WAIT, ndrange_1D(1), 1, &second, NULL,
        ^{ out[2] = out[1] + 7; });
    release_event(first);
    release_event(second);
    out[3] = failed;
}
kernel void shared_memory(global int *out) {
    void (^block)(local void *) = ^(local void *raw) {
        local int *part = raw;
        part[get_local_id(0)] = get_global_id(0);
        barrier(CLK_LOCAL_MEM_FENCE);
        out[get_global_id(0)] = part[get_local_size(0) - 1 - get_local_id(0)];
    };
    enqueue_kernel(get_default_queue(), CLK_ENQUEUE_FLAGS_WAIT_KERNEL,
        ndrange_1D(16, 4), block, 4 * sizeof(int));
}
kernel void nested(global int *out, global ulong *times) {
    queue_t queue = get_default_queue();
    clk_event_t whole;
    enqueue_kernel(queue, CLK_ENQUEUE_FLAGS_NO_WAIT, ndrange_1D(1), 0, NULL, &whole, ^{
        enqueue_kernel(queue, CLK_ENQUEUE_FLAGS_NO_WAIT, ndrange_1D(1), ^{
            enqueue_kernel(queue, CLK_ENQUEUE_FLAGS_NO_WAIT, ndrange_1D(1), ^{ out[0] = 5; });
        });
    });
    capture_event_profiling_info(whole, CLK_PROFILING_COMMAND_EXEC_TIME, times);
    enqueue_kernel(queue, CLK_ENQUEUE_FLAGS_NO_WAIT, ndrange_1D(1), 1, &whole, NULL,
        ^{ out[1] = out[0] + 1; });
    release_event(whole);
}
";

#[test]
fn kernels_enqueue_blocks() {
    let Some((session, program)) = open_program(SOURCE) else {
        return;
    };
    let queue = create_queue(session.context.raw, session.device, ON_DEVICE);
    let queue = queue.expect("the processor has queues");
    let counts = session.filled(&[0_i32; 4]);
    let kernel = create_kernel(&program, "tree").expect("it is there");
    assert_eq!(set_value(&kernel, 0, &queue.raw), Ok(()));
    set_object(&kernel, 1, &counts);
    assert_eq!(set_value(&kernel, 2, &2_i32), Ok(()));
    let run = || launch(session.queue.raw, kernel.raw, None, &[3], None, &[]);
    assert_eq!(run(), Ok(()));
    assert_eq!(session.read::<i32>(&counts, 4), [0, 80, 3, 0]);
    let wrong = set_value(&kernel, 0, &session.queue.raw);
    assert_eq!(wrong, Err(CL_INVALID_DEVICE_QUEUE));
}

#[test]
fn blocks_wait_for_events_and_have_shared_memory() {
    let Some((session, program)) = open_program(SOURCE) else {
        return;
    };
    let flags = ON_DEVICE | CL_QUEUE_ON_DEVICE_DEFAULT;
    let _queue = create_queue(session.context.raw, session.device, flags);
    let found = session.filled(&[-1_i32; 16]);
    let kernel = create_kernel(&program, "chain").expect("it is there");
    set_object(&kernel, 0, &session.filled(&[0_i32; 4]));
    let numbers = session.filled(&[0_i32; 4]);
    set_object(&kernel, 0, &numbers);
    assert_eq!(session.launch(&kernel, &[1]), Ok(()));
    assert_eq!(session.read::<i32>(&numbers, 4), [4, 400, 407, 0]);
    let kernel = create_kernel(&program, "shared_memory").expect("it is there");
    set_object(&kernel, 0, &found);
    assert_eq!(session.launch(&kernel, &[1]), Ok(()));
    let expected = [3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12];
    assert_eq!(session.read::<i32>(&found, 16), expected);
}

#[test]
fn events_of_launches_wait_for_what_these_enqueue() {
    let Some((session, program)) = open_program(SOURCE) else {
        return;
    };
    let flags = ON_DEVICE | CL_QUEUE_ON_DEVICE_DEFAULT | CL_QUEUE_PROFILING_ENABLE;
    let _queue = create_queue(session.context.raw, session.device, flags);
    let (numbers, times) = (session.filled(&[0_i32; 2]), session.filled(&[0_u64; 2]));
    let kernel = create_kernel(&program, "nested").expect("it is there");
    set_object(&kernel, 0, &numbers);
    set_object(&kernel, 1, &times);
    assert_eq!(session.launch(&kernel, &[1]), Ok(()));
    assert_eq!(session.read::<i32>(&numbers, 2), [5, 6]);
    let times = session.read::<u64>(&times, 2);
    assert!(times[0] > 0 && times[1] > times[0], "{times:?}");
}

#[test]
fn queries_tell_about_queues_on_devices() {
    let session = TestSession::new();
    let context = session.context.raw;
    assert_eq!(
        ask_queue::<usize>(&session.queue, CL_QUEUE_DEVICE_DEFAULT),
        Ok(0)
    );
    let plain = create_queue(context, session.device, ON_DEVICE).expect("there are some");
    let usual = ask_queue::<cl_uint>(&plain, CL_QUEUE_SIZE);
    assert!(usual.is_ok_and(|size| size >= 16 << 10));
    assert_eq!(ask_queue::<u64>(&plain, CL_QUEUE_PROPERTIES), Ok(ON_DEVICE));
    assert_eq!(
        ask_queue::<usize>(&plain, CL_QUEUE_CONTEXT),
        Ok(context as usize)
    );
    let words: Vec<u64> = ask_list(|size, value, out| {
        let name = CL_QUEUE_PROPERTIES_ARRAY;
        plain.kind.ask(plain.raw, name, size, value, out)
    })
    .expect("it has some");
    assert_eq!(words, [u64::from(CL_QUEUE_PROPERTIES), ON_DEVICE, 0]);
    let flags = ON_DEVICE | CL_QUEUE_ON_DEVICE_DEFAULT;
    let sized = create_sized(&session, flags, 4096).expect("the size is good");
    assert_eq!(ask_queue::<cl_uint>(&sized, CL_QUEUE_SIZE), Ok(4096));
    let again = create_sized(&session, flags, 8192).expect("there is one already");
    assert_eq!(again.raw, sized.raw);
    assert_eq!(sized.kind.count(sized.raw), Ok(2));
    let default = |queue| ask_queue::<usize>(queue, CL_QUEUE_DEVICE_DEFAULT);
    assert_eq!(default(&session.queue), Ok(sized.raw as usize));
    let device = session.device;
    let set = cl!(clSetDefaultDeviceCommandQueue(context, device, plain.raw));
    assert_eq!(set, CL_SUCCESS);
    assert_eq!(default(&sized), Ok(plain.raw as usize));
    drop(plain);
    assert_eq!(default(&sized), Ok(0), "the default is gone");
}

#[test]
fn wrong_queues_on_devices_are_refused() {
    let session = TestSession::new();
    let (context, device) = (session.context.raw, session.device);
    let create = |flags| create_queue(context, device, flags).err();
    assert_eq!(create(CL_QUEUE_ON_DEVICE), Some(CL_INVALID_VALUE));
    let default = CL_QUEUE_ON_DEVICE_DEFAULT | CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE;
    assert_eq!(create(default), Some(CL_INVALID_VALUE));
    let huge = create_sized(&session, ON_DEVICE, 1 << 40).err();
    assert_eq!(huge, Some(CL_INVALID_QUEUE_PROPERTIES));
    let on_host = create_sized(&session, 0, 4096).err();
    assert_eq!(on_host, Some(CL_INVALID_VALUE));
    let queue = create_queue(context, device, ON_DEVICE).expect("there are some");
    let marker = cl!(clEnqueueMarkerWithWaitList(
        queue.raw,
        0,
        null(),
        null_mut()
    ));
    assert_eq!(marker, CL_INVALID_COMMAND_QUEUE);
    assert_eq!(cl!(clFinish(queue.raw)), CL_INVALID_COMMAND_QUEUE);
    let set = |queue| cl!(clSetDefaultDeviceCommandQueue(context, device, queue));
    assert_eq!(set(session.queue.raw), CL_INVALID_COMMAND_QUEUE);
    drop(enqueue_marker(session.queue.raw, &[]));
    let Some([_, other]) = both_devices() else {
        return;
    };
    let foreign = create_context(&[other]).expect("it is a device");
    let refused = create_queue(foreign.raw, other, ON_DEVICE).err();
    assert_eq!(refused, Some(CL_INVALID_QUEUE_PROPERTIES));
}
