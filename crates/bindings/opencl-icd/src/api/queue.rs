//! Functions of command queues.

use crate::boundary::{
    QueryOutput, answer_code, answer_handle, read_properties, refuse_query, write_optional,
};
use crate::context::ClContext;
use crate::device::ClDevice;
use crate::error::{CallError, CallResult, require};
use crate::handle::{count_references, create_object, find_object, release_object, retain_object};
use crate::queue::ClQueue;
use opencl_sys::*;
use std::ffi::c_void;
use std::sync::Arc;

/// The properties that queues of the host have.
const HOST_PROPERTIES: cl_command_queue_properties =
    CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_PROFILING_ENABLE;

/// The properties that queues on devices have besides.
const DEVICE_PROPERTIES: cl_command_queue_properties =
    CL_QUEUE_ON_DEVICE | CL_QUEUE_ON_DEVICE_DEFAULT;

unsafe fn open_queue(
    context: cl_context,
    device: cl_device_id,
    properties: cl_command_queue_properties,
    words: Vec<cl_queue_properties>,
) -> CallResult<Arc<ClQueue>> {
    let context = find_object::<ClContext>(context)?;
    let device = find_object::<ClDevice>(device)?;
    let scheduler = context.find_scheduler(&device)?.clone();
    let known = HOST_PROPERTIES | DEVICE_PROPERTIES;
    require(
        properties & !known == 0,
        CL_INVALID_VALUE,
        "there is no such property of queues",
    )?;
    let is_on_host = properties & DEVICE_PROPERTIES == 0;
    let message = "the device has no queues of its own";
    require(is_on_host, CL_INVALID_QUEUE_PROPERTIES, message)?;
    Ok(create_object(|handle| {
        let mut queue = ClQueue::new(handle, &context, &device, &scheduler, properties);
        queue.property_words = words;
        queue
    }))
}

/// `clCreateCommandQueue`
pub unsafe extern "C" fn create_command_queue(
    context: cl_context,
    device: cl_device_id,
    properties: cl_command_queue_properties,
    code: *mut cl_int,
) -> cl_command_queue {
    answer_handle("clCreateCommandQueue", code, || {
        let queue = open_queue(context, device, properties, Vec::new())?;
        Ok(queue.handle.as_raw())
    })
}

/// `clCreateCommandQueueWithProperties`
pub unsafe extern "C" fn create_command_queue_with_properties(
    context: cl_context,
    device: cl_device_id,
    properties: *const cl_queue_properties,
    code: *mut cl_int,
) -> cl_command_queue {
    answer_handle("clCreateCommandQueueWithProperties", code, || {
        let (pairs, words) = read_properties(properties);
        let mut flags = 0;
        for (name, value) in pairs {
            match name as cl_command_queue_info {
                CL_QUEUE_PROPERTIES => flags = value,
                CL_QUEUE_SIZE => {
                    let is_on_device = flags & CL_QUEUE_ON_DEVICE != 0;
                    let message = "a queue of the host has no size";
                    require(is_on_device, CL_INVALID_VALUE, message)?;
                }
                name => {
                    let message = format!("there is no property {name:#x} of queues");
                    return Err(CallError::invalid_value(message));
                }
            }
        }
        Ok(open_queue(context, device, flags, words)?.handle.as_raw())
    })
}

/// `clSetCommandQueueProperty`
pub unsafe extern "C" fn set_command_queue_property(
    queue: cl_command_queue,
    properties: cl_command_queue_properties,
    enable: cl_bool,
    old: *mut cl_command_queue_properties,
) -> cl_int {
    answer_code("clSetCommandQueueProperty", || {
        let queue = find_object::<ClQueue>(queue)?;
        let is_known = properties & !HOST_PROPERTIES == 0;
        require(
            is_known,
            CL_INVALID_VALUE,
            "there is no such property of queues",
        )?;
        write_optional(old, queue.change_properties(properties, enable != 0));
        Ok(())
    })
}

/// `clSetDefaultDeviceCommandQueue`
pub unsafe extern "C" fn set_default_device_command_queue(
    context: cl_context,
    device: cl_device_id,
    _: cl_command_queue,
) -> cl_int {
    answer_code("clSetDefaultDeviceCommandQueue", || {
        find_object::<ClContext>(context)?;
        find_object::<ClDevice>(device)?;
        Err(CallError::invalid_operation(
            "the device has no queues of its own",
        ))
    })
}

/// `clRetainCommandQueue`
pub unsafe extern "C" fn retain_command_queue(queue: cl_command_queue) -> cl_int {
    answer_code("clRetainCommandQueue", || retain_object::<ClQueue>(queue))
}

/// `clReleaseCommandQueue`
pub unsafe extern "C" fn release_command_queue(queue: cl_command_queue) -> cl_int {
    answer_code("clReleaseCommandQueue", || release_object::<ClQueue>(queue))
}

/// `clGetCommandQueueInfo`
pub unsafe extern "C" fn get_command_queue_info(
    queue: cl_command_queue,
    name: cl_command_queue_info,
    size: usize,
    value: *mut c_void,
    size_out: *mut usize,
) -> cl_int {
    answer_code("clGetCommandQueueInfo", || {
        let queue = find_object::<ClQueue>(queue)?;
        let output = QueryOutput::new(size, value, size_out);
        match name {
            CL_QUEUE_CONTEXT => output.write_value(queue.context.handle.as_raw()),
            CL_QUEUE_DEVICE => output.write_value(queue.device.handle.as_raw()),
            CL_QUEUE_REFERENCE_COUNT => output.write_value(count_references(&*queue)),
            CL_QUEUE_PROPERTIES => output.write_value(queue.properties()),
            CL_QUEUE_PROPERTIES_ARRAY => output.write_list(&queue.property_words),
            CL_QUEUE_SIZE => {
                let message = "the queue is none of a device";
                Err(CallError::new(CL_INVALID_COMMAND_QUEUE, message))
            }
            CL_QUEUE_DEVICE_DEFAULT => output.write_value(0_usize),
            _ => Err(refuse_query(name)),
        }
    })
}

/// `clFlush`
pub unsafe extern "C" fn flush(queue: cl_command_queue) -> cl_int {
    answer_code("clFlush", || find_object::<ClQueue>(queue).map(|_| ()))
}

/// `clFinish`
pub unsafe extern "C" fn finish(queue: cl_command_queue) -> cl_int {
    answer_code("clFinish", || {
        find_object::<ClQueue>(queue)?.wait_for_all();
        Ok(())
    })
}
