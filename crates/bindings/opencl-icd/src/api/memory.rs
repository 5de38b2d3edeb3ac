//! Functions of all memory objects.

use crate::boundary::{QueryOutput, answer_code, refuse_query};
use crate::callback::UserCallback;
use crate::error::{CallError, CallResult, require};
use crate::event::{EventOutput, EventWaitList};
use crate::handle::{count_references, find_object, find_objects, release_object, retain_object};
use crate::memory::ClMemory;
use crate::queue::{ClQueue, CommandOrder, EnqueueCall};
use opencl_sys::*;
use std::ffi::c_void;
use std::ptr;

/// Flags about the accesses of kernels.
pub const ACCESS_FLAGS: cl_mem_flags = CL_MEM_READ_WRITE | CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY;

/// Flags of which at most one may be set, by group.
const EXCLUSIVE_FLAGS: [cl_mem_flags; 2] = [
    ACCESS_FLAGS,
    CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS,
];

/// Flags about the memory of the caller.
pub const HOST_POINTER_FLAGS: cl_mem_flags =
    CL_MEM_USE_HOST_PTR | CL_MEM_ALLOC_HOST_PTR | CL_MEM_COPY_HOST_PTR;

/// All flags.
const KNOWN_FLAGS: cl_mem_flags = EXCLUSIVE_FLAGS[0]
    | EXCLUSIVE_FLAGS[1]
    | HOST_POINTER_FLAGS
    | CL_MEM_KERNEL_READ_AND_WRITE
    | CL_MEM_SVM_FINE_GRAIN_BUFFER
    | CL_MEM_SVM_ATOMICS;

/// Refuses flags that do not exist or exclude each other.
///
/// # Errors
/// `CL_INVALID_VALUE`.
pub fn check_flags(flags: cl_mem_flags) -> CallResult<()> {
    let is_known = flags & !KNOWN_FLAGS == 0;
    require(
        is_known,
        CL_INVALID_VALUE,
        "there is no such flag of memory objects",
    )?;
    let mut groups = EXCLUSIVE_FLAGS.iter();
    let is_single = groups.all(|group| (flags & group).count_ones() <= 1);
    let uses = flags & CL_MEM_USE_HOST_PTR != 0;
    let is_single =
        is_single && !(uses && flags & (CL_MEM_ALLOC_HOST_PTR | CL_MEM_COPY_HOST_PTR) != 0);
    require(is_single, CL_INVALID_VALUE, "flags exclude each other")
}

/// Refuses memory of the caller without a flag, or a flag without memory.
///
/// # Errors
/// `CL_INVALID_HOST_PTR`.
pub fn check_host_pointer(flags: cl_mem_flags, pointer: *const c_void) -> CallResult<()> {
    let is_wanted = flags & (CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR) != 0;
    let is_fit = is_wanted != pointer.is_null();
    let message = "the memory of the caller does not fit the flags";
    require(is_fit, CL_INVALID_HOST_PTR, message)
}

/// `clRetainMemObject`
pub unsafe extern "C" fn retain_mem_object(memory: cl_mem) -> cl_int {
    answer_code("clRetainMemObject", || retain_object::<ClMemory>(memory))
}

/// `clReleaseMemObject`
pub unsafe extern "C" fn release_mem_object(memory: cl_mem) -> cl_int {
    answer_code("clReleaseMemObject", || release_object::<ClMemory>(memory))
}

/// `clSetMemObjectDestructorCallback`
pub unsafe extern "C" fn set_mem_object_destructor_callback(
    memory: cl_mem,
    function: Option<unsafe extern "C" fn(cl_mem, *mut c_void)>,
    data: *mut c_void,
) -> cl_int {
    answer_code("clSetMemObjectDestructorCallback", || {
        let memory = find_object::<ClMemory>(memory)?;
        let missing = || CallError::invalid_value("there is no function");
        let function = function.ok_or_else(missing)?;
        let callback = UserCallback { function, data };
        memory.destructors.add(callback);
        Ok(())
    })
}

/// `clGetMemObjectInfo`
pub unsafe extern "C" fn get_mem_object_info(
    memory: cl_mem,
    name: cl_mem_info,
    size: usize,
    value: *mut c_void,
    size_out: *mut usize,
) -> cl_int {
    answer_code("clGetMemObjectInfo", || {
        let memory = find_object::<ClMemory>(memory)?;
        let output = QueryOutput::new(size, value, size_out);
        match name {
            CL_MEM_TYPE => output.write_value(memory.kind),
            CL_MEM_FLAGS => output.write_value(memory.flags),
            CL_MEM_SIZE => output.write_value(memory.size),
            CL_MEM_HOST_PTR => output.write_value(match memory.flags & CL_MEM_USE_HOST_PTR {
                0 => 0,
                _ => memory.host_pointer,
            }),
            CL_MEM_MAP_COUNT => output.write_value(memory.count_mappings()),
            CL_MEM_REFERENCE_COUNT => output.write_value(count_references(&*memory)),
            CL_MEM_CONTEXT => output.write_value(memory.context.handle.as_raw()),
            CL_MEM_ASSOCIATED_MEMOBJECT => {
                let parent = memory.parent.as_ref();
                output.write_value(parent.map_or(ptr::null_mut(), |p| p.handle.as_raw()))
            }
            CL_MEM_OFFSET => output.write_value(memory.offset as usize),
            CL_MEM_USES_SVM_POINTER => {
                let pointer = memory.host_pointer as *const c_void;
                let uses = memory.flags & CL_MEM_USE_HOST_PTR != 0;
                let found = uses && memory.context.svm.find(pointer).is_some();
                output.write_value(cl_bool::from(found))
            }
            CL_MEM_PROPERTIES => output.write_list(&memory.property_words),
            _ => Err(refuse_query(name)),
        }
    })
}

/// `clEnqueueMigrateMemObjects`
pub unsafe extern "C" fn enqueue_migrate_mem_objects(
    queue: cl_command_queue,
    count: cl_uint,
    objects: *const cl_mem,
    flags: cl_mem_migration_flags,
    wait_count: cl_uint,
    wait_list: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    answer_code("clEnqueueMigrateMemObjects", || {
        let queue = find_object::<ClQueue>(queue)?;
        let is_list = count > 0 && !objects.is_null();
        require(is_list, CL_INVALID_VALUE, "there are no objects to migrate")?;
        let known = CL_MIGRATE_MEM_OBJECT_HOST | CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED;
        require(
            flags & !known == 0,
            CL_INVALID_VALUE,
            "there is no such flag",
        )?;
        for memory in find_objects::<ClMemory>(objects, count)? {
            queue
                .context
                .require_same(&memory.context, CL_INVALID_CONTEXT)?;
        }
        // Memory moves by itself when a device needs it.
        let call = EnqueueCall {
            kind: CL_COMMAND_MIGRATE_MEM_OBJECTS,
            waits: EventWaitList::read(&queue.context, wait_count, wait_list)?,
            is_blocking: false,
            event: EventOutput::new(event),
        };
        queue.enqueue_marker(&call, CommandOrder::Usual);
        Ok(())
    })
}
