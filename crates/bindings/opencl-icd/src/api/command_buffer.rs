//! Functions of command buffers, apart from those that record commands.

use crate::api::buffer_commands::read_call;
use crate::boundary::{QueryOutput, answer_code, answer_handle, read_properties, refuse_query};
use crate::command_buffer::ClCommandBuffer;
use crate::error::{CallError, CallResult, require};
use crate::handle::{count_references, create_object, find_object, release_object, retain_object};
use crate::queue::ClQueue;
use opencl_sys::*;
use std::ffi::c_void;
use std::sync::Arc;

/// Flags that extensions over this one define, and that no device has.
const FLAGS_OF_OTHERS: cl_command_buffer_flags_khr = CL_COMMAND_BUFFER_SIMULTANEOUS_USE_KHR
    | CL_COMMAND_BUFFER_MUTABLE_KHR
    | CL_COMMAND_BUFFER_DEVICE_SIDE_SYNC_KHR;

/// Reads the properties of a command buffer. The only one has no flags yet.
unsafe fn check_buffer_properties(
    properties: *const cl_command_buffer_properties_khr,
) -> CallResult<Vec<cl_command_buffer_properties_khr>> {
    let (pairs, words) = read_properties(properties);
    for (number, (name, flags)) in pairs.iter().enumerate() {
        let message = format!("there is no property {name:#x} of command buffers");
        let is_known = *name == CL_COMMAND_BUFFER_FLAGS_KHR;
        require(is_known, CL_INVALID_VALUE, message)?;
        let message = "a property is given twice";
        require(number == 0, CL_INVALID_VALUE, message)?;
        let message = "there are no such flags of command buffers";
        require(flags & !FLAGS_OF_OTHERS == 0, CL_INVALID_VALUE, message)?;
        let message = "the device has no such command buffers";
        require(*flags == 0, CL_INVALID_PROPERTY, message)?;
    }
    Ok(words)
}

/// `clCreateCommandBufferKHR`
pub unsafe extern "C" fn create_command_buffer(
    count: cl_uint,
    queues: *const cl_command_queue,
    properties: *const cl_command_buffer_properties_khr,
    code: *mut cl_int,
) -> cl_command_buffer_khr {
    answer_handle("clCreateCommandBufferKHR", code, || {
        let is_one = count == 1 && !queues.is_null();
        let message = "a command buffer is for one queue";
        require(is_one, CL_INVALID_VALUE, message)?;
        let queue = find_object::<ClQueue>(queues.read_unaligned())?;
        let words = check_buffer_properties(properties)?;
        let buffer = create_object(|handle| ClCommandBuffer::new(handle, queue, words));
        Ok(buffer.handle.as_raw())
    })
}

/// `clFinalizeCommandBufferKHR`
pub unsafe extern "C" fn finalize_command_buffer(buffer: cl_command_buffer_khr) -> cl_int {
    answer_code("clFinalizeCommandBufferKHR", || {
        find_object::<ClCommandBuffer>(buffer)?.finalize()
    })
}

/// `clRetainCommandBufferKHR`
pub unsafe extern "C" fn retain_command_buffer(buffer: cl_command_buffer_khr) -> cl_int {
    answer_code("clRetainCommandBufferKHR", || {
        retain_object::<ClCommandBuffer>(buffer)
    })
}

/// `clReleaseCommandBufferKHR`
pub unsafe extern "C" fn release_command_buffer(buffer: cl_command_buffer_khr) -> cl_int {
    answer_code("clReleaseCommandBufferKHR", || {
        release_object::<ClCommandBuffer>(buffer)
    })
}

/// The queue that a command buffer is enqueued to: its own, or one of the same device and context.
unsafe fn choose_queue(
    buffer: &ClCommandBuffer,
    count: cl_uint,
    queues: *const cl_command_queue,
) -> CallResult<Arc<ClQueue>> {
    let message = "the queues and their number do not fit";
    require((count == 0) == queues.is_null(), CL_INVALID_VALUE, message)?;
    if count == 0 {
        return Ok(buffer.queue.clone());
    }
    let message = "the command buffer is for one queue";
    require(count == 1, CL_INVALID_VALUE, message)?;
    let queue = find_object::<ClQueue>(queues.read_unaligned())?;
    let context = &buffer.queue.context;
    context.require_same(&queue.context, CL_INVALID_CONTEXT)?;
    let is_same = Arc::ptr_eq(&buffer.queue.device, &queue.device);
    let message = "the command buffer is for a queue of another device";
    require(is_same, CL_INCOMPATIBLE_COMMAND_QUEUE_KHR, message)?;
    Ok(queue)
}

