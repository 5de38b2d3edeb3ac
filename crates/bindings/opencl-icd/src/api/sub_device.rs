//! Functions that divide the processor into sub-devices, each with some of its threads.

use crate::boundary::{answer_code, write_optional};
use crate::device::{ClDevice, DeviceShare};
use crate::error::{CallError, CallResult, require};
use crate::handle::{find_object, release_object, retain_object, try_create_object};
use opencl_sys::*;
use std::sync::Arc;

/// How a device is divided, and the list of properties that says so.
struct PartitionPlan {
    /// The threads of each part.
    threads: Vec<usize>,
    words: Vec<cl_device_partition_property>,
}

impl PartitionPlan {
    /// Reads the properties of a division of a device.
    ///
    /// # Errors
    /// When there is no such division, or the device has too few threads.
    unsafe fn read(
        device: &ClDevice,
        properties: *const cl_device_partition_property,
    ) -> CallResult<PartitionPlan> {
        require(
            !properties.is_null() && *properties != 0,
            CL_INVALID_VALUE,
            "there are no properties",
        )?;
        let message = "the device cannot be divided";
        require(device.count_most_parts() > 0, CL_INVALID_VALUE, message)?;
        match *properties {
            CL_DEVICE_PARTITION_EQUALLY => PartitionPlan::read_equal(device, properties),
            CL_DEVICE_PARTITION_BY_COUNTS => PartitionPlan::read_counts(device, properties),
            name => {
                let message = format!("the device cannot be divided by {name:#x}");
                Err(CallError::invalid_value(message))
            }
        }
    }

    /// The largest number of parts with a given number of threads each. Threads may be left.
    unsafe fn read_equal(
        device: &ClDevice,
        properties: *const cl_device_partition_property,
    ) -> CallResult<PartitionPlan> {
        let size = properties.add(1).read();
        let is_end = properties.add(2).read() == 0;
        let is_size = size > 0 && is_end;
        let message = "the number of threads of a part is missing";
        require(is_size, CL_INVALID_VALUE, message)?;
        let (size, all) = (size as usize, device.count_threads());
        let message = format!("parts of {size} threads do not divide a device of {all}");
        let code = if size == all {
            CL_DEVICE_PARTITION_FAILED
        } else {
            CL_INVALID_DEVICE_PARTITION_COUNT
        };
        require(size < all, code, message)?;
        Ok(PartitionPlan {
            threads: vec![size; all / size],
            words: vec![*properties, size as cl_device_partition_property, 0],
        })
    }

    /// A part for each number of a list, which ends with a zero.
    unsafe fn read_counts(
        device: &ClDevice,
        properties: *const cl_device_partition_property,
    ) -> CallResult<PartitionPlan> {
        let mut words = vec![*properties];
        let mut threads = Vec::new();
        let most = device.count_most_parts();
        loop {
            let word = properties.add(words.len()).read();
            words.push(word);
            if word == CL_DEVICE_PARTITION_BY_COUNTS_LIST_END {
                break;
            }
            let code = CL_INVALID_DEVICE_PARTITION_COUNT;
            require(word > 0, code, "a part has less than one thread")?;
            threads.push(word as usize);
            let message = format!("the device has {most} parts at most");
            require(threads.len() <= most, code, message)?;
        }
        let sum = threads
            .iter()
            .fold(0_usize, |all, n| all.saturating_add(*n));
        let all = device.count_threads();
        let is_fit = sum <= all && !threads.is_empty();
        let message = format!("the parts have {sum} threads, the device has {all}");
        require(is_fit, CL_INVALID_DEVICE_PARTITION_COUNT, message)?;
        // The list has its own end, and the properties have theirs.
        words.push(0);
        Ok(PartitionPlan { threads, words })
    }
}

/// `clCreateSubDevices`
pub unsafe extern "C" fn create_sub_devices(
    device: cl_device_id,
    properties: *const cl_device_partition_property,
    count: cl_uint,
    devices: *mut cl_device_id,
    count_out: *mut cl_uint,
) -> cl_int {
    answer_code("clCreateSubDevices", || {
        let parent = find_object::<ClDevice>(device)?;
        let plan = PartitionPlan::read(&parent, properties)?;
        if !devices.is_null() {
            let has_room = count as usize >= plan.threads.len();
            let message = "there is no room for all sub-devices";
            require(has_room, CL_INVALID_VALUE, message)?;
            for (number, part) in make_parts(&parent, &plan)?.iter().enumerate() {
                devices.add(number).write(part.handle.as_raw());
            }
        }
        write_optional(count_out, plan.threads.len() as cl_uint);
        Ok(())
    })
}

fn make_parts(parent: &Arc<ClDevice>, plan: &PartitionPlan) -> CallResult<Vec<Arc<ClDevice>>> {
    let make = |threads: &usize| {
        let share = DeviceShare {
            parent: parent.clone(),
            threads: *threads,
            partition: plan.words.clone(),
        };
        try_create_object(|handle| ClDevice::part_of(handle, share))
    };
    plan.threads.iter().map(make).collect()
}

/// `clCreateSubDevicesEXT`, whose properties have other numbers than those of OpenCL 1.2. No device takes them.
pub unsafe extern "C" fn create_sub_devices_ext(
    device: cl_device_id,
    _: *const cl_device_partition_property_ext,
    count: cl_uint,
    devices: *mut cl_device_id,
    count_out: *mut cl_uint,
) -> cl_int {
    create_sub_devices(device, std::ptr::null(), count, devices, count_out)
}

/// `clRetainDevice`, which does nothing for a device of the platform.
pub unsafe extern "C" fn retain_device(device: cl_device_id) -> cl_int {
    answer_code("clRetainDevice", || {
        match find_object::<ClDevice>(device)?.share {
            Some(_) => retain_object::<ClDevice>(device),
            None => Ok(()),
        }
    })
}

/// `clReleaseDevice`, which does nothing for a device of the platform.
pub unsafe extern "C" fn release_device(device: cl_device_id) -> cl_int {
    answer_code("clReleaseDevice", || {
        match find_object::<ClDevice>(device)?.share {
            Some(_) => release_object::<ClDevice>(device),
            None => Ok(()),
        }
    })
}
