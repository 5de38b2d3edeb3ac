//! Commands that map memory objects: the caller gets the address of the block on the host.

use crate::api::buffer_commands::{find_buffer, read_call, read_region, read_triple};
use crate::api::image_commands::{find_image, texel_box};
use crate::api::user_address::TransferDirection;
use crate::boundary::{answer_code, answer_handle, write_optional};
use crate::error::{CallError, CallResult, require};
use crate::handle::find_object;
use crate::memory::{ClMemory, MemoryMapping};
use crate::queue::{ClQueue, EnqueueCall};
use crate::scheduler::CommandEnd;
use opencl_sys::*;
use std::ffi::c_void;
use std::ops::Range;
use std::sync::Arc;

/// All flags of mappings.
const KNOWN_FLAGS: cl_map_flags = CL_MAP_READ | CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION;

/// Refuses flags that do not exist or that those of the object exclude.
fn check_map_flags(memory: &ClMemory, flags: cl_map_flags) -> CallResult<()> {
    let invalidates = flags & CL_MAP_WRITE_INVALIDATE_REGION != 0;
    let is_known =
        flags & !KNOWN_FLAGS == 0 && !(invalidates && flags & (CL_MAP_READ | CL_MAP_WRITE) != 0);
    require(
        is_known,
        CL_INVALID_VALUE,
        "there are no such flags of mappings",
    )?;
    if flags & CL_MAP_READ != 0 {
        TransferDirection::Read.check_flags(memory)?;
    }
    if flags & (CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION) != 0 {
        TransferDirection::Write.check_flags(memory)?;
    }
    Ok(())
}

/// Maps bytes of a store, and returns their address.
unsafe fn enqueue_map(
    queue: &Arc<ClQueue>,
    memory: Arc<ClMemory>,
    bytes: Range<u64>,
    flags: cl_map_flags,
    call: &EnqueueCall,
) -> CallResult<*mut c_void> {
    let first = memory.store.host_address();
    let first = first.map_err(|error| CallError::new(CL_MAP_FAILURE, error.message))?;
    let address = first.as_ptr() as usize + bytes.start as usize;
    memory.add_mapping(MemoryMapping {
        address,
        is_written: flags & (CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION) != 0,
        bytes: (bytes.start, bytes.end),
    });
    let is_discarded = flags & CL_MAP_WRITE_INVALIDATE_REGION != 0;
    let discards_all = is_discarded && bytes == (0..memory.store.size());
    let work = Arc::new(move |_: &_| {
        if discards_all {
            memory.store.discard_to_host()?;
        } else {
            memory.store.fetch_to_host()?;
        }
        Ok(CommandEnd::Complete)
    });
    queue.enqueue(call, work)?;
    Ok(address as *mut c_void)
}

/// `clEnqueueMapBuffer`
pub unsafe extern "C" fn enqueue_map_buffer(
    queue: cl_command_queue,
    buffer: cl_mem,
    is_blocking: cl_bool,
    flags: cl_map_flags,
    offset: usize,
    size: usize,
    wait_count: cl_uint,
    wait_list: *const cl_event,
    event: *mut cl_event,
    code: *mut cl_int,
) -> *mut c_void {
    answer_handle("clEnqueueMapBuffer", code, || {
        let queue = find_object::<ClQueue>(queue)?;
        let memory = find_buffer(&queue, buffer)?;
        let end = offset.checked_add(size);
        let is_within = size > 0 && end.is_some_and(|end| end <= memory.size);
        require(
            is_within,
            CL_INVALID_VALUE,
            "the region is not within the buffer",
        )?;
        check_map_flags(&memory, flags)?;
        let blocks = is_blocking != 0;
        let kind = CL_COMMAND_MAP_BUFFER;
        let call = read_call(&queue, kind, blocks, wait_count, wait_list, event)?;
        let start = memory.offset + offset as u64;
        enqueue_map(&queue, memory, start..start + size as u64, flags, &call)
    })
}

/// `clEnqueueMapImage`
pub unsafe extern "C" fn enqueue_map_image(
    queue: cl_command_queue,
    image: cl_mem,
    is_blocking: cl_bool,
    flags: cl_map_flags,
    origin: *const usize,
    region: *const usize,
    row_pitch: *mut usize,
    slice_pitch: *mut usize,
    wait_count: cl_uint,
    wait_list: *const cl_event,
    event: *mut cl_event,
    code: *mut cl_int,
) -> *mut c_void {
    answer_handle("clEnqueueMapImage", code, || {
        let queue = find_object::<ClQueue>(queue)?;
        let (memory, facts) = find_image(&queue, image)?;
        require(
            !row_pitch.is_null(),
            CL_INVALID_VALUE,
            "the pitch of rows has no place",
        )?;
        let has_slices = facts.has_slices();
        let message = "the pitch of slices has no place";
        require(
            !has_slices || !slice_pitch.is_null(),
            CL_INVALID_VALUE,
            message,
        )?;
        let (origin, region) = (read_triple(origin)?, read_region(region)?);
        let (found, size) = texel_box(&facts, origin, region)?;
        check_map_flags(&memory, flags)?;
        let blocks = is_blocking != 0;
        let kind = CL_COMMAND_MAP_IMAGE;
        let call = read_call(&queue, kind, blocks, wait_count, wait_list, event)?;
        let span = found.span(size)?;
        let mapped = enqueue_map(&queue, memory, span, flags, &call)?;
        write_optional(row_pitch, facts.row_pitch());
        write_optional(
            slice_pitch,
            if has_slices { facts.slice_bytes() } else { 0 },
        );
        Ok(mapped)
    })
}

/// `clEnqueueUnmapMemObject`
pub unsafe extern "C" fn enqueue_unmap_mem_object(
    queue: cl_command_queue,
    memory: cl_mem,
    address: *mut c_void,
    wait_count: cl_uint,
    wait_list: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    answer_code("clEnqueueUnmapMemObject", || {
        let queue = find_object::<ClQueue>(queue)?;
        let memory = find_object::<ClMemory>(memory)?;
        queue
            .context
            .require_same(&memory.context, CL_INVALID_CONTEXT)?;
        let kind = CL_COMMAND_UNMAP_MEM_OBJECT;
        let call = read_call(&queue, kind, false, wait_count, wait_list, event)?;
        let mapping = memory.remove_mapping(address as usize);
        let missing = || CallError::invalid_value("nothing is mapped at this address");
        let mapping = mapping.ok_or_else(missing)?;
        let work = Arc::new(move |_: &_| {
            if mapping.is_written {
                memory
                    .store
                    .publish_from_host(mapping.bytes.0..mapping.bytes.1)?;
            }
            Ok(CommandEnd::Complete)
        });
        queue.enqueue(&call, work)
    })
}
