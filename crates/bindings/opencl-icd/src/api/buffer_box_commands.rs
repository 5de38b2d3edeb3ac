//! Commands that read, write and copy boxes of buffers.

use crate::api::buffer_commands::{find_buffer, read_call, read_region, read_triple};
use crate::api::region_work::{RegionSide, copy_region, transfer_region};
use crate::api::user_address::{TransferDirection, UserAddress};
use crate::boundary::answer_code;
use crate::error::{CallError, CallResult, require};
use crate::handle::find_object;
use crate::queue::ClQueue;
use crate::region::{BoxSize, ByteBox, boxes_overlap};
use crate::scheduler::ScheduledWork;
use opencl_sys::*;
use std::ffi::c_void;
use std::sync::Arc;

/// The pitches of a box, which are those of dense rows and slices where they are 0.
///
/// # Errors
/// When they are smaller than the rows.
fn choose_pitches(
    size: BoxSize,
    row_pitch: usize,
    slice_pitch: usize,
) -> CallResult<(usize, usize)> {
    let is_row = row_pitch == 0 || row_pitch >= size[0];
    require(is_row, CL_INVALID_VALUE, "the pitch is less than a row")?;
    let row = if row_pitch == 0 { size[0] } else { row_pitch };
    let least = row.checked_mul(size[1]);
    let least = least.ok_or_else(|| CallError::invalid_value("a slice is too large"))?;
    let is_slice = slice_pitch == 0 || (slice_pitch >= least && slice_pitch.is_multiple_of(row));
    require(
        is_slice,
        CL_INVALID_VALUE,
        "the pitch is no multiple of rows that hold a slice",
    )?;
    Ok((row, if slice_pitch == 0 { least } else { slice_pitch }))
}

/// A box of bytes of a buffer or of the caller's memory.
pub struct BoxRequest {
    /// Bytes, rows and slices before the box.
    pub origin: *const usize,
    /// Bytes from one row to the next; 0 for dense rows.
    pub row_pitch: usize,
    /// Bytes from one slice to the next; 0 for dense slices.
    pub slice_pitch: usize,
}

impl BoxRequest {
    /// The box.
    unsafe fn resolve(&self, size: BoxSize) -> CallResult<ByteBox> {
        let origin = read_triple(self.origin)?;
        let (row, slice) = choose_pitches(size, self.row_pitch, self.slice_pitch)?;
        let found = ByteBox::at_origin(origin, row, slice);
        found.ok_or_else(|| CallError::invalid_value("a region is too large"))
    }
}

/// A copy between a box of a buffer and the caller.
struct BoxTransfer {
    buffer: cl_mem,
    direction: TransferDirection,
    buffer_box: BoxRequest,
    host_box: BoxRequest,
    region: *const usize,
    pointer: *const c_void,
}

unsafe fn enqueue_box_transfer(
    queue: cl_command_queue,
    transfer: &BoxTransfer,
    kind: cl_command_type,
    is_blocking: cl_bool,
    waits: (cl_uint, *const cl_event),
    event: *mut cl_event,
) -> CallResult<()> {
    let queue = find_object::<ClQueue>(queue)?;
    let memory = find_buffer(&queue, transfer.buffer)?;
    let size = read_region(transfer.region)?;
    let address = UserAddress::new(transfer.pointer)?;
    let buffer_box = transfer.buffer_box.resolve(size)?;
    let host_box = transfer.host_box.resolve(size)?;
    let direction = transfer.direction;
    let side = RegionSide::in_buffer(memory.clone(), buffer_box, size)?;
    let work = transfer_region(side, address, host_box, size, direction)?;
    let call = read_call(&queue, kind, is_blocking != 0, waits.0, waits.1, event)?;
    direction.check_flags(&memory)?;
    queue.enqueue(&call, work)
}

