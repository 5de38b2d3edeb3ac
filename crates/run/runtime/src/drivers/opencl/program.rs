//! Programs: from a module to a kernel that can be enqueued.

use super::error::{OpenClCallResult, call_error};
use super::owned_objects::OpenClObject;
use super::platform::OpenClDevice;
use crate::DeviceError;
use cl3::program as cl;
use cl3::types::{cl_context, cl_int, cl_program};
use spirula_diagnostics::{SourceDiagnostic, SourceLocation};
use spirula_legalize::device::specialise_constants;
use spirula_spirv::convert::to_version;
use spirula_spirv::grammar::SpirvVersion;
use spirula_spirv::ir::SpirvModule;
use spirula_spirv::target::{SpirvTarget, TargetEnvironment};
use spirula_spirv::verify;
use std::ffi::{CStr, c_void};

/// `clCreateProgramWithILKHR` of `cl_khr_il_program`.
type CreateProgramWithIl =
    unsafe extern "C" fn(cl_context, *const c_void, usize, *mut cl_int) -> cl_program;

/// The words of a module for a device: verified, its constants specialised, of a version that the
/// device takes.
pub fn prepare_words(
    device: &OpenClDevice,
    module: &SpirvModule,
    spec: &[(u32, u64)],
) -> Result<Vec<u32>, DeviceError> {
    let options = verify::VerifyOptions {
        target: SpirvTarget {
            environment: TargetEnvironment::OpenCl(3, 0),
            version: SpirvVersion::NEWEST,
        },
        ..verify::VerifyOptions::default()
    };
    if let Err(faults) = verify::verify_module(module, &options)
        && let Some(first) = faults.into_iter().next()
    {
        return Err(DeviceError::Module(Box::new(first)));
    }
    let mut module = module.clone();
    specialise_constants(&mut module, spec);
    let version = choose_version(&device.versions, module.version).ok_or_else(|| {
        let text = format!("{} takes no SPIR-V", device.info.id);
        DeviceError::Unsupported(vec![SourceDiagnostic::error(SourceLocation::Unknown, text)])
    })?;
    to_version(&mut module, version).map_err(|e| {
        let text = format!("{} takes SPIR-V {version} at most: {e}", device.info.id);
        DeviceError::Unsupported(vec![SourceDiagnostic::error(e.place, text)])
    })?;
    Ok(module.to_words())
}

/// The version itself where a device takes it, else the newest before it, else the oldest.
fn choose_version(taken: &[SpirvVersion], version: SpirvVersion) -> Option<SpirvVersion> {
    let before = taken.iter().rev().find(|v| **v <= version);
    before.or(taken.first()).copied()
}

/// Builds a program with the driver.
pub fn build_program(
    device: &OpenClDevice,
    context: &OpenClObject,
    words: &[u32],
) -> Result<OpenClObject, DeviceError> {
    let il: &[u8] = bytemuck::cast_slice(words);
    let program = if device.has_il {
        cl::create_program_with_il(context.raw(), il).check_call("clCreateProgramWithIL")?
    } else {
        create_by_extension(device, context.raw(), il)?
    };
    let program = OpenClObject::new(program, cl::release_program);
    let built = cl::build_program(
        program.raw(),
        &[device.raw],
        c"",
        None,
        std::ptr::null_mut(),
    );
    built.map_err(|code| {
        let log = cl::get_program_build_data(program.raw(), device.raw, cl::CL_PROGRAM_BUILD_LOG);
        let log = log.unwrap_or_default();
        let log = String::from_utf8_lossy(&log);
        let log = log.trim_matches(|c: char| c.is_whitespace() || c == '\0');
        if log.is_empty() {
            call_error("clBuildProgram", code)
        } else {
            DeviceError::Failed(format!("{}: {log}", call_error("clBuildProgram", code)))
        }
    })?;
    Ok(program)
}

fn create_by_extension(
    device: &OpenClDevice,
    context: cl_context,
    il: &[u8],
) -> Result<cl_program, DeviceError> {
    const NAME: &CStr = c"clCreateProgramWithILKHR";
    let runtime = cl3::load_library().as_ref();
    let runtime = runtime.map_err(|e| DeviceError::Failed(format!("OpenCL's loader: {e}")))?;
    let found =
        runtime.clGetExtensionFunctionAddressForPlatform(device.platform, NAME.as_ptr().cast());
    let address = found.filter(|a| !a.is_null()).ok_or_else(|| {
        DeviceError::Failed(format!(
            "{} has no {}",
            device.info.id,
            NAME.to_string_lossy()
        ))
    })?;
    // SAFETY: the platform has the extension, which says that the function has this type.
    let create = unsafe { std::mem::transmute::<*mut c_void, CreateProgramWithIl>(address) };
    let mut status = 0;
    // SAFETY: the context is alive, and the bytes are as long as is said.
    let program = unsafe { create(context, il.as_ptr().cast(), il.len(), &raw mut status) };
    match status {
        0 => Ok(program),
        code => Err(call_error("clCreateProgramWithILKHR", code)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_version_is_taken() {
        let all = [0, 2, 4].map(|minor| SpirvVersion::new(1, minor));
        let of = |minor| choose_version(&all, SpirvVersion::new(1, minor)).unwrap();
        assert_eq!([of(0), of(3), of(6)], all);
        assert_eq!(
            choose_version(&all[1..], SpirvVersion::new(1, 0)),
            Some(all[1])
        );
        assert_eq!(choose_version(&[], SpirvVersion::new(1, 0)), None);
    }
}
