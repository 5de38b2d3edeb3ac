//! Command buffers: recording, replays, synchronization points, and errors.

use crate::caller::{ObjectKind, OwnedHandle, ask_list, ask_value, check, platform, wait_list};
use crate::session::{
    BASIC, TestSession, create_queue, read_buffer, set_object, set_value, write_buffer,
};
use opencl_sys::*;
use std::ffi::{CString, c_void};
use std::ptr::{null, null_mut};

/// A function of the extension, by its name and its type.
macro_rules! extension {
    ($name:literal as $kind:ty) => {{
        let name = CString::new($name).expect("names have no zeros");
        let found = cl!(clGetExtensionFunctionAddressForPlatform(
            platform(),
            name.as_ptr()
        ));
        assert!(!found.is_null(), "{} is missing", $name);
        // SAFETY: the type is that of the function, as the extension defines it.
        #[allow(unused_unsafe)]
        let function = unsafe { std::mem::transmute::<*mut c_void, $kind>(found) };
        function.expect("it is not null")
    }};
}

/// A command buffer, which is released at the end.
struct RecordedBuffer(cl_command_buffer_khr);

impl Drop for RecordedBuffer {
    fn drop(&mut self) {
        let release = extension!("clReleaseCommandBufferKHR" as clReleaseCommandBufferKHR_fn);
        // SAFETY: the handle has a reference.
        let code = unsafe { release(self.0) };
        if !std::thread::panicking() {
            assert_eq!(code, CL_SUCCESS);
        }
    }
}

type Points<'a> = &'a [cl_sync_point_khr];

fn list_points(points: Points<'_>) -> (cl_uint, *const cl_sync_point_khr) {
    match points {
        [] => (0, null()),
        some => (some.len() as cl_uint, some.as_ptr()),
    }
}

impl RecordedBuffer {
    fn create(
        queues: &[cl_command_queue],
        properties: Option<&[cl_command_buffer_properties_khr]>,
    ) -> Result<RecordedBuffer, cl_int> {
        let create = extension!("clCreateCommandBufferKHR" as clCreateCommandBufferKHR_fn);
        let mut code = 1;
        let words = properties.map_or(null(), <[u64]>::as_ptr);
        let count = queues.len() as cl_uint;
        // SAFETY: the lists are as long as said.
        let made = unsafe { create(count, queues.as_ptr(), words, &raw mut code) };
        assert_eq!(made.is_null(), code != CL_SUCCESS);
        check(code).map(|()| RecordedBuffer(made))
    }

    fn for_queue(queue: &OwnedHandle) -> RecordedBuffer {
        RecordedBuffer::create(&[queue.raw], None).expect("queues have command buffers")
    }

    fn finalize(&self) -> Result<(), cl_int> {
        let finalize = extension!("clFinalizeCommandBufferKHR" as clFinalizeCommandBufferKHR_fn);
        // SAFETY: the handle may be anything.
        check(unsafe { finalize(self.0) })
    }

    fn enqueue(
        &self,
        queues: &mut [cl_command_queue],
        waits: &[cl_event],
    ) -> Result<OwnedHandle, cl_int> {
        let enqueue = extension!("clEnqueueCommandBufferKHR" as clEnqueueCommandBufferKHR_fn);
        let (count, list) = wait_list(waits);
        let mut event = null_mut();
        let number = queues.len() as cl_uint;
        let queues = match number {
            0 => null_mut(),
            _ => queues.as_mut_ptr(),
        };
        // SAFETY: the lists are as long as said.
        let code = unsafe { enqueue(number, queues, self.0, count, list, &raw mut event) };
        OwnedHandle::new(ObjectKind::Event, event, code)
    }

    fn launch(&self, kernel: &OwnedHandle, count: usize, waits: Points<'_>) -> Result<u32, cl_int> {
        let record = extension!("clCommandNDRangeKernelKHR" as clCommandNDRangeKernelKHR_fn);
        let (number, list) = list_points(waits);
        let (buffer, kernel, sizes) = (self.0, kernel.raw, [count]);
        let (global, none) = (sizes.as_ptr(), null());
        let mut point = 0;
        let out = &raw mut point;
        // SAFETY: the lists are as long as said.
        let code = unsafe {
            record(
                buffer,
                null_mut(),
                null(),
                kernel,
                1,
                none,
                global,
                none,
                number,
                list,
                out,
                null_mut(),
            )
        };
        check(code).map(|()| point)
    }

