//! Functions that build, compile and link programs.

use crate::boundary::{answer_code, answer_handle, get_slice, get_text, require_array};
use crate::build::{BuildFailure, BuildGoal, BuildRequest, link_images};
use crate::callback::UserCallback;
use crate::context::ClContext;
use crate::device::ClDevice;
use crate::error::{CallError, CallResult, require};
use crate::handle::{create_object, find_object, find_objects};
use crate::program::{ClProgram, DeviceBuild, ProgramSource};
use opencl_sys::*;
use spirula_clang::{BuildOptions, parse_build_options};
use std::ffi::{c_char, c_void};
use std::sync::Arc;

/// A function that is called when a build has ended.
type BuildNotify = unsafe extern "C" fn(cl_program, *mut c_void);

/// The devices of a call that builds: those that are named, or all of the program.
unsafe fn select_build_devices(
    program: &ClProgram,
    count: cl_uint,
    devices: *const cl_device_id,
) -> CallResult<Vec<usize>> {
    require_array(devices, count)?;
    if count == 0 {
        return Ok((0..program.devices.len()).collect());
    }
    let devices: Vec<Arc<ClDevice>> = find_objects(devices, count)?;
    devices
        .iter()
        .map(|device| program.device_index(device))
        .collect()
}

fn check_notify(notify: Option<BuildNotify>, data: *mut c_void) -> CallResult<()> {
    let is_fit = notify.is_some() || data.is_null();
    require(is_fit, CL_INVALID_VALUE, "there is data for no function")
}

fn parse_options(text: &str, goal: cl_int) -> CallResult<BuildOptions> {
    parse_build_options(text).map_err(|error| CallError::new(goal, error.to_string()))
}

/// Builds a program for devices.
fn build_devices(request: &BuildRequest<'_>, devices: &[usize]) -> CallResult<()> {
    let mut failed: Option<BuildFailure> = None;
    for device in devices {
        if let Err(failure) = request.build_for(*device) {
            failed = failed.or(Some(failure));
        }
    }
    match failed {
        None => Ok(()),
        Some(failure) => Err(CallError::new(failure.code, failure.log)),
    }
}

unsafe fn call_notify(notify: Option<BuildNotify>, program: cl_program, data: *mut c_void) {
    if let Some(function) = notify {
        let callback = UserCallback { function, data };
        (callback.function)(program, callback.data);
    }
}

/// `clBuildProgram`
pub unsafe extern "C" fn build_program(
    handle: cl_program,
    count: cl_uint,
    devices: *const cl_device_id,
    options: *const c_char,
    notify: Option<BuildNotify>,
    data: *mut c_void,
) -> cl_int {
    answer_code("clBuildProgram", || {
        let program = find_object::<ClProgram>(handle)?;
        let devices = select_build_devices(&program, count, devices)?;
        check_notify(notify, data)?;
        program.require_no_kernels()?;
        let option_text = get_text(options);
        let goal = BuildGoal::Executable;
        let parsed = parse_options(&option_text, goal.invalid_options())?;
        let request = BuildRequest {
            program: &program,
            goal,
            option_text: &option_text,
            options: &parsed,
            headers: &[],
        };
        let built = build_devices(&request, &devices);
        call_notify(notify, handle, data);
        built
    })
}

/// `clCompileProgram`
pub unsafe extern "C" fn compile_program(
    handle: cl_program,
    count: cl_uint,
    devices: *const cl_device_id,
    options: *const c_char,
    header_count: cl_uint,
    headers: *const cl_program,
    header_names: *mut *const c_char,
    notify: Option<BuildNotify>,
    data: *mut c_void,
) -> cl_int {
    answer_code("clCompileProgram", || {
        let program = find_object::<ClProgram>(handle)?;
        let devices = select_build_devices(&program, count, devices)?;
        check_notify(notify, data)?;
        require_array(headers, header_count)?;
        require_array(header_names, header_count)?;
        let has_source = matches!(
            program.source,
            ProgramSource::Text(_) | ProgramSource::Module(_)
        );
        require(
            has_source,
            CL_INVALID_OPERATION,
            "the program has no source",
        )?;
        program.require_no_kernels()?;
        let headers = read_headers(header_count, headers, header_names)?;
        let option_text = get_text(options);
        let goal = BuildGoal::Object;
        let parsed = parse_options(&option_text, goal.invalid_options())?;
        let request = BuildRequest {
            program: &program,
            goal,
            option_text: &option_text,
            options: &parsed,
            headers: &headers,
        };
        let built = build_devices(&request, &devices);
        call_notify(notify, handle, data);
        built
    })
}

