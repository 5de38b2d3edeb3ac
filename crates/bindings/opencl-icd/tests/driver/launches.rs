//! Launches: their sizes, what kernels see of them, and workgroup memory.

use crate::caller::{ask_value, check};
use crate::session::{BASIC, TestSession, launch, set_object};
use opencl_sys::*;
use std::ptr::{null, null_mut};

/// The ids that `record_ids` writes: three fields of 16 bits.
fn pack(ids: [usize; 3]) -> u64 {
    ids[0] as u64 | (ids[1] as u64) << 16 | (ids[2] as u64) << 32
}

/// Launches a kernel that records what it sees, and compares that.
fn check_ids(session: &TestSession, offset: [usize; 3], global: &[usize], local: Option<&[usize]>) {
    let kernel = session.kernel(BASIC, "record_ids");
    let mut sizes = [1; 3];
    sizes[..global.len()].copy_from_slice(global);
    let count = sizes.iter().product::<usize>();
    let buffer = session.filled(&vec![u64::MAX; count * 4]);
    set_object(&kernel, 0, &buffer);
    let first = &offset[..global.len()];
    let done = launch(
        session.queue.raw,
        kernel.raw,
        Some(first),
        global,
        local,
        &[],
    );
    assert_eq!(done, Ok(()), "{global:?} {local:?}");
    let found = session.read::<u64>(&buffer, count * 4);
    for (number, row) in found.chunks_exact(4).enumerate() {
        let at = [
            number % sizes[0],
            number / sizes[0] % sizes[1],
            number / sizes[0] / sizes[1],
        ];
        let mut ids = at;
        for (id, first) in ids.iter_mut().zip(first) {
            *id += first;
        }
        assert_eq!(row[0], pack(ids), "{global:?} {local:?}");
        let Some(local) = local else { continue };
        let mut full = [1; 3];
        full[..local.len()].copy_from_slice(local);
        let axis = |axis: usize| {
            let group = at[axis] / full[axis];
            let size = full[axis].min(sizes[axis] - group * full[axis]);
            (size, at[axis] % full[axis], group)
        };
        let seen = [axis(0), axis(1), axis(2)];
        let expected = [seen.map(|s| s.0), seen.map(|s| s.1), seen.map(|s| s.2)];
        assert_eq!(row[1..], expected.map(pack), "{global:?} {local:?}");
    }
}

#[test]
fn kernels_see_ids_offsets_and_groups() {
    let session = TestSession::new();
    check_ids(&session, [0; 3], &[1], Some(&[1]));
    check_ids(&session, [0; 3], &[100], None);
    check_ids(&session, [17, 0, 0], &[64], Some(&[16]));
    check_ids(&session, [5, 300, 0], &[12, 6], Some(&[4, 3]));
    check_ids(&session, [1, 2, 3], &[4, 6, 8], Some(&[2, 3, 4]));
    check_ids(&session, [9, 8, 7], &[3, 5, 7], None);
}

#[test]
fn groups_at_the_end_may_be_smaller() {
    let session = TestSession::new();
    check_ids(&session, [0; 3], &[10], Some(&[4]));
    check_ids(&session, [3, 0, 0], &[7], Some(&[8]));
    check_ids(&session, [0, 1, 0], &[5, 7], Some(&[2, 4]));
    check_ids(&session, [2, 0, 1], &[5, 3, 7], Some(&[4, 2, 3]));
}

#[test]
fn wrong_sizes_are_refused() {
    let session = TestSession::new();
    let kernel = session.kernel(BASIC, "count_up");
    let buffer = session.filled(&[0_u32; 4]);
    set_object(&kernel, 0, &buffer);
    let most: usize = ask_value(|size, value, out| {
        let name = CL_DEVICE_MAX_WORK_GROUP_SIZE;
        cl!(clGetDeviceInfo(session.device, name, size, value, out))
    })
    .expect("devices tell it");
    let run = |global: &[usize], local: &[usize]| {
        launch(
            session.queue.raw,
            kernel.raw,
            None,
            global,
            Some(local),
            &[],
        )
    };
    assert_eq!(run(&[8], &[0]), Err(CL_INVALID_WORK_GROUP_SIZE));
    assert_eq!(run(&[8, 8], &[8, 0]), Err(CL_INVALID_WORK_GROUP_SIZE));
    assert_eq!(
        run(&[usize::MAX], &[usize::MAX]),
        Err(CL_INVALID_WORK_ITEM_SIZE)
    );
    let both = [most, most];
    let code = run(&both, &both).expect_err("it is too large");
    assert!([CL_INVALID_WORK_GROUP_SIZE, CL_INVALID_WORK_ITEM_SIZE].contains(&code));
    for dimensions in [0, 4, u32::MAX] {
        let sizes = [1_usize; 4];
        let (queue, none) = (session.queue.raw, null());
        let global = sizes.as_ptr();
        let code = cl!(clEnqueueNDRangeKernel(
            queue,
            kernel.raw,
            dimensions,
            none,
            global,
            none,
            0,
            null(),
            null_mut()
        ));
        assert_eq!(code, CL_INVALID_WORK_DIMENSION);
    }
    let first = [usize::MAX];
    let queue = session.queue.raw;
    let code = launch(queue, kernel.raw, Some(&first), &[2], None, &[]);
    assert_eq!(code, Err(CL_INVALID_GLOBAL_OFFSET));
    session.finish();
    assert_eq!(session.read::<u32>(&buffer, 1), [0], "nothing was run");
}

