//! Functions of `cl_intel_unified_shared_memory`, which SYCL needs. All memory is the host's, as for shared virtual memory.

use crate::api::buffer_commands::{read_call, read_pattern};
use crate::api::svm::{enqueue_nothing, plan_copy, plan_fill, require_svm, set_pointer_argument};
use crate::boundary::{QueryOutput, answer_code, answer_handle, read_properties, refuse_query};
use crate::context::ClContext;
use crate::device::ClDevice;
use crate::error::{CallError, CallResult, require};
use crate::handle::find_object;
use crate::kernel::ClKernel;
use crate::queue::ClQueue;
use crate::svm::SvmFacts;
use opencl_sys::*;
use std::ffi::c_void;
use std::ptr;

/// Largest alignment of allocations.
const MOST_ALIGN: cl_uint = 128;

unsafe fn allocate(
    context: cl_context,
    device: cl_device_id,
    usm_type: cl_unified_shared_memory_type_intel,
    properties: *const cl_mem_properties_intel,
    size: usize,
    alignment: cl_uint,
) -> CallResult<*mut c_void> {
    let context = find_object::<ClContext>(context)?;
    require_svm(&context)?;
    if !device.is_null() {
        context.find_scheduler(&*find_object::<ClDevice>(device)?)?;
    }
    let mut flags = 0;
    for (name, value) in read_properties(properties).0 {
        // Others are hints of other vendors.
        if name == CL_MEM_ALLOC_FLAGS_INTEL {
            flags = value;
        }
    }
    let is_size = size > 0 && size as u64 <= context.max_buffer_size();
    require(
        is_size,
        CL_INVALID_BUFFER_SIZE,
        "the size is 0 or too large",
    )?;
    let is_align = alignment == 0 || (alignment.is_power_of_two() && alignment <= MOST_ALIGN);
    require(is_align, CL_INVALID_VALUE, "there is no such alignment")?;
    let made = context.svm.allocate(size, usm_type, flags, device as usize);
    made.ok_or_else(CallError::out_of_memory)
}

/// `clHostMemAllocINTEL`
pub unsafe extern "C" fn host_mem_alloc(
    context: cl_context,
    properties: *const cl_mem_properties_intel,
    size: usize,
    alignment: cl_uint,
    code: *mut cl_int,
) -> *mut c_void {
    answer_handle("clHostMemAllocINTEL", code, || {
        let usm_type = CL_MEM_TYPE_HOST_INTEL;
        allocate(
            context,
            ptr::null_mut(),
            usm_type,
            properties,
            size,
            alignment,
        )
    })
}

/// `clDeviceMemAllocINTEL`
pub unsafe extern "C" fn device_mem_alloc(
    context: cl_context,
    device: cl_device_id,
    properties: *const cl_mem_properties_intel,
    size: usize,
    alignment: cl_uint,
    code: *mut cl_int,
) -> *mut c_void {
    answer_handle("clDeviceMemAllocINTEL", code, || {
        find_object::<ClDevice>(device)?;
        allocate(
            context,
            device,
            CL_MEM_TYPE_DEVICE_INTEL,
            properties,
            size,
            alignment,
        )
    })
}

/// `clSharedMemAllocINTEL`
pub unsafe extern "C" fn shared_mem_alloc(
    context: cl_context,
    device: cl_device_id,
    properties: *const cl_mem_properties_intel,
    size: usize,
    alignment: cl_uint,
    code: *mut cl_int,
) -> *mut c_void {
    answer_handle("clSharedMemAllocINTEL", code, || {
        allocate(
            context,
            device,
            CL_MEM_TYPE_SHARED_INTEL,
            properties,
            size,
            alignment,
        )
    })
}

/// `clMemFreeINTEL`
pub unsafe extern "C" fn mem_free(context: cl_context, pointer: *mut c_void) -> cl_int {
    answer_code("clMemFreeINTEL", || {
        drop(find_object::<ClContext>(context)?.svm.remove(pointer));
        Ok(())
    })
}

/// `clMemBlockingFreeINTEL`
pub unsafe extern "C" fn mem_blocking_free(context: cl_context, pointer: *mut c_void) -> cl_int {
    answer_code("clMemBlockingFreeINTEL", || {
        let context = find_object::<ClContext>(context)?;
        for scheduler in context.schedulers() {
            // A command that runs may use the memory.
            scheduler.wait_for_idle();
        }
        drop(context.svm.remove(pointer));
        Ok(())
    })
}

