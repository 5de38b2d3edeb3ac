//! Functions of extensions, which callers find by their names.

use crate::api::command_buffer_commands as recorder;
use crate::api::{
    command_buffer, context, kernel, launch, platform, program, queue, sub_device, usm,
};
use crate::boundary::get_text;
use crate::platform::require_platform;
use opencl_sys::{cl_int, cl_platform_id, cl_uint};
use std::ffi::{c_char, c_void};
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
        "clCreateCommandBufferKHR" => command_buffer::create_command_buffer,
        "clFinalizeCommandBufferKHR" => command_buffer::finalize_command_buffer,
        "clRetainCommandBufferKHR" => command_buffer::retain_command_buffer,
        "clReleaseCommandBufferKHR" => command_buffer::release_command_buffer,
        "clEnqueueCommandBufferKHR" => command_buffer::enqueue_command_buffer,
        "clGetCommandBufferInfoKHR" => command_buffer::get_command_buffer_info,
        "clCommandBarrierWithWaitListKHR" => recorder::command_barrier_with_wait_list,
        "clCommandCopyBufferKHR" => recorder::command_copy_buffer,
        "clCommandCopyBufferRectKHR" => recorder::command_copy_buffer_rect,
        "clCommandCopyBufferToImageKHR" => recorder::command_copy_buffer_to_image,
        "clCommandCopyImageKHR" => recorder::command_copy_image,
        "clCommandCopyImageToBufferKHR" => recorder::command_copy_image_to_buffer,
        "clCommandFillBufferKHR" => recorder::command_fill_buffer,
        "clCommandFillImageKHR" => recorder::command_fill_image,
        "clCommandNDRangeKernelKHR" => recorder::command_nd_range_kernel,
        "clCommandSVMMemcpyKHR" => recorder::command_svm_memcpy,
        "clCommandSVMMemFillKHR" => recorder::command_svm_mem_fill,
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
        "clCreateSubDevicesEXT" => sub_device::create_sub_devices_ext,
        "clRetainDeviceEXT" => sub_device::retain_device,
        "clReleaseDeviceEXT" => sub_device::release_device,
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

/// `clGetExtensionFunctionAddressForPlatform`
pub unsafe extern "C" fn get_extension_function_address_for_platform(
    platform: cl_platform_id,
    name: *const c_char,
) -> *mut c_void {
    match require_platform(platform, false) {
        Ok(()) => get_extension_function_address(name),
        Err(_) => ptr::null_mut(),
    }
}

/// `clGetExtensionFunctionAddress`
pub unsafe extern "C" fn get_extension_function_address(name: *const c_char) -> *mut c_void {
    find_extension_function(&get_text(name))
}
