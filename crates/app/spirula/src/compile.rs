//! Compilation of an input to a SPIR-V module or a whole program.

use crate::error::CompileError;
use crate::front::{InputFormat, SourceProgram, TensorProgram, detect_input_format};
use crate::optimise::{KernelOrigin, optimise_kernels};
use crate::options::CompileOptions;
use crate::signature::TensorSignature;
use crate::stages::{StageObserver, TRANSLATE, TYPED};
use crate::vulkan::{compile_for_vulkan, is_vulkan, split_rare_types};
use spirula_diagnostics::{SourceDiagnostic, SourceLocation};
use spirula_futhark::compile::InternalisedSource;
use spirula_futhark::typed_text::print_typed;
use spirula_kernel::ir::KernelProgram;
use spirula_program::CompiledProgram;
use spirula_soac::ir::{SoacEntry, SoacFunction};
use spirula_spirv::ir::SpirvModule;
use spirula_spirv::target::SpirvTarget;
use spirula_tensor::ir::TensorFunction;
use spirula_tensor::schedule::TensorDispatch;

/// An input that was read, before it is compiled.
#[derive(Debug)]
pub struct CompileInput {
    format: &'static InputFormat,
    source: SourceProgram,
    /// Warnings of its front end.
    diagnostics: Vec<SourceDiagnostic>,
}

/// The kernel IR that an input passes through.
#[derive(Debug)]
pub struct IntermediateProgram {
    /// The program.
    pub program: KernelProgram,
    /// The entry point in the types of its source, for tensor programs.
    pub tensors: Option<TensorSignature>,
    /// Warnings.
    pub diagnostics: Vec<SourceDiagnostic>,
}

/// A tensor program with its schedules, before it becomes kernels.
#[derive(Debug)]
pub struct ScheduledProgram {
    /// The function after fusion.
    pub function: TensorFunction,
    /// Its dispatches, in the order of the kernels' numbers.
    pub dispatches: Vec<TensorDispatch>,
}

impl ScheduledProgram {
    /// The graph of the dispatches in Graphviz's language.
    pub fn draw_graph(&self) -> String {
        spirula_tensor::draw_function(&self.function, &self.dispatches)
    }

    /// The dispatches with their loops, as the last stage leaves them.
    pub fn print_dispatches(&self) -> String {
        spirula_tensor::schedule::print_all(&self.dispatches)
    }

    /// The signature of a dispatch: the key by which [`DispatchTuning`] knows it.
    pub fn signature(&self, dispatch: &TensorDispatch) -> String {
        spirula_tensor::schedule::compute_signature(&self.function, &dispatch.nest.op)
    }
}

/// Output of a compilation.
#[derive(Debug)]
pub enum CompileOutput {
    /// A module whose entry points are launched one by one.
    Module(Box<SpirvModule>),
    /// A program: kernels, and the host part that launches them.
    Program(Box<CompiledProgram>),
}

/// An output with facts about its input.
#[derive(Debug)]
pub struct CompiledInput {
    /// The output.
    pub output: CompileOutput,
    /// Format of the input.
    pub format: &'static InputFormat,
    /// The entry point in the types of its source, for tensor programs.
    pub tensors: Option<TensorSignature>,
    /// Warnings and notes.
    pub diagnostics: Vec<SourceDiagnostic>,
}

/// Compiles an input of any accepted format.
///
/// # Errors
/// When the input is malformed, of no accepted format, or needs something that is missing.
pub fn compile_input(
    bytes: &[u8],
    options: &CompileOptions,
) -> Result<CompiledInput, CompileError> {
    read_input(bytes)?.compile_with(options)
}

/// Reads an input of any accepted format: the first half of [`compile_input`].
///
/// # Errors
/// When the input is malformed or of no accepted format.
pub fn read_input(bytes: &[u8]) -> Result<CompileInput, CompileError> {
    read_located_input(bytes, "input")
}

/// Reads an input as [`read_input`] does. The files that it imports are relative to its path.
///
/// # Errors
/// As [`read_input`].
pub fn read_located_input(bytes: &[u8], path: &str) -> Result<CompileInput, CompileError> {
    let format = detect_input_format(bytes).map_err(CompileError::from_read_fault)?;
    let mut diagnostics = Vec::new();
    let source = format.read_source(bytes, path, &mut diagnostics)?;
    Ok(CompileInput {
        format,
        source,
        diagnostics,
    })
}

/// The hint for inputs that no dispatches can be drawn of.
const DRAWING_HINT: &str = "`spirula cfg` draws the control flow of a SPIR-V module";

