//! Functions that create programs, and tell about them.

use crate::boundary::{
    QueryOutput, answer_code, answer_handle, get_slice, get_text, refuse_query, write_optional,
};
use crate::context::ClContext;
use crate::device::ClDevice;
use crate::error::{CallError, CallResult, require};
use crate::handle::{
    count_references, create_object, find_object, find_objects, release_object, retain_object,
};
use crate::program::{ClProgram, DeviceBuild, ProgramSource};
use crate::program_image::ProgramImage;
use opencl_sys::*;
use spirula_spirv::analysis::{IdDecorations, IdDefinitions};
use spirula_spirv::grammar::Op;
use spirula_spirv::ir::SpirvModule;
use spirula_spirv::reflect::program_variable_bytes;
use spirula_spirv::reflect::spec_constants;
use std::ffi::{c_char, c_uchar, c_void};
use std::sync::Arc;

/// A program of all devices of a context.
fn open_program(context: Arc<ClContext>, source: ProgramSource) -> *mut c_void {
    let devices = context.devices.clone();
    let builds = vec![DeviceBuild::default(); devices.len()];
    let program = create_object(|handle| ClProgram::new(handle, context, devices, source, builds));
    program.handle.as_raw()
}

/// `clCreateProgramWithSource`
pub unsafe extern "C" fn create_program_with_source(
    context: cl_context,
    count: cl_uint,
    strings: *mut *const c_char,
    lengths: *const usize,
    code: *mut cl_int,
) -> cl_program {
    answer_handle("clCreateProgramWithSource", code, || {
        let context = find_object::<ClContext>(context)?;
        let is_list = count > 0 && !strings.is_null();
        require(is_list, CL_INVALID_VALUE, "there is no source")?;
        let mut bytes = Vec::new();
        for (number, string) in get_slice(strings, count as usize)?.iter().enumerate() {
            require(
                !string.is_null(),
                CL_INVALID_VALUE,
                "a part of the source is null",
            )?;
            let length = if lengths.is_null() {
                0
            } else {
                *lengths.add(number)
            };
            match length {
                0 => bytes.extend_from_slice(get_text(*string).as_bytes()),
                length => bytes.extend_from_slice(get_slice(string.cast::<u8>(), length)?),
            }
        }
        // Some callers count the zero at the end.
        while bytes.last() == Some(&0) {
            bytes.pop();
        }
        let text = String::from_utf8_lossy(&bytes).into_owned();
        Ok(open_program(context, ProgramSource::Text(text)))
    })
}

/// `clCreateProgramWithIL`
pub unsafe extern "C" fn create_program_with_il(
    context: cl_context,
    module: *const c_void,
    size: usize,
    code: *mut cl_int,
) -> cl_program {
    answer_handle("clCreateProgramWithIL", code, || {
        let context = find_object::<ClContext>(context)?;
        let is_given = size > 0 && !module.is_null();
        require(is_given, CL_INVALID_VALUE, "there is no module")?;
        let bytes = get_slice(module.cast::<u8>(), size)?;
        let read = SpirvModule::from_bytes(bytes);
        read.map_err(|error| CallError::invalid_value(error.to_string()))?;
        Ok(open_program(context, ProgramSource::Module(bytes.to_vec())))
    })
}

/// `clCreateProgramWithBinary`
pub unsafe extern "C" fn create_program_with_binary(
    context: cl_context,
    count: cl_uint,
    devices: *const cl_device_id,
    lengths: *const usize,
    binaries: *mut *const c_uchar,
    statuses: *mut cl_int,
    code: *mut cl_int,
) -> cl_program {
    answer_handle("clCreateProgramWithBinary", code, || {
        let context = find_object::<ClContext>(context)?;
        let is_list = count > 0 && !devices.is_null() && !lengths.is_null() && !binaries.is_null();
        require(is_list, CL_INVALID_VALUE, "there are no binaries")?;
        let devices: Vec<Arc<ClDevice>> = find_objects(devices, count)?;
        let mut builds = Vec::new();
        let mut failure = None;
        for (number, device) in devices.iter().enumerate() {
            context.find_scheduler(device)?;
            let (length, binary) = (*lengths.add(number), *binaries.add(number));
            let is_given = length > 0 && !binary.is_null();
            let read = if is_given {
                ProgramImage::from_binary(get_slice(binary, length)?)
            } else {
                Err(CallError::invalid_value("a binary is empty"))
            };
            let status = read
                .as_ref()
                .map_or_else(|error| error.code, |_| CL_SUCCESS);
            if !statuses.is_null() {
                statuses.add(number).write(status);
            }
            match read {
                Ok(image) => builds.push(DeviceBuild::with_image(image)),
                Err(error) => failure = failure.or(Some(error)),
            }
        }
        if let Some(error) = failure {
            return Err(error);
        }
        let source = ProgramSource::Binaries;
        let program =
            create_object(|handle| ClProgram::new(handle, context, devices, source, builds));
        Ok(program.handle.as_raw())
    })
}

