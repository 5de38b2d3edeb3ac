//! Sources of shaders and kernels that an installed compiler translates: GLSL, HLSL and OpenCL C.

use super::files::read_input_file;
use super::input_file::InputFile;
use super::verbosity::report_work;
use super::{CommandFailure, failure};
use spirula_clang::{ClangCompiler, ClangError, ClangJob};
use spirula_diagnostics::{SourceDiagnostic, SourceLocation};
use spirula_glslang::{ShaderError, ShaderJob, ShaderLanguage};
use std::path::Path;

/// Largest source that is translated, in bytes. Larger inputs are of other languages.
const LARGEST_SOURCE: usize = 1 << 20;

/// Extensions and features of OpenCL C that kernels can use. Whether a device has them is found when kernels run.
const EXTENSIONS: &[&str] = &[
    "__opencl_c_3d_image_writes",
    "__opencl_c_atomic_order_acq_rel",
    "__opencl_c_atomic_order_seq_cst",
    "__opencl_c_atomic_scope_all_devices",
    "__opencl_c_atomic_scope_device",
    "__opencl_c_fp64",
    "__opencl_c_generic_address_space",
    "__opencl_c_images",
    "__opencl_c_int64",
    "__opencl_c_pipes",
    "__opencl_c_program_scope_global_variables",
    "__opencl_c_read_write_images",
    "__opencl_c_subgroups",
    "__opencl_c_work_group_collective_functions",
    "cl_khr_3d_image_writes",
    "cl_khr_byte_addressable_store",
    "cl_khr_fp16",
    "cl_khr_fp64",
    "cl_khr_global_int32_base_atomics",
    "cl_khr_global_int32_extended_atomics",
    "cl_khr_int64_base_atomics",
    "cl_khr_int64_extended_atomics",
    "cl_khr_local_int32_base_atomics",
    "cl_khr_local_int32_extended_atomics",
    "cl_khr_subgroups",
];

/// Reads a file as [`read_input_file`] does. A source of GLSL, HLSL or OpenCL C is translated where a compiler of its
/// language is installed. Without one, the source is returned, and refused later with a hint.
///
/// # Errors
/// When the file cannot be read, or the compiler refuses the source.
pub fn read_compilable_file(path: &Path) -> Result<InputFile, CommandFailure> {
    let input = read_input_file(path)?;
    if input.bytes.len() > LARGEST_SOURCE {
        return Ok(input);
    }
    match spirula::name_foreign_language(&input.bytes) {
        Some("GLSL") => translate_shader(input, ShaderLanguage::Glsl),
        Some("HLSL") => translate_shader(input, ShaderLanguage::Hlsl),
        Some("OpenCL C") => translate_kernels(input),
        _ => Ok(input),
    }
}

fn translate_shader(
    input: InputFile,
    language: ShaderLanguage,
) -> Result<InputFile, CommandFailure> {
    let source = String::from_utf8_lossy(&input.bytes);
    let job = ShaderJob {
        language,
        source: &source,
    };
    match job.compile() {
        Ok(bytes) => Ok(replace_source(input.name, language.name(), bytes)),
        Err(ShaderError::Missing { .. }) => Ok(input),
        Err(ShaderError::Source { faults }) => Err(CommandFailure::from_diagnostics(input, faults)),
        Err(error) => Err(CommandFailure::from_message(error.to_string())),
    }
}

fn translate_kernels(input: InputFile) -> Result<InputFile, CommandFailure> {
    let compiler = match ClangCompiler::find() {
        Ok(compiler) => compiler,
        Err(_) => return Ok(input),
    };
    let job = ClangJob {
        source: String::from_utf8_lossy(&input.bytes).into_owned(),
        options: vec!["-cl-std=CL3.0".to_owned(), "-O2".to_owned()],
        extensions: EXTENSIONS.to_vec(),
        ..ClangJob::default()
    };
    match compiler.compile(&job) {
        Ok(output) => {
            if !output.log.trim().is_empty() {
                failure::report_line("warning", output.log.trim(), None);
            }
            Ok(replace_source(input.name, "OpenCL C", output.bitcode))
        }
        Err(ClangError::Source { log }) => {
            let fault = SourceDiagnostic::error(SourceLocation::Unknown, log.trim());
            Err(CommandFailure::from_diagnostics(input, vec![fault]))
        }
        Err(error) => Err(CommandFailure::from_message(error.to_string())),
    }
}

/// The output of a compiler in the place of its source.
fn replace_source(name: String, language: &str, bytes: Vec<u8>) -> InputFile {
    report_work(|| format!("{name} was compiled from {language}: {} bytes", bytes.len()));
    InputFile { name, bytes }
}