impl CompileInput {
    /// Format of the input.
    pub fn format(&self) -> &'static InputFormat {
        self.format
    }

    /// The module, where the input is SPIR-V.
    pub fn as_spirv(&self) -> Option<&SpirvModule> {
        match &self.source {
            SourceProgram::Module(module) => Some(module),
            _ => None,
        }
    }

    /// The kernel IR that programs pass through. `watch` observes the stages before it ([`list_program_stages`]).
    ///
    /// # Errors
    /// When the input does not pass through the kernel IR, or needs something that is missing.
    pub fn into_kernels(
        self,
        options: &CompileOptions,
        watch: &mut StageObserver<'_>,
    ) -> Result<IntermediateProgram, CompileError> {
        match self.source {
            SourceProgram::Kernels(program) => Ok(IntermediateProgram {
                program: *program,
                tensors: None,
                diagnostics: Vec::new(),
            }),
            SourceProgram::Combinators(source) => {
                let InternalisedSource { checked, functions } = *source;
                watch(TYPED.0, &|| print_typed(&checked.program));
                drop(checked);
                lower_combinators(functions, options, watch)
            }
            SourceProgram::TensorSource(source) => {
                let tensors = source.translate_to_tensors(options, watch)?;
                lower_tensors_to_kernels(tensors, options, watch)
            }
            SourceProgram::Module(_)
            | SourceProgram::ModuleSource(_)
            | SourceProgram::Compiled(_) => {
                let message = format!("{} has no form as kernel text", self.format.name);
                let error = SourceDiagnostic::error(SourceLocation::Unknown, message);
                let hint = format!("emit SPIR-V, which it is or directly becomes; {DRAWING_HINT}");
                Err(CompileError::from_translate_fault(error.with_hint(hint)))
            }
        }
    }

    /// The schedules of a tensor program.
    ///
    /// # Errors
    /// When the input is no tensor program, or needs something that is missing.
    pub fn schedule_dispatches(
        &self,
        options: &CompileOptions,
    ) -> Result<ScheduledProgram, CompileError> {
        let SourceProgram::TensorSource(source) = &self.source else {
            let message = format!("{} has no dispatches", self.format.name);
            let error = SourceDiagnostic::error(SourceLocation::Unknown, message);
            let error = error.with_hint(match self.source {
                SourceProgram::Kernels(_) | SourceProgram::Combinators(_) => {
                    "--emit svg draws the launches of its kernels"
                }
                _ => DRAWING_HINT,
            });
            return Err(CompileError::from_translate_fault(error));
        };
        let tensors = source.translate_to_tensors(options, &mut |_, _| {})?;
        let function = tensors.function;
        let (profile, tuning) = (options.profile, &options.tuning);
        let scheduled =
            spirula_tensor::schedule_function(function, profile, tuning, &mut |_, _| {});
        let (function, dispatches) = scheduled.map_err(CompileError::from_translate_fault)?;
        Ok(ScheduledProgram {
            function,
            dispatches,
        })
    }

    /// Compiles an input that was read: the second half of [`compile_input`].
    ///
    /// # Errors
    /// When the input needs something that SPIR-V, the target or Spirula lacks.
    pub fn compile_with(self, options: &CompileOptions) -> Result<CompiledInput, CompileError> {
        self.compile_watched(options, &mut |_, _| {})
    }

    /// Compiles an input as [`CompileInput::compile_with`] does. `watch` observes the stages before the
    /// kernel IR ([`list_program_stages`]).
    ///
    /// # Errors
    /// When the input needs something that SPIR-V, the target or Spirula lacks.
    pub fn compile_watched(
        mut self,
        options: &CompileOptions,
        watch: &mut StageObserver<'_>,
    ) -> Result<CompiledInput, CompileError> {
        let format = self.format;
        let mut tensors = None;
        let mut diagnostics = std::mem::take(&mut self.diagnostics);
        let output = match self.source {
            SourceProgram::Module(module) => {
                CompileOutput::Module(Box::new(lower_module(*module, options, &mut diagnostics)?))
            }
            SourceProgram::ModuleSource(source) => CompileOutput::Module(Box::new(
                source.translate_to_spirv(options, &mut diagnostics)?,
            )),
            SourceProgram::Kernels(_)
            | SourceProgram::Combinators(_)
            | SourceProgram::TensorSource(_) => {
                let kernels = self.into_kernels(options, watch)?;
                let program = compile_kernels(&kernels)?;
                tensors = kernels.tensors;
                diagnostics.extend(kernels.diagnostics);
                CompileOutput::Program(Box::new(program))
            }
            SourceProgram::Compiled(program) => {
                tensors = TensorSignature::read_from_program(&program)
                    .map_err(CompileError::from_read_fault)?;
                CompileOutput::Program(program)
            }
        };
        if let (CompileOutput::Program(program), Some(target)) = (&output, options.target) {
            check_kernel_versions(program, target)?;
        }
        Ok(CompiledInput {
            output,
            format,
            tensors,
            diagnostics,
        })
    }
}

