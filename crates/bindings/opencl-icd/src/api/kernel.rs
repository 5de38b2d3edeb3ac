//! Functions of kernels.

use crate::api::program::list_kernel_names;
use crate::boundary::{
    QueryOutput, answer_code, answer_handle, get_slice, get_text, refuse_query, write_optional,
};
use crate::device::ClDevice;
use crate::device_queue::ClDeviceQueue;
use crate::error::{CallError, CallResult, require};
use crate::handle::{
    HandleObject, count_references, find_object, release_object, retain_object, try_create_object,
};
use crate::kernel::{ArgumentSlot, ArgumentValue, ClKernel, ParameterKind};
use crate::memory::ClMemory;
use crate::program::ClProgram;
use crate::sampler::ClSampler;
use opencl_sys::*;
use spirula_spirv::grammar::enumerants::{AccessQualifier, StorageClass};
use std::ffi::{c_char, c_void};
use std::sync::Arc;

/// The number that stands for any queue of a device.
const ANY_QUEUE: u64 = 1;

/// Makes the object of a kernel of a program.
fn open_kernel(program: &Arc<ClProgram>, name: &str) -> CallResult<Arc<ClKernel>> {
    let known = list_kernel_names(program)?;
    if !known.iter().any(|known| known == name) {
        let message = format!(
            "the program has no kernel {name}; it has {}",
            known.join(", ")
        );
        return Err(CallError::new(CL_INVALID_KERNEL_NAME, message));
    }
    try_create_object(|handle| ClKernel::new(handle, program, name))
}

/// `clCreateKernel`
pub unsafe extern "C" fn create_kernel(
    program: cl_program,
    name: *const c_char,
    code: *mut cl_int,
) -> cl_kernel {
    answer_handle("clCreateKernel", code, || {
        let program = find_object::<ClProgram>(program)?;
        require(!name.is_null(), CL_INVALID_VALUE, "there is no name")?;
        Ok(open_kernel(&program, &get_text(name))?.handle.as_raw())
    })
}

/// `clCreateKernelsInProgram`
pub unsafe extern "C" fn create_kernels_in_program(
    program: cl_program,
    count: cl_uint,
    kernels: *mut cl_kernel,
    count_out: *mut cl_uint,
) -> cl_int {
    answer_code("clCreateKernelsInProgram", || {
        let program = find_object::<ClProgram>(program)?;
        let names = list_kernel_names(&program)?;
        if !kernels.is_null() {
            let has_room = count as usize >= names.len();
            require(
                has_room,
                CL_INVALID_VALUE,
                "there is no room for all kernels",
            )?;
            for (number, name) in names.iter().enumerate() {
                let kernel = open_kernel(&program, name)?;
                kernels.add(number).write(kernel.handle.as_raw());
            }
        }
        write_optional(count_out, names.len() as cl_uint);
        Ok(())
    })
}

/// `clCloneKernel`
pub unsafe extern "C" fn clone_kernel(kernel: cl_kernel, code: *mut cl_int) -> cl_kernel {
    answer_handle("clCloneKernel", code, || {
        let kernel = find_object::<ClKernel>(kernel)?;
        let copy = open_kernel(&kernel.program, &kernel.name)?;
        copy.copy_arguments(&kernel);
        Ok(copy.handle.as_raw())
    })
}

/// `clRetainKernel`
pub unsafe extern "C" fn retain_kernel(kernel: cl_kernel) -> cl_int {
    answer_code("clRetainKernel", || retain_object::<ClKernel>(kernel))
}

/// `clReleaseKernel`
pub unsafe extern "C" fn release_kernel(kernel: cl_kernel) -> cl_int {
    answer_code("clReleaseKernel", || release_object::<ClKernel>(kernel))
}

/// An object that an argument names by its handle.
unsafe fn find_argument<T: HandleObject>(
    size: usize,
    value: *const c_void,
    code: cl_int,
) -> CallResult<Arc<T>> {
    let is_handle = size == size_of::<*mut c_void>();
    require(
        is_handle,
        CL_INVALID_ARG_SIZE,
        "the argument has not the size of a handle",
    )?;
    require(!value.is_null(), code, "the argument is null")?;
    let handle = value.cast::<*mut c_void>().read_unaligned();
    find_object(handle).map_err(|error| CallError::new(code, error.message))
}

