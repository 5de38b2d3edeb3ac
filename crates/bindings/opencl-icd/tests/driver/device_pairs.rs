//! Two devices of one context: memory moves between them.

use crate::caller::{ObjectKind, OwnedHandle};
use crate::events::wait;
use crate::session::{
    BASIC, assemble, both_devices, build, create_buffer, create_context, create_kernel,
    create_part, create_queue, enqueue_marker, launch, load_module, read_buffer, set_object,
    set_value, write_buffer,
};
use opencl_sys::*;
use std::ptr::{null, null_mut};

/// A context of two devices with a queue each, and a kernel that both have.
struct DevicePair {
    kernel: OwnedHandle,
    queues: [OwnedHandle; 2],
    context: OwnedHandle,
}

impl DevicePair {
    fn open() -> Option<DevicePair> {
        let devices = both_devices()?;
        let context = create_context(&devices).expect("both are there");
        let queues =
            devices.map(|device| create_queue(context.raw, device, 0).expect("it has queues"));
        let program = load_module(context.raw, &assemble(BASIC)).expect("it is a module");
        build(&program, "").expect("both can build it");
        let kernel = create_kernel(&program, "add_value").expect("it is there");
        Some(DevicePair {
            kernel,
            queues,
            context,
        })
    }

    fn buffer(&self, flags: cl_mem_flags, content: &mut [u32]) -> OwnedHandle {
        let pointer = content.as_mut_ptr().cast();
        let made = create_buffer(self.context.raw, flags, size_of_val(content), pointer);
        made.expect("there is memory")
    }

    /// Adds a value on a device, and returns when it has ended.
    fn add(&self, device: usize, buffer: &OwnedHandle, value: u32, count: usize) {
        set_object(&self.kernel, 0, buffer);
        assert_eq!(set_value(&self.kernel, 1, &value), Ok(()));
        let queue = self.queues[device].raw;
        assert_eq!(
            launch(queue, self.kernel.raw, None, &[count], None, &[]),
            Ok(())
        );
        let marker = enqueue_marker(queue, &[]);
        assert_eq!(wait(&[marker.raw]), Ok(()));
    }

    fn read(&self, device: usize, buffer: &OwnedHandle, count: usize) -> Vec<u32> {
        let mut found = vec![0; count];
        let read = read_buffer(self.queues[device].raw, buffer.raw, 0, &mut found, &[]);
        assert_eq!(read, Ok(()));
        found
    }
}

#[test]
fn buffers_move_between_devices() {
    let Some(pair) = DevicePair::open() else {
        return;
    };
    for flags in [CL_MEM_COPY_HOST_PTR, CL_MEM_USE_HOST_PTR] {
        let mut content = [0_u32; 256];
        let buffer = pair.buffer(flags, &mut content);
        for round in 0..20 {
            pair.add(round % 2, &buffer, 1 << (round % 8), 256);
            pair.add((round / 2) % 2, &buffer, 1, 128);
        }
        let high: u32 = (0..20).map(|round| 1 << (round % 8)).sum();
        let expected = [[high + 20; 128], [high; 128]].concat();
        for device in [0, 1] {
            assert_eq!(pair.read(device, &buffer, 256), expected, "{flags:#x}");
        }
    }
}

#[test]
fn parts_are_views_on_all_devices() {
    let Some(pair) = DevicePair::open() else {
        return;
    };
    let mut content = [0_u32; 256];
    let buffer = pair.buffer(CL_MEM_COPY_HOST_PTR, &mut content);
    let part = create_part(&buffer, 0, 512, 512).expect("it is aligned");
    for round in 0..8 {
        pair.add(round % 2, &part, 1, 64);
        pair.add((round + 1) % 2, &buffer, 100, 256);
    }
    let mut expected = [800; 256];
    expected[128..192].fill(808);
    for device in [0, 1] {
        assert_eq!(pair.read(device, &buffer, 256), expected);
        assert_eq!(pair.read(device, &part, 128), expected[128..]);
    }
}