/// Compiles entry points in the soac form to a program.
///
/// # Errors
/// When a function needs something that is missing.
pub fn compile_combinators(
    entries: Vec<(SoacFunction, SoacEntry)>,
    options: &CompileOptions,
) -> Result<CompiledProgram, CompileError> {
    compile_kernels(&lower_combinators(entries, options, &mut |_, _| {})?)
}

/// Lowers a program of array combinators to the kernel IR.
fn lower_combinators(
    entries: Vec<(SoacFunction, SoacEntry)>,
    options: &CompileOptions,
    watch: &mut StageObserver<'_>,
) -> Result<IntermediateProgram, CompileError> {
    let profile = options.segment_profile();
    let program = spirula_segment::lower::compile_entries(entries, profile, watch);
    let program = program.map_err(|bug| {
        let message = format!("bug: {bug}");
        SourceDiagnostic::error(SourceLocation::Unknown, message)
    });
    let program = program.map_err(CompileError::from_translate_fault)?;
    spirula_kernel::verify_program(&program).map_err(CompileError::from_translate_fault)?;
    Ok(IntermediateProgram {
        program,
        tensors: None,
        diagnostics: Vec::new(),
    })
}

/// Lowers a tensor program to the kernel IR.
fn lower_tensors_to_kernels(
    tensors: TensorProgram,
    options: &CompileOptions,
    watch: &mut StageObserver<'_>,
) -> Result<IntermediateProgram, CompileError> {
    let TensorProgram {
        function,
        signature,
        diagnostics,
    } = tensors;
    watch(TRANSLATE.0, &|| spirula_tensor::print_function(&function));
    let (profile, tuning) = (options.profile, &options.tuning);
    let program = spirula_tensor::compile_function(function, profile, tuning, watch);
    Ok(IntermediateProgram {
        program: program.map_err(CompileError::from_translate_fault)?,
        tensors: Some(signature),
        diagnostics,
    })
}

/// Compiles the kernel IR to a program with optimised kernels.
fn compile_kernels(kernels: &IntermediateProgram) -> Result<CompiledProgram, CompileError> {
    let program = spirula_kernel::compile_program(&kernels.program);
    let mut program = program.map_err(CompileError::from_translate_fault)?;
    let origin = match kernels.tensors {
        Some(_) => KernelOrigin::TensorIr,
        None => KernelOrigin::KernelIr,
    };
    optimise_kernels(&mut program, origin).map_err(CompileError::from_translate_fault)?;
    if let Some(tensors) = &kernels.tensors {
        tensors.store_in_program(&mut program);
    }
    Ok(program)
}

/// Lowers SPIR-V: to a shader where the target is Vulkan, and otherwise not at all.
fn lower_module(
    module: SpirvModule,
    options: &CompileOptions,
    diagnostics: &mut Vec<SourceDiagnostic>,
) -> Result<SpirvModule, CompileError> {
    if options.target.as_ref().is_some_and(is_vulkan) && spirula_legalize::is_for_kernels(&module) {
        let module = split_rare_types(module)?;
        let shaders = compile_for_vulkan(&module, options.target, diagnostics)?;
        return Ok(shaders.unwrap_or(module));
    }
    if let Some(target) = options.target {
        check_version(&module, target)?;
    }
    Ok(module)
}

impl CompiledInput {
    /// The module, for callers that take no whole programs.
    ///
    /// # Errors
    /// When the output is a program.
    pub fn into_module(self) -> Result<SpirvModule, CompileError> {
        match self.output {
            CompileOutput::Module(module) => Ok(*module),
            CompileOutput::Program(_) => {
                let message = format!("the input is {}, a whole program", self.format.name);
                let error = SourceDiagnostic::error(SourceLocation::Unknown, message);
                let hint = "spirula compile --emit spv writes the modules of its kernels";
                Err(CompileError::from_translate_fault(error.with_hint(hint)))
            }
        }
    }
}

/// Checks that a module is not newer than the target. SPIR-V inputs are returned in their own version.
fn check_version(module: &SpirvModule, target: SpirvTarget) -> Result<(), CompileError> {
    if module.version <= target.version {
        return Ok(());
    }
    let message = format!(
        "the module is SPIR-V {}, newer than the {} of the target environment",
        module.version, target.version
    );
    let error = SourceDiagnostic::error(SourceLocation::Word(1), message);
    Err(CompileError::from_translate_fault(error))
}

/// Checks that no kernel of a program is newer than the target.
fn check_kernel_versions(
    program: &CompiledProgram,
    target: SpirvTarget,
) -> Result<(), CompileError> {
    let mut modules = program.kernels.iter().flat_map(|kernel| &kernel.module);
    modules.try_for_each(|module| check_version(module, target))
}