/// `clCreateProgramWithBuiltInKernels`
pub unsafe extern "C" fn create_program_with_built_in_kernels(
    context: cl_context,
    count: cl_uint,
    devices: *const cl_device_id,
    names: *const c_char,
    code: *mut cl_int,
) -> cl_program {
    answer_handle("clCreateProgramWithBuiltInKernels", code, || {
        let context = find_object::<ClContext>(context)?;
        let is_list = count > 0 && !devices.is_null() && !names.is_null();
        require(is_list, CL_INVALID_VALUE, "there are no devices or names")?;
        for device in find_objects::<ClDevice>(devices, count)? {
            context.find_scheduler(&device)?;
        }
        Err(CallError::invalid_value("no device has built-in kernels"))
    })
}

/// `clRetainProgram`
pub unsafe extern "C" fn retain_program(program: cl_program) -> cl_int {
    answer_code("clRetainProgram", || retain_object::<ClProgram>(program))
}

/// `clReleaseProgram`
pub unsafe extern "C" fn release_program(program: cl_program) -> cl_int {
    answer_code("clReleaseProgram", || release_object::<ClProgram>(program))
}

/// The names of the kernels of a program that was built.
///
/// # Errors
/// `CL_INVALID_PROGRAM_EXECUTABLE`.
pub fn list_kernel_names(program: &ClProgram) -> CallResult<Vec<String>> {
    let images = program.executables();
    let (_, first) = images.first().ok_or_else(|| {
        let message = "the program was not built for any device";
        CallError::new(CL_INVALID_PROGRAM_EXECUTABLE, message)
    })?;
    Ok(first.kernel_names())
}

/// `clGetProgramInfo`
pub unsafe extern "C" fn get_program_info(
    program: cl_program,
    name: cl_program_info,
    size: usize,
    value: *mut c_void,
    size_out: *mut usize,
) -> cl_int {
    answer_code("clGetProgramInfo", || {
        let program = find_object::<ClProgram>(program)?;
        let output = QueryOutput::new(size, value, size_out);
        match name {
            CL_PROGRAM_REFERENCE_COUNT => output.write_value(count_references(&*program)),
            CL_PROGRAM_CONTEXT => output.write_value(program.context.handle.as_raw()),
            CL_PROGRAM_NUM_DEVICES => output.write_value(program.devices.len() as cl_uint),
            CL_PROGRAM_DEVICES => {
                let devices = program.devices.iter().map(|device| device.handle.as_raw());
                output.write_list(&devices.collect::<Vec<_>>())
            }
            CL_PROGRAM_SOURCE => output.write_text(match &program.source {
                ProgramSource::Text(text) => text,
                _ => "",
            }),
            CL_PROGRAM_IL => match &program.source {
                ProgramSource::Module(bytes) => output.write_list(bytes),
                _ => output.write_list::<u8>(&[]),
            },
            CL_PROGRAM_BINARY_SIZES => {
                let sizes = list_binaries(&program)
                    .iter()
                    .map(Vec::len)
                    .collect::<Vec<_>>();
                output.write_list(&sizes)
            }
            CL_PROGRAM_BINARIES => write_binaries(&program, output),
            CL_PROGRAM_NUM_KERNELS => output.write_value(list_kernel_names(&program)?.len()),
            CL_PROGRAM_KERNEL_NAMES => output.write_text(&list_kernel_names(&program)?.join(";")),
            CL_PROGRAM_SCOPE_GLOBAL_CTORS_PRESENT | CL_PROGRAM_SCOPE_GLOBAL_DTORS_PRESENT => {
                output.write_value::<cl_bool>(CL_FALSE)
            }
            _ => Err(refuse_query(name)),
        }
    })
}

/// The binaries of all devices; empty where nothing was built.
fn list_binaries(program: &ClProgram) -> Vec<Vec<u8>> {
    let devices = 0..program.devices.len();
    let images = devices.map(|device| program.build_of(device).image);
    images
        .map(|image| image.map_or_else(Vec::new, |image| image.to_binary()))
        .collect()
}