/// The value of an argument of a parameter.
unsafe fn read_argument(
    parameter: &ArgumentSlot,
    size: usize,
    value: *const c_void,
) -> CallResult<ArgumentValue> {
    match parameter.kind {
        ParameterKind::Buffer => {
            let is_handle = size == size_of::<*mut c_void>();
            require(
                is_handle,
                CL_INVALID_ARG_SIZE,
                "the argument has not the size of a handle",
            )?;
            if value.is_null() || value.cast::<*mut c_void>().read_unaligned().is_null() {
                return Ok(ArgumentValue::Null);
            }
            let memory: Arc<ClMemory> = find_argument(size, value, CL_INVALID_MEM_OBJECT)?;
            let is_buffer = memory.kind == CL_MEM_OBJECT_BUFFER;
            require(
                is_buffer,
                CL_INVALID_MEM_OBJECT,
                "the kernel takes a buffer",
            )?;
            Ok(ArgumentValue::Memory(memory))
        }
        ParameterKind::Image { is_depth } => {
            let memory: Arc<ClMemory> = find_argument(size, value, CL_INVALID_MEM_OBJECT)?;
            let missing = || CallError::new(CL_INVALID_MEM_OBJECT, "the kernel takes an image");
            let facts = memory.image.ok_or_else(missing)?;
            let has_depths = facts.format.image_channel_order == CL_DEPTH;
            let message = "the image has depths where the kernel takes none, or has none";
            require(is_depth == has_depths, CL_INVALID_ARG_VALUE, message)?;
            check_image_access(parameter, &memory)?;
            Ok(ArgumentValue::Memory(memory))
        }
        ParameterKind::Sampler => {
            let sampler: Arc<ClSampler> = find_argument(size, value, CL_INVALID_SAMPLER)?;
            Ok(ArgumentValue::Sampler(sampler))
        }
        ParameterKind::Workgroup => {
            require(
                value.is_null(),
                CL_INVALID_ARG_VALUE,
                "workgroup memory has no value",
            )?;
            require(
                size > 0,
                CL_INVALID_ARG_SIZE,
                "workgroup memory has one byte at least",
            )?;
            Ok(ArgumentValue::Workgroup(size as u64))
        }
        ParameterKind::Value(wanted) => {
            let message = format!("the kernel takes {wanted} bytes, not {size}");
            require(size as u64 == wanted, CL_INVALID_ARG_SIZE, message)?;
            require(!value.is_null(), CL_INVALID_ARG_VALUE, "there is no value")?;
            Ok(ArgumentValue::Bytes(
                get_slice(value.cast::<u8>(), size)?.to_vec(),
            ))
        }
        ParameterKind::Pipe => {
            let memory: Arc<ClMemory> = find_argument(size, value, CL_INVALID_MEM_OBJECT)?;
            let is_pipe = memory.pipe.is_some();
            require(is_pipe, CL_INVALID_MEM_OBJECT, "the kernel takes a pipe")?;
            Ok(ArgumentValue::Memory(memory))
        }
        ParameterKind::Queue => {
            let _: Arc<ClDeviceQueue> = find_argument(size, value, CL_INVALID_DEVICE_QUEUE)?;
            Ok(ArgumentValue::Bytes(ANY_QUEUE.to_le_bytes().to_vec()))
        }
        ParameterKind::Other => {
            let message = "no device has objects of this kind";
            Err(CallError::new(CL_INVALID_ARG_VALUE, message))
        }
    }
}

/// Refuses an image that the kernel would access as its flags exclude.
fn check_image_access(parameter: &ArgumentSlot, memory: &ClMemory) -> CallResult<()> {
    let excluded = match parameter.access {
        Some(AccessQualifier::ReadOnly) => CL_MEM_WRITE_ONLY,
        Some(AccessQualifier::WriteOnly) => CL_MEM_READ_ONLY,
        _ => 0,
    };
    let is_allowed = memory.flags & excluded == 0;
    require(
        is_allowed,
        CL_INVALID_ARG_VALUE,
        "the flags of the image exclude its use",
    )
}

/// `clSetKernelArg`
pub unsafe extern "C" fn set_kernel_arg(
    kernel: cl_kernel,
    index: cl_uint,
    size: usize,
    value: *const c_void,
) -> cl_int {
    answer_code("clSetKernelArg", || {
        let kernel = find_object::<ClKernel>(kernel)?;
        let parameter = kernel.find_parameter(index)?;
        let value = read_argument(parameter, size, value).map_err(|mut error| {
            error.message =
                format!("argument {index} of {}: {}", kernel.name, error.message).into();
            error
        })?;
        kernel.set_argument(index, value);
        Ok(())
    })
}

