//! Buffers: their creation, memory of the caller, parts, copies and fills.

use crate::caller::{ObjectKind, ask_value, check};
use crate::session::{TestSession, create_buffer, create_part, read_buffer, write_buffer};
use opencl_sys::*;
use std::ffi::c_void;
use std::ptr::{null, null_mut};

#[test]
fn creation_refuses_wrong_flags_and_sizes() {
    let session = TestSession::new();
    let mut bytes = [0_u8; 64];
    let some: *mut c_void = bytes.as_mut_ptr().cast();
    let none = null_mut();
    let (uses, copies) = (CL_MEM_USE_HOST_PTR, CL_MEM_COPY_HOST_PTR);
    let cases = [
        (0, 0, none, CL_INVALID_BUFFER_SIZE),
        (0, usize::MAX, none, CL_INVALID_BUFFER_SIZE),
        (
            CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY,
            64,
            none,
            CL_INVALID_VALUE,
        ),
        (
            CL_MEM_READ_WRITE | CL_MEM_READ_ONLY,
            64,
            none,
            CL_INVALID_VALUE,
        ),
        (
            CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_WRITE_ONLY,
            64,
            none,
            CL_INVALID_VALUE,
        ),
        (
            CL_MEM_HOST_NO_ACCESS | CL_MEM_HOST_READ_ONLY,
            64,
            none,
            CL_INVALID_VALUE,
        ),
        (uses | copies, 64, some, CL_INVALID_VALUE),
        (uses | CL_MEM_ALLOC_HOST_PTR, 64, some, CL_INVALID_VALUE),
        (1 << 40, 64, none, CL_INVALID_VALUE),
        (uses, 64, none, CL_INVALID_HOST_PTR),
        (copies, 64, none, CL_INVALID_HOST_PTR),
        (0, 64, some, CL_INVALID_HOST_PTR),
        (CL_MEM_ALLOC_HOST_PTR, 64, some, CL_INVALID_HOST_PTR),
    ];
    for (flags, size, pointer, expected) in cases {
        let made = create_buffer(session.context.raw, flags, size, pointer);
        assert_eq!(made.err(), Some(expected), "{flags:#x}, {size} bytes");
    }
}

#[test]
fn properties_are_kept_and_unknown_ones_refused() {
    let session = TestSession::new();
    let context = session.context.raw;
    let mut code = 1;
    let empty = [0_u64];
    let made = cl!(clCreateBufferWithProperties(
        context,
        empty.as_ptr(),
        CL_MEM_READ_ONLY,
        8,
        null_mut(),
        &raw mut code
    ));
    assert_eq!(code, CL_SUCCESS);
    let words: Result<u64, _> = ask_value(|size, value, out| {
        cl!(clGetMemObjectInfo(
            made,
            CL_MEM_PROPERTIES,
            size,
            value,
            out
        ))
    });
    assert_eq!(words, Ok(0));
    assert_eq!(cl!(clReleaseMemObject(made)), CL_SUCCESS);
    let unknown = [77_u64, 1, 0];
    let made = cl!(clCreateBufferWithProperties(
        context,
        unknown.as_ptr(),
        0,
        8,
        null_mut(),
        &raw mut code
    ));
    assert_eq!((made.is_null(), code), (true, CL_INVALID_PROPERTY));
}