/// Writes binaries to the addresses that the caller gives.
unsafe fn write_binaries(program: &ClProgram, output: QueryOutput) -> CallResult<()> {
    let (size, value, size_out) = output.parts();
    let binaries = list_binaries(program);
    let bytes = binaries.len() * size_of::<*mut u8>();
    write_optional(size_out, bytes);
    if value.is_null() {
        return Ok(());
    }
    require(
        size >= bytes,
        CL_INVALID_VALUE,
        "there is no room for all addresses",
    )?;
    for (number, binary) in binaries.iter().enumerate() {
        let to = *value.cast::<*mut u8>().add(number);
        if !to.is_null() {
            std::ptr::copy_nonoverlapping(binary.as_ptr(), to, binary.len());
        }
    }
    Ok(())
}

/// `clGetProgramBuildInfo`
pub unsafe extern "C" fn get_program_build_info(
    program: cl_program,
    device: cl_device_id,
    name: cl_program_build_info,
    size: usize,
    value: *mut c_void,
    size_out: *mut usize,
) -> cl_int {
    answer_code("clGetProgramBuildInfo", || {
        let program = find_object::<ClProgram>(program)?;
        let device = find_object::<ClDevice>(device)?;
        let build = program.build_of(program.device_index(&device)?);
        let output = QueryOutput::new(size, value, size_out);
        match name {
            CL_PROGRAM_BUILD_STATUS => output.write_value(build.status),
            CL_PROGRAM_BUILD_OPTIONS => output.write_text(&build.options),
            CL_PROGRAM_BUILD_LOG => output.write_text(&build.log),
            CL_PROGRAM_BINARY_TYPE => {
                let image = build.image.as_ref();
                let kind = image.map_or(CL_PROGRAM_BINARY_TYPE_NONE, |image| image.binary_type);
                output.write_value(kind)
            }
            CL_PROGRAM_BUILD_GLOBAL_VARIABLE_TOTAL_SIZE => {
                let image = build.image.as_ref();
                let bytes = image.map_or(0, |image| program_variable_bytes(&image.module));
                output.write_value(bytes as usize)
            }
            _ => Err(refuse_query(name)),
        }
    })
}

/// `clSetProgramReleaseCallback`
pub unsafe extern "C" fn set_program_release_callback(
    program: cl_program,
    _: Option<unsafe extern "C" fn(cl_program, *mut c_void)>,
    _: *mut c_void,
) -> cl_int {
    answer_code("clSetProgramReleaseCallback", || {
        find_object::<ClProgram>(program)?;
        Err(CallError::invalid_operation(
            "programs have no destructors of global variables",
        ))
    })
}

/// `clSetProgramSpecializationConstant`
pub unsafe extern "C" fn set_program_specialization_constant(
    program: cl_program,
    id: cl_uint,
    size: usize,
    value: *const c_void,
) -> cl_int {
    answer_code("clSetProgramSpecializationConstant", || {
        let program = find_object::<ClProgram>(program)?;
        let ProgramSource::Module(bytes) = &program.source else {
            let message = "only programs of SPIR-V have specialisation constants";
            return Err(CallError::new(CL_INVALID_PROGRAM, message));
        };
        let module = SpirvModule::from_bytes(bytes);
        let module = module.map_err(|error| CallError::invalid_value(error.to_string()))?;
        let definitions = IdDefinitions::from_module(&module);
        let decorations = IdDecorations::from_module(&module);
        let constants = spec_constants(&module, &definitions, &decorations);
        let constant = constants.iter().find(|constant| constant.spec_id == id);
        let message = "the module has no such specialisation constant";
        let constant = constant.ok_or_else(|| CallError::new(CL_INVALID_SPEC_ID, message))?;
        let definition = definitions.get(&module, constant.ty);
        let wanted = definition.map_or(0, |ty| match ty.op() {
            // A Boolean is passed as a byte.
            Op::TypeBool => 1,
            _ => ty.operand_word(0) as usize / 8,
        });
        let is_size = size == wanted && (1..=8).contains(&size) && !value.is_null();
        let message = format!("the constant has {wanted} bytes");
        require(is_size, CL_INVALID_VALUE, message)?;
        let mut bytes = [0; 8];
        bytes[..size].copy_from_slice(get_slice(value.cast::<u8>(), size)?);
        program.set_specialization(id, u64::from_le_bytes(bytes));
        Ok(())
    })
}
