//! Functions of pipes, which no device has yet.

use crate::boundary::{answer_code, answer_handle};
use crate::context::ClContext;
use crate::error::CallError;
use crate::handle::find_object;
use crate::memory::ClMemory;
use opencl_sys::*;
use std::ffi::c_void;

/// `clCreatePipe`
pub unsafe extern "C" fn create_pipe(
    context: cl_context,
    _: cl_mem_flags,
    _: cl_uint,
    _: cl_uint,
    _: *const cl_pipe_properties,
    code: *mut cl_int,
) -> cl_mem {
    answer_handle("clCreatePipe", code, || {
        find_object::<ClContext>(context)?;
        Err(CallError::invalid_operation(
            "no device of the context has pipes",
        ))
    })
}

/// `clGetPipeInfo`
pub unsafe extern "C" fn get_pipe_info(
    pipe: cl_mem,
    _: cl_pipe_info,
    _: usize,
    _: *mut c_void,
    _: *mut usize,
) -> cl_int {
    answer_code("clGetPipeInfo", || {
        find_object::<ClMemory>(pipe)?;
        Err(CallError::new(CL_INVALID_MEM_OBJECT, "this is no pipe"))
    })
}
