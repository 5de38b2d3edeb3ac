//! Sub-devices: how the processor is divided, and that its parts run kernels.

use crate::caller::{ObjectKind, OwnedHandle, ask_list, ask_value, check};
use crate::session::{
    BASIC, assemble, create_buffer, create_context, create_kernel, create_queue, devices, launch,
    load_module, read_buffer, set_object, set_value,
};
use opencl_sys::*;
use std::ptr::{null, null_mut};

fn ask_number(device: cl_device_id, name: cl_device_info) -> cl_uint {
    let found = ask_value(|size, value, out| cl!(clGetDeviceInfo(device, name, size, value, out)));
    found.expect("devices tell it")
}

fn ask_words(device: cl_device_id, name: cl_device_info) -> Vec<cl_device_partition_property> {
    let found = ask_list(|size, value, out| cl!(clGetDeviceInfo(device, name, size, value, out)));
    found.expect("devices tell it")
}

/// Sub-devices that are released at the end.
struct DeviceParts(Vec<cl_device_id>);

impl Drop for DeviceParts {
    fn drop(&mut self) {
        for part in &self.0 {
            let code = cl!(clReleaseDevice(*part));
            assert!(code == CL_SUCCESS || std::thread::panicking());
        }
    }
}

fn divide(
    device: cl_device_id,
    words: &[cl_device_partition_property],
) -> Result<DeviceParts, cl_int> {
    let (list, none) = (words.as_ptr(), null_mut());
    let mut count = 0;
    let out = &raw mut count;
    check(cl!(clCreateSubDevices(device, list, 0, none, out)))?;
    let mut parts = vec![null_mut(); count as usize];
    let room = parts.as_mut_ptr();
    check(cl!(clCreateSubDevices(
        device,
        list,
        count,
        room,
        null_mut()
    )))?;
    Ok(DeviceParts(parts))
}

/// The processor, if it has several threads.
fn divisible_device() -> Option<(cl_device_id, cl_uint)> {
    let device = devices()[0];
    let threads = ask_number(device, CL_DEVICE_MAX_COMPUTE_UNITS);
    if threads < 2 {
        eprintln!("NOT TESTED: this machine has one processor");
        return None;
    }
    Some((device, threads))
}

const EQUALLY: cl_device_partition_property = CL_DEVICE_PARTITION_EQUALLY;
const BY_COUNTS: cl_device_partition_property = CL_DEVICE_PARTITION_BY_COUNTS;

#[test]
fn queries_tell_how_a_device_is_divided() {
    let Some((device, threads)) = divisible_device() else {
        return;
    };
    let most = ask_number(device, CL_DEVICE_PARTITION_MAX_SUB_DEVICES);
    assert_eq!(most, threads);
    let ways = ask_words(device, CL_DEVICE_PARTITION_PROPERTIES);
    assert_eq!(ways, [EQUALLY, BY_COUNTS]);
    assert_eq!(ask_words(device, CL_DEVICE_PARTITION_TYPE), [0]);
    assert_eq!(ask_words(device, CL_DEVICE_PARENT_DEVICE), [0]);
    let parts = divide(device, &[EQUALLY, 1, 0]).expect("there are threads");
    assert_eq!(parts.0.len(), threads as usize);
    for part in &parts.0 {
        assert_eq!(ask_number(*part, CL_DEVICE_MAX_COMPUTE_UNITS), 1);
        assert_eq!(ask_number(*part, CL_DEVICE_PARTITION_MAX_SUB_DEVICES), 0);
        assert_eq!(ask_words(*part, CL_DEVICE_PARTITION_PROPERTIES), [0]);
        let words = ask_words(*part, CL_DEVICE_PARTITION_TYPE);
        assert_eq!(words, [EQUALLY, 1, 0]);
        let parent = ask_words(*part, CL_DEVICE_PARENT_DEVICE);
        assert_eq!(parent, [device as cl_device_partition_property]);
        assert_eq!(ask_number(*part, CL_DEVICE_REFERENCE_COUNT), 1);
        assert_eq!(cl!(clRetainDevice(*part)), CL_SUCCESS);
        assert_eq!(ask_number(*part, CL_DEVICE_REFERENCE_COUNT), 2);
        assert_eq!(cl!(clReleaseDevice(*part)), CL_SUCCESS);
    }
    let rest = threads as cl_device_partition_property - 1;
    let words = [BY_COUNTS, 1, rest, 0, 0];
    let parts = divide(device, &words).expect("there are threads");
    let units = |part: &cl_device_id| ask_number(*part, CL_DEVICE_MAX_COMPUTE_UNITS);
    let sizes: Vec<cl_uint> = parts.0.iter().map(units).collect();
    assert_eq!(sizes, [1, threads - 1]);
    assert_eq!(ask_words(parts.0[0], CL_DEVICE_PARTITION_TYPE), words);
}

