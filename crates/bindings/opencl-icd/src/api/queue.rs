//! Functions of command queues.

use crate::boundary::{
    QueryOutput, answer_code, answer_handle, read_properties, refuse_query, write_optional,
};
use crate::context::ClContext;
use crate::device::ClDevice;
use crate::device_queue::ClDeviceQueue;
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

/// Bytes of a queue on a device, unless the caller names them.
pub const USUAL_QUEUE_BYTES: cl_uint = 16 << 10;

/// Most bytes of a queue on a device.
pub const MOST_QUEUE_BYTES: cl_uint = 256 << 10;

unsafe fn open_queue(
    context: cl_context,
    device: cl_device_id,
    properties: cl_command_queue_properties,
    size: Option<cl_uint>,
    words: Vec<cl_queue_properties>,
) -> CallResult<*mut c_void> {
    let context = find_object::<ClContext>(context)?;
    let device = find_object::<ClDevice>(device)?;
    let scheduler = context.find_scheduler(&device)?.clone();
    let known = HOST_PROPERTIES | DEVICE_PROPERTIES;
    require(
        properties & !known == 0,
        CL_INVALID_VALUE,
        "there is no such property of queues",
    )?;
    if properties & DEVICE_PROPERTIES != 0 {
        return open_device_queue(&context, &device, properties, size, words);
    }
    let message = "a queue of the host has no size";
    require(size.is_none(), CL_INVALID_VALUE, message)?;
    let queue = create_object(|handle| {
        let mut queue = ClQueue::new(handle, &context, &device, &scheduler, properties);
        queue.property_words = words;
        queue
    });
    Ok(queue.handle.as_raw())
}

/// Creates a queue on a device, which is out of order.
fn open_device_queue(
    context: &Arc<ClContext>,
    device: &Arc<ClDevice>,
    properties: cl_command_queue_properties,
    size: Option<cl_uint>,
    words: Vec<cl_queue_properties>,
) -> CallResult<*mut c_void> {
    let wanted = CL_QUEUE_ON_DEVICE | CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE;
    let message = "a queue on a device is out of order";
    let is_whole = properties & wanted == wanted;
    require(is_whole, CL_INVALID_VALUE, message)?;
    let message = "the device has no queues of its own";
    let has_queues = device.is_processor();
    require(has_queues, CL_INVALID_QUEUE_PROPERTIES, message)?;
    let size = size.unwrap_or(USUAL_QUEUE_BYTES);
    let is_size = (1..=MOST_QUEUE_BYTES).contains(&size);
    let message = format!("a queue on a device has 1 to {MOST_QUEUE_BYTES} bytes");
    require(is_size, CL_INVALID_QUEUE_PROPERTIES, message)?;
    let queue = ClDeviceQueue::create(context, device, properties, words, size)?;
    Ok(queue.handle.as_raw())
}

/// `clCreateCommandQueue`
pub unsafe extern "C" fn create_command_queue(
    context: cl_context,
    device: cl_device_id,
    properties: cl_command_queue_properties,
    code: *mut cl_int,
) -> cl_command_queue {
    answer_handle("clCreateCommandQueue", code, || {
        open_queue(context, device, properties, None, Vec::new())
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
        let (mut flags, mut queue_size) = (0, None);
        for (name, value) in pairs {
            match name as cl_command_queue_info {
                CL_QUEUE_PROPERTIES => flags = value,
                CL_QUEUE_SIZE => queue_size = Some(cl_uint::try_from(value).unwrap_or(0)),
                name => {
                    let message = format!("there is no property {name:#x} of queues");
                    return Err(CallError::invalid_value(message));
                }
            }
        }
        open_queue(context, device, flags, queue_size, words)
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
    queue: cl_command_queue,
) -> cl_int {
    answer_code("clSetDefaultDeviceCommandQueue", || {
        let context = find_object::<ClContext>(context)?;
        let device = find_object::<ClDevice>(device)?;
        context.find_scheduler(&device)?;
        let message = "the device has no queues of its own";
        require(device.is_processor(), CL_INVALID_OPERATION, message)?;
        let queue = find_object::<ClDeviceQueue>(queue)?;
        let is_own = Arc::ptr_eq(&queue.context, &context) && Arc::ptr_eq(&queue.device, &device);
        let message = "the queue is on another device";
        require(is_own, CL_INVALID_COMMAND_QUEUE, message)?;
        context.default_queues.set(&queue);
        Ok(())
    })
}

/// `clRetainCommandQueue`
pub unsafe extern "C" fn retain_command_queue(queue: cl_command_queue) -> cl_int {
    answer_code("clRetainCommandQueue", || {
        match find_object::<ClDeviceQueue>(queue) {
            Ok(_) => retain_object::<ClDeviceQueue>(queue),
            Err(_) => retain_object::<ClQueue>(queue),
        }
    })
}

/// `clReleaseCommandQueue`
pub unsafe extern "C" fn release_command_queue(queue: cl_command_queue) -> cl_int {
    answer_code("clReleaseCommandQueue", || {
        match find_object::<ClDeviceQueue>(queue) {
            Ok(_) => release_object::<ClDeviceQueue>(queue),
            Err(_) => release_object::<ClQueue>(queue),
        }
    })
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
        let output = QueryOutput::new(size, value, size_out);
        if let Ok(queue) = find_object::<ClDeviceQueue>(queue) {
            return answer_device_query(&queue, name, output);
        }
        let queue = find_object::<ClQueue>(queue)?;
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
            CL_QUEUE_DEVICE_DEFAULT => {
                output.write_value(default_handle(&queue.context, &queue.device))
            }
            _ => Err(refuse_query(name)),
        }
    })
}

/// The handle of the default queue of a device, or 0.
fn default_handle(context: &ClContext, device: &Arc<ClDevice>) -> usize {
    let found = context.default_queues.find(device);
    found.map_or(0, |queue| queue.handle.as_raw() as usize)
}

/// Answers a query of a queue on a device.
unsafe fn answer_device_query(
    queue: &ClDeviceQueue,
    name: cl_command_queue_info,
    output: QueryOutput,
) -> CallResult<()> {
    match name {
        CL_QUEUE_CONTEXT => output.write_value(queue.context.handle.as_raw()),
        CL_QUEUE_DEVICE => output.write_value(queue.device.handle.as_raw()),
        CL_QUEUE_REFERENCE_COUNT => output.write_value(count_references(queue)),
        CL_QUEUE_PROPERTIES => output.write_value(queue.properties),
        CL_QUEUE_PROPERTIES_ARRAY => output.write_list(&queue.property_words),
        CL_QUEUE_SIZE => output.write_value(queue.size),
        CL_QUEUE_DEVICE_DEFAULT => {
            output.write_value(default_handle(&queue.context, &queue.device))
        }
        _ => Err(refuse_query(name)),
    }
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
