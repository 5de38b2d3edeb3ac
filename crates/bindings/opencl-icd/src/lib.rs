//! OpenCL driver: programs of OpenCL run on Spirula's devices.
//!
//! The loader of OpenCL finds this library by a vendor file and calls [`clIcdGetPlatformIDsKHR`]. It calls all other
//! functions through the table that every handle points to (`dispatch`).
//!
//! - `api`: the functions, a file for each kind of object. `boundary`: answers to C. `handle`: objects that callers hold.
//!   `callback`, `destructors`: functions of the caller.
//! - `platform`, `device`, `context`, `queue`, `event`, `memory`, `sampler`, `program`, `kernel`: the objects.
//! - `command_buffer`: commands that are recorded once, and enqueued as one command. `device_queue`: queues for kernels.
//! - `scheduler`, `progress`: the order of commands on a device, and those who wait for them.
//! - `memory_store`: bytes of memory objects on the host and on devices. `svm`: memory that both address alike. `region`: boxes.
//! - `build`, `program_image`: programs from sources, by Clang and the front end for LLVM IR, and from modules of SPIR-V.
//!
//! # Safety
//! One contract holds for every function. Pointers are null, or point to as many elements as the other arguments say, for as
//! long as OpenCL says. Handles may be anything: they are looked up. Functions may be called by several threads at once.

#![allow(unsafe_code)] // Every function takes pointers of C.
#![allow(unsafe_op_in_unsafe_fn)] // The contract above is the reason of each operation on a pointer.
#![allow(clippy::missing_safety_doc)] // As above.
#![allow(clippy::too_many_arguments)] // OpenCL defines them.

mod api;
mod boundary;
mod build;
mod callback;
mod clock;
mod command_buffer;
mod context;
mod destructors;
mod device;
mod device_queue;
mod device_version;
mod dispatch;
mod error;
mod event;
mod handle;
mod kernel;
mod kernel_facts;
mod memory;
mod memory_store;
mod platform;
mod program;
mod program_image;
mod progress;
mod queue;
mod region;
mod sampler;
mod scheduler;
mod svm;

use opencl_sys::{cl_int, cl_platform_id, cl_platform_info, cl_uint};
use std::ffi::{c_char, c_void};

/// The platforms of this library, for the loader.
#[unsafe(no_mangle)]
#[allow(non_snake_case, reason = "OpenCL defines the name")]
pub unsafe extern "C" fn clIcdGetPlatformIDsKHR(
    count: cl_uint,
    platforms: *mut cl_platform_id,
    count_out: *mut cl_uint,
) -> cl_int {
    handle::set_dispatch_table(&dispatch::DISPATCH_TABLE);
    api::platform::get_platform_ids(count, platforms, count_out)
}

/// A function by its name, for the loader.
#[unsafe(no_mangle)]
#[allow(non_snake_case, reason = "OpenCL defines the name")]
pub unsafe extern "C" fn clGetExtensionFunctionAddress(name: *const c_char) -> *mut c_void {
    handle::set_dispatch_table(&dispatch::DISPATCH_TABLE);
    api::extension::get_extension_function_address(name)
}

/// Facts of the platform, for the loader.
#[unsafe(no_mangle)]
#[allow(non_snake_case, reason = "OpenCL defines the name")]
pub unsafe extern "C" fn clGetPlatformInfo(
    platform: cl_platform_id,
    name: cl_platform_info,
    size: usize,
    value: *mut c_void,
    size_out: *mut usize,
) -> cl_int {
    handle::set_dispatch_table(&dispatch::DISPATCH_TABLE);
    api::platform::get_platform_info(platform, name, size, value, size_out)
}
