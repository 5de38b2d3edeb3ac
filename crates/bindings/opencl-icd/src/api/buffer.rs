//! Functions that create buffers.

use crate::api::memory::{ACCESS_FLAGS, HOST_POINTER_FLAGS, check_flags, check_host_pointer};
use crate::boundary::{answer_handle, read_properties};
use crate::context::ClContext;
use crate::error::{CallError, CallResult, require};
use crate::handle::{create_object, find_object};
use crate::memory::{ClMemory, MemoryBase};
use crate::memory_store::{MemoryStore, StoreContent};
use opencl_sys::*;
use std::ffi::c_void;
use std::ptr::NonNull;
use std::sync::Arc;

/// Bytes to which the first byte of a part of a buffer is aligned (`CL_DEVICE_MEM_BASE_ADDR_ALIGN`).
const PART_ALIGN: usize = 128;

/// Makes a store of the memory that the caller gives.
///
/// # Safety
/// The contract of the crate.
pub unsafe fn make_store(
    context: &ClContext,
    flags: cl_mem_flags,
    size: usize,
    content: StoreContent,
    host_pointer: *mut c_void,
) -> CallResult<MemoryStore> {
    let given = NonNull::new(host_pointer.cast::<u8>());
    let borrowed = given.filter(|_| flags & CL_MEM_USE_HOST_PTR != 0);
    let store = MemoryStore::new(size as u64, content, borrowed, context.only_scheduler());
    if flags & CL_MEM_COPY_HOST_PTR != 0 {
        let copied = store.set_content(host_pointer.cast());
        copied.map_err(|error| CallError::new(CL_MEM_OBJECT_ALLOCATION_FAILURE, error.message))?;
    }
    Ok(store)
}

/// Refuses a buffer that is larger than the allocation of shared virtual memory that it is in.
fn check_svm_pointer(
    context: &ClContext,
    flags: cl_mem_flags,
    size: usize,
    host_pointer: *mut c_void,
) -> CallResult<()> {
    let uses = flags & CL_MEM_USE_HOST_PTR != 0;
    let found = context.svm.find(host_pointer).filter(|_| uses);
    let Some(facts) = found else { return Ok(()) };
    let left = facts.address + facts.size - host_pointer as usize;
    let message = format!("the allocation has {left} bytes from there on, not {size}");
    require(size <= left, CL_INVALID_BUFFER_SIZE, message)
}

unsafe fn open_buffer(
    context: cl_context,
    flags: cl_mem_flags,
    size: usize,
    host_pointer: *mut c_void,
    property_words: Vec<cl_mem_properties>,
) -> CallResult<*mut c_void> {
    let context = find_object::<ClContext>(context)?;
    check_flags(flags)?;
    let most = context.max_buffer_size();
    let is_fit = size > 0 && size as u64 <= most;
    let message = format!("a buffer has 1 to {most} bytes, not {size}");
    require(is_fit, CL_INVALID_BUFFER_SIZE, message)?;
    check_host_pointer(flags, host_pointer)?;
    check_svm_pointer(&context, flags, size, host_pointer)?;
    let store = make_store(&context, flags, size, StoreContent::Buffer, host_pointer)?;
    let usual = if flags & ACCESS_FLAGS == 0 {
        CL_MEM_READ_WRITE
    } else {
        0
    };
    let base = MemoryBase {
        context,
        kind: CL_MEM_OBJECT_BUFFER,
        flags: flags | usual,
        host_pointer,
        property_words,
    };
    let buffer = create_object(|handle| ClMemory::new(handle, base, size, store));
    Ok(buffer.handle.as_raw())
}

/// `clCreateBuffer`
pub unsafe extern "C" fn create_buffer(
    context: cl_context,
    flags: cl_mem_flags,
    size: usize,
    host_pointer: *mut c_void,
    code: *mut cl_int,
) -> cl_mem {
    answer_handle("clCreateBuffer", code, || {
        open_buffer(context, flags, size, host_pointer, Vec::new())
    })
}

