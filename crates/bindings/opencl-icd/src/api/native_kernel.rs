//! Native kernels: functions of the caller that run in the order of commands, on the processor.

use crate::api::buffer_commands::{find_buffer, read_call};
use crate::boundary::{answer_code, get_slice};
use crate::callback::UserCallback;
use crate::error::{CallError, CallResult, require};
use crate::handle::find_object;
use crate::memory::ClMemory;
use crate::memory_store::StoreAccess;
use crate::queue::ClQueue;
use crate::scheduler::{CommandEnd, ScheduledWork};
use opencl_sys::*;
use std::ffi::c_void;
use std::sync::Arc;

/// A function of the caller. It gets a copy of its arguments.
type NativeFunction = unsafe extern "C" fn(*mut c_void);

/// Bytes of an address among the arguments.
const ADDRESS_BYTES: usize = size_of::<*mut c_void>();

/// The arguments of a native kernel: bytes, in which addresses of buffers are put.
struct NativeArguments {
    bytes: Vec<u8>,
    /// The buffers, with the positions of their addresses. Null is put for none.
    buffers: Vec<(usize, Option<Arc<ClMemory>>)>,
}

impl NativeArguments {
    /// Reads the arguments of a call.
    ///
    /// # Errors
    /// When the lists do not fit each other, or an object is no buffer.
    unsafe fn read(
        queue: &ClQueue,
        arguments: *const c_void,
        size: usize,
        count: cl_uint,
        memories: *const cl_mem,
        places: *const *const c_void,
    ) -> CallResult<NativeArguments> {
        let code = CL_INVALID_VALUE;
        let is_fit = arguments.is_null() == (size == 0) && (count == 0 || size > 0);
        require(is_fit, code, "the arguments and their size do not fit")?;
        let has_none = count == 0;
        let is_list = memories.is_null() == has_none && places.is_null() == has_none;
        require(is_list, code, "the buffers and their number do not fit")?;
        let memories = get_slice(memories, count as usize)?;
        let places = get_slice(places, count as usize)?;
        let mut buffers = Vec::with_capacity(memories.len());
        for (memory, place) in memories.iter().zip(places) {
            let position = (*place as usize).checked_sub(arguments as usize);
            let position = position.filter(|at| {
                let end = at.checked_add(ADDRESS_BYTES);
                end.is_some_and(|end| end <= size)
            });
            let message = "an address is not among the arguments";
            let position = position.ok_or_else(|| CallError::new(code, message))?;
            let memory = if memory.is_null() {
                None
            } else {
                Some(find_buffer(queue, *memory)?)
            };
            buffers.push((position, memory));
        }
        Ok(NativeArguments {
            bytes: get_slice(arguments.cast::<u8>(), size)?.to_vec(),
            buffers,
        })
    }

    /// The work of a function with the arguments.
    fn into_work(self, callback: UserCallback<NativeFunction>) -> ScheduledWork {
        Arc::new(move |scheduler| {
            // Elements of 16 bytes suit the arguments of any type.
            let mut copy = vec![0_u128; self.bytes.len().div_ceil(size_of::<u128>())];
            // SAFETY: the copy has at least as many bytes, and any value is good for them.
            let bytes = unsafe {
                std::slice::from_raw_parts_mut(copy.as_mut_ptr().cast::<u8>(), self.bytes.len())
            };
            bytes.copy_from_slice(&self.bytes);
            for (position, memory) in &self.buffers {
                let address = match memory {
                    None => 0,
                    Some(memory) => {
                        memory.store.acquire(scheduler, StoreAccess::ReadWrite)?;
                        let first = memory.store.host_address()?;
                        first.as_ptr() as usize + memory.offset as usize
                    }
                };
                let place = &mut bytes[*position..*position + ADDRESS_BYTES];
                place.copy_from_slice(&address.to_ne_bytes());
            }
            let pointer = if self.bytes.is_empty() {
                std::ptr::null_mut()
            } else {
                copy.as_mut_ptr().cast()
            };
            // SAFETY: the caller gave the function for such a call.
            unsafe { (callback.function)(pointer) };
            Ok(CommandEnd::Complete)
        })
    }
}

/// `clEnqueueNativeKernel`
pub unsafe extern "C" fn enqueue_native_kernel(
    queue: cl_command_queue,
    function: Option<NativeFunction>,
    arguments: *mut c_void,
    size: usize,
    count: cl_uint,
    memories: *const cl_mem,
    places: *mut *const c_void,
    wait_count: cl_uint,
    wait_list: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    answer_code("clEnqueueNativeKernel", || {
        let queue = find_object::<ClQueue>(queue)?;
        let message = "the device runs no functions of the host";
        let is_host = queue.device.is_processor();
        require(is_host, CL_INVALID_OPERATION, message)?;
        let missing = || CallError::invalid_value("there is no function");
        let function = function.ok_or_else(missing)?;
        let arguments = NativeArguments::read(&queue, arguments, size, count, memories, places)?;
        let kind = CL_COMMAND_NATIVE_KERNEL;
        let call = read_call(&queue, kind, false, wait_count, wait_list, event)?;
        let data = std::ptr::null_mut();
        queue.enqueue(&call, arguments.into_work(UserCallback { function, data }))
    })
}