    fn fill(&self, buffer: &OwnedHandle, value: u32, bytes: usize) -> Result<u32, cl_int> {
        let record = extension!("clCommandFillBufferKHR" as clCommandFillBufferKHR_fn);
        let pattern = (&raw const value).cast();
        let (own, none) = (self.0, null_mut());
        let mut point = 0;
        let out = &raw mut point;
        // SAFETY: the pattern has four bytes.
        let code = unsafe {
            record(
                own,
                none,
                null(),
                buffer.raw,
                pattern,
                4,
                0,
                bytes,
                0,
                null(),
                out,
                null_mut(),
            )
        };
        check(code).map(|()| point)
    }

    fn copy(
        &self,
        from: &OwnedHandle,
        to: &OwnedHandle,
        bytes: usize,
        waits: Points<'_>,
    ) -> Result<u32, cl_int> {
        let record = extension!("clCommandCopyBufferKHR" as clCommandCopyBufferKHR_fn);
        let (number, list) = list_points(waits);
        let (own, none) = (self.0, null_mut());
        let mut point = 0;
        let out = &raw mut point;
        // SAFETY: the lists are as long as said.
        let code = unsafe {
            record(
                own,
                none,
                null(),
                from.raw,
                to.raw,
                0,
                0,
                bytes,
                number,
                list,
                out,
                null_mut(),
            )
        };
        check(code).map(|()| point)
    }

    fn barrier(&self) -> Result<u32, cl_int> {
        let name =
            extension!("clCommandBarrierWithWaitListKHR" as clCommandBarrierWithWaitListKHR_fn);
        let mut point = 0;
        let (own, none, out) = (self.0, null_mut(), &raw mut point);
        // SAFETY: there is no list.
        let code = unsafe { name(own, none, null(), 0, null(), out, null_mut()) };
        check(code).map(|()| point)
    }

    fn ask<T: Default + Clone>(&self, name: cl_command_buffer_info_khr) -> Vec<T> {
        let query = extension!("clGetCommandBufferInfoKHR" as clGetCommandBufferInfoKHR_fn);
        let found = ask_list(|size, value, out| {
            // SAFETY: the memory is as large as said.
            unsafe { query(self.0, name, size, value, out) }
        });
        found.expect("it answers")
    }
}

#[test]
fn commands_are_replayed_with_their_arguments() {
    let session = TestSession::new();
    let kernel = session.kernel(BASIC, "add_value");
    let (numbers, copy) = (session.filled(&[0_u32; 8]), session.filled(&[0_u32; 8]));
    let other = session.filled(&[0_u32; 8]);
    let buffer = RecordedBuffer::for_queue(&session.queue);
    set_object(&kernel, 0, &numbers);
    assert_eq!(set_value(&kernel, 1, &3_u32), Ok(()));
    let first = buffer.launch(&kernel, 8, &[]).expect("it is recorded");
    let second = buffer.copy(&numbers, &copy, 32, &[first]);
    assert_eq!((first, second), (1, Ok(2)));
    // The commands have the arguments of the time of recording.
    set_object(&kernel, 0, &other);
    assert_eq!(set_value(&kernel, 1, &100_u32), Ok(()));
    buffer.finalize().expect("it is recording");
    for round in 1..=3 {
        buffer.enqueue(&mut [], &[]).expect("it is finalized");
        assert_eq!(session.read::<u32>(&copy, 8), [3 * round; 8]);
    }
    assert_eq!(session.read::<u32>(&other, 8), [0; 8]);
}

#[test]
fn recorded_objects_live_with_the_buffer() {
    let session = TestSession::new();
    let result = session.buffer(16);
    let buffer = RecordedBuffer::for_queue(&session.queue);
    let inner = session.buffer(16);
    buffer.fill(&inner, 7, 16).expect("it is recorded");
    buffer.barrier().expect("it is recorded");
    buffer
        .copy(&inner, &result, 16, &[1, 2])
        .expect("it is recorded");
    drop(inner);
    buffer.finalize().expect("it is recording");
    let event = buffer.enqueue(&mut [], &[]).expect("it is finalized");
    drop(buffer);
    assert_eq!(session.read::<u32>(&result, 4), [7; 4]);
    let kind = ask_value(|size, value, out| {
        ObjectKind::Event.ask(event.raw, CL_EVENT_COMMAND_TYPE, size, value, out)
    });
    assert_eq!(kind, Ok(CL_COMMAND_COMMAND_BUFFER_KHR));
}

