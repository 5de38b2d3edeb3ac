//! Mapped buffers.

use crate::caller::{ObjectKind, OwnedHandle, ask_value};
use crate::events::{end_event, wait};
use crate::session::{BASIC, TestSession, create_buffer, create_part, set_object, set_value};
use opencl_sys::*;
use std::ptr::{null, null_mut};

fn map(
    session: &TestSession,
    buffer: &OwnedHandle,
    flags: cl_map_flags,
    offset: usize,
    size: usize,
) -> Result<*mut u8, cl_int> {
    let mut code = 1;
    let (queue, event) = (session.queue.raw, null_mut());
    let found = cl!(clEnqueueMapBuffer(
        queue,
        buffer.raw,
        CL_TRUE,
        flags,
        offset,
        size,
        0,
        null(),
        event,
        &raw mut code
    ));
    assert_eq!(found.is_null(), code != CL_SUCCESS);
    crate::caller::check(code).map(|()| found.cast())
}

fn unmap(session: &TestSession, buffer: &OwnedHandle, address: *mut u8) -> cl_int {
    let (queue, event) = (session.queue.raw, null_mut());
    cl!(clEnqueueUnmapMemObject(
        queue,
        buffer.raw,
        address.cast(),
        0,
        null(),
        event
    ))
}

fn map_count(buffer: &OwnedHandle) -> cl_uint {
    ask_value(|size, value, out| {
        cl!(clGetMemObjectInfo(
            buffer.raw,
            CL_MEM_MAP_COUNT,
            size,
            value,
            out
        ))
    })
    .expect("it is told")
}

#[test]
fn mapped_bytes_are_those_of_the_buffer() {
    let session = TestSession::new();
    let kernel = session.kernel(BASIC, "add_value");
    let mut own = vec![0_u32; 256];
    let pointer = own.as_mut_ptr().cast();
    for (flags, given) in [
        (CL_MEM_READ_WRITE, null_mut()),
        (CL_MEM_ALLOC_HOST_PTR, null_mut()),
        (CL_MEM_USE_HOST_PTR, pointer),
    ] {
        let made = create_buffer(session.context.raw, flags, 1024, given);
        let buffer = made.expect("there is memory");
        let write = CL_MAP_WRITE_INVALIDATE_REGION;
        let first = map(&session, &buffer, write, 0, 1024).expect("it is mapped");
        if !given.is_null() {
            assert_eq!(first.cast(), given, "it is the memory of the caller");
        }
        // SAFETY: the bytes are mapped.
        let bytes = unsafe { std::slice::from_raw_parts_mut(first.cast::<u32>(), 256) };
        bytes.iter_mut().zip(0..).for_each(|(to, n)| *to = n);
        assert_eq!(unmap(&session, &buffer, first), CL_SUCCESS);
        set_object(&kernel, 0, &buffer);
        assert_eq!(set_value(&kernel, 1, &1000_u32), Ok(()));
        assert_eq!(session.launch(&kernel, &[256]), Ok(()));
        let part = map(&session, &buffer, CL_MAP_READ, 400, 8).expect("it is mapped");
        // SAFETY: as above.
        let bytes = unsafe { std::slice::from_raw_parts(part.cast::<u32>(), 2) };
        assert_eq!(bytes, [1100, 1101]);
        assert_eq!(unmap(&session, &buffer, part), CL_SUCCESS);
        session.finish();
    }
}

#[test]
fn maps_are_counted() {
    let session = TestSession::new();
    let buffer = session.buffer(256);
    let both = CL_MAP_READ | CL_MAP_WRITE;
    let first = map(&session, &buffer, both, 0, 16).expect("it is mapped");
    let second = map(&session, &buffer, CL_MAP_READ, 64, 16).expect("it is mapped");
    assert_eq!(second as usize - first as usize, 64);
    assert_eq!(map_count(&buffer), 2);
    assert_eq!(unmap(&session, &buffer, first), CL_SUCCESS);
    assert_eq!(unmap(&session, &buffer, first), CL_INVALID_VALUE);
    assert_eq!(unmap(&session, &buffer, null_mut()), CL_INVALID_VALUE);
    assert_eq!(map_count(&buffer), 1);
    assert_eq!(unmap(&session, &buffer, second), CL_SUCCESS);
    session.finish();
    assert_eq!(map_count(&buffer), 0);
}

