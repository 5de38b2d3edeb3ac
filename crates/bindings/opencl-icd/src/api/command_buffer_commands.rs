//! Functions that record commands into command buffers. The work of each is that of the command which queues take.

use crate::api::buffer_box_commands::{BoxRequest, plan_box_copy};
use crate::api::buffer_commands::{plan_buffer_copy, plan_buffer_fill, read_pattern};
use crate::api::command_buffer::RecordCall;
use crate::api::image_commands::{
    plan_buffer_to_image, plan_image_copy, plan_image_fill, plan_image_to_buffer,
};
use crate::api::launch::{RangeRequest, plan_launch};
use crate::api::svm::{plan_copy, plan_fill, require_svm};
use crate::boundary::answer_code;
use crate::scheduler::CommandEnd;
use opencl_sys::*;
use std::ffi::c_void;
use std::sync::Arc;

/// `clCommandBarrierWithWaitListKHR`
pub unsafe extern "C" fn command_barrier_with_wait_list(
    buffer: cl_command_buffer_khr,
    queue: cl_command_queue,
    properties: *const cl_command_properties_khr,
    wait_count: cl_uint,
    wait_list: *const cl_sync_point_khr,
    point: *mut cl_sync_point_khr,
    mutable: *mut cl_mutable_command_khr,
) -> cl_int {
    answer_code("clCommandBarrierWithWaitListKHR", || {
        let call = RecordCall {
            buffer,
            queue,
            properties,
            wait_count,
            wait_list,
            point,
            mutable,
        };
        call.record(|_| Ok(Arc::new(|_| Ok(CommandEnd::Complete))))
    })
}

/// `clCommandCopyBufferKHR`
pub unsafe extern "C" fn command_copy_buffer(
    buffer: cl_command_buffer_khr,
    queue: cl_command_queue,
    properties: *const cl_command_properties_khr,
    from: cl_mem,
    to: cl_mem,
    from_offset: usize,
    to_offset: usize,
    size: usize,
    wait_count: cl_uint,
    wait_list: *const cl_sync_point_khr,
    point: *mut cl_sync_point_khr,
    mutable: *mut cl_mutable_command_khr,
) -> cl_int {
    answer_code("clCommandCopyBufferKHR", || {
        let call = RecordCall {
            buffer,
            queue,
            properties,
            wait_count,
            wait_list,
            point,
            mutable,
        };
        call.record(|queue| plan_buffer_copy(queue, [from, to], [from_offset, to_offset], size))
    })
}

/// `clCommandCopyBufferRectKHR`
pub unsafe extern "C" fn command_copy_buffer_rect(
    buffer: cl_command_buffer_khr,
    queue: cl_command_queue,
    properties: *const cl_command_properties_khr,
    from: cl_mem,
    to: cl_mem,
    from_origin: *const usize,
    to_origin: *const usize,
    region: *const usize,
    from_row_pitch: usize,
    from_slice_pitch: usize,
    to_row_pitch: usize,
    to_slice_pitch: usize,
    wait_count: cl_uint,
    wait_list: *const cl_sync_point_khr,
    point: *mut cl_sync_point_khr,
    mutable: *mut cl_mutable_command_khr,
) -> cl_int {
    answer_code("clCommandCopyBufferRectKHR", || {
        let call = RecordCall {
            buffer,
            queue,
            properties,
            wait_count,
            wait_list,
            point,
            mutable,
        };
        let from_request = BoxRequest {
            origin: from_origin,
            row_pitch: from_row_pitch,
            slice_pitch: from_slice_pitch,
        };
        let to_request = BoxRequest {
            origin: to_origin,
            row_pitch: to_row_pitch,
            slice_pitch: to_slice_pitch,
        };
        call.record(|queue| plan_box_copy(queue, [from, to], [from_request, to_request], region))
    })
}

/// `clCommandCopyBufferToImageKHR`
pub unsafe extern "C" fn command_copy_buffer_to_image(
    buffer: cl_command_buffer_khr,
    queue: cl_command_queue,
    properties: *const cl_command_properties_khr,
    from: cl_mem,
    to: cl_mem,
    offset: usize,
    origin: *const usize,
    region: *const usize,
    wait_count: cl_uint,
    wait_list: *const cl_sync_point_khr,
    point: *mut cl_sync_point_khr,
    mutable: *mut cl_mutable_command_khr,
) -> cl_int {
    answer_code("clCommandCopyBufferToImageKHR", || {
        let call = RecordCall {
            buffer,
            queue,
            properties,
            wait_count,
            wait_list,
            point,
            mutable,
        };
        call.record(|queue| plan_buffer_to_image(queue, (from, offset), (to, origin), region))
    })
}

/// `clCommandCopyImageKHR`
pub unsafe extern "C" fn command_copy_image(
    buffer: cl_command_buffer_khr,
    queue: cl_command_queue,
    properties: *const cl_command_properties_khr,
    from: cl_mem,
    to: cl_mem,
    from_origin: *const usize,
    to_origin: *const usize,
    region: *const usize,
    wait_count: cl_uint,
    wait_list: *const cl_sync_point_khr,
    point: *mut cl_sync_point_khr,
    mutable: *mut cl_mutable_command_khr,
) -> cl_int {
    answer_code("clCommandCopyImageKHR", || {
        let call = RecordCall {
            buffer,
            queue,
            properties,
            wait_count,
            wait_list,
            point,
            mutable,
        };
        call.record(|queue| plan_image_copy(queue, [from, to], [from_origin, to_origin], region))
    })
}

