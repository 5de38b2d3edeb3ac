//! SPIR-V modules as objects of Python, and what is done with them.

use crate::compile::{SourceContent, parse_target};
use crate::device::DeviceChoice;
use crate::failure::{FailureKind, NamedSource, PythonFailure};
use crate::kernel::PythonKernel;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};
use spirula_diagnostics::{DiagnosticList, SourceDiagnostic, SourceLocation};
use spirula_opt::{OptimiseError, PassPipeline, PipelineOptions, optimise_module};
use spirula_spirv::grammar::SpirvVersion;
use spirula_spirv::ir::SpirvModule;
use spirula_spirv::reflect::entry_points;
use spirula_spirv::{binary, text, verify};
use std::collections::HashMap;

/// A SPIR-V module.
#[pyclass(name = "Module", module = "spirula", frozen)]
pub struct PythonModule {
    pub module: SpirvModule,
    /// The input that it was made from, to which diagnostics refer.
    pub source: NamedSource,
}

impl PythonModule {
    /// The object of a module that was made from a source.
    pub fn new(module: SpirvModule, source: NamedSource) -> PythonModule {
        PythonModule { module, source }
    }
}

#[pymethods]
impl PythonModule {
    /// The version of SPIR-V, such as "1.6".
    #[getter]
    fn version(&self) -> String {
        self.module.version.to_string()
    }

    /// Names of the entry points.
    #[getter]
    fn kernels(&self) -> Vec<String> {
        let points = entry_points(&self.module).into_iter();
        points.map(|(name, _)| name).collect()
    }

    /// The module as the bytes of a file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.module.to_bytes())
    }

    fn __bytes__<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        self.to_bytes(py)
    }

    /// Compiles an entry point for a device; without a name the only one.
    ///
    /// `device` is a `Device`, its name, or None for the default one. `constants` are values of specialisation constants, a dict
    /// from their ids to numbers. Raises ArgumentError if there is no such entry point or constant, and DeviceError if the
    /// device refuses the module.
    #[pyo3(signature = (name=None, *, device=None, constants=None))]
    fn kernel(
        &self,
        py: Python<'_>,
        name: Option<String>,
        device: Option<DeviceChoice<'_>>,
        constants: Option<HashMap<u32, Bound<'_, PyAny>>>,
    ) -> PyResult<PythonKernel> {
        PythonKernel::create(
            py,
            self,
            name,
            device.as_ref(),
            constants.unwrap_or_default(),
        )
    }

    fn __repr__(&self) -> String {
        let (version, names) = (self.module.version, self.kernels().join(", "));
        format!("<spirula.Module SPIR-V {version}: {names}>")
    }
}

/// A module that an argument is: an object, or the bytes or the assembly of one.
#[derive(FromPyObject)]
pub enum ModuleArgument<'py> {
    Object(Bound<'py, PythonModule>),
    Content(SourceContent<'py>),
}

impl ModuleArgument<'_> {
    /// The words of the module, and its source. They may break rules. Assembly without a version has the given one.
    fn to_words(&self, version: SpirvVersion) -> PyResult<(Vec<u32>, NamedSource)> {
        let source = match self {
            ModuleArgument::Object(module) => {
                let module = module.get();
                return Ok((module.module.to_words(), module.source.clone()));
            }
            ModuleArgument::Content(content) => NamedSource {
                name: "input".to_owned(),
                bytes: content.to_bytes()?,
            },
        };
        let words = if binary::is_spirv(&source.bytes) {
            binary::words_from_bytes(&source.bytes).map_err(DiagnosticList::from)
        } else {
            let options = text::ParseOptions {
                default_version: version,
                ..text::ParseOptions::default()
            };
            parse_text(&source.bytes, &options)
        };
        let words = words.map_err(|errors| {
            PythonFailure::from_diagnostics(FailureKind::Read, errors, &source)
        })?;
        Ok((words, source))
    }

    /// The module, and its source.
    ///
    /// # Errors
    /// When it is malformed.
    pub fn to_module(&self) -> PyResult<(SpirvModule, NamedSource)> {
        let (words, source) = self.to_words(SpirvVersion::NEWEST)?;
        match SpirvModule::from_words(words) {
            Ok(module) => Ok((module, source)),
            Err(error) => {
                let errors = vec![error];
                Err(PythonFailure::from_diagnostics(FailureKind::Read, errors, &source).into())
            }
        }
    }
}

fn parse_text(bytes: &[u8], options: &text::ParseOptions) -> Result<Vec<u32>, DiagnosticList> {
    let source = std::str::from_utf8(bytes).map_err(|error| {
        let place = SourceLocation::Byte(error.valid_up_to() as u64);
        let message = "the input is neither a SPIR-V binary nor a text";
        SourceDiagnostic::error(place, message)
    })?;
    text::parse_assembly(source, options)
}