/// `clGetKernelInfo`
pub unsafe extern "C" fn get_kernel_info(
    kernel: cl_kernel,
    name: cl_kernel_info,
    size: usize,
    value: *mut c_void,
    size_out: *mut usize,
) -> cl_int {
    answer_code("clGetKernelInfo", || {
        let kernel = find_object::<ClKernel>(kernel)?;
        let output = QueryOutput::new(size, value, size_out);
        match name {
            CL_KERNEL_FUNCTION_NAME => output.write_text(&kernel.name),
            CL_KERNEL_NUM_ARGS => output.write_value(kernel.parameters.len() as cl_uint),
            CL_KERNEL_REFERENCE_COUNT => output.write_value(count_references(&*kernel)),
            CL_KERNEL_CONTEXT => output.write_value(kernel.program.context.handle.as_raw()),
            CL_KERNEL_PROGRAM => output.write_value(kernel.program.handle.as_raw()),
            CL_KERNEL_ATTRIBUTES => output.write_text(&kernel.facts.attributes),
            _ => Err(refuse_query(name)),
        }
    })
}

/// `clGetKernelArgInfo`
pub unsafe extern "C" fn get_kernel_arg_info(
    kernel: cl_kernel,
    index: cl_uint,
    name: cl_kernel_arg_info,
    size: usize,
    value: *mut c_void,
    size_out: *mut usize,
) -> cl_int {
    answer_code("clGetKernelArgInfo", || {
        let kernel = find_object::<ClKernel>(kernel)?;
        let parameter = kernel.find_parameter(index)?;
        let has_source = !parameter.type_name.is_empty();
        let output = QueryOutput::new(size, value, size_out);
        match name {
            CL_KERNEL_ARG_ADDRESS_QUALIFIER => output.write_value(address_qualifier(parameter)),
            CL_KERNEL_ARG_ACCESS_QUALIFIER => output.write_value(match parameter.access {
                Some(AccessQualifier::ReadOnly) => CL_KERNEL_ARG_ACCESS_READ_ONLY,
                Some(AccessQualifier::WriteOnly) => CL_KERNEL_ARG_ACCESS_WRITE_ONLY,
                Some(_) => CL_KERNEL_ARG_ACCESS_READ_WRITE,
                None => CL_KERNEL_ARG_ACCESS_NONE,
            }),
            // A bit field, which has 64 bits.
            CL_KERNEL_ARG_TYPE_QUALIFIER => {
                output.write_value(cl_bitfield::from(type_qualifiers(parameter)))
            }
            CL_KERNEL_ARG_TYPE_NAME | CL_KERNEL_ARG_NAME if !has_source => {
                let message = "the program does not say so";
                Err(CallError::new(CL_KERNEL_ARG_INFO_NOT_AVAILABLE, message))
            }
            CL_KERNEL_ARG_TYPE_NAME => output.write_text(&parameter.type_name),
            CL_KERNEL_ARG_NAME => output.write_text(&parameter.name),
            _ => Err(refuse_query(name)),
        }
    })
}

fn address_qualifier(parameter: &ArgumentSlot) -> cl_kernel_arg_address_qualifier {
    match (parameter.kind, parameter.class) {
        (_, Some(StorageClass::UniformConstant)) => CL_KERNEL_ARG_ADDRESS_CONSTANT,
        (ParameterKind::Workgroup, _) => CL_KERNEL_ARG_ADDRESS_LOCAL,
        (ParameterKind::Buffer | ParameterKind::Image { .. } | ParameterKind::Pipe, _) => {
            CL_KERNEL_ARG_ADDRESS_GLOBAL
        }
        _ => CL_KERNEL_ARG_ADDRESS_PRIVATE,
    }
}

fn type_qualifiers(parameter: &ArgumentSlot) -> cl_kernel_arg_type_qualifier {
    let known = [
        ("const", CL_KERNEL_ARG_TYPE_CONST),
        ("restrict", CL_KERNEL_ARG_TYPE_RESTRICT),
        ("volatile", CL_KERNEL_ARG_TYPE_VOLATILE),
        ("pipe", CL_KERNEL_ARG_TYPE_PIPE),
    ];
    let words = parameter.qualifiers.split(' ');
    let flags = words.filter_map(|word| known.iter().find(|(name, _)| *name == word));
    let is_constant = parameter.class == Some(StorageClass::UniformConstant);
    let first = if is_constant {
        CL_KERNEL_ARG_TYPE_CONST
    } else {
        0
    };
    flags.fold(first, |all, (_, flag)| all | flag)
}

