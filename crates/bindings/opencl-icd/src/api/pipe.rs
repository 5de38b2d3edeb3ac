//! Functions of pipes, which the processor has. The memory of a pipe describes itself, so that devices share it as it is.

use crate::boundary::{QueryOutput, answer_code, answer_handle, read_properties, refuse_query};
use crate::context::ClContext;
use crate::error::{CallError, CallResult, require};
use crate::handle::{create_object, find_object};
use crate::memory::{ClMemory, MemoryBase};
use crate::memory_store::{MemoryStore, StoreContent};
use opencl_sys::*;
use spirula_runtime::PipeShape;
use std::ffi::c_void;

/// Most bytes of a packet.
pub const MOST_PACKET_BYTES: cl_uint = 1 << 16;

/// Makes the memory of an empty pipe.
fn make_pipe_store(shape: PipeShape, most: u64) -> CallResult<MemoryStore> {
    let size = shape.memory_bytes().filter(|size| *size <= most);
    let message = "the pipe is too large";
    let size = size.ok_or_else(|| CallError::new(CL_INVALID_PIPE_SIZE, message))?;
    let store = MemoryStore::new(size, StoreContent::Pipe, None, None);
    let mut content = shape.encode_header();
    content.resize(size as usize, 0);
    // SAFETY: the content has as many bytes as the store.
    unsafe { store.set_content(content.as_ptr())? };
    Ok(store)
}

/// `clCreatePipe`
pub unsafe extern "C" fn create_pipe(
    context: cl_context,
    flags: cl_mem_flags,
    packet: cl_uint,
    capacity: cl_uint,
    properties: *const cl_pipe_properties,
    code: *mut cl_int,
) -> cl_mem {
    answer_handle("clCreatePipe", code, || {
        let context = find_object::<ClContext>(context)?;
        let message = "a device of the context has no pipes";
        require(context.is_host(), CL_INVALID_OPERATION, message)?;
        let known = CL_MEM_READ_WRITE | CL_MEM_HOST_NO_ACCESS;
        let message = "there is no such flag of pipes";
        require(flags & !known == 0, CL_INVALID_VALUE, message)?;
        let (pairs, words) = read_properties(properties);
        let message = "there are no properties of pipes";
        require(pairs.is_empty(), CL_INVALID_PROPERTY, message)?;
        let is_size = (1..=MOST_PACKET_BYTES).contains(&packet) && capacity > 0;
        let message = format!("a pipe has packets of 1 to {MOST_PACKET_BYTES} bytes");
        require(is_size, CL_INVALID_PIPE_SIZE, message)?;
        let shape = PipeShape { packet, capacity };
        let store = make_pipe_store(shape, context.max_buffer_size())?;
        let base = MemoryBase {
            context,
            kind: CL_MEM_OBJECT_PIPE,
            flags: known,
            host_pointer: std::ptr::null_mut(),
            property_words: words.into_iter().map(|word| word as u64).collect(),
        };
        let pipe = create_object(|handle| {
            let size = store.size() as usize;
            let mut pipe = ClMemory::new(handle, base, size, store);
            pipe.pipe = Some(shape);
            pipe
        });
        Ok(pipe.handle.as_raw())
    })
}

/// `clGetPipeInfo`
pub unsafe extern "C" fn get_pipe_info(
    pipe: cl_mem,
    name: cl_pipe_info,
    size: usize,
    value: *mut c_void,
    size_out: *mut usize,
) -> cl_int {
    answer_code("clGetPipeInfo", || {
        let pipe = find_object::<ClMemory>(pipe)?;
        let missing = || CallError::new(CL_INVALID_MEM_OBJECT, "this is no pipe");
        let shape = pipe.pipe.ok_or_else(missing)?;
        let output = QueryOutput::new(size, value, size_out);
        match name {
            CL_PIPE_PACKET_SIZE => output.write_value::<cl_uint>(shape.packet),
            CL_PIPE_MAX_PACKETS => output.write_value::<cl_uint>(shape.capacity),
            CL_PIPE_PROPERTIES => output.write_list(&pipe.property_words),
            _ => Err(refuse_query(name)),
        }
    })
}
