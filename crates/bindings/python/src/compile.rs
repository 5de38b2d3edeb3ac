//! Compilation of inputs of any format.

use crate::consumed_parameters::read_consumed_parameters;
use crate::device::{DeviceChoice, PythonDevice};
use crate::failure::{FailureKind, NamedSource, PythonFailure, warn_of};
use crate::module::PythonModule;
use crate::program::PythonProgram;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};
use spirula::{CompileOptions, CompileOutput, CompiledInput, KnownArguments};
use std::collections::HashMap;
use std::path::PathBuf;

/// Compiles an input of any format that Spirula reads to a `Module` or a `Program`.
///
/// `source` is a str or bytes: StableHLO (MLIR text or bytecode, jax.export), Futhark source, LLVM
/// IR (text or bitcode) or SPIR-V (binary or assembly). An archive that `Program.to_bytes` made is
/// accepted, too. StableHLO, Futhark source and archives become a `Program` for `device`, which is
/// a `Device`, its name, or None for the default one. Others become a `Module`.
///
/// `target` is an environment such as "vulkan1.3", "opencl3.0" or "spv1.6"; by default it is the one that suits the input.
/// `function` is the function of StableHLO to compile, by default "main". `shapes` are shapes of its first arguments, a
/// sequence of tuples, for sizes that the source leaves open. `name` is the path of the source in messages, relative to
/// which Futhark source imports files.
///
/// Raises ReadError for a malformed source, CompileError for one that cannot be compiled, and ArgumentError for options that
/// do not fit. Both have places: `line`, `column`, `source_line`, `hint`, `diagnostics`.
#[pyfunction]
#[pyo3(signature = (source, *, target=None, function=None, shapes=None, device=None, name="input"))]
pub fn compile<'py>(
    py: Python<'py>,
    source: SourceContent<'py>,
    target: Option<&str>,
    function: Option<String>,
    shapes: Option<Vec<Vec<u64>>>,
    device: Option<DeviceChoice<'py>>,
    name: &str,
) -> PyResult<Bound<'py, PyAny>> {
    let source = NamedSource {
        name: name.to_owned(),
        bytes: source.to_bytes()?,
    };
    let request = CompileRequest {
        target,
        function,
        shapes,
        device,
    };
    request.compile_source(py, source)
}

/// Compiles a file as `compile` does.
///
/// Raises OSError if the file cannot be read.
#[pyfunction]
#[pyo3(signature = (path, *, target=None, function=None, shapes=None, device=None))]
pub fn load<'py>(
    py: Python<'py>,
    path: PathBuf,
    target: Option<&str>,
    function: Option<String>,
    shapes: Option<Vec<Vec<u64>>>,
    device: Option<DeviceChoice<'py>>,
) -> PyResult<Bound<'py, PyAny>> {
    let source = NamedSource {
        bytes: py.detach(|| std::fs::read(&path))?,
        name: path.to_string_lossy().into_owned(),
    };
    let request = CompileRequest {
        target,
        function,
        shapes,
        device,
    };
    request.compile_source(py, source)
}

/// The content of a source: text or bytes.
#[derive(FromPyObject)]
pub enum SourceContent<'py> {
    Text(Bound<'py, PyString>),
    Bytes(Bound<'py, PyBytes>),
}

impl SourceContent<'_> {
    /// The bytes.
    ///
    /// # Errors
    /// When the text has a lone surrogate.
    pub fn to_bytes(&self) -> PyResult<Vec<u8>> {
        match self {
            SourceContent::Text(text) => Ok(text.to_cow()?.into_owned().into_bytes()),
            SourceContent::Bytes(bytes) => Ok(bytes.as_bytes().to_vec()),
        }
    }
}

/// The options of a compilation.
struct CompileRequest<'a, 'py> {
    target: Option<&'a str>,
    function: Option<String>,
    shapes: Option<Vec<Vec<u64>>>,
    device: Option<DeviceChoice<'py>>,
}

impl CompileRequest<'_, '_> {
    /// Compiles a source to an object of Python.
    fn compile_source<'py>(
        self,
        py: Python<'py>,
        source: NamedSource,
    ) -> PyResult<Bound<'py, PyAny>> {
        let device = PythonDevice::choose(py, self.device.as_ref())?;
        let options = CompileOptions {
            target: self.target.map(parse_target).transpose()?,
            function: self.function,
            known: KnownArguments {
                shapes: self.shapes.unwrap_or_default(),
                ..KnownArguments::default()
            },
            profile: spirula_schedule::choose_device_profile(device.info()),
            ..CompileOptions::default()
        };
        let compiled = py.detach(|| {
            let read = spirula::read_located_input(&source.bytes, &source.name);
            let compiled = read.and_then(|read| read.compile_with(&options));
            compiled.map_err(|error| PythonFailure::from_compilation(error, &source))
        })?;
        warn_of(py, &compiled.diagnostics, &source)?;
        make_object(py, compiled, source, &device)
    }
}

/// The object of a compilation's output.
fn make_object<'py>(
    py: Python<'py>,
    compiled: CompiledInput,
    source: NamedSource,
    device: &PythonDevice,
) -> PyResult<Bound<'py, PyAny>> {
    match compiled.output {
        CompileOutput::Module(module) => {
            Ok(Bound::new(py, PythonModule::new(*module, source))?.into_any())
        }
        CompileOutput::Program(program) => {
            let tensors = compiled.tensors.as_ref();
            let program = py.detach(|| {
                let consumed = if *compiled.format == spirula::FUTHARK_SOURCE {
                    read_consumed_parameters(&source)
                } else {
                    HashMap::new()
                };
                PythonProgram::new(*program, device, tensors, |entry| {
                    consumed.get(entry).cloned().unwrap_or_default()
                })
            })?;
            Ok(Bound::new(py, program)?.into_any())
        }
    }
}

/// The environment of a name.
pub fn parse_target(name: &str) -> Result<spirula_spirv::target::SpirvTarget, PythonFailure> {
    let parsed = name.parse();
    parsed.map_err(|error| PythonFailure::new(FailureKind::Argument, format!("{error}")))
}
