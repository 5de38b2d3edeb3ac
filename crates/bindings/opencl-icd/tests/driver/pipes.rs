//! Pipes: packets from kernel to kernel, reservations, queries, and errors.

use crate::caller::{ObjectKind, OwnedHandle, ask_value, check};
use crate::program_sources::open_program;
use crate::session::{TestSession, create_context, create_kernel, launch, set_object, set_value};
use opencl_sys::*;
use std::ptr::{null, null_mut};

fn create_pipe(
    context: cl_context,
    flags: cl_mem_flags,
    packet: cl_uint,
    capacity: cl_uint,
) -> Result<OwnedHandle, cl_int> {
    let mut code = 1;
    let out = &raw mut code;
    let raw = cl!(clCreatePipe(context, flags, packet, capacity, null(), out));
    OwnedHandle::new(ObjectKind::Memory, raw, code)
}

/// Kernels that write packets to a pipe, and others that read them.
const SOURCE: &str = "
typedef struct { int number; float weight; } packet;
kernel void produce(write_only pipe packet p, global int *failed) {
    packet own = { get_global_id(0), 0.5f };
    if (write_pipe(p, &own)) atomic_inc(failed);
}
kernel void consume(read_only pipe packet p, global int *out) {
    packet own;
    if (read_pipe(p, &own) == 0 && own.weight == 0.5f) atomic_add(&out[own.number], 1);
    if (get_global_id(0) == 0) out[200] = get_pipe_max_packets(p);
}
kernel void count(read_only pipe packet p, global int *out) { out[0] = get_pipe_num_packets(p); }
kernel void produce_groups(write_only pipe int p) {
    reserve_id_t own = work_group_reserve_write_pipe(p, get_local_size(0));
    if (is_valid_reserve_id(own)) {
        int number = get_global_id(0);
        write_pipe(p, own, get_local_id(0), &number);
        work_group_commit_write_pipe(p, own);
    }
}
kernel void consume_groups(read_only pipe int p, global int *out) {
    reserve_id_t own = work_group_reserve_read_pipe(p, get_local_size(0));
    out[get_global_id(0)] = -1;
    if (is_valid_reserve_id(own)) {
        read_pipe(p, own, get_local_id(0), &out[get_global_id(0)]);
        work_group_commit_read_pipe(p, own);
    }
}
kernel void consume_each(read_only pipe int p, global int *out) {
    reserve_id_t own = reserve_read_pipe(p, 2);
    if (is_valid_reserve_id(own)) {
        read_pipe(p, own, 1, &out[2 * get_global_id(0)]);
        read_pipe(p, own, 0, &out[2 * get_global_id(0) + 1]);
        commit_read_pipe(p, own);
    }
}
";

/// Runs a kernel whose arguments are a pipe, and perhaps a buffer.
fn run(
    session: &TestSession,
    (program, name): (&OwnedHandle, &str),
    pipe: &OwnedHandle,
    buffer: Option<&OwnedHandle>,
    sizes: (usize, usize),
) {
    let kernel = create_kernel(program, name).expect("it is there");
    set_object(&kernel, 0, pipe);
    if let Some(buffer) = buffer {
        set_object(&kernel, 1, buffer);
    }
    let (queue, global, local) = (session.queue.raw, [sizes.0], [sizes.1]);
    let done = launch(queue, kernel.raw, None, &global, Some(&local), &[]);
    assert_eq!(done, Ok(()), "{name}");
}

#[test]
fn packets_go_from_kernel_to_kernel() {
    let Some((session, program)) = open_program(SOURCE) else {
        return;
    };
    let pipe = create_pipe(session.context.raw, 0, 8, 100).expect("the processor has pipes");
    let (failed, found) = (session.filled(&[0_i32]), session.filled(&[0_i32; 201]));
    for round in 1..=3 {
        // A fifth of the packets finds no room.
        run(
            &session,
            (&program, "produce"),
            &pipe,
            Some(&failed),
            (125, 25),
        );
        assert_eq!(session.read::<i32>(&failed, 1), [25 * round]);
        let held = session.filled(&[0_i32]);
        run(&session, (&program, "count"), &pipe, Some(&held), (1, 1));
        assert_eq!(session.read::<i32>(&held, 1), [100]);
        run(
            &session,
            (&program, "consume"),
            &pipe,
            Some(&found),
            (125, 25),
        );
        let counts = session.read::<i32>(&found, 201);
        assert_eq!(counts[..125].iter().sum::<i32>(), 100 * round);
        assert_eq!(counts[200], 100);
    }
}