/// `clGetMemAllocInfoINTEL`
pub unsafe extern "C" fn get_mem_alloc_info(
    context: cl_context,
    pointer: *const c_void,
    name: cl_mem_info_intel,
    size: usize,
    value: *mut c_void,
    size_out: *mut usize,
) -> cl_int {
    answer_code("clGetMemAllocInfoINTEL", || {
        let context = find_object::<ClContext>(context)?;
        let unknown = SvmFacts {
            address: 0,
            size: 0,
            usm_type: 0,
            usm_flags: 0,
            device: 0,
        };
        let facts = context.svm.find(pointer).unwrap_or(unknown);
        let usm_type = match facts.usm_type {
            0 => CL_MEM_TYPE_UNKNOWN_INTEL,
            known => known,
        };
        let output = QueryOutput::new(size, value, size_out);
        match name {
            CL_MEM_ALLOC_TYPE_INTEL => output.write_value(usm_type),
            CL_MEM_ALLOC_BASE_PTR_INTEL => output.write_value(facts.address),
            CL_MEM_ALLOC_SIZE_INTEL => output.write_value(facts.size),
            CL_MEM_ALLOC_DEVICE_INTEL => output.write_value(facts.device),
            name if u64::from(name) == CL_MEM_ALLOC_FLAGS_INTEL => {
                output.write_value(facts.usm_flags)
            }
            _ => Err(refuse_query(name)),
        }
    })
}

/// `clSetKernelArgMemPointerINTEL`
pub unsafe extern "C" fn set_kernel_arg_mem_pointer(
    kernel: cl_kernel,
    index: cl_uint,
    pointer: *const c_void,
) -> cl_int {
    answer_code("clSetKernelArgMemPointerINTEL", || {
        let kernel = find_object::<ClKernel>(kernel)?;
        require_svm(&kernel.program.context)?;
        set_pointer_argument(&kernel, index, pointer)
    })
}

/// `clEnqueueMemFillINTEL`
pub unsafe extern "C" fn enqueue_mem_fill(
    queue: cl_command_queue,
    pointer: *mut c_void,
    pattern: *const c_void,
    pattern_size: usize,
    size: usize,
    wait_count: cl_uint,
    wait_list: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    answer_code("clEnqueueMemFillINTEL", || {
        let queue = find_object::<ClQueue>(queue)?;
        let pattern = read_pattern(pattern, pattern_size)?;
        let kind = CL_COMMAND_MEMFILL_INTEL;
        let call = read_call(&queue, kind, false, wait_count, wait_list, event)?;
        queue.enqueue(&call, plan_fill(pointer, pattern, size)?)
    })
}

/// `clEnqueueMemsetINTEL`
pub unsafe extern "C" fn enqueue_memset(
    queue: cl_command_queue,
    pointer: *mut c_void,
    value: cl_int,
    size: usize,
    wait_count: cl_uint,
    wait_list: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    answer_code("clEnqueueMemsetINTEL", || {
        let queue = find_object::<ClQueue>(queue)?;
        let kind = CL_COMMAND_MEMFILL_INTEL;
        let call = read_call(&queue, kind, false, wait_count, wait_list, event)?;
        queue.enqueue(&call, plan_fill(pointer, vec![value as u8], size)?)
    })
}

/// `clEnqueueMemcpyINTEL`
pub unsafe extern "C" fn enqueue_memcpy(
    queue: cl_command_queue,
    is_blocking: cl_bool,
    to: *mut c_void,
    from: *const c_void,
    size: usize,
    wait_count: cl_uint,
    wait_list: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    answer_code("clEnqueueMemcpyINTEL", || {
        let queue = find_object::<ClQueue>(queue)?;
        let blocks = is_blocking != 0;
        let kind = CL_COMMAND_MEMCPY_INTEL;
        let call = read_call(&queue, kind, blocks, wait_count, wait_list, event)?;
        queue.enqueue(&call, plan_copy(to, from, size)?)
    })
}

/// `clEnqueueMigrateMemINTEL`
pub unsafe extern "C" fn enqueue_migrate_mem(
    queue: cl_command_queue,
    _: *const c_void,
    _: usize,
    _: cl_mem_migration_flags,
    wait_count: cl_uint,
    wait_list: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    answer_code("clEnqueueMigrateMemINTEL", || {
        let queue = find_object::<ClQueue>(queue)?;
        let waits = (wait_count, wait_list);
        enqueue_nothing(&queue, CL_COMMAND_MIGRATEMEM_INTEL, false, waits, event)
    })
}

/// `clEnqueueMemAdviseINTEL`
pub unsafe extern "C" fn enqueue_mem_advise(
    queue: cl_command_queue,
    _: *const c_void,
    _: usize,
    _: cl_mem_advice_intel,
    wait_count: cl_uint,
    wait_list: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    answer_code("clEnqueueMemAdviseINTEL", || {
        let queue = find_object::<ClQueue>(queue)?;
        let waits = (wait_count, wait_list);
        enqueue_nothing(&queue, CL_COMMAND_MEMADVISE_INTEL, false, waits, event)
    })
}
