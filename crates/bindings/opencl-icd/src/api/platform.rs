//! Functions of platforms.

use crate::api::device_extensions::PLATFORM_EXTENSIONS;
use crate::boundary::{QueryOutput, answer_code, refuse_query, write_optional};
use crate::device_version::{VERSION_3_0, build_name_versions};
use crate::error::{CallError, require};
use crate::platform::{PLATFORM_VERSION, platform_handle, require_platform};
use opencl_sys::*;
use spirula_runtime::OPENCL_PLATFORM_NAME;
use std::ffi::c_void;

/// `clGetPlatformIDs`
pub unsafe extern "C" fn get_platform_ids(
    count: cl_uint,
    platforms: *mut cl_platform_id,
    count_out: *mut cl_uint,
) -> cl_int {
    answer_code("clGetPlatformIDs", || {
        let has_room = platforms.is_null() || count > 0;
        let is_asked = !(platforms.is_null() && count_out.is_null());
        require(
            has_room && is_asked,
            CL_INVALID_VALUE,
            "nothing is asked for",
        )?;
        if crate::platform::list_platform_devices().is_empty() {
            write_optional(count_out, 0);
            return Err(CallError::new(
                CL_PLATFORM_NOT_FOUND_KHR,
                "there is no device",
            ));
        }
        write_optional(platforms, platform_handle());
        write_optional(count_out, 1);
        Ok(())
    })
}

/// `clGetPlatformInfo`
pub unsafe extern "C" fn get_platform_info(
    platform: cl_platform_id,
    name: cl_platform_info,
    size: usize,
    value: *mut c_void,
    size_out: *mut usize,
) -> cl_int {
    answer_code("clGetPlatformInfo", || {
        require_platform(platform, true)?;
        let output = QueryOutput::new(size, value, size_out);
        match name {
            CL_PLATFORM_PROFILE => output.write_text("FULL_PROFILE"),
            CL_PLATFORM_VERSION => output.write_text(PLATFORM_VERSION),
            CL_PLATFORM_NAME => output.write_text(OPENCL_PLATFORM_NAME),
            CL_PLATFORM_VENDOR => output.write_text("The Spirula project"),
            CL_PLATFORM_EXTENSIONS => output.write_text(&PLATFORM_EXTENSIONS.join(" ")),
            CL_PLATFORM_ICD_SUFFIX_KHR => output.write_text("SPIRULA"),
            CL_PLATFORM_NUMERIC_VERSION => output.write_value(VERSION_3_0),
            CL_PLATFORM_EXTENSIONS_WITH_VERSION => {
                output.write_list(&build_name_versions(PLATFORM_EXTENSIONS))
            }
            CL_PLATFORM_HOST_TIMER_RESOLUTION => output.write_value::<cl_ulong>(1),
            _ => Err(refuse_query(name)),
        }
    })
}

/// `clUnloadPlatformCompiler`
pub unsafe extern "C" fn unload_platform_compiler(platform: cl_platform_id) -> cl_int {
    answer_code("clUnloadPlatformCompiler", || {
        require_platform(platform, false)
    })
}

/// `clUnloadCompiler`
pub unsafe extern "C" fn unload_compiler() -> cl_int {
    CL_SUCCESS
}
