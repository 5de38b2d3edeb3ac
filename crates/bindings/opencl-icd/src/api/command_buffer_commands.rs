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

/// Declares functions that record a command: the name of OpenCL, the name here with the arguments of the command alone, and the
/// plan of its work for the queue of the buffer.
macro_rules! record_functions {
    ($($text:literal: $name:ident($($argument:ident: $kind:ty),* $(,)?) => |$queue:pat_param| $plan:expr;)*) => {$(
        #[doc = concat!("`", $text, "`")]
        pub unsafe extern "C" fn $name(
            buffer: cl_command_buffer_khr,
            queue: cl_command_queue,
            properties: *const cl_command_properties_khr,
            $($argument: $kind,)*
            wait_count: cl_uint,
            wait_list: *const cl_sync_point_khr,
            point: *mut cl_sync_point_khr,
            mutable: *mut cl_mutable_command_khr,
        ) -> cl_int {
            answer_code($text, || {
                let call = RecordCall {
                    buffer,
                    queue,
                    properties,
                    wait_count,
                    wait_list,
                    point,
                    mutable,
                };
                call.record(|$queue| $plan)
            })
        }
    )*};
}

record_functions! {
    "clCommandBarrierWithWaitListKHR": command_barrier_with_wait_list() =>
        |_| Ok(Arc::new(|_| Ok(CommandEnd::Complete)));

    "clCommandCopyBufferKHR": command_copy_buffer(
        from: cl_mem,
        to: cl_mem,
        from_offset: usize,
        to_offset: usize,
        size: usize,
    ) => |queue| plan_buffer_copy(queue, [from, to], [from_offset, to_offset], size);

    "clCommandCopyBufferRectKHR": command_copy_buffer_rect(
        from: cl_mem,
        to: cl_mem,
        from_origin: *const usize,
        to_origin: *const usize,
        region: *const usize,
        from_row_pitch: usize,
        from_slice_pitch: usize,
        to_row_pitch: usize,
        to_slice_pitch: usize,
    ) => |queue| {
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
        plan_box_copy(queue, [from, to], [from_request, to_request], region)
    };

    "clCommandCopyBufferToImageKHR": command_copy_buffer_to_image(
        from: cl_mem,
        to: cl_mem,
        offset: usize,
        origin: *const usize,
        region: *const usize,
    ) => |queue| plan_buffer_to_image(queue, (from, offset), (to, origin), region);

    "clCommandCopyImageKHR": command_copy_image(
        from: cl_mem,
        to: cl_mem,
        from_origin: *const usize,
        to_origin: *const usize,
        region: *const usize,
    ) => |queue| plan_image_copy(queue, [from, to], [from_origin, to_origin], region);

    "clCommandCopyImageToBufferKHR": command_copy_image_to_buffer(
        from: cl_mem,
        to: cl_mem,
        origin: *const usize,
        region: *const usize,
        offset: usize,
    ) => |queue| plan_image_to_buffer(queue, (from, origin), region, (to, offset));

    "clCommandFillBufferKHR": command_fill_buffer(
        memory: cl_mem,
        pattern: *const c_void,
        pattern_size: usize,
        offset: usize,
        size: usize,
    ) => |queue| plan_buffer_fill(queue, memory, (pattern, pattern_size), offset, size);

    "clCommandFillImageKHR": command_fill_image(
        image: cl_mem,
        colour: *const c_void,
        origin: *const usize,
        region: *const usize,
    ) => |queue| plan_image_fill(queue, image, colour, origin, region);

    "clCommandNDRangeKernelKHR": command_nd_range_kernel(
        kernel: cl_kernel,
        dimensions: cl_uint,
        offset: *const usize,
        global: *const usize,
        local: *const usize,
    ) => |queue| {
        let request = RangeRequest {
            dimensions,
            offset,
            global,
            local,
        };
        plan_launch(queue, kernel, &request)
    };

    "clCommandSVMMemcpyKHR": command_svm_memcpy(
        to: *mut c_void,
        from: *const c_void,
        size: usize,
    ) => |queue| {
        require_svm(&queue.context)?;
        plan_copy(to, from, size)
    };

    "clCommandSVMMemFillKHR": command_svm_mem_fill(
        to: *mut c_void,
        pattern: *const c_void,
        pattern_size: usize,
        size: usize,
    ) => |queue| {
        require_svm(&queue.context)?;
        plan_fill(to, read_pattern(pattern, pattern_size)?, size)
    };
}
