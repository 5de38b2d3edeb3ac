//! Functions of contexts.

use crate::api::device::select_devices;
use crate::boundary::{QueryOutput, answer_code, answer_handle, read_properties, refuse_query};
use crate::callback::UserCallback;
use crate::context::{ClContext, NotifyFunction};
use crate::device::ClDevice;
use crate::error::{CallError, CallResult, require};
use crate::handle::{
    count_references, create_object, find_object, find_objects, release_object, retain_object,
};
use crate::platform::require_platform;
use opencl_sys::*;
use std::ffi::c_void;
use std::sync::Arc;

/// Reads the properties of a context.
unsafe fn check_properties(
    properties: *const cl_context_properties,
) -> CallResult<Vec<cl_context_properties>> {
    let (pairs, words) = read_properties(properties);
    for (number, (name, value)) in pairs.iter().enumerate() {
        let is_repeated = pairs[..number].iter().any(|(other, _)| other == name);
        require(
            !is_repeated,
            CL_INVALID_PROPERTY,
            "a property is given twice",
        )?;
        match *name {
            CL_CONTEXT_PLATFORM => require_platform(*value as *mut c_void, false)?,
            CL_CONTEXT_INTEROP_USER_SYNC => {
                let is_bool = *value == 0 || *value == 1;
                require(
                    is_bool,
                    CL_INVALID_PROPERTY,
                    "the property is neither true nor false",
                )?;
            }
            name => {
                let message = format!("there is no property {name:#x}");
                return Err(CallError::new(CL_INVALID_PROPERTY, message));
            }
        }
    }
    Ok(words)
}

fn open_context(
    devices: Vec<Arc<ClDevice>>,
    properties: Vec<cl_context_properties>,
    notify: Option<NotifyFunction>,
    data: *mut c_void,
) -> CallResult<*mut c_void> {
    let is_fit = notify.is_some() || data.is_null();
    require(is_fit, CL_INVALID_VALUE, "there is data for no function")?;
    let mut distinct: Vec<Arc<ClDevice>> = Vec::new();
    for device in devices {
        if !distinct.iter().any(|known| Arc::ptr_eq(known, &device)) {
            distinct.push(device);
        }
    }
    let schedulers = distinct.iter().map(|device| device.open_scheduler());
    let schedulers = schedulers.collect::<CallResult<Vec<_>>>()?;
    let notify = notify.map(|function| UserCallback { function, data });
    let context =
        create_object(|handle| ClContext::new(handle, distinct, schedulers, properties, notify));
    Ok(context.handle.as_raw())
}

/// `clCreateContext`
pub unsafe extern "C" fn create_context(
    properties: *const cl_context_properties,
    count: cl_uint,
    devices: *const cl_device_id,
    notify: Option<NotifyFunction>,
    data: *mut c_void,
    code: *mut cl_int,
) -> cl_context {
    answer_handle("clCreateContext", code, || {
        let properties = check_properties(properties)?;
        let is_list = !devices.is_null() && count > 0;
        require(is_list, CL_INVALID_VALUE, "there are no devices")?;
        open_context(find_objects(devices, count)?, properties, notify, data)
    })
}

/// `clCreateContextFromType`
pub unsafe extern "C" fn create_context_from_type(
    properties: *const cl_context_properties,
    types: cl_device_type,
    notify: Option<NotifyFunction>,
    data: *mut c_void,
    code: *mut cl_int,
) -> cl_context {
    answer_handle("clCreateContextFromType", code, || {
        let properties = check_properties(properties)?;
        open_context(select_devices(types)?, properties, notify, data)
    })
}

/// `clRetainContext`
pub unsafe extern "C" fn retain_context(context: cl_context) -> cl_int {
    answer_code("clRetainContext", || retain_object::<ClContext>(context))
}

/// `clReleaseContext`
pub unsafe extern "C" fn release_context(context: cl_context) -> cl_int {
    answer_code("clReleaseContext", || release_object::<ClContext>(context))
}

/// `clGetContextInfo`
pub unsafe extern "C" fn get_context_info(
    context: cl_context,
    name: cl_context_info,
    size: usize,
    value: *mut c_void,
    size_out: *mut usize,
) -> cl_int {
    answer_code("clGetContextInfo", || {
        let context = find_object::<ClContext>(context)?;
        let output = QueryOutput::new(size, value, size_out);
        match name {
            CL_CONTEXT_REFERENCE_COUNT => output.write_value(count_references(&*context)),
            CL_CONTEXT_NUM_DEVICES => output.write_value(context.devices.len() as cl_uint),
            CL_CONTEXT_DEVICES => {
                let devices = context.devices.iter().map(|device| device.handle.as_raw());
                output.write_list(&devices.collect::<Vec<_>>())
            }
            CL_CONTEXT_PROPERTIES => output.write_list(&context.properties),
            _ => Err(refuse_query(name)),
        }
    })
}

/// `clSetContextDestructorCallback`
pub unsafe extern "C" fn set_context_destructor_callback(
    context: cl_context,
    function: Option<unsafe extern "C" fn(cl_context, *mut c_void)>,
    data: *mut c_void,
) -> cl_int {
    answer_code("clSetContextDestructorCallback", || {
        let context = find_object::<ClContext>(context)?;
        let missing = || CallError::invalid_value("there is no function");
        let function = function.ok_or_else(missing)?;
        let callback = UserCallback { function, data };
        context.destructors.add(callback);
        Ok(())
    })
}
