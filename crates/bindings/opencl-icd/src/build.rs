//! Builds of programs: sources to modules, and modules linked.

use crate::device::ClDevice;
use crate::program::{ClProgram, DeviceBuild, ProgramSource};
use crate::program_image::{ProgramImage, share_image};
use opencl_sys::{
    CL_BUILD_ERROR, CL_BUILD_PROGRAM_FAILURE, CL_BUILD_SUCCESS, CL_COMPILE_PROGRAM_FAILURE,
    CL_COMPILER_NOT_AVAILABLE, CL_INVALID_BUILD_OPTIONS, CL_INVALID_COMPILER_OPTIONS,
    CL_LINK_PROGRAM_FAILURE, CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT,
    CL_PROGRAM_BINARY_TYPE_EXECUTABLE, CL_PROGRAM_BINARY_TYPE_LIBRARY, cl_int,
    cl_program_binary_type,
};
use spirula_clang::{BuildOptions, ClangCache, ClangCompiler, ClangError, ClangJob};
use spirula_diagnostics::SourceDiagnostic;
use spirula_runtime::find_cache_folder;
use spirula_spirv::grammar::enumerants::Capability;
use spirula_spirv::ir::{ModuleSection, SpirvModule};
use spirula_spirv::link::LinkOptions;
use spirula_spirv::reflect::subgroup_demands;
use std::sync::{Arc, LazyLock};

/// The product of a build.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BuildGoal {
    /// An executable, by `clBuildProgram`.
    Executable,
    /// An object, by `clCompileProgram`.
    Object,
}

impl BuildGoal {
    /// The error of a source that has errors.
    fn failure(self) -> cl_int {
        match self {
            BuildGoal::Executable => CL_BUILD_PROGRAM_FAILURE,
            BuildGoal::Object => CL_COMPILE_PROGRAM_FAILURE,
        }
    }

    /// The error of options that do not exist.
    pub fn invalid_options(self) -> cl_int {
        match self {
            BuildGoal::Executable => CL_INVALID_BUILD_OPTIONS,
            BuildGoal::Object => CL_INVALID_COMPILER_OPTIONS,
        }
    }
}

/// A build that failed: a code, and the messages of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuildFailure {
    /// The code that the call returns.
    pub code: cl_int,
    /// The log.
    pub log: String,
}

/// A build for one device.
pub struct BuildRequest<'a> {
    /// The program.
    pub program: &'a ClProgram,
    /// The product of a build.
    pub goal: BuildGoal,
    /// The text of the options, as the caller gave it.
    pub option_text: &'a str,
    /// The options.
    pub options: &'a BuildOptions,
    /// Headers by the names that sources include them by.
    pub headers: &'a [(String, String)],
}

/// Outputs of Clang that are kept.
static CLANG_CACHE: LazyLock<ClangCache> =
    LazyLock::new(|| ClangCache::new(find_cache_folder().map(|folder| folder.join("clang"))));

/// The installed Clang. It is looked for until there is one.
fn find_clang() -> Result<ClangCompiler, ClangError> {
    static FOUND: std::sync::OnceLock<ClangCompiler> = std::sync::OnceLock::new();
    if let Some(found) = FOUND.get() {
        return Ok(found.clone());
    }
    let found = CLANG_CACHE.find_compiler()?;
    Ok(FOUND.get_or_init(|| found).clone())
}

/// Whether sources can be compiled.
pub fn is_compiler_available() -> bool {
    find_clang().is_ok()
}