#[test]
fn parts_are_mapped_within_their_buffer() {
    let session = TestSession::new();
    let buffer = session.filled(&(0..=255).collect::<Vec<u8>>());
    let part = create_part(&buffer, 0, 128, 128).expect("it is aligned");
    let first = map(&session, &part, CL_MAP_READ | CL_MAP_WRITE, 16, 4).expect("it is mapped");
    // SAFETY: the bytes are mapped.
    let bytes = unsafe { std::slice::from_raw_parts_mut(first, 4) };
    assert_eq!(bytes, [144, 145, 146, 147]);
    bytes.fill(7);
    assert_eq!(unmap(&session, &part, first), CL_SUCCESS);
    assert_eq!(
        session.read::<u8>(&buffer, 256)[143..149],
        [143, 7, 7, 7, 7, 148]
    );
}

#[test]
fn maps_refuse_wrong_flags_and_regions() {
    let session = TestSession::new();
    let buffer = session.buffer(64);
    let invalidate = CL_MAP_WRITE_INVALIDATE_REGION;
    for (flags, offset, size) in [
        (1 << 7, 0, 4),
        (invalidate | CL_MAP_READ, 0, 4),
        (invalidate | CL_MAP_WRITE, 0, 4),
        (CL_MAP_READ, 64, 1),
        (CL_MAP_READ, 0, 65),
        (CL_MAP_READ, usize::MAX, 2),
        (CL_MAP_READ, 0, 0),
    ] {
        let mapped = map(&session, &buffer, flags, offset, size);
        assert_eq!(mapped.err(), Some(CL_INVALID_VALUE), "{flags:#x} {offset}");
    }
    let context = session.context.raw;
    for (host, flags) in [
        (CL_MEM_HOST_WRITE_ONLY, CL_MAP_READ),
        (CL_MEM_HOST_READ_ONLY, CL_MAP_WRITE),
        (CL_MEM_HOST_READ_ONLY, invalidate),
        (CL_MEM_HOST_NO_ACCESS, CL_MAP_READ),
        (CL_MEM_HOST_NO_ACCESS, CL_MAP_WRITE),
    ] {
        let buffer = create_buffer(context, host, 64, null_mut()).expect("there is memory");
        let mapped = map(&session, &buffer, flags, 0, 4);
        assert_eq!(mapped.err(), Some(CL_INVALID_OPERATION), "{host:#x}");
    }
}

#[test]
fn maps_wait_for_events() {
    let session = TestSession::new();
    let buffer = session.filled(&[1_u8; 16]);
    let gate = session.user_event();
    let (mut code, mut event) = (1, null_mut());
    let (queue, flags, list) = (session.queue.raw, CL_MAP_READ, &raw const gate.raw);
    let (event_out, code_out) = (&raw mut event, &raw mut code);
    let found = cl!(clEnqueueMapBuffer(
        queue, buffer.raw, CL_FALSE, flags, 0, 16, 1, list, event_out, code_out
    ));
    assert_eq!(code, CL_SUCCESS);
    let event = OwnedHandle::new(ObjectKind::Event, event, code).expect("it is one");
    assert_eq!(crate::events::status(&event), CL_QUEUED);
    end_event(&gate, CL_COMPLETE);
    assert_eq!(wait(&[event.raw]), Ok(()));
    // SAFETY: the bytes are mapped.
    assert_eq!(unsafe { *found.cast::<u8>() }, 1);
    assert_eq!(unmap(&session, &buffer, found.cast()), CL_SUCCESS);
    session.finish();
}
