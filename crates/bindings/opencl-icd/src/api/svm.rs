//! Functions of shared virtual memory. The processor uses the memory of the host, so that all addresses are good there.

use crate::api::buffer_commands::{read_call, read_pattern};
use crate::api::user_address::UserAddress;
use crate::boundary::{answer_code, get_slice};
use crate::callback::UserCallback;
use crate::context::ClContext;
use crate::error::{CallError, CallResult, catch_panic, require};
use crate::handle::find_object;
use crate::kernel::{ArgumentValue, ClKernel, ParameterKind};
use crate::queue::ClQueue;
use crate::scheduler::{CommandEnd, ScheduledWork};
use opencl_sys::*;
use std::ffi::c_void;
use std::ptr;
use std::sync::Arc;

/// A function of the caller that frees memory.
type FreeFunction = unsafe extern "C" fn(cl_command_queue, cl_uint, *mut *mut c_void, *mut c_void);

/// Largest alignment of allocations.
const MOST_ALIGN: cl_uint = 128;

/// `clSVMAlloc`
pub unsafe extern "C" fn svm_alloc(
    context: cl_context,
    flags: cl_svm_mem_flags,
    size: usize,
    alignment: cl_uint,
) -> *mut c_void {
    let allocate = || {
        let context = find_object::<ClContext>(context)?;
        require_svm(&context)?;
        let known = CL_MEM_READ_WRITE
            | CL_MEM_WRITE_ONLY
            | CL_MEM_READ_ONLY
            | CL_MEM_SVM_FINE_GRAIN_BUFFER
            | CL_MEM_SVM_ATOMICS;
        let atomics = flags & CL_MEM_SVM_ATOMICS != 0;
        let is_fine = flags & CL_MEM_SVM_FINE_GRAIN_BUFFER != 0;
        let is_known = flags & !known == 0 && (is_fine || !atomics);
        require(is_known, CL_INVALID_VALUE, "there are no such flags")?;
        let is_size = size > 0 && size as u64 <= context.max_buffer_size();
        require(is_size, CL_INVALID_VALUE, "the size is 0 or too large")?;
        let is_align = alignment == 0 || (alignment.is_power_of_two() && alignment <= MOST_ALIGN);
        require(is_align, CL_INVALID_VALUE, "there is no such alignment")?;
        let made = context.svm.allocate(size, 0, 0, 0);
        made.ok_or_else(CallError::out_of_memory)
    };
    let mut made = ptr::null_mut();
    answer_code("clSVMAlloc", || {
        made = catch_panic(allocate)?;
        Ok(())
    });
    made
}

/// Refuses shared virtual memory in contexts with devices that lack it.
///
/// # Errors
/// `CL_INVALID_OPERATION`.
pub fn require_svm(context: &ClContext) -> CallResult<()> {
    let message = "a device of the context has no shared virtual memory";
    require(context.is_host(), CL_INVALID_OPERATION, message)
}

/// `clSVMFree`
pub unsafe extern "C" fn svm_free(context: cl_context, pointer: *mut c_void) {
    answer_code("clSVMFree", || {
        drop(find_object::<ClContext>(context)?.svm.remove(pointer));
        Ok(())
    });
}

/// A queue of a context with shared virtual memory.
fn find_svm_queue(queue: cl_command_queue) -> CallResult<Arc<ClQueue>> {
    let queue = find_object::<ClQueue>(queue)?;
    require_svm(&queue.context)?;
    Ok(queue)
}

/// Addresses of a list of allocations.
struct AllocationList(Vec<usize>);

/// `clEnqueueSVMFree`
pub unsafe extern "C" fn enqueue_svm_free(
    queue: cl_command_queue,
    count: cl_uint,
    pointers: *mut *mut c_void,
    function: Option<FreeFunction>,
    data: *mut c_void,
    wait_count: cl_uint,
    wait_list: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    answer_code("clEnqueueSVMFree", || {
        let queue = find_svm_queue(queue)?;
        let is_list = (count > 0) != pointers.is_null();
        require(is_list, CL_INVALID_VALUE, "there are no allocations")?;
        let list = get_slice(pointers, count as usize)?;
        let list = AllocationList(list.iter().map(|pointer| *pointer as usize).collect());
        let kind = CL_COMMAND_SVM_FREE;
        let call = read_call(&queue, kind, false, wait_count, wait_list, event)?;
        let callback = function.map(|function| UserCallback { function, data });
        let owner = queue.clone();
        let work: ScheduledWork = Arc::new(move |_| {
            match callback {
                Some(callback) => {
                    let mut list: Vec<*mut c_void> = list
                        .0
                        .iter()
                        .map(|address| *address as *mut c_void)
                        .collect();
                    let raw = owner.handle.as_raw();
                    (callback.function)(
                        raw,
                        list.len() as cl_uint,
                        list.as_mut_ptr(),
                        callback.data,
                    );
                }
                None => list.0.iter().for_each(|address| {
                    drop(owner.context.svm.remove(*address as *mut c_void));
                }),
            }
            Ok(CommandEnd::Complete)
        });
        queue.enqueue(&call, work)
    })
}

