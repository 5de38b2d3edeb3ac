//! Functions of extensions, which callers find by their names.

use crate::api::{context, device, kernel, launch, platform, program, queue, usm};
use opencl_sys::{cl_int, cl_platform_id, cl_uint};
use std::ffi::c_void;
use std::ptr;

/// Functions by their names.
macro_rules! find_by_name {
    ($wanted:expr, $($name:literal => $function:path,)*) => {
        match $wanted {
            $($name => $function as *mut c_void,)*
            _ => ptr::null_mut(),
        }
    };
}

/// The function of an extension, or null.
pub fn find_extension_function(name: &str) -> *mut c_void {
    find_by_name! { name,
        "clIcdGetPlatformIDsKHR" => icd_get_platform_ids,
        "clCreateCommandQueueWithPropertiesKHR" => queue::create_command_queue_with_properties,
        "clCreateProgramWithILKHR" => program::create_program_with_il,
        "clGetKernelSubGroupInfoKHR" => kernel::get_kernel_sub_group_info,
        "clGetKernelSuggestedLocalWorkSizeKHR" => launch::get_kernel_suggested_local_work_size,
        "clHostMemAllocINTEL" => usm::host_mem_alloc,
        "clDeviceMemAllocINTEL" => usm::device_mem_alloc,
        "clSharedMemAllocINTEL" => usm::shared_mem_alloc,
        "clMemFreeINTEL" => usm::mem_free,
        "clMemBlockingFreeINTEL" => usm::mem_blocking_free,
        "clGetMemAllocInfoINTEL" => usm::get_mem_alloc_info,
        "clSetKernelArgMemPointerINTEL" => usm::set_kernel_arg_mem_pointer,
        "clEnqueueMemFillINTEL" => usm::enqueue_mem_fill,
        "clEnqueueMemsetINTEL" => usm::enqueue_memset,
        "clEnqueueMemcpyINTEL" => usm::enqueue_memcpy,
        "clEnqueueMigrateMemINTEL" => usm::enqueue_migrate_mem,
        "clEnqueueMemAdviseINTEL" => usm::enqueue_mem_advise,
        "clCreateSubDevicesEXT" => device::create_sub_devices_ext,
        "clRetainDeviceEXT" => device::retain_device,
        "clReleaseDeviceEXT" => device::release_device,
        "clGetContextInfo" => context::get_context_info,
        "clGetPlatformInfo" => platform::get_platform_info,
    }
}

/// `clIcdGetPlatformIDsKHR`
pub unsafe extern "C" fn icd_get_platform_ids(
    count: cl_uint,
    platforms: *mut cl_platform_id,
    count_out: *mut cl_uint,
) -> cl_int {
    platform::get_platform_ids(count, platforms, count_out)
}
