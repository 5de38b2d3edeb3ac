//! Commands that read, write, copy and fill buffers.

use crate::api::region_work::{RegionSide, copy_region, fill_region, transfer_region};
use crate::api::user_address::{TransferDirection, UserAddress};
use crate::boundary::answer_code;
use crate::error::{CallError, CallResult, require};
use crate::event::{EventOutput, EventWaitList};
use crate::handle::find_object;
use crate::memory::ClMemory;
use crate::queue::{ClQueue, EnqueueCall};
use crate::region::ByteBox;
use crate::scheduler::ScheduledWork;
use opencl_sys::*;
use std::ffi::c_void;
use std::ops::Range;
use std::sync::Arc;

/// Reads the arguments that all commands have.
///
/// # Errors
/// When the wait list is none.
///
/// # Safety
/// The contract of the crate.
pub unsafe fn read_call(
    queue: &ClQueue,
    kind: cl_command_type,
    is_blocking: bool,
    wait_count: cl_uint,
    wait_list: *const cl_event,
    event: *mut cl_event,
) -> CallResult<EnqueueCall> {
    Ok(EnqueueCall {
        kind,
        waits: EventWaitList::read(&queue.context, wait_count, wait_list)?,
        is_blocking,
        event: EventOutput::new(event),
    })
}

/// A memory object of a queue's context, which is not a buffer if it is an image or a pipe.
///
/// # Errors
/// When it is none, or of another context.
pub fn find_buffer(queue: &ClQueue, memory: cl_mem) -> CallResult<Arc<ClMemory>> {
    let memory = find_object::<ClMemory>(memory)?;
    queue
        .context
        .require_same(&memory.context, CL_INVALID_CONTEXT)?;
    let is_buffer = memory.kind == CL_MEM_OBJECT_BUFFER;
    require(is_buffer, CL_INVALID_MEM_OBJECT, "this is no buffer")?;
    Ok(memory)
}

/// The range of bytes of a buffer within its store.
///
/// # Errors
/// When it is empty or not within the buffer.
fn check_range(memory: &ClMemory, offset: usize, size: usize) -> CallResult<Range<u64>> {
    let end = offset.checked_add(size);
    let end = end
        .filter(|end| size > 0 && *end <= memory.size)
        .ok_or_else(|| {
            let whole = memory.size;
            let message =
                format!("{size} bytes from {offset} on are not within a buffer of {whole}");
            CallError::invalid_value(message)
        })?;
    Ok(memory.offset + offset as u64..memory.offset + end as u64)
}

/// A copy between a part of a buffer and the caller.
struct LinearTransfer {
    buffer: cl_mem,
    direction: TransferDirection,
    offset: usize,
    size: usize,
    pointer: *const c_void,
}

unsafe fn enqueue_transfer(
    queue: cl_command_queue,
    transfer: &LinearTransfer,
    kind: cl_command_type,
    is_blocking: cl_bool,
    waits: (cl_uint, *const cl_event),
    event: *mut cl_event,
) -> CallResult<()> {
    let queue = find_object::<ClQueue>(queue)?;
    let memory = find_buffer(&queue, transfer.buffer)?;
    let range = check_range(&memory, transfer.offset, transfer.size)?;
    let address = UserAddress::new(transfer.pointer)?;
    let call = read_call(&queue, kind, is_blocking != 0, waits.0, waits.1, event)?;
    let direction = transfer.direction;
    direction.check_flags(&memory)?;
    let side = row_side(memory, &range);
    let host = ByteBox::with_row(0, transfer.size);
    let work = transfer_region(side, address, host, [transfer.size, 1, 1], direction)?;
    queue.enqueue(&call, work)
}

/// A range of bytes of a buffer's store.
fn row_side(memory: Arc<ClMemory>, range: &Range<u64>) -> RegionSide {
    let bytes = (range.end - range.start) as usize;
    RegionSide {
        memory,
        place: ByteBox::with_row(range.start as usize, bytes),
    }
}

/// `clEnqueueReadBuffer`
pub unsafe extern "C" fn enqueue_read_buffer(
    queue: cl_command_queue,
    buffer: cl_mem,
    is_blocking: cl_bool,
    offset: usize,
    size: usize,
    pointer: *mut c_void,
    wait_count: cl_uint,
    wait_list: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    answer_code("clEnqueueReadBuffer", || {
        let transfer = LinearTransfer {
            buffer,
            direction: TransferDirection::Read,
            offset,
            size,
            pointer,
        };
        let waits = (wait_count, wait_list);
        enqueue_transfer(
            queue,
            &transfer,
            CL_COMMAND_READ_BUFFER,
            is_blocking,
            waits,
            event,
        )
    })
}