#[test]
fn workgroups_reserve_packets() {
    let Some((session, program)) = open_program(SOURCE) else {
        return;
    };
    let pipe = create_pipe(session.context.raw, CL_MEM_READ_WRITE, 4, 70);
    let pipe = pipe.expect("the processor has pipes");
    let found = session.filled(&[0_i32; 80]);
    // Four groups of sixteen have room, the fifth has none.
    run(
        &session,
        (&program, "produce_groups"),
        &pipe,
        None,
        (80, 16),
    );
    run(
        &session,
        (&program, "consume_groups"),
        &pipe,
        Some(&found),
        (32, 16),
    );
    let numbers = session.read::<i32>(&found, 32);
    for group in numbers.chunks_exact(16) {
        assert_eq!(group[0] % 16, 0, "{numbers:?}");
        assert!(
            group.windows(2).all(|pair| pair[1] == pair[0] + 1),
            "{numbers:?}"
        );
    }
    // Sixteen invocations have two packets each, the others none.
    let rest = session.filled(&[-7_i32; 80]);
    run(
        &session,
        (&program, "consume_each"),
        &pipe,
        Some(&rest),
        (40, 8),
    );
    let pairs = session.read::<i32>(&rest, 80);
    let read = pairs.chunks_exact(2).filter(|pair| pair[0] != -7);
    let read: Vec<&[i32]> = read.collect();
    assert_eq!(read.len(), 16, "{pairs:?}");
    assert!(read.iter().all(|pair| pair[0] == pair[1] + 1), "{pairs:?}");
    let mut all: Vec<i32> = numbers
        .iter()
        .chain(read.into_iter().flatten())
        .copied()
        .collect();
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), 64, "each packet is read once");
}

#[test]
fn queries_tell_the_packets_of_a_pipe() {
    let session = TestSession::new();
    let pipe = create_pipe(session.context.raw, CL_MEM_HOST_NO_ACCESS, 12, 34);
    let pipe = pipe.expect("the processor has pipes");
    let ask = |name| {
        ask_value::<cl_uint>(|size, value, out| {
            cl!(clGetPipeInfo(pipe.raw, name, size, value, out))
        })
    };
    assert_eq!(ask(CL_PIPE_PACKET_SIZE), Ok(12));
    assert_eq!(ask(CL_PIPE_MAX_PACKETS), Ok(34));
    assert_eq!(ask(1), Err(CL_INVALID_VALUE));
    let mut size = 7;
    let (none, out) = (null_mut(), &raw mut size);
    let code = cl!(clGetPipeInfo(pipe.raw, CL_PIPE_PROPERTIES, 0, none, out));
    assert_eq!((code, size), (CL_SUCCESS, 0));
    let kind = ask_value::<cl_uint>(|size, value, out| {
        ObjectKind::Memory.ask(pipe.raw, CL_MEM_TYPE, size, value, out)
    });
    assert_eq!(kind, Ok(CL_MEM_OBJECT_PIPE));
    let buffer = session.buffer(4);
    let code = cl!(clGetPipeInfo(buffer.raw, CL_PIPE_PACKET_SIZE, 0, none, out));
    assert_eq!(code, CL_INVALID_MEM_OBJECT);
    let facts = [
        (CL_DEVICE_PIPE_SUPPORT, 1),
        (CL_DEVICE_MAX_PIPE_ARGS, 16),
        (CL_DEVICE_PIPE_MAX_ACTIVE_RESERVATIONS, 1),
        (CL_DEVICE_PIPE_MAX_PACKET_SIZE, 1024),
    ];
    for (name, least) in facts {
        let told = ask_value::<cl_uint>(|size, value, out| {
            cl!(clGetDeviceInfo(session.device, name, size, value, out))
        });
        assert!(told.is_ok_and(|told| told >= least), "{name:#x}");
    }
}

#[test]
fn wrong_pipes_are_refused() {
    let session = TestSession::new();
    let context = session.context.raw;
    let create = |flags, packet, capacity| create_pipe(context, flags, packet, capacity).err();
    assert_eq!(create(CL_MEM_READ_ONLY, 4, 4), Some(CL_INVALID_VALUE));
    assert_eq!(create(0, 0, 4), Some(CL_INVALID_PIPE_SIZE));
    assert_eq!(create(0, 4, 0), Some(CL_INVALID_PIPE_SIZE));
    assert_eq!(create(0, u32::MAX, 4), Some(CL_INVALID_PIPE_SIZE));
    let properties: [cl_pipe_properties; 3] = [1, 1, 0];
    let mut code = 1;
    let (list, out) = (properties.as_ptr(), &raw mut code);
    let made = cl!(clCreatePipe(context, 0, 4, 4, list, out));
    assert_eq!((made, code), (null_mut(), CL_INVALID_PROPERTY));
    let pipe = create_pipe(context, 0, 4, 4).expect("the processor has pipes");
    // Pipes are none of the buffers that commands take.
    let mut bytes = [0_u8; 4];
    let (to, queue) = (bytes.as_mut_ptr().cast(), session.queue.raw);
    let read = check(cl!(clEnqueueReadBuffer(
        queue,
        pipe.raw,
        CL_TRUE,
        0,
        4,
        to,
        0,
        null(),
        null_mut()
    )));
    assert_eq!(read, Err(CL_INVALID_MEM_OBJECT));
    let kernel = session.kernel(crate::session::BASIC, "count_up");
    assert_eq!(set_value(&kernel, 0, &pipe.raw), Err(CL_INVALID_MEM_OBJECT));
    let Some((session, program)) = open_program(SOURCE) else {
        return;
    };
    let kernel = create_kernel(&program, "count").expect("it is there");
    let buffer = session.buffer(64);
    assert_eq!(
        set_value(&kernel, 0, &buffer.raw),
        Err(CL_INVALID_MEM_OBJECT)
    );
    assert_eq!(set_value(&kernel, 0, &1_u32), Err(CL_INVALID_ARG_SIZE));
    let Some(both) = crate::session::both_devices() else {
        return;
    };
    let context = create_context(&both).expect("they are devices");
    let refused = create_pipe(context.raw, 0, 4, 4).err();
    assert_eq!(refused, Some(CL_INVALID_OPERATION));
}