/// `clEnqueueCommandBufferKHR`
pub unsafe extern "C" fn enqueue_command_buffer(
    count: cl_uint,
    queues: *mut cl_command_queue,
    buffer: cl_command_buffer_khr,
    wait_count: cl_uint,
    wait_list: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    answer_code("clEnqueueCommandBufferKHR", || {
        let buffer = find_object::<ClCommandBuffer>(buffer)?;
        let work = buffer.whole_work()?;
        let queue = choose_queue(&buffer, count, queues)?;
        let kind = CL_COMMAND_COMMAND_BUFFER_KHR;
        let call = read_call(&queue, kind, false, wait_count, wait_list, event)?;
        queue.enqueue(&call, work)
    })
}

/// `clGetCommandBufferInfoKHR`
pub unsafe extern "C" fn get_command_buffer_info(
    buffer: cl_command_buffer_khr,
    name: cl_command_buffer_info_khr,
    size: usize,
    value: *mut c_void,
    size_out: *mut usize,
) -> cl_int {
    answer_code("clGetCommandBufferInfoKHR", || {
        let buffer = find_object::<ClCommandBuffer>(buffer)?;
        let output = QueryOutput::new(size, value, size_out);
        match name {
            CL_COMMAND_BUFFER_QUEUES_KHR => output.write_value(buffer.queue.handle.as_raw()),
            CL_COMMAND_BUFFER_NUM_QUEUES_KHR => output.write_value::<cl_uint>(1),
            CL_COMMAND_BUFFER_REFERENCE_COUNT_KHR => output.write_value(count_references(&*buffer)),
            CL_COMMAND_BUFFER_STATE_KHR => output.write_value(buffer.state()),
            CL_COMMAND_BUFFER_PROPERTIES_ARRAY_KHR => output.write_list(&buffer.property_words),
            CL_COMMAND_BUFFER_CONTEXT_KHR => {
                output.write_value(buffer.queue.context.handle.as_raw())
            }
            _ => Err(refuse_query(name)),
        }
    })
}

/// The arguments that all functions which record a command have.
pub struct RecordCall {
    /// The command buffer.
    pub buffer: cl_command_buffer_khr,
    /// A queue, which is null as a buffer has one only.
    pub queue: cl_command_queue,
    /// Properties of the command.
    pub properties: *const cl_command_properties_khr,
    /// Number of synchronization points that it waits for.
    pub wait_count: cl_uint,
    /// The points that it waits for.
    pub wait_list: *const cl_sync_point_khr,
    /// Where its own point goes, or null.
    pub point: *mut cl_sync_point_khr,
    /// Where a handle to change it would go.
    pub mutable: *mut cl_mutable_command_khr,
}

impl RecordCall {
    /// Records a command, whose work is planned for the queue of the buffer.
    ///
    /// # Errors
    /// When an argument does not fit, or the buffer is finalized.
    ///
    /// # Safety
    /// The contract of the crate.
    pub unsafe fn record(
        &self,
        plan: impl FnOnce(&Arc<ClQueue>) -> CallResult<crate::scheduler::ScheduledWork>,
    ) -> CallResult<()> {
        let buffer = find_object::<ClCommandBuffer>(self.buffer)?;
        buffer.require_recording()?;
        let message = "a command of a command buffer names no queue";
        require(self.queue.is_null(), CL_INVALID_COMMAND_QUEUE, message)?;
        let has_none = self.properties.is_null() || *self.properties == 0;
        let message = "commands of command buffers have no properties";
        require(has_none, CL_INVALID_VALUE, message)?;
        let message = "commands of command buffers cannot be changed";
        require(self.mutable.is_null(), CL_INVALID_VALUE, message)?;
        let code = CL_INVALID_SYNC_POINT_WAIT_LIST_KHR;
        let is_list = (self.wait_count == 0) == self.wait_list.is_null();
        let message = "the points to wait for and their number do not fit";
        require(is_list, code, message)?;
        let points = crate::boundary::get_slice(self.wait_list, self.wait_count as usize);
        let points = points.map_err(|error| CallError::new(code, error.message))?;
        buffer.check_points(points)?;
        let made = buffer.record(plan(&buffer.queue)?)?;
        crate::boundary::write_optional(self.point, made);
        Ok(())
    }
}