#[test]
fn a_buffer_waits_for_events_and_takes_another_queue() {
    let session = TestSession::out_of_order();
    let context = session.context.raw;
    let other = create_queue(context, session.device, CL_QUEUE_PROFILING_ENABLE);
    let other = other.expect("there are queues");
    let target = session.filled(&[0_u32; 4]);
    let buffer = RecordedBuffer::for_queue(&session.queue);
    buffer.fill(&target, 5, 16).expect("it is recorded");
    buffer.finalize().expect("it is recording");
    let gate = session.user_event();
    let event = buffer.enqueue(&mut [other.raw.cast()], &[gate.raw]);
    let event = event.expect("the queue is of the device");
    assert_eq!(session.read::<u32>(&target, 4), [0; 4]);
    assert_eq!(cl!(clSetUserEventStatus(gate.raw, CL_COMPLETE)), CL_SUCCESS);
    let mut found = [0_u32; 4];
    assert_eq!(
        read_buffer(other.raw, target.raw, 0, &mut found, &[]),
        Ok(())
    );
    assert_eq!(found, [5; 4]);
    let queue = ask_value::<usize>(|size, value, out| {
        ObjectKind::Event.ask(event.raw, CL_EVENT_COMMAND_QUEUE, size, value, out)
    });
    assert_eq!(queue, Ok(other.raw as usize));
    let ended = ask_value::<u64>(|size, value, out| {
        let name = CL_PROFILING_COMMAND_END;
        cl!(clGetEventProfilingInfo(event.raw, name, size, value, out))
    });
    assert!(ended.is_ok_and(|time| time > 0));
}

/// An image of two rows of four numbers.
fn create_small_image(session: &TestSession) -> OwnedHandle {
    let context = session.context.raw;
    let format = cl_image_format {
        image_channel_order: CL_R,
        image_channel_data_type: CL_UNSIGNED_INT32,
    };
    let (mut code, none) = (1, null_mut());
    let (shape, out, flags) = (&raw const format, &raw mut code, CL_MEM_READ_WRITE);
    let raw = cl!(clCreateImage2D(context, flags, shape, 4, 2, 0, none, out));
    OwnedHandle::new(ObjectKind::Memory, raw, code).expect("there is memory")
}

/// Records the copy of a box of two rows of 8 bytes.
fn record_box(buffer: &RecordedBuffer, from: cl_mem, to: cl_mem) -> cl_int {
    let (origin, boxed) = ([0; 3], [8, 2, 1]);
    let (at, size, own, none) = (origin.as_ptr(), boxed.as_ptr(), buffer.0, null_mut());
    let (no, waits, out) = (null(), null(), null_mut());
    // SAFETY: all lists have three elements.
    unsafe {
        let rect = extension!("clCommandCopyBufferRectKHR" as clCommandCopyBufferRectKHR_fn);
        rect(
            own,
            none,
            no,
            from,
            to,
            at,
            at,
            size,
            16,
            0,
            16,
            0,
            0,
            waits,
            out,
            null_mut(),
        )
    }
}