#[test]
fn memory_of_the_caller_is_used_or_copied() {
    let session = TestSession::new();
    let mut own: Vec<u32> = (0..64).collect();
    let pointer: *mut c_void = own.as_mut_ptr().cast();
    let context = session.context.raw;
    let access = [CL_MEM_READ_WRITE, CL_MEM_READ_ONLY, CL_MEM_WRITE_ONLY];
    let modes = [
        CL_MEM_USE_HOST_PTR,
        CL_MEM_COPY_HOST_PTR,
        CL_MEM_COPY_HOST_PTR | CL_MEM_ALLOC_HOST_PTR,
    ];
    for flags in access.iter().flat_map(|a| modes.map(|mode| a | mode)) {
        let buffer = create_buffer(context, flags, 256, pointer).expect("it fits");
        let expected: Vec<u32> = (0..64).collect();
        assert_eq!(session.read::<u32>(&buffer, 64), expected, "{flags:#x}");
        let uses = flags & CL_MEM_USE_HOST_PTR != 0;
        let told: Result<usize, _> = ask_value(|size, value, out| {
            cl!(clGetMemObjectInfo(
                buffer.raw,
                CL_MEM_HOST_PTR,
                size,
                value,
                out
            ))
        });
        assert_eq!(told, Ok(if uses { pointer as usize } else { 0 }));
        let kept: Result<u64, _> = ask_value(|size, value, out| {
            cl!(clGetMemObjectInfo(
                buffer.raw,
                CL_MEM_FLAGS,
                size,
                value,
                out
            ))
        });
        assert_eq!(kept, Ok(flags));
    }
}

#[test]
fn parts_are_within_their_buffer() {
    let session = TestSession::new();
    let buffer = session.filled(&(0..1024_u32).collect::<Vec<_>>());
    let align: u32 = ask_value(|size, value, out| {
        let name = CL_DEVICE_MEM_BASE_ADDR_ALIGN;
        cl!(clGetDeviceInfo(session.device, name, size, value, out))
    })
    .expect("devices tell it");
    let step = align as usize / 8;
    for origin in (0..4096).step_by(step) {
        let part = create_part(&buffer, 0, origin, 4096 - origin).expect("it is aligned");
        let content = session.read::<u32>(&part, 1);
        assert_eq!(content, [origin as u32 / 4]);
        let told: Result<usize, _> = ask_value(|size, value, out| {
            cl!(clGetMemObjectInfo(
                part.raw,
                CL_MEM_OFFSET,
                size,
                value,
                out
            ))
        });
        assert_eq!(told, Ok(origin));
        let parent: Result<usize, _> = ask_value(|size, value, out| {
            let name = CL_MEM_ASSOCIATED_MEMOBJECT;
            cl!(clGetMemObjectInfo(part.raw, name, size, value, out))
        });
        assert_eq!(parent, Ok(buffer.raw as usize));
    }
    let wrong = [
        (4, 16, CL_MISALIGNED_SUB_BUFFER_OFFSET),
        (step / 2, 16, CL_MISALIGNED_SUB_BUFFER_OFFSET),
        (0, 4097, CL_INVALID_VALUE),
        (4096, 1, CL_INVALID_VALUE),
        (usize::MAX - 127, 256, CL_INVALID_VALUE),
        (0, 0, CL_INVALID_BUFFER_SIZE),
    ];
    for (origin, size, expected) in wrong {
        let made = create_part(&buffer, 0, origin, size);
        assert_eq!(made.err(), Some(expected), "{size} bytes from {origin}");
    }
    let part = create_part(&buffer, 0, 0, 512).expect("it is aligned");
    let nested = create_part(&part, 0, 0, 128);
    assert_eq!(nested.err(), Some(CL_INVALID_MEM_OBJECT));
}