/// `clEnqueueWriteBuffer`
pub unsafe extern "C" fn enqueue_write_buffer(
    queue: cl_command_queue,
    buffer: cl_mem,
    is_blocking: cl_bool,
    offset: usize,
    size: usize,
    pointer: *const c_void,
    wait_count: cl_uint,
    wait_list: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    answer_code("clEnqueueWriteBuffer", || {
        let transfer = LinearTransfer {
            buffer,
            direction: TransferDirection::Write,
            offset,
            size,
            pointer,
        };
        let waits = (wait_count, wait_list);
        enqueue_transfer(
            queue,
            &transfer,
            CL_COMMAND_WRITE_BUFFER,
            is_blocking,
            waits,
            event,
        )
    })
}

/// Reads three numbers.
///
/// # Errors
/// When there are none.
///
/// # Safety
/// The contract of the crate.
pub unsafe fn read_triple(pointer: *const usize) -> CallResult<[usize; 3]> {
    require(
        !pointer.is_null(),
        CL_INVALID_VALUE,
        "an origin or a region is missing",
    )?;
    Ok(pointer.cast::<[usize; 3]>().read_unaligned())
}

/// Reads the size of a region.
///
/// # Errors
/// When there is none, or it is empty.
///
/// # Safety
/// The contract of the crate.
pub unsafe fn read_region(pointer: *const usize) -> CallResult<[usize; 3]> {
    let region = read_triple(pointer)?;
    require(
        !region.contains(&0),
        CL_INVALID_VALUE,
        "the region is empty",
    )?;
    Ok(region)
}

/// The work of a copy from one buffer to another.
///
/// # Errors
/// When the ranges do not fit the buffers, or overlap.
pub fn plan_buffer_copy(
    queue: &ClQueue,
    buffers: [cl_mem; 2],
    offsets: [usize; 2],
    size: usize,
) -> CallResult<ScheduledWork> {
    let from = find_buffer(queue, buffers[0])?;
    let to = find_buffer(queue, buffers[1])?;
    let source = check_range(&from, offsets[0], size)?;
    let target = check_range(&to, offsets[1], size)?;
    let is_same = Arc::ptr_eq(&from.store, &to.store);
    let overlaps = is_same && source.start < target.end && target.start < source.end;
    require(!overlaps, CL_MEM_COPY_OVERLAP, "the regions overlap")?;
    copy_region(row_side(from, &source), row_side(to, &target), [size, 1, 1])
}

/// `clEnqueueCopyBuffer`
pub unsafe extern "C" fn enqueue_copy_buffer(
    queue: cl_command_queue,
    from: cl_mem,
    to: cl_mem,
    from_offset: usize,
    to_offset: usize,
    size: usize,
    wait_count: cl_uint,
    wait_list: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    answer_code("clEnqueueCopyBuffer", || {
        let queue = find_object::<ClQueue>(queue)?;
        let work = plan_buffer_copy(&queue, [from, to], [from_offset, to_offset], size)?;
        let kind = CL_COMMAND_COPY_BUFFER;
        let call = read_call(&queue, kind, false, wait_count, wait_list, event)?;
        queue.enqueue(&call, work)
    })
}

/// The work of a fill of a part of a buffer, which begins at the offset.
///
/// # Errors
/// When the pattern or the range does not fit.
///
/// # Safety
/// The contract of the crate.
pub unsafe fn plan_buffer_fill(
    queue: &ClQueue,
    buffer: cl_mem,
    pattern: (*const c_void, usize),
    offset: usize,
    size: usize,
) -> CallResult<ScheduledWork> {
    let memory = find_buffer(queue, buffer)?;
    let range = check_range(&memory, offset, size)?;
    let pattern = read_pattern(pattern.0, pattern.1)?;
    let is_whole = offset.is_multiple_of(pattern.len()) && size.is_multiple_of(pattern.len());
    let message = "the region is no multiple of the pattern";
    require(is_whole, CL_INVALID_VALUE, message)?;
    fill_region(row_side(memory, &range), [size, 1, 1], pattern)
}

/// `clEnqueueFillBuffer`
pub unsafe extern "C" fn enqueue_fill_buffer(
    queue: cl_command_queue,
    buffer: cl_mem,
    pattern: *const c_void,
    pattern_size: usize,
    offset: usize,
    size: usize,
    wait_count: cl_uint,
    wait_list: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    answer_code("clEnqueueFillBuffer", || {
        let queue = find_object::<ClQueue>(queue)?;
        let work = plan_buffer_fill(&queue, buffer, (pattern, pattern_size), offset, size)?;
        let kind = CL_COMMAND_FILL_BUFFER;
        let call = read_call(&queue, kind, false, wait_count, wait_list, event)?;
        queue.enqueue(&call, work)
    })
}

/// Reads a pattern, whose size is a power of two up to 128.
///
/// # Errors
/// `CL_INVALID_VALUE`.
///
/// # Safety
/// The contract of the crate.
pub unsafe fn read_pattern(pattern: *const c_void, size: usize) -> CallResult<Vec<u8>> {
    let is_size = size.is_power_of_two() && size <= 128;
    require(
        is_size,
        CL_INVALID_VALUE,
        "a pattern has 1, 2, 4, … or 128 bytes",
    )?;
    Ok(crate::boundary::get_slice(pattern.cast::<u8>(), size)?.to_vec())
}