#[test]
fn boxes_images_and_addresses_are_recorded() {
    let session = TestSession::new();
    let (first, second) = (create_small_image(&session), create_small_image(&session));
    let numbers: Vec<u32> = (0..8).collect();
    let (source, target) = (session.filled(&numbers), session.filled(&[99_u32; 8]));
    let buffer = RecordedBuffer::for_queue(&session.queue);
    let (own, none) = (buffer.0, null_mut());
    let (origin, corner, whole) = ([0, 0, 0], [1, 1, 0], [4, 2, 1]);
    let colour = [40_u32, 0, 0, 0];
    let (from, to) = (source.raw, target.raw);
    let no = null();
    // SAFETY: all lists have three elements, the colour four.
    let codes = unsafe {
        let fill = extension!("clCommandFillImageKHR" as clCommandFillImageKHR_fn);
        let load = extension!("clCommandCopyBufferToImageKHR" as clCommandCopyBufferToImageKHR_fn);
        let copy = extension!("clCommandCopyImageKHR" as clCommandCopyImageKHR_fn);
        let store = extension!("clCommandCopyImageToBufferKHR" as clCommandCopyImageToBufferKHR_fn);
        let (at, inner, all) = (origin.as_ptr(), corner.as_ptr(), whole.as_ptr());
        let (texel, part) = (colour.as_ptr().cast(), [2, 1, 1]);
        let (small, out) = (part.as_ptr(), null_mut());
        [
            load(
                own,
                none,
                no,
                from,
                first.raw,
                0,
                at,
                all,
                0,
                null(),
                out,
                null_mut(),
            ),
            copy(
                own,
                none,
                no,
                first.raw,
                second.raw,
                at,
                at,
                all,
                0,
                null(),
                out,
                null_mut(),
            ),
            fill(
                own,
                none,
                no,
                second.raw,
                texel,
                inner,
                small,
                0,
                null(),
                out,
                null_mut(),
            ),
            store(
                own,
                none,
                no,
                second.raw,
                to,
                at,
                all,
                0,
                0,
                null(),
                out,
                null_mut(),
            ),
        ]
    };
    assert_eq!(codes, [CL_SUCCESS; 4]);
    assert_eq!(record_box(&buffer, from, to), CL_SUCCESS);
    buffer.finalize().expect("it is recording");
    assert_eq!(
        write_buffer(session.queue.raw, from, 0, &[10_u32, 11], &[]),
        Ok(())
    );
    buffer.enqueue(&mut [], &[]).expect("it is finalized");
    assert_eq!(session.read::<u32>(&target, 8), [10, 11, 2, 3, 4, 5, 40, 7]);
}

#[test]
fn shared_memory_is_copied_and_filled() {
    let session = TestSession::new();
    let (mut numbers, mut copy) = ([1_u32; 4], [0_u32; 4]);
    let buffer = RecordedBuffer::for_queue(&session.queue);
    let (own, none, out) = (buffer.0, null_mut(), null_mut());
    let pattern = 9_u32;
    // SAFETY: the memory lives as long as the commands.
    let codes = unsafe {
        let fill = extension!("clCommandSVMMemFillKHR" as clCommandSVMMemFillKHR_fn);
        let copied = extension!("clCommandSVMMemcpyKHR" as clCommandSVMMemcpyKHR_fn);
        let (first, second) = (numbers.as_mut_ptr().cast(), copy.as_mut_ptr().cast());
        let value = (&raw const pattern).cast();
        [
            fill(
                own,
                none,
                null(),
                first,
                value,
                4,
                8,
                0,
                null(),
                out,
                null_mut(),
            ),
            copied(
                own,
                none,
                null(),
                second,
                first,
                16,
                0,
                null(),
                out,
                null_mut(),
            ),
        ]
    };
    assert_eq!(codes, [CL_SUCCESS; 2]);
    buffer.finalize().expect("it is recording");
    buffer.enqueue(&mut [], &[]).expect("it is finalized");
    session.finish();
    assert_eq!(copy, [9, 9, 1, 1]);
}