/// `clCommandCopyImageToBufferKHR`
pub unsafe extern "C" fn command_copy_image_to_buffer(
    buffer: cl_command_buffer_khr,
    queue: cl_command_queue,
    properties: *const cl_command_properties_khr,
    from: cl_mem,
    to: cl_mem,
    origin: *const usize,
    region: *const usize,
    offset: usize,
    wait_count: cl_uint,
    wait_list: *const cl_sync_point_khr,
    point: *mut cl_sync_point_khr,
    mutable: *mut cl_mutable_command_khr,
) -> cl_int {
    answer_code("clCommandCopyImageToBufferKHR", || {
        let call = RecordCall {
            buffer,
            queue,
            properties,
            wait_count,
            wait_list,
            point,
            mutable,
        };
        call.record(|queue| plan_image_to_buffer(queue, (from, origin), region, (to, offset)))
    })
}

/// `clCommandFillBufferKHR`
pub unsafe extern "C" fn command_fill_buffer(
    buffer: cl_command_buffer_khr,
    queue: cl_command_queue,
    properties: *const cl_command_properties_khr,
    memory: cl_mem,
    pattern: *const c_void,
    pattern_size: usize,
    offset: usize,
    size: usize,
    wait_count: cl_uint,
    wait_list: *const cl_sync_point_khr,
    point: *mut cl_sync_point_khr,
    mutable: *mut cl_mutable_command_khr,
) -> cl_int {
    answer_code("clCommandFillBufferKHR", || {
        let call = RecordCall {
            buffer,
            queue,
            properties,
            wait_count,
            wait_list,
            point,
            mutable,
        };
        call.record(|queue| plan_buffer_fill(queue, memory, (pattern, pattern_size), offset, size))
    })
}

/// `clCommandFillImageKHR`
pub unsafe extern "C" fn command_fill_image(
    buffer: cl_command_buffer_khr,
    queue: cl_command_queue,
    properties: *const cl_command_properties_khr,
    image: cl_mem,
    colour: *const c_void,
    origin: *const usize,
    region: *const usize,
    wait_count: cl_uint,
    wait_list: *const cl_sync_point_khr,
    point: *mut cl_sync_point_khr,
    mutable: *mut cl_mutable_command_khr,
) -> cl_int {
    answer_code("clCommandFillImageKHR", || {
        let call = RecordCall {
            buffer,
            queue,
            properties,
            wait_count,
            wait_list,
            point,
            mutable,
        };
        call.record(|queue| plan_image_fill(queue, image, colour, origin, region))
    })
}

/// `clCommandNDRangeKernelKHR`
pub unsafe extern "C" fn command_nd_range_kernel(
    buffer: cl_command_buffer_khr,
    queue: cl_command_queue,
    properties: *const cl_command_properties_khr,
    kernel: cl_kernel,
    dimensions: cl_uint,
    offset: *const usize,
    global: *const usize,
    local: *const usize,
    wait_count: cl_uint,
    wait_list: *const cl_sync_point_khr,
    point: *mut cl_sync_point_khr,
    mutable: *mut cl_mutable_command_khr,
) -> cl_int {
    answer_code("clCommandNDRangeKernelKHR", || {
        let call = RecordCall {
            buffer,
            queue,
            properties,
            wait_count,
            wait_list,
            point,
            mutable,
        };
        let request = RangeRequest {
            dimensions,
            offset,
            global,
            local,
        };
        call.record(|queue| plan_launch(queue, kernel, &request))
    })
}

/// `clCommandSVMMemcpyKHR`
pub unsafe extern "C" fn command_svm_memcpy(
    buffer: cl_command_buffer_khr,
    queue: cl_command_queue,
    properties: *const cl_command_properties_khr,
    to: *mut c_void,
    from: *const c_void,
    size: usize,
    wait_count: cl_uint,
    wait_list: *const cl_sync_point_khr,
    point: *mut cl_sync_point_khr,
    mutable: *mut cl_mutable_command_khr,
) -> cl_int {
    answer_code("clCommandSVMMemcpyKHR", || {
        let call = RecordCall {
            buffer,
            queue,
            properties,
            wait_count,
            wait_list,
            point,
            mutable,
        };
        call.record(|queue| {
            require_svm(&queue.context)?;
            plan_copy(to, from, size)
        })
    })
}

/// `clCommandSVMMemFillKHR`
pub unsafe extern "C" fn command_svm_mem_fill(
    buffer: cl_command_buffer_khr,
    queue: cl_command_queue,
    properties: *const cl_command_properties_khr,
    to: *mut c_void,
    pattern: *const c_void,
    pattern_size: usize,
    size: usize,
    wait_count: cl_uint,
    wait_list: *const cl_sync_point_khr,
    point: *mut cl_sync_point_khr,
    mutable: *mut cl_mutable_command_khr,
) -> cl_int {
    answer_code("clCommandSVMMemFillKHR", || {
        let call = RecordCall {
            buffer,
            queue,
            properties,
            wait_count,
            wait_list,
            point,
            mutable,
        };
        call.record(|queue| {
            require_svm(&queue.context)?;
            plan_fill(to, read_pattern(pattern, pattern_size)?, size)
        })
    })
}