/// `clEnqueueReadBufferRect`
pub unsafe extern "C" fn enqueue_read_buffer_rect(
    queue: cl_command_queue,
    buffer: cl_mem,
    is_blocking: cl_bool,
    buffer_origin: *const usize,
    host_origin: *const usize,
    region: *const usize,
    buffer_row_pitch: usize,
    buffer_slice_pitch: usize,
    host_row_pitch: usize,
    host_slice_pitch: usize,
    pointer: *mut c_void,
    wait_count: cl_uint,
    wait_list: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    answer_code("clEnqueueReadBufferRect", || {
        let transfer = BoxTransfer {
            buffer,
            direction: TransferDirection::Read,
            buffer_box: BoxRequest {
                origin: buffer_origin,
                row_pitch: buffer_row_pitch,
                slice_pitch: buffer_slice_pitch,
            },
            host_box: BoxRequest {
                origin: host_origin,
                row_pitch: host_row_pitch,
                slice_pitch: host_slice_pitch,
            },
            region,
            pointer,
        };
        let waits = (wait_count, wait_list);
        let kind = CL_COMMAND_READ_BUFFER_RECT;
        enqueue_box_transfer(queue, &transfer, kind, is_blocking, waits, event)
    })
}

/// `clEnqueueWriteBufferRect`
pub unsafe extern "C" fn enqueue_write_buffer_rect(
    queue: cl_command_queue,
    buffer: cl_mem,
    is_blocking: cl_bool,
    buffer_origin: *const usize,
    host_origin: *const usize,
    region: *const usize,
    buffer_row_pitch: usize,
    buffer_slice_pitch: usize,
    host_row_pitch: usize,
    host_slice_pitch: usize,
    pointer: *const c_void,
    wait_count: cl_uint,
    wait_list: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    answer_code("clEnqueueWriteBufferRect", || {
        let transfer = BoxTransfer {
            buffer,
            direction: TransferDirection::Write,
            buffer_box: BoxRequest {
                origin: buffer_origin,
                row_pitch: buffer_row_pitch,
                slice_pitch: buffer_slice_pitch,
            },
            host_box: BoxRequest {
                origin: host_origin,
                row_pitch: host_row_pitch,
                slice_pitch: host_slice_pitch,
            },
            region,
            pointer,
        };
        let waits = (wait_count, wait_list);
        let kind = CL_COMMAND_WRITE_BUFFER_RECT;
        enqueue_box_transfer(queue, &transfer, kind, is_blocking, waits, event)
    })
}

/// The work of a copy of a box from one buffer to another.
///
/// # Errors
/// When the boxes do not fit the buffers, or overlap.
///
/// # Safety
/// The contract of the crate.
pub unsafe fn plan_box_copy(
    queue: &ClQueue,
    buffers: [cl_mem; 2],
    requests: [BoxRequest; 2],
    region: *const usize,
) -> CallResult<ScheduledWork> {
    let from = find_buffer(queue, buffers[0])?;
    let to = find_buffer(queue, buffers[1])?;
    let size = read_region(region)?;
    let (from_box, to_box) = (requests[0].resolve(size)?, requests[1].resolve(size)?);
    let is_one = Arc::ptr_eq(&from, &to);
    let is_same = Arc::ptr_eq(&from.store, &to.store);
    let from = RegionSide::in_buffer(from, from_box, size)?;
    let to = RegionSide::in_buffer(to, to_box, size)?;
    if is_one {
        let message = "boxes of one buffer have different pitches";
        let is_same =
            from_box.row_pitch == to_box.row_pitch && from_box.slice_pitch == to_box.slice_pitch;
        require(is_same, CL_INVALID_VALUE, message)?;
    }
    let overlaps = is_same && boxes_overlap(from.place, to.place, size);
    require(!overlaps, CL_MEM_COPY_OVERLAP, "the regions overlap")?;
    copy_region(from, to, size)
}

/// `clEnqueueCopyBufferRect`
pub unsafe extern "C" fn enqueue_copy_buffer_rect(
    queue: cl_command_queue,
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
    wait_list: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    answer_code("clEnqueueCopyBufferRect", || {
        let queue = find_object::<ClQueue>(queue)?;
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
        let work = plan_box_copy(&queue, [from, to], [from_request, to_request], region)?;
        let kind = CL_COMMAND_COPY_BUFFER_RECT;
        let call = read_call(&queue, kind, false, wait_count, wait_list, event)?;
        queue.enqueue(&call, work)
    })
}