/// The work of a copy of memory of the host.
///
/// # Errors
/// When an address is null, or the regions overlap.
///
/// # Safety
/// The contract of the crate.
pub unsafe fn plan_copy(
    to: *mut c_void,
    from: *const c_void,
    size: usize,
) -> CallResult<ScheduledWork> {
    let (target, source) = (UserAddress::new(to)?, UserAddress::new(from)?);
    let (first, other) = (to as usize, from as usize);
    let overlaps = first < other.saturating_add(size) && other < first.saturating_add(size);
    require(
        size == 0 || !overlaps,
        CL_MEM_COPY_OVERLAP,
        "the regions overlap",
    )?;
    let bytes = 0..size as u64;
    Ok(Arc::new(move |_| {
        target
            .bytes(bytes.clone())
            .copy_from_slice(source.bytes(bytes.clone()));
        Ok(CommandEnd::Complete)
    }))
}

/// `clEnqueueSVMMemcpy`
pub unsafe extern "C" fn enqueue_svm_memcpy(
    queue: cl_command_queue,
    is_blocking: cl_bool,
    to: *mut c_void,
    from: *const c_void,
    size: usize,
    wait_count: cl_uint,
    wait_list: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    answer_code("clEnqueueSVMMemcpy", || {
        let queue = find_svm_queue(queue)?;
        let blocks = is_blocking != 0;
        let kind = CL_COMMAND_SVM_MEMCPY;
        let call = read_call(&queue, kind, blocks, wait_count, wait_list, event)?;
        queue.enqueue(&call, plan_copy(to, from, size)?)
    })
}

/// The work of a fill of memory of the host.
///
/// # Errors
/// When the pattern does not fit.
///
/// # Safety
/// The contract of the crate.
pub unsafe fn plan_fill(
    pointer: *mut c_void,
    pattern: Vec<u8>,
    size: usize,
) -> CallResult<ScheduledWork> {
    let target = UserAddress::new(pointer)?;
    let is_aligned = (pointer as usize).is_multiple_of(pattern.len());
    require(
        is_aligned,
        CL_INVALID_VALUE,
        "the address is no multiple of the pattern",
    )?;
    let is_whole = size.is_multiple_of(pattern.len());
    require(
        is_whole,
        CL_INVALID_VALUE,
        "the size is no multiple of the pattern",
    )?;
    Ok(Arc::new(move |_| {
        let bytes = target.bytes(0..size as u64);
        let chunks = bytes.chunks_exact_mut(pattern.len());
        chunks.for_each(|chunk| chunk.copy_from_slice(&pattern));
        Ok(CommandEnd::Complete)
    }))
}

/// `clEnqueueSVMMemFill`
pub unsafe extern "C" fn enqueue_svm_mem_fill(
    queue: cl_command_queue,
    pointer: *mut c_void,
    pattern: *const c_void,
    pattern_size: usize,
    size: usize,
    wait_count: cl_uint,
    wait_list: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    answer_code("clEnqueueSVMMemFill", || {
        let queue = find_svm_queue(queue)?;
        let pattern = read_pattern(pattern, pattern_size)?;
        let kind = CL_COMMAND_SVM_MEMFILL;
        let call = read_call(&queue, kind, false, wait_count, wait_list, event)?;
        queue.enqueue(&call, plan_fill(pointer, pattern, size)?)
    })
}

/// Enqueues a command that does nothing, as memory is where it is needed.
///
/// # Errors
/// When the wait list is none.
///
/// # Safety
/// The contract of the crate.
pub unsafe fn enqueue_nothing(
    queue: &Arc<ClQueue>,
    kind: cl_command_type,
    is_blocking: bool,
    waits: (cl_uint, *const cl_event),
    event: *mut cl_event,
) -> CallResult<()> {
    let call = read_call(queue, kind, is_blocking, waits.0, waits.1, event)?;
    queue.enqueue(&call, Arc::new(|_| Ok(CommandEnd::Complete)))
}