#[test]
fn queries_tell_the_state_of_a_buffer() {
    let session = TestSession::new();
    let flags = [CL_COMMAND_BUFFER_FLAGS_KHR, 0, 0];
    let buffer = RecordedBuffer::create(&[session.queue.raw], Some(&flags));
    let buffer = buffer.expect("it has no flags");
    let recording = CL_COMMAND_BUFFER_STATE_RECORDING_KHR;
    assert_eq!(buffer.ask::<u32>(CL_COMMAND_BUFFER_STATE_KHR), [recording]);
    assert_eq!(buffer.ask::<u32>(CL_COMMAND_BUFFER_NUM_QUEUES_KHR), [1]);
    let queues = buffer.ask::<usize>(CL_COMMAND_BUFFER_QUEUES_KHR);
    assert_eq!(queues, [session.queue.raw as usize]);
    let context = buffer.ask::<usize>(CL_COMMAND_BUFFER_CONTEXT_KHR);
    assert_eq!(context, [session.context.raw as usize]);
    let words = buffer.ask::<u64>(CL_COMMAND_BUFFER_PROPERTIES_ARRAY_KHR);
    assert_eq!(words, flags);
    let retain = extension!("clRetainCommandBufferKHR" as clRetainCommandBufferKHR_fn);
    // SAFETY: the handle is good.
    assert_eq!(unsafe { retain(buffer.0) }, CL_SUCCESS);
    let second = RecordedBuffer(buffer.0);
    assert_eq!(
        buffer.ask::<u32>(CL_COMMAND_BUFFER_REFERENCE_COUNT_KHR),
        [2]
    );
    drop(second);
    buffer.finalize().expect("it is recording");
    let executable = CL_COMMAND_BUFFER_STATE_EXECUTABLE_KHR;
    assert_eq!(buffer.ask::<u32>(CL_COMMAND_BUFFER_STATE_KHR), [executable]);
}

#[test]
fn wrong_uses_are_refused() {
    let session = TestSession::new();
    let (queue, kernel) = (&session.queue, session.kernel(BASIC, "count_up"));
    let create = |queues: &[cl_command_queue], words: Option<&[u64]>| {
        RecordedBuffer::create(queues, words).err()
    };
    let both = [queue.raw, queue.raw];
    assert_eq!(create(&both, None), Some(CL_INVALID_VALUE));
    assert_eq!(create(&[null_mut()], None), Some(CL_INVALID_COMMAND_QUEUE));
    let flags = CL_COMMAND_BUFFER_FLAGS_KHR;
    let words: [(&[u64], cl_int); 4] = [
        (&[flags, 1, 0], CL_INVALID_PROPERTY),
        (&[flags, 0, flags, 0, 0], CL_INVALID_VALUE),
        (&[flags, u64::MAX, 0], CL_INVALID_VALUE),
        (&[7, 0, 0], CL_INVALID_VALUE),
    ];
    for (words, code) in words {
        assert_eq!(create(&[queue.raw], Some(words)), Some(code), "{words:?}");
    }
    let buffer = RecordedBuffer::for_queue(queue);
    let unset = buffer.launch(&kernel, 4, &[]);
    assert_eq!(unset, Err(CL_INVALID_KERNEL_ARGS));
    let numbers = session.filled(&[0_u32; 4]);
    set_object(&kernel, 0, &numbers);
    let wrong = CL_INVALID_SYNC_POINT_WAIT_LIST_KHR;
    assert_eq!(buffer.launch(&kernel, 4, &[0]), Err(wrong));
    assert_eq!(buffer.launch(&kernel, 4, &[1]), Err(wrong));
    assert_eq!(buffer.launch(&kernel, 4, &[]), Ok(1));
    assert_eq!(buffer.launch(&kernel, 4, &[1, 1]), Ok(2));
    let early = buffer.enqueue(&mut [], &[]).err();
    assert_eq!(early, Some(CL_INVALID_OPERATION));
    buffer.finalize().expect("it is recording");
    assert_eq!(buffer.finalize(), Err(CL_INVALID_OPERATION));
    assert_eq!(buffer.launch(&kernel, 4, &[]), Err(CL_INVALID_OPERATION));
    let foreign = TestSession::new();
    let enqueue = |queues: &mut [cl_command_queue]| buffer.enqueue(queues, &[]).err();
    let foreign_queue = foreign.queue.raw;
    assert_eq!(enqueue(&mut [foreign_queue]), Some(CL_INVALID_CONTEXT));
    assert_eq!(enqueue(&mut [null_mut()]), Some(CL_INVALID_COMMAND_QUEUE));
    assert_eq!(enqueue(&mut both.clone()), Some(CL_INVALID_VALUE));
    let gone = RecordedBuffer(null_mut());
    assert_eq!(gone.finalize(), Err(CL_INVALID_COMMAND_BUFFER_KHR));
    assert_eq!(gone.barrier(), Err(CL_INVALID_COMMAND_BUFFER_KHR));
    std::mem::forget(gone);
    assert_eq!(session.read::<u32>(&numbers, 4), [0; 4]);
    assert_eq!(set_value(&kernel, 0, &numbers.raw), Ok(()));
}