/// The device of a query: the one that is given, or the only one of the kernel's program.
fn find_kernel_device(kernel: &ClKernel, device: cl_device_id) -> CallResult<Arc<ClDevice>> {
    if !device.is_null() {
        let device = find_object::<ClDevice>(device)?;
        kernel.program.device_index(&device)?;
        return Ok(device);
    }
    match &kernel.program.devices[..] {
        [only] => Ok(only.clone()),
        _ => Err(CallError::new(
            CL_INVALID_DEVICE,
            "the program has several devices",
        )),
    }
}

/// `clGetKernelWorkGroupInfo`
pub unsafe extern "C" fn get_kernel_work_group_info(
    kernel: cl_kernel,
    device: cl_device_id,
    name: cl_kernel_work_group_info,
    size: usize,
    value: *mut c_void,
    size_out: *mut usize,
) -> cl_int {
    answer_code("clGetKernelWorkGroupInfo", || {
        let kernel = find_object::<ClKernel>(kernel)?;
        let device = find_kernel_device(&kernel, device)?;
        let output = QueryOutput::new(size, value, size_out);
        let own = kernel.interface.workgroup_size;
        match name {
            CL_KERNEL_WORK_GROUP_SIZE => {
                output.write_value(device.info.limits.workgroup_invocations as usize)
            }
            CL_KERNEL_COMPILE_WORK_GROUP_SIZE => {
                output.write_value(own.unwrap_or([0; 3]).map(|n| n as usize))
            }
            CL_KERNEL_LOCAL_MEM_SIZE => output.write_value(kernel.workgroup_bytes()),
            CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE => {
                output.write_value(kernel.subgroup_width(&device))
            }
            CL_KERNEL_PRIVATE_MEM_SIZE | CL_KERNEL_SPILL_MEM_SIZE_INTEL => {
                output.write_value::<cl_ulong>(0)
            }
            CL_KERNEL_GLOBAL_WORK_SIZE => {
                Err(CallError::invalid_value("this is no built-in kernel"))
            }
            _ => Err(refuse_query(name)),
        }
    })
}

/// `clGetKernelSubGroupInfo`
pub unsafe extern "C" fn get_kernel_sub_group_info(
    kernel: cl_kernel,
    device: cl_device_id,
    name: cl_kernel_sub_group_info,
    input_size: usize,
    input: *const c_void,
    size: usize,
    value: *mut c_void,
    size_out: *mut usize,
) -> cl_int {
    answer_code("clGetKernelSubGroupInfo", || {
        let kernel = find_object::<ClKernel>(kernel)?;
        let device = find_kernel_device(&kernel, device)?;
        let message = "the device does not claim sub-groups";
        require(device.has_subgroups(), CL_INVALID_OPERATION, message)?;
        let output = QueryOutput::new(size, value, size_out);
        let width = kernel.subgroup_width(&device);
        let sizes = get_slice(input.cast::<usize>(), input_size / size_of::<usize>());
        let most = device.info.limits.workgroup_invocations as usize;
        match name {
            CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE => {
                let count = sizes?
                    .iter()
                    .fold(1, |all: usize, n| all.saturating_mul(*n));
                output.write_value(width.min(count.max(1)))
            }
            CL_KERNEL_SUB_GROUP_COUNT_FOR_NDRANGE => {
                let count = sizes?
                    .iter()
                    .fold(1, |all: usize, n| all.saturating_mul(*n));
                output.write_value(count.div_ceil(width))
            }
            CL_KERNEL_LOCAL_SIZE_FOR_SUB_GROUP_COUNT => {
                require(
                    input_size == size_of::<usize>(),
                    CL_INVALID_VALUE,
                    "there is no count",
                )?;
                let wanted = sizes?[0].saturating_mul(width);
                let found = if wanted <= most { wanted } else { 0 };
                let dimensions = (size / size_of::<usize>()).clamp(1, 3);
                let mut local = [1; 3];
                local[0] = found;
                if found == 0 {
                    local = [0; 3];
                }
                output.write_list(&local[..dimensions])
            }
            CL_KERNEL_MAX_NUM_SUB_GROUPS => output.write_value(most.div_ceil(width)),
            CL_KERNEL_COMPILE_NUM_SUB_GROUPS => output.write_value(0_usize),
            CL_KERNEL_COMPILE_SUB_GROUP_SIZE_INTEL => {
                output.write_value(kernel.facts.subgroup_size.unwrap_or(0) as usize)
            }
            _ => Err(refuse_query(name)),
        }
    })
}
