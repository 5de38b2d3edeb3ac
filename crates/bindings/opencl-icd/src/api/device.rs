//! Functions of devices.

use crate::api::device_facts::DeviceFact;
use crate::boundary::{QueryOutput, answer_code, refuse_query, write_optional};
use crate::clock::read_clock;
use crate::device::ClDevice;
use crate::error::{CallResult, require};
use crate::handle::find_object;
use crate::platform::{list_platform_devices, require_platform};
use opencl_sys::*;
use std::ffi::c_void;
use std::sync::Arc;

/// All types of devices that can be asked for.
const KNOWN_TYPES: cl_device_type = CL_DEVICE_TYPE_DEFAULT
    | CL_DEVICE_TYPE_CPU
    | CL_DEVICE_TYPE_GPU
    | CL_DEVICE_TYPE_ACCELERATOR
    | CL_DEVICE_TYPE_CUSTOM;

/// The devices of some types.
///
/// # Errors
/// When the types do not exist, or there are no such devices.
pub fn select_devices(types: cl_device_type) -> CallResult<Vec<Arc<ClDevice>>> {
    let is_known = types == CL_DEVICE_TYPE_ALL || (types != 0 && types & !KNOWN_TYPES == 0);
    require(
        is_known,
        CL_INVALID_DEVICE_TYPE,
        "there is no such type of device",
    )?;
    let all = list_platform_devices();
    let fits = |(number, device): &(usize, &Arc<ClDevice>)| {
        let own = device.device_type();
        let is_default = *number == 0 && types & CL_DEVICE_TYPE_DEFAULT != 0;
        types == CL_DEVICE_TYPE_ALL || types & own != 0 || is_default
    };
    let found: Vec<_> = all.iter().enumerate().filter(fits).collect();
    require(
        !found.is_empty(),
        CL_DEVICE_NOT_FOUND,
        "there is no device of this type",
    )?;
    Ok(found
        .into_iter()
        .map(|(_, device)| device.clone())
        .collect())
}

/// `clGetDeviceIDs`
pub unsafe extern "C" fn get_device_ids(
    platform: cl_platform_id,
    types: cl_device_type,
    count: cl_uint,
    devices: *mut cl_device_id,
    count_out: *mut cl_uint,
) -> cl_int {
    answer_code("clGetDeviceIDs", || {
        require_platform(platform, true)?;
        let has_room = devices.is_null() || count > 0;
        let is_asked = !(devices.is_null() && count_out.is_null());
        require(
            has_room && is_asked,
            CL_INVALID_VALUE,
            "nothing is asked for",
        )?;
        let found = select_devices(types)?;
        let most = if devices.is_null() { 0 } else { count as usize };
        for (number, device) in found.iter().take(most).enumerate() {
            devices.add(number).write(device.handle.as_raw());
        }
        write_optional(count_out, found.len() as cl_uint);
        Ok(())
    })
}

/// `clGetDeviceInfo`
pub unsafe extern "C" fn get_device_info(
    device: cl_device_id,
    name: cl_device_info,
    size: usize,
    value: *mut c_void,
    size_out: *mut usize,
) -> cl_int {
    answer_code("clGetDeviceInfo", || {
        let device = find_object::<ClDevice>(device)?;
        let output = QueryOutput::new(size, value, size_out);
        match device.find_fact(name) {
            Some(DeviceFact::Uint(value)) => output.write_value(value),
            Some(DeviceFact::Ulong(value)) => output.write_value(value),
            Some(DeviceFact::Size(value)) => output.write_value(value),
            Some(DeviceFact::Handle(value)) => output.write_value(value),
            Some(DeviceFact::Uints(values)) => output.write_list(&values),
            Some(DeviceFact::Sizes(values)) => output.write_list(&values),
            Some(DeviceFact::Versions(values)) => output.write_list(&values),
            Some(DeviceFact::Text(text)) => output.write_text(&text),
            None => Err(refuse_query(name)),
        }
    })
}

/// `clGetDeviceAndHostTimer`
pub unsafe extern "C" fn get_device_and_host_timer(
    device: cl_device_id,
    device_time: *mut cl_ulong,
    host_time: *mut cl_ulong,
) -> cl_int {
    answer_code("clGetDeviceAndHostTimer", || {
        find_object::<ClDevice>(device)?;
        let is_asked = !device_time.is_null() && !host_time.is_null();
        require(is_asked, CL_INVALID_VALUE, "a time has no place")?;
        let now = read_clock();
        device_time.write(now);
        host_time.write(now);
        Ok(())
    })
}

/// `clGetHostTimer`
pub unsafe extern "C" fn get_host_timer(device: cl_device_id, time: *mut cl_ulong) -> cl_int {
    answer_code("clGetHostTimer", || {
        find_object::<ClDevice>(device)?;
        require(!time.is_null(), CL_INVALID_VALUE, "the time has no place")?;
        time.write(read_clock());
        Ok(())
    })
}