impl BuildRequest<'_> {
    /// Builds the program for a device, and sets the state of that device.
    ///
    /// # Errors
    /// When the source has errors, or something to build it is missing.
    pub fn build_for(&self, device: usize) -> Result<(), BuildFailure> {
        let built = self.make_image(device);
        let has_uniform_groups = self.has_uniform_groups(device);
        let options = self.option_text.to_owned();
        match built {
            Ok((image, log)) => {
                self.program.set_build(
                    device,
                    DeviceBuild {
                        status: CL_BUILD_SUCCESS,
                        options,
                        log,
                        has_uniform_groups,
                        image: Some(image),
                    },
                );
                Ok(())
            }
            Err(failure) => {
                self.program.set_build(
                    device,
                    DeviceBuild {
                        status: CL_BUILD_ERROR,
                        options,
                        log: failure.log.clone(),
                        has_uniform_groups,
                        image: None,
                    },
                );
                Err(failure)
            }
        }
    }

    /// Whether workgroups must divide the size of a launch (OpenCL specification, `clEnqueueNDRangeKernel`).
    fn has_uniform_groups(&self, device: usize) -> bool {
        let options = self.options;
        match &self.program.source {
            ProgramSource::Text(_) => options.has_uniform_groups || options.is_first_version,
            ProgramSource::Module(_) | ProgramSource::Binaries => options.has_uniform_groups,
            ProgramSource::Linked => self.program.build_of(device).has_uniform_groups,
        }
    }

    fn make_image(&self, device: usize) -> Result<(Arc<ProgramImage>, String), BuildFailure> {
        let specialization = self.program.specialization();
        match &self.program.source {
            ProgramSource::Text(text) => {
                let (module, log) = self.compile_source(text, &self.program.devices[device])?;
                let module = self.finish_module(module, device)?;
                let goal = self.binary_type();
                Ok((share_image(module, goal, specialization), log))
            }
            ProgramSource::Module(bytes) => {
                let module = self.finish_module(self.read_module(bytes)?, device)?;
                let goal = self.binary_type();
                Ok((share_image(module, goal, specialization), String::new()))
            }
            ProgramSource::Binaries | ProgramSource::Linked => {
                let known = self.program.build_of(device).image;
                let known = known.ok_or_else(|| self.fail("the program has no binary"))?;
                let mut is_fit = self.goal == BuildGoal::Executable;
                is_fit &= known.binary_type != CL_PROGRAM_BINARY_TYPE_LIBRARY;
                if !is_fit {
                    return Err(self.fail("the binary is a library"));
                }
                let module = known.module.clone();
                let constants = known.specialization.clone();
                let image = share_image(module, CL_PROGRAM_BINARY_TYPE_EXECUTABLE, constants);
                Ok((image, String::new()))
            }
        }
    }

    fn binary_type(&self) -> cl_program_binary_type {
        match self.goal {
            BuildGoal::Executable => CL_PROGRAM_BINARY_TYPE_EXECUTABLE,
            BuildGoal::Object => CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT,
        }
    }

    fn fail(&self, log: impl Into<String>) -> BuildFailure {
        BuildFailure {
            code: self.goal.failure(),
            log: log.into(),
        }
    }

    fn compile_source(
        &self,
        text: &str,
        device: &ClDevice,
    ) -> Result<(SpirvModule, String), BuildFailure> {
        let job = ClangJob {
            source: text.to_owned(),
            headers: self.headers.to_vec(),
            options: self.options.clang.clone(),
            extensions: device.list_language_extensions(),
        };
        let compiled = find_clang().and_then(|clang| CLANG_CACHE.compile(&clang, &job));
        let output = compiled.map_err(|error| BuildFailure {
            code: match &error {
                ClangError::Missing { .. } | ClangError::Process { .. } => {
                    CL_COMPILER_NOT_AVAILABLE
                }
                ClangError::Option { .. } => self.goal.invalid_options(),
                _ => self.goal.failure(),
            },
            log: error.to_string(),
        })?;
        let mut options = spirula::CompileOptions::default();
        // Clang makes vectors of any length, which no device has.
        options.llvm.exports_kernels = self.goal == BuildGoal::Object;
        options.llvm.extensions = spirula::AllowedExtensions::of_devices();
        let compiled = spirula::compile_input(&output.bitcode, &options);
        let compiled = compiled.and_then(spirula::CompiledInput::into_module);
        let module = compiled.map_err(|error| self.fail(join_diagnostics(&error.diagnostics)))?;
        Ok((module, output.log))
    }

    fn finish_module(
        &self,
        module: SpirvModule,
        device: usize,
    ) -> Result<SpirvModule, BuildFailure> {
        let module = self.resolve_symbols(module)?;
        let sizes = &self.program.devices[device].info.subgroup_sizes;
        let mut demands = subgroup_demands(&module).into_iter();
        match demands.find(|demand| !sizes.is_empty() && !sizes.contains(&demand.size)) {
            Some(demand) => Err(self.fail(format!(
                "{} demands subgroups of {} invocations; sizes are {sizes:?}",
                demand.entry, demand.size
            ))),
            None => Ok(module),
        }
    }

    /// Refuses symbols of an executable that nothing defines.
    fn resolve_symbols(&self, module: SpirvModule) -> Result<SpirvModule, BuildFailure> {
        if self.goal == BuildGoal::Object || !has_linkage(&module) {
            return Ok(module);
        }
        let linked = spirula::link_program(vec![module], &LinkOptions::default());
        linked.map_err(|error| self.fail(error.to_string()))
    }

    fn read_module(&self, bytes: &[u8]) -> Result<SpirvModule, BuildFailure> {
        let read = SpirvModule::from_bytes(bytes);
        let module = read.map_err(|error| self.fail(error.to_string()))?;
        let split = spirula::split_rare_types(module);
        split.map_err(|error| self.fail(join_diagnostics(&error.diagnostics)))
    }
}

/// The messages of a compilation, a line each.
fn join_diagnostics(diagnostics: &[SourceDiagnostic]) -> String {
    let lines: Vec<String> = diagnostics.iter().map(ToString::to_string).collect();
    lines.join("\n")
}

/// Links images to one: an executable, or a library.
///
/// # Errors
/// When symbols do not fit.
pub fn link_images(
    images: &[Arc<ProgramImage>],
    options: &BuildOptions,
) -> Result<ProgramImage, BuildFailure> {
    let modules = images.iter().map(|image| image.module.clone());
    let link = LinkOptions {
        library: options.creates_library,
        allow_partial: options.creates_library,
        ..LinkOptions::default()
    };
    let linked = spirula::link_program(modules.collect(), &link);
    let module = linked.map_err(|error| BuildFailure {
        code: CL_LINK_PROGRAM_FAILURE,
        log: error.to_string(),
    })?;
    let binary_type = if options.creates_library {
        CL_PROGRAM_BINARY_TYPE_LIBRARY
    } else {
        CL_PROGRAM_BINARY_TYPE_EXECUTABLE
    };
    let constants = images.iter().flat_map(|image| image.specialization.clone());
    Ok(ProgramImage::new(module, binary_type, constants.collect()))
}

/// Whether a module takes part in linking.
fn has_linkage(module: &SpirvModule) -> bool {
    let mut capabilities = module.section_insts(ModuleSection::Capabilities);
    capabilities.any(|inst| Capability(inst.operand_word(0)) == Capability::Linkage)
}