#[test]
fn writes_of_one_device_are_read_by_the_other() {
    let Some(pair) = DevicePair::open() else {
        return;
    };
    let mut content = [7_u32; 64];
    let (first, second) = (
        pair.buffer(CL_MEM_COPY_HOST_PTR, &mut content),
        pair.buffer(CL_MEM_COPY_HOST_PTR, &mut content),
    );
    for (writer, reader) in [(0, 1), (1, 0)] {
        let queue = pair.queues[writer].raw;
        pair.add(reader, &first, 1, 64);
        let written = write_buffer(queue, first.raw, 16, &[writer as u32; 4], &[]);
        assert_eq!(written, Ok(()));
        let mut event = null_mut();
        let (from, to, out) = (first.raw, second.raw, &raw mut event);
        let code = cl!(clEnqueueCopyBuffer(
            queue,
            from,
            to,
            0,
            128,
            64,
            0,
            null(),
            out
        ));
        let event = OwnedHandle::new(ObjectKind::Event, event, code).expect("it is enqueued");
        assert_eq!(wait(&[event.raw]), Ok(()));
        let found = pair.read(reader, &second, 64);
        assert_eq!(found[36..40], [writer as u32; 4]);
        assert_eq!(found[..32], [7; 32]);
    }
}

#[test]
fn mapped_bytes_are_those_of_the_last_device() {
    let Some(pair) = DevicePair::open() else {
        return;
    };
    let mut content = [0_u32; 64];
    let buffer = pair.buffer(CL_MEM_COPY_HOST_PTR, &mut content);
    for round in 0..6_u32 {
        let device = round as usize % 2;
        pair.add(device, &buffer, 10, 64);
        let (queue, flags) = (pair.queues[1 - device].raw, CL_MAP_READ | CL_MAP_WRITE);
        let (mut code, event) = (1, null_mut());
        let mapped = cl!(clEnqueueMapBuffer(
            queue,
            buffer.raw,
            CL_TRUE,
            flags,
            0,
            256,
            0,
            null(),
            event,
            &raw mut code
        ));
        assert_eq!(code, CL_SUCCESS);
        // SAFETY: the bytes are mapped.
        let numbers = unsafe { std::slice::from_raw_parts_mut(mapped.cast::<u32>(), 64) };
        assert_eq!(numbers, [round * 11 + 10; 64]);
        numbers.iter_mut().for_each(|number| *number += 1);
        let code = cl!(clEnqueueUnmapMemObject(
            queue,
            buffer.raw,
            mapped,
            0,
            null(),
            event
        ));
        assert_eq!(code, CL_SUCCESS);
        assert_eq!(cl!(clFinish(queue)), CL_SUCCESS);
    }
    assert_eq!(pair.read(0, &buffer, 64), [66; 64]);
}

#[test]
fn devices_without_sub_groups_tell_nothing_about_them() {
    let Some(pair) = DevicePair::open() else {
        return;
    };
    for device in both_devices().expect("both are there") {
        let mut most: cl_uint = 0;
        let (name, to) = (CL_DEVICE_MAX_NUM_SUB_GROUPS, (&raw mut most).cast());
        let code = cl!(clGetDeviceInfo(device, name, 4, to, null_mut()));
        assert_eq!(code, CL_SUCCESS);
        let local = [1_usize];
        let mut answer = 0_usize;
        let code = cl!(clGetKernelSubGroupInfo(
            pair.kernel.raw,
            device,
            CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE,
            size_of_val(&local),
            local.as_ptr().cast(),
            size_of_val(&answer),
            (&raw mut answer).cast(),
            null_mut()
        ));
        let wanted = match most {
            0 => CL_INVALID_OPERATION,
            _ => CL_SUCCESS,
        };
        assert_eq!(code, wanted);
    }
}