/// Assembles SPIR-V assembly, a str, to a `Module`.
///
/// `target` is an environment such as "vulkan1.3", whose version of SPIR-V the module has. Raises ReadError with the places
/// of all faults.
#[pyfunction]
#[pyo3(signature = (source, *, target=None))]
pub fn assemble(
    py: Python<'_>,
    source: &Bound<'_, PyString>,
    target: Option<&str>,
) -> PyResult<PythonModule> {
    let source = NamedSource {
        name: "input".to_owned(),
        bytes: source.to_cow()?.into_owned().into_bytes(),
    };
    let options = text::ParseOptions {
        version: target
            .map(parse_target)
            .transpose()?
            .map(|target| target.version),
        ..text::ParseOptions::default()
    };
    let assembled = py.detach(|| {
        let words = parse_text(&source.bytes, &options)?;
        SpirvModule::from_words(words).map_err(DiagnosticList::from)
    });
    match assembled {
        Ok(module) => Ok(PythonModule::new(module, source)),
        Err(errors) => {
            Err(PythonFailure::from_diagnostics(FailureKind::Read, errors, &source).into())
        }
    }
}

/// Disassembles a module to a str that `assemble` reads.
///
/// `module` is a `Module`, or the bytes of one. With `friendly_names`, ids have names such as `%main`. Raises ReadError for a
/// malformed module.
#[pyfunction]
#[pyo3(signature = (module, *, friendly_names=false, header=true))]
pub fn disassemble(
    py: Python<'_>,
    module: ModuleArgument<'_>,
    friendly_names: bool,
    header: bool,
) -> PyResult<String> {
    let (words, source) = module.to_words(SpirvVersion::NEWEST)?;
    let options = text::PrintOptions {
        header,
        friendly_names,
        ..text::PrintOptions::default()
    };
    let printed = py.detach(|| text::print_assembly(&words, &options));
    Ok(printed.map_err(|error| {
        PythonFailure::from_diagnostics(FailureKind::Read, vec![error], &source)
    })?)
}

/// Verifies a module.
///
/// `module` is a `Module`, the bytes of one, or assembly. `target` is an environment such as "vulkan1.3", whose rules hold, too.
/// Returns None. Raises VerifyError with the rules that the module breaks, and ReadError for faults of assembly.
#[pyfunction]
#[pyo3(name = "verify", signature = (module, *, target=None, scalar_block_layout=false))]
pub fn verify_module(
    py: Python<'_>,
    module: ModuleArgument<'_>,
    target: Option<&str>,
    scalar_block_layout: bool,
) -> PyResult<()> {
    let mut options = verify::VerifyOptions {
        scalar_block_layout,
        ..verify::VerifyOptions::default()
    };
    if let Some(target) = target {
        options.target = parse_target(target)?;
    }
    let (words, source) = module.to_words(options.target.version)?;
    let verified = py.detach(|| verify::verify_words(words, &options).map(drop));
    Ok(verified
        .map_err(|faults| PythonFailure::from_diagnostics(FailureKind::Verify, faults, &source))?)
}

/// Passes of the optimiser: names of passes and presets, separated by commas or as a list.
#[derive(FromPyObject)]
pub enum PassList {
    Text(String),
    Names(Vec<String>),
}

/// Optimises a module, and returns a new one.
///
/// `module` is a `Module`, the bytes of one, or assembly. `passes` are names of passes or presets ("O1", "O2", "Os"), as one str
/// with commas or as a sequence. Raises ArgumentError for an unknown pass, and ReadError for a malformed module.
#[pyfunction]
#[pyo3(
    signature = (module, passes=PassList::Text("O2".to_owned())),
    text_signature = "(module, passes='O2')"
)]
pub fn optimize(
    py: Python<'_>,
    module: ModuleArgument<'_>,
    passes: PassList,
) -> PyResult<PythonModule> {
    let (mut module, source) = module.to_module()?;
    let pipeline = match &passes {
        PassList::Text(text) => text.parse(),
        PassList::Names(names) => PassPipeline::from_names(names.iter().map(String::as_str)),
    };
    let pipeline = pipeline.map_err(|error| PythonFailure::argument(error.to_string()))?;
    let optimised =
        py.detach(|| optimise_module(&mut module, &pipeline, &mut PipelineOptions::default()));
    match optimised {
        Ok(_) => {
            let bytes = module.to_bytes();
            let name = source.name;
            Ok(PythonModule::new(module, NamedSource { name, bytes }))
        }
        Err(OptimiseError::Module(error)) => {
            let errors = vec![*error];
            Err(PythonFailure::from_diagnostics(FailureKind::Read, errors, &source).into())
        }
        Err(error) => Err(PythonFailure::new(FailureKind::Compile, error.to_string()).into()),
    }
}