#[test]
fn flags_of_parts_fit_those_of_the_buffer() {
    let session = TestSession::new();
    let context = session.context.raw;
    let cases = [
        (CL_MEM_READ_ONLY, CL_MEM_WRITE_ONLY),
        (CL_MEM_READ_ONLY, CL_MEM_READ_WRITE),
        (CL_MEM_WRITE_ONLY, CL_MEM_READ_ONLY),
        (CL_MEM_HOST_READ_ONLY, CL_MEM_HOST_WRITE_ONLY),
        (CL_MEM_HOST_WRITE_ONLY, CL_MEM_HOST_READ_ONLY),
        (CL_MEM_HOST_NO_ACCESS, CL_MEM_HOST_READ_ONLY),
        (CL_MEM_READ_WRITE, CL_MEM_ALLOC_HOST_PTR),
        (CL_MEM_READ_WRITE, CL_MEM_COPY_HOST_PTR),
    ];
    for (whole, part) in cases {
        let buffer = create_buffer(context, whole, 64, null_mut()).expect("it fits");
        let made = create_part(&buffer, part, 0, 64);
        assert_eq!(made.err(), Some(CL_INVALID_VALUE), "{whole:#x} {part:#x}");
        let made = create_part(&buffer, 0, 0, 64).expect("it inherits the flags");
        let flags: Result<u64, _> = ask_value(|size, value, out| {
            cl!(clGetMemObjectInfo(made.raw, CL_MEM_FLAGS, size, value, out))
        });
        assert_eq!(flags.map(|flags| flags & whole), Ok(whole));
    }
}

#[test]
fn transfers_refuse_wrong_regions_and_flags() {
    let session = TestSession::new();
    let (queue, context) = (session.queue.raw, session.context.raw);
    let buffer = session.buffer(64);
    let mut bytes = [0_u8; 65];
    for (offset, size) in [(0, 65), (64, 1), (usize::MAX, 2), (1, 64)] {
        let read = read_buffer(queue, buffer.raw, offset, &mut bytes[..size], &[]);
        assert_eq!(read, Err(CL_INVALID_VALUE));
        let written = write_buffer(queue, buffer.raw, offset, &bytes[..size], &[]);
        assert_eq!(written, Err(CL_INVALID_VALUE));
    }
    let none = null_mut();
    let code = cl!(clEnqueueReadBuffer(
        queue,
        buffer.raw,
        1,
        0,
        4,
        none,
        0,
        null(),
        none.cast()
    ));
    assert_eq!(code, CL_INVALID_VALUE);
    let cases = [
        (CL_MEM_HOST_WRITE_ONLY, Err(CL_INVALID_OPERATION), Ok(())),
        (CL_MEM_HOST_READ_ONLY, Ok(()), Err(CL_INVALID_OPERATION)),
        (
            CL_MEM_HOST_NO_ACCESS,
            Err(CL_INVALID_OPERATION),
            Err(CL_INVALID_OPERATION),
        ),
    ];
    for (flags, reads, writes) in cases {
        let buffer = create_buffer(context, flags, 64, null_mut()).expect("it fits");
        let read = read_buffer(queue, buffer.raw, 0, &mut bytes[..64], &[]);
        assert_eq!(read, reads);
        assert_eq!(
            write_buffer(queue, buffer.raw, 0, &bytes[..64], &[]),
            writes
        );
    }
    let other = TestSession::new();
    let foreign = read_buffer(other.queue.raw, buffer.raw, 0, &mut bytes[..4], &[]);
    assert_eq!(foreign, Err(CL_INVALID_CONTEXT));
}

fn fill(
    session: &TestSession,
    buffer: cl_mem,
    pattern: &[u8],
    offset: usize,
    size: usize,
) -> Result<(), cl_int> {
    let (first, bytes) = (pattern.as_ptr().cast(), pattern.len());
    let (queue, event) = (session.queue.raw, null_mut());
    check(cl!(clEnqueueFillBuffer(
        queue,
        buffer,
        first,
        bytes,
        offset,
        size,
        0,
        null(),
        event
    )))
}