#[test]
fn sizes_beyond_all_devices_are_refused() {
    let session = TestSession::new();
    let kernel = session.kernel(BASIC, "count_up");
    let buffer = session.filled(&[0_u32; 4]);
    set_object(&kernel, 0, &buffer);
    for global in [
        [1 << 40, 1 << 40, 1 << 40],
        [1 << 63, 2, 1],
        [3, 1 << 62, 4],
    ] {
        let done = session.launch(&kernel, &global);
        assert_eq!(done, Err(CL_INVALID_GLOBAL_WORK_SIZE), "{global:?}");
    }
}

#[test]
fn launches_of_nothing_run_nothing() {
    let session = TestSession::new();
    let kernel = session.kernel(BASIC, "count_up");
    let buffer = session.filled(&[0_u32; 4]);
    set_object(&kernel, 0, &buffer);
    let queue = session.queue.raw;
    for global in [&[0_usize][..], &[0, 4], &[4, 0], &[2, 3, 0]] {
        assert_eq!(launch(queue, kernel.raw, None, global, None, &[]), Ok(()));
    }
    let none = null();
    let code = cl!(clEnqueueNDRangeKernel(
        queue,
        kernel.raw,
        1,
        none,
        none,
        none,
        0,
        null(),
        null_mut()
    ));
    assert_eq!(code, CL_SUCCESS);
    assert_eq!(session.read::<u32>(&buffer, 1), [0]);
    assert_eq!(
        check(cl!(clEnqueueTask(queue, kernel.raw, 0, null(), null_mut()))),
        Ok(())
    );
    assert_eq!(session.read::<u32>(&buffer, 1), [1]);
}

#[test]
fn demanded_groups_are_kept() {
    let session = TestSession::new();
    let kernel = session.kernel(BASIC, "fixed_group");
    let buffer = session.filled(&[99_u32; 32]);
    set_object(&kernel, 0, &buffer);
    let queue = session.queue.raw;
    for local in [&[8_usize, 4][..], &[4, 1], &[2, 4]] {
        let done = launch(queue, kernel.raw, None, &[8, 4], Some(local), &[]);
        assert_eq!(done, Err(CL_INVALID_WORK_GROUP_SIZE));
    }
    // The last groups are smaller where the size does not divide.
    for (width, height) in [(8, 4), (7, 4), (5, 3)] {
        let count = width * height;
        let expected: Vec<u32> = (0..count)
            .map(|at| at % width % 4 + 10 * (at / width % 2))
            .collect();
        for local in [None, Some(&[4_usize, 2][..])] {
            let global = [width as usize, height as usize];
            assert_eq!(launch(queue, kernel.raw, None, &global, local, &[]), Ok(()));
            assert_eq!(session.read::<u32>(&buffer, count as usize), expected);
        }
    }
    let told: Result<[usize; 3], _> = ask_value(|size, value, out| {
        let name = CL_KERNEL_COMPILE_WORK_GROUP_SIZE;
        let device = session.device;
        cl!(clGetKernelWorkGroupInfo(
            kernel.raw, device, name, size, value, out
        ))
    });
    assert_eq!(told, Ok([4, 2, 1]));
}

#[test]
fn groups_share_workgroup_memory() {
    let session = TestSession::new();
    let kernel = session.kernel(BASIC, "sum_groups");
    let numbers: Vec<u32> = (0..256).map(|n| n * n).collect();
    let input = session.filled(&numbers);
    let queue = session.queue.raw;
    for group in [1_usize, 2, 8, 64, 256] {
        let output = session.filled(&[0_u32; 256]);
        set_object(&kernel, 0, &output);
        set_object(&kernel, 1, &input);
        let code = cl!(clSetKernelArg(kernel.raw, 2, group * 4, null()));
        assert_eq!(code, CL_SUCCESS);
        let done = launch(queue, kernel.raw, None, &[256], Some(&[group]), &[]);
        assert_eq!(done, Ok(()));
        let expected: Vec<u32> = numbers
            .chunks(group)
            .map(|each| each.iter().sum())
            .collect();
        assert_eq!(session.read::<u32>(&output, 256 / group), expected);
    }
}

#[test]
fn groups_read_behind_workgroup_memory() {
    let session = TestSession::new();
    let kernel = session.kernel(BASIC, "sum_groups");
    let input = session.filled(&[3_u32; 256]);
    let output = session.filled(&[0_u32; 256]);
    set_object(&kernel, 0, &output);
    set_object(&kernel, 1, &input);
    // The kernel uses an element for each invocation.
    assert_eq!(cl!(clSetKernelArg(kernel.raw, 2, 32, null())), CL_SUCCESS);
    let queue = session.queue.raw;
    let done = launch(queue, kernel.raw, None, &[256], Some(&[256]), &[]);
    assert_eq!(done, Ok(()));
    assert_eq!(session.read::<u32>(&output, 1), [768]);
}

#[test]
fn too_much_workgroup_memory_is_refused() {
    let session = TestSession::new();
    let kernel = session.kernel(BASIC, "sum_groups");
    let buffer = session.filled(&[1_u32; 64]);
    set_object(&kernel, 0, &buffer);
    set_object(&kernel, 1, &buffer);
    let most: u64 = ask_value(|size, value, out| {
        let name = CL_DEVICE_LOCAL_MEM_SIZE;
        cl!(clGetDeviceInfo(session.device, name, size, value, out))
    })
    .expect("devices tell it");
    for bytes in [most as usize * 2 + 4, usize::MAX / 2] {
        let code = cl!(clSetKernelArg(kernel.raw, 2, bytes, null()));
        assert_eq!(code, CL_SUCCESS);
        let done = launch(session.queue.raw, kernel.raw, None, &[8], Some(&[8]), &[]);
        assert_eq!(done, Err(CL_OUT_OF_RESOURCES), "{bytes} bytes");
    }
}