/// The names and texts of headers.
unsafe fn read_headers(
    count: cl_uint,
    headers: *const cl_program,
    names: *mut *const c_char,
) -> CallResult<Vec<(String, String)>> {
    let programs: Vec<Arc<ClProgram>> = find_objects(headers, count)?;
    let names = get_slice(names, count as usize)?;
    let rows = programs.iter().zip(names).map(|(program, name)| {
        let text = match &program.source {
            ProgramSource::Text(text) => text.clone(),
            _ => return Err(CallError::new(CL_INVALID_PROGRAM, "a header has no text")),
        };
        Ok((get_text(*name), text))
    });
    rows.collect()
}

/// `clLinkProgram`
pub unsafe extern "C" fn link_program(
    context: cl_context,
    count: cl_uint,
    devices: *const cl_device_id,
    options: *const c_char,
    input_count: cl_uint,
    inputs: *const cl_program,
    notify: Option<BuildNotify>,
    data: *mut c_void,
    code: *mut cl_int,
) -> cl_program {
    let mut failure = None;
    let made = answer_handle("clLinkProgram", code, || {
        let context = find_object::<ClContext>(context)?;
        require_array(devices, count)?;
        check_notify(notify, data)?;
        let is_list = input_count > 0 && !inputs.is_null();
        require(is_list, CL_INVALID_VALUE, "there are no programs to link")?;
        let inputs: Vec<Arc<ClProgram>> = find_objects(inputs, input_count)?;
        let devices: Vec<Arc<ClDevice>> = match count {
            0 => context.devices.clone(),
            _ => find_objects(devices, count)?,
        };
        for device in &devices {
            context.find_scheduler(device)?;
        }
        let text = get_text(options);
        let parsed = parse_options(&text, CL_INVALID_LINKER_OPTIONS)?;
        let mut builds = Vec::new();
        for device in &devices {
            let (build, failed) = link_for_device(device, &inputs, &parsed, &text)?;
            failure = failure.take().or(failed);
            builds.push(build);
        }
        let source = ProgramSource::Linked;
        let program =
            create_object(|handle| ClProgram::new(handle, context, devices, source, builds));
        Ok(program.handle.as_raw())
    });
    if let Some(failure) = failure {
        // The program is returned with its log.
        crate::boundary::log_message(|| format!("clLinkProgram: {}", failure.log));
        crate::boundary::write_optional(code, failure.code);
    }
    if !made.is_null() {
        call_notify(notify, made, data);
    }
    made
}

/// Links the images of a device.
fn link_for_device(
    device: &ClDevice,
    inputs: &[Arc<ClProgram>],
    options: &BuildOptions,
    text: &str,
) -> CallResult<(DeviceBuild, Option<BuildFailure>)> {
    let mut images = Vec::new();
    let mut has_uniform_groups = options.has_uniform_groups;
    for input in inputs {
        let build = input.build_of(input.device_index(device)?);
        has_uniform_groups |= build.has_uniform_groups;
        let image = build.image.filter(|image| image.is_linkable());
        let message = "a program was not compiled for the device";
        images.push(image.ok_or_else(|| CallError::new(CL_INVALID_OPERATION, message))?);
    }
    Ok(match link_images(&images, options) {
        Ok(image) => {
            let build = DeviceBuild {
                status: CL_BUILD_SUCCESS,
                options: text.to_owned(),
                log: String::new(),
                has_uniform_groups,
                image: Some(Arc::new(image)),
            };
            (build, None)
        }
        Err(failure) => {
            let build = DeviceBuild {
                status: CL_BUILD_ERROR,
                options: text.to_owned(),
                log: failure.log.clone(),
                has_uniform_groups,
                image: None,
            };
            (build, Some(failure))
        }
    })
}