/// `clCreateBufferWithProperties`
pub unsafe extern "C" fn create_buffer_with_properties(
    context: cl_context,
    properties: *const cl_mem_properties,
    flags: cl_mem_flags,
    size: usize,
    host_pointer: *mut c_void,
    code: *mut cl_int,
) -> cl_mem {
    answer_handle("clCreateBufferWithProperties", code, || {
        let (pairs, words) = read_properties(properties);
        let message = "there are no properties of buffers";
        require(pairs.is_empty(), CL_INVALID_PROPERTY, message)?;
        open_buffer(context, flags, size, host_pointer, words)
    })
}

/// The flags of a part of a buffer: those that are given, and those of the buffer.
fn inherit_flags(parent: &ClMemory, flags: cl_mem_flags) -> CallResult<cl_mem_flags> {
    check_flags(flags)?;
    let no_pointer = flags & HOST_POINTER_FLAGS == 0;
    require(
        no_pointer,
        CL_INVALID_VALUE,
        "a part of a buffer has no memory of its own",
    )?;
    let host = CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS;
    let conflicts = [
        (CL_MEM_WRITE_ONLY, CL_MEM_READ_WRITE | CL_MEM_READ_ONLY),
        (CL_MEM_READ_ONLY, CL_MEM_READ_WRITE | CL_MEM_WRITE_ONLY),
        (CL_MEM_HOST_WRITE_ONLY, CL_MEM_HOST_READ_ONLY),
        (CL_MEM_HOST_READ_ONLY, CL_MEM_HOST_WRITE_ONLY),
        (
            CL_MEM_HOST_NO_ACCESS,
            CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_WRITE_ONLY,
        ),
    ];
    let mut conflicts = conflicts.iter();
    let conflict = conflicts.any(|(own, wanted)| parent.flags & own != 0 && flags & wanted != 0);
    require(
        !conflict,
        CL_INVALID_VALUE,
        "the flags do not fit those of the buffer",
    )?;
    let mut result = flags | parent.flags & HOST_POINTER_FLAGS;
    for group in [ACCESS_FLAGS, host] {
        if flags & group == 0 {
            result |= parent.flags & group;
        }
    }
    Ok(result)
}

/// `clCreateSubBuffer`
pub unsafe extern "C" fn create_sub_buffer(
    buffer: cl_mem,
    flags: cl_mem_flags,
    kind: cl_buffer_create_type,
    info: *const c_void,
    code: *mut cl_int,
) -> cl_mem {
    answer_handle("clCreateSubBuffer", code, || {
        let parent: Arc<ClMemory> = find_object(buffer)?;
        let is_buffer = parent.kind == CL_MEM_OBJECT_BUFFER && !parent.is_part();
        require(is_buffer, CL_INVALID_MEM_OBJECT, "this is no whole buffer")?;
        let flags = inherit_flags(&parent, flags)?;
        let is_region = kind == CL_BUFFER_CREATE_TYPE_REGION && !info.is_null();
        require(
            is_region,
            CL_INVALID_VALUE,
            "a part of a buffer is a region",
        )?;
        let region = info.cast::<cl_buffer_region>().read_unaligned();
        let end = region.origin.checked_add(region.size);
        let is_within = end.is_some_and(|end| end <= parent.size);
        require(
            is_within,
            CL_INVALID_VALUE,
            "the part is not within the buffer",
        )?;
        require(region.size > 0, CL_INVALID_BUFFER_SIZE, "the part is empty")?;
        let is_aligned = region.origin.is_multiple_of(PART_ALIGN);
        let message = format!("a part begins at a multiple of {PART_ALIGN} bytes");
        require(is_aligned, CL_MISALIGNED_SUB_BUFFER_OFFSET, message)?;
        let part = create_object(|handle| {
            ClMemory::part_of(handle, &parent, flags, region.origin, region.size)
        });
        Ok(part.handle.as_raw())
    })
}