#[test]
fn wrong_divisions_are_refused() {
    let Some((device, threads)) = divisible_device() else {
        return;
    };
    let many = threads as cl_device_partition_property + 1;
    let divide = |words: &[cl_device_partition_property]| divide(device, words).err();
    let count = Some(CL_INVALID_DEVICE_PARTITION_COUNT);
    assert_eq!(divide(&[0]), Some(CL_INVALID_VALUE));
    assert_eq!(divide(&[EQUALLY, 0, 0]), Some(CL_INVALID_VALUE));
    let failed = Some(CL_DEVICE_PARTITION_FAILED);
    assert_eq!(divide(&[EQUALLY, many, 0]), count);
    assert_eq!(divide(&[EQUALLY, many - 1, 0]), failed);
    assert_eq!(divide(&[BY_COUNTS, many, 0, 0]), count);
    assert_eq!(divide(&[BY_COUNTS, -1, 0, 0]), count);
    assert_eq!(divide(&[BY_COUNTS, 0, 0]), count);
    let domain = CL_DEVICE_PARTITION_BY_AFFINITY_DOMAIN;
    assert_eq!(divide(&[domain, 1, 0]), Some(CL_INVALID_VALUE));
    let mut room = [null_mut()];
    let words = [EQUALLY, 1, 0];
    let (list, first) = (words.as_ptr(), room.as_mut_ptr());
    let code = cl!(clCreateSubDevices(device, list, 1, first, null_mut()));
    assert_eq!(code, CL_INVALID_VALUE);
    let code = cl!(clCreateSubDevices(device, null(), 1, first, null_mut()));
    assert_eq!(code, CL_INVALID_VALUE);
    // A device of the platform has no references to give back.
    for _ in 0..3 {
        assert_eq!(cl!(clReleaseDevice(device)), CL_SUCCESS);
    }
    assert_eq!(ask_number(device, CL_DEVICE_REFERENCE_COUNT), 1);
}

#[test]
fn parts_run_what_was_built_for_the_whole() {
    let Some((device, _)) = divisible_device() else {
        return;
    };
    let parts = divide(device, &[EQUALLY, 1, 0]).expect("there are threads");
    let mut all = parts.0.clone();
    all.push(device);
    let context = create_context(&all).expect("they are devices");
    let program = load_module(context.raw, &assemble(BASIC)).expect("it is a module");
    let (list, none) = (&raw const device, null_mut());
    let built = cl!(clBuildProgram(program.raw, 1, list, null(), None, none));
    assert_eq!(built, CL_SUCCESS);
    let kernel = create_kernel(&program, "add_value").expect("it is there");
    let numbers = create_buffer(context.raw, CL_MEM_READ_WRITE, 4 * 4096, null_mut());
    let numbers = numbers.expect("there is memory");
    set_object(&kernel, 0, &numbers);
    let open = |device: &cl_device_id| create_queue(context.raw, *device, 0).expect("it has some");
    let queues: Vec<OwnedHandle> = all.iter().map(open).collect();
    // The parts may end before the objects that use them.
    drop(parts);
    let mut sum = 0;
    for round in 0..3_u32 {
        for (number, queue) in queues.iter().enumerate() {
            let value = round * 10 + number as u32;
            assert_eq!(set_value(&kernel, 1, &value), Ok(()));
            let done = launch(queue.raw, kernel.raw, None, &[4096], None, &[]);
            assert_eq!(done, Ok(()));
            assert_eq!(cl!(clFinish(queue.raw)), CL_SUCCESS);
            sum += value;
        }
    }
    for queue in &queues {
        let mut found = vec![0_u32; 4096];
        let read = read_buffer(queue.raw, numbers.raw, 0, &mut found, &[]);
        assert_eq!(read, Ok(()));
        assert!(found.iter().all(|value| *value == sum), "{:?}", &found[..4]);
    }
    assert_eq!(ObjectKind::Context.count(context.raw), Ok(1));
}

#[test]
fn parts_of_parts_are_divided_further() {
    let Some((device, threads)) = divisible_device() else {
        return;
    };
    let whole = threads as cl_device_partition_property;
    let parts = divide(device, &[BY_COUNTS, whole, 0, 0]).expect("there are threads");
    assert_eq!(parts.0.len(), 1);
    let inner = divide(parts.0[0], &[EQUALLY, 1, 0]).expect("it has the same threads");
    assert_eq!(inner.0.len(), threads as usize);
    let parent = ask_words(inner.0[0], CL_DEVICE_PARENT_DEVICE);
    assert_eq!(parent, [parts.0[0] as cl_device_partition_property]);
    drop(parts);
    let words = ask_words(inner.0[0], CL_DEVICE_PARENT_DEVICE);
    assert_eq!(words, parent, "the parent lives as long as its part");
}