#[test]
fn fills_repeat_patterns_of_all_sizes() {
    let session = TestSession::new();
    let pattern: Vec<u8> = (1..=128).collect();
    for size in [1, 2, 4, 8, 16, 32, 64, 128] {
        let buffer = session.filled(&[0_u8; 1024]);
        assert_eq!(
            fill(&session, buffer.raw, &pattern[..size], 256, 512),
            Ok(())
        );
        let expected: Vec<u8> = (0..1024)
            .map(|at| match at {
                256..768 => pattern[at % size],
                _ => 0,
            })
            .collect();
        assert_eq!(session.read::<u8>(&buffer, 1024), expected, "{size} bytes");
    }
    let buffer = session.buffer(1024);
    for (size, offset, count) in [(0, 0, 8), (3, 0, 9), (4, 2, 8), (4, 0, 6), (4, 1024, 4)] {
        let filled = fill(&session, buffer.raw, &pattern[..size], offset, count);
        assert_eq!(filled, Err(CL_INVALID_VALUE), "{size} at {offset}");
    }
    let large = [0; 256];
    let filled = fill(&session, buffer.raw, &large, 0, 256);
    assert_eq!(filled, Err(CL_INVALID_VALUE));
}

#[test]
fn copies_refuse_overlaps() {
    let session = TestSession::new();
    let buffer = session.filled(&(0..=255).collect::<Vec<u8>>());
    let part = create_part(&buffer, 0, 128, 128).expect("it is aligned");
    let copy = |from: cl_mem, to: cl_mem, source, target, size| {
        let (queue, event) = (session.queue.raw, null_mut());
        check(cl!(clEnqueueCopyBuffer(
            queue,
            from,
            to,
            source,
            target,
            size,
            0,
            null(),
            event
        )))
    };
    let (whole, part) = (buffer.raw, part.raw);
    assert_eq!(copy(whole, whole, 0, 15, 16), Err(CL_MEM_COPY_OVERLAP));
    assert_eq!(copy(whole, whole, 15, 0, 16), Err(CL_MEM_COPY_OVERLAP));
    assert_eq!(copy(whole, whole, 8, 8, 16), Err(CL_MEM_COPY_OVERLAP));
    assert_eq!(copy(whole, part, 120, 0, 16), Err(CL_MEM_COPY_OVERLAP));
    assert_eq!(copy(part, whole, 0, 143, 16), Err(CL_MEM_COPY_OVERLAP));
    assert_eq!(copy(whole, part, 0, 0, 129), Err(CL_INVALID_VALUE));
    assert_eq!(copy(whole, part, 0, 16, 16), Ok(()));
    assert_eq!(copy(whole, whole, 0, 16, 16), Ok(()));
    let content = session.read::<u8>(&buffer, 256);
    let first: Vec<u8> = (0..16).collect();
    assert_eq!(content[16..32], first);
    assert_eq!(content[144..160], first);
    assert_eq!(content[160], 160);
}

/// Notes the order in which destructors are called.
unsafe extern "C" fn note_end(_: cl_mem, data: *mut c_void) {
    ENDS.lock().expect("it is free").push(data as usize);
}

static ENDS: std::sync::Mutex<Vec<usize>> = std::sync::Mutex::new(Vec::new());

#[test]
fn destructors_are_called_last_first_when_the_object_ends() {
    let session = TestSession::new();
    let buffer = session.buffer(256);
    let part = create_part(&buffer, 0, 0, 64).expect("it is aligned");
    for (object, number) in [
        (&buffer, 1),
        (&buffer, 2),
        (&part, 3),
        (&part, 4),
        (&buffer, 5),
    ] {
        let data = number as *mut c_void;
        let code = cl!(clSetMemObjectDestructorCallback(
            object.raw,
            Some(note_end),
            data
        ));
        assert_eq!(code, CL_SUCCESS);
    }
    let code = cl!(clSetMemObjectDestructorCallback(
        buffer.raw,
        None,
        null_mut()
    ));
    assert_eq!(code, CL_INVALID_VALUE);
    let raw = buffer.raw;
    drop(buffer);
    let held = ObjectKind::Memory.count(raw);
    assert_eq!(held, Ok(0), "the part holds its buffer");
    assert!(ENDS.lock().expect("it is free").is_empty());
    drop(part);
    assert_eq!(*ENDS.lock().expect("it is free"), [4, 3, 5, 2, 1]);
}