/// `clEnqueueSVMMap`
pub unsafe extern "C" fn enqueue_svm_map(
    queue: cl_command_queue,
    is_blocking: cl_bool,
    _: cl_map_flags,
    pointer: *mut c_void,
    size: usize,
    wait_count: cl_uint,
    wait_list: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    answer_code("clEnqueueSVMMap", || {
        let queue = find_svm_queue(queue)?;
        let is_region = !pointer.is_null() && size > 0;
        require(is_region, CL_INVALID_VALUE, "the region is empty")?;
        let waits = (wait_count, wait_list);
        enqueue_nothing(&queue, CL_COMMAND_SVM_MAP, is_blocking != 0, waits, event)
    })
}

/// `clEnqueueSVMUnmap`
pub unsafe extern "C" fn enqueue_svm_unmap(
    queue: cl_command_queue,
    pointer: *mut c_void,
    wait_count: cl_uint,
    wait_list: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    answer_code("clEnqueueSVMUnmap", || {
        let queue = find_svm_queue(queue)?;
        require(!pointer.is_null(), CL_INVALID_VALUE, "there is no address")?;
        let waits = (wait_count, wait_list);
        enqueue_nothing(&queue, CL_COMMAND_SVM_UNMAP, false, waits, event)
    })
}

/// `clEnqueueSVMMigrateMem`
pub unsafe extern "C" fn enqueue_svm_migrate_mem(
    queue: cl_command_queue,
    count: cl_uint,
    pointers: *mut *const c_void,
    _: *const usize,
    flags: cl_mem_migration_flags,
    wait_count: cl_uint,
    wait_list: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    answer_code("clEnqueueSVMMigrateMem", || {
        let queue = find_svm_queue(queue)?;
        let is_list = count > 0 && !pointers.is_null();
        require(is_list, CL_INVALID_VALUE, "there are no allocations")?;
        let known = CL_MIGRATE_MEM_OBJECT_HOST | CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED;
        require(
            flags & !known == 0,
            CL_INVALID_VALUE,
            "there is no such flag",
        )?;
        let waits = (wait_count, wait_list);
        enqueue_nothing(&queue, CL_COMMAND_SVM_MIGRATE_MEM, false, waits, event)
    })
}

/// Sets an argument to an address.
///
/// # Errors
/// When the kernel takes no pointer there.
pub fn set_pointer_argument(
    kernel: &ClKernel,
    index: cl_uint,
    pointer: *const c_void,
) -> CallResult<()> {
    let parameter = kernel.find_parameter(index)?;
    let is_pointer = parameter.kind == ParameterKind::Buffer;
    require(
        is_pointer,
        CL_INVALID_ARG_VALUE,
        "the kernel takes no pointer there",
    )?;
    let value = if pointer.is_null() {
        ArgumentValue::Null
    } else {
        ArgumentValue::Address(pointer as u64)
    };
    kernel.set_argument(index, value);
    Ok(())
}

/// `clSetKernelArgSVMPointer`
pub unsafe extern "C" fn set_kernel_arg_svm_pointer(
    kernel: cl_kernel,
    index: cl_uint,
    pointer: *const c_void,
) -> cl_int {
    answer_code("clSetKernelArgSVMPointer", || {
        let kernel = find_object::<ClKernel>(kernel)?;
        require_svm(&kernel.program.context)?;
        set_pointer_argument(&kernel, index, pointer)
    })
}

/// `clSetKernelExecInfo`. The processor can access all memory without this list.
pub unsafe extern "C" fn set_kernel_exec_info(
    kernel: cl_kernel,
    name: cl_kernel_exec_info,
    size: usize,
    value: *const c_void,
) -> cl_int {
    answer_code("clSetKernelExecInfo", || {
        let kernel = find_object::<ClKernel>(kernel)?;
        require_svm(&kernel.program.context)?;
        let message = "the value and its size do not fit";
        require(value.is_null() == (size == 0), CL_INVALID_VALUE, message)?;
        let known = [
            CL_KERNEL_EXEC_INFO_SVM_PTRS,
            CL_KERNEL_EXEC_INFO_SVM_FINE_GRAIN_SYSTEM,
            CL_KERNEL_EXEC_INFO_INDIRECT_HOST_ACCESS_INTEL,
            CL_KERNEL_EXEC_INFO_INDIRECT_DEVICE_ACCESS_INTEL,
            CL_KERNEL_EXEC_INFO_INDIRECT_SHARED_ACCESS_INTEL,
            CL_KERNEL_EXEC_INFO_USM_PTRS_INTEL,
        ];
        require(
            known.contains(&name),
            CL_INVALID_VALUE,
            "there is no such fact of kernels",
        )
    })
}
