//! From the bytes of an input to a SPIR-V module or a whole program.

use crate::front::detect::{InputKind, detect_input_kind};
use crate::initialisers::warn_of_initialisers;
use crate::optimise::optimise_kernels;
use crate::signature::TensorSignature;
use spirula_diagnostics::{SourceDiagnostic, SourceLocation};
use spirula_kernel::ir;
use spirula_llvm::AllowedExtensions;
use spirula_program::{CompiledProgram, archive};
use spirula_spirv::analysis::RequirementCeiling;
use spirula_spirv::ir::{ModuleSection, SpirvModule};
use spirula_spirv::recompute::recompute_capabilities;
use spirula_spirv::target::{SpirvTarget, TargetEnvironment};
use spirula_spirv::{text, verify};
use spirula_stablehlo::mlir;
use spirula_stablehlo::translate::{self, KnownArguments, translate_for};
use spirula_tensor::ir::TensorFunction;
use spirula_tensor::schedule::ScheduleProfile;
use spirula_tensor::schedule::{DispatchTuning, TensorDispatch};
use std::fmt;

/// How an input is compiled.
#[derive(Clone, Debug, Default)]
pub struct CompileOptions {
    /// What the output is for; by default what suits the input.
    pub target: Option<SpirvTarget>,
    /// How LLVM IR is translated; its target is the one above.
    pub llvm: spirula_llvm::TranslationOptions,
    /// The function of a StableHLO module that becomes the entry point; by default `main`.
    pub function: Option<String>,
    /// What is known of the arguments of that function, which settles dimensions that the module
    /// leaves open.
    pub known: KnownArguments,
    /// The kind of device that schedules of tensor programs are made for.
    pub profile: ScheduleProfile,
    /// Schedules for single dispatches of such.
    pub tuning: DispatchTuning,
}

/// An input that was read, before it is compiled.
#[derive(Debug)]
pub enum CompileInput {
    /// It is SPIR-V already.
    Spirv(InputKind, Box<SpirvModule>),
    /// It is LLVM IR.
    Llvm(InputKind, Box<spirula_llvm::ir::LlvmModule>),
    /// It is a module of StableHLO.
    StableHlo(InputKind, Box<mlir::MlirModule>),
    /// It is a checked program in the imperative IR.
    Kernels(InputKind, Box<ir::KernelProgram>),
    /// It is a compiled program.
    Program(InputKind, Box<CompiledProgram>),
}

/// The imperative IR that an input passes through.
#[derive(Debug)]
pub struct IntermediateProgram {
    /// The program.
    pub program: ir::KernelProgram,
    /// Its entry point in the types of StableHLO, where it comes from there.
    pub tensors: Option<TensorSignature>,
}

/// A tensor program before it becomes kernels.
#[derive(Debug)]
pub struct ScheduledProgram {
    /// The function, fused.
    pub function: TensorFunction,
    /// What is launched.
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

    /// What each dispatch computes, for short, as [`DispatchTuning`] knows it.
    pub fn signature(&self, dispatch: &TensorDispatch) -> String {
        spirula_tensor::schedule::compute_signature(&self.function, &dispatch.op)
    }
}

/// What a compilation gives.
#[derive(Debug)]
pub enum CompileOutput {
    /// A module whose entry points are launched one by one.
    Module(Box<SpirvModule>),
    /// A program: kernels, and the host's part that launches them.
    Program(Box<CompiledProgram>),
}

/// An output with what is worth knowing about how it came about.
#[derive(Debug)]
pub struct CompiledInput {
    /// The output.
    pub output: CompileOutput,
    /// What the input was.
    pub input: InputKind,
    /// The entry point in the types of StableHLO, where the input is of it.
    pub tensors: Option<TensorSignature>,
    /// Warnings and notes.
    pub diagnostics: Vec<SourceDiagnostic>,
}

/// What is told of each stage: its name, and a function for the text of what it left.
pub type StageObserver<'a> = dyn FnMut(&str, &dyn Fn() -> String) + 'a;

/// The function that becomes the entry point where none is named.
const MAIN: &str = "main";

/// The first stage of StableHLO.
const TRANSLATE: (&str, &str) = ("translate", "Makes structured operations of StableHLO's");

/// The part of a compilation that refused its input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompileStage {
    /// The input is malformed, or nothing that is accepted.
    Read,
    /// The input is well-formed, but cannot be compiled, or not yet.
    Translate,
}

/// Why an input was refused.
#[derive(Debug)]
pub struct CompileError {
    /// The part that refused it.
    pub stage: CompileStage,
    /// What is wrong, at least one error.
    pub diagnostics: Vec<SourceDiagnostic>,
}

impl fmt::Display for CompileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.diagnostics.first() {
            Some(first) => first.fmt(f),
            None => f.write_str("the input was refused"),
        }
    }
}

impl std::error::Error for CompileError {}

impl CompileError {
    fn from_read_fault(diagnostic: SourceDiagnostic) -> Self {
        Self::from_diagnostics(CompileStage::Read, vec![diagnostic])
    }

    fn from_translate_fault(diagnostic: SourceDiagnostic) -> Self {
        Self::from_diagnostics(CompileStage::Translate, vec![diagnostic])
    }

    fn from_diagnostics(stage: CompileStage, diagnostics: Vec<SourceDiagnostic>) -> Self {
        CompileError { stage, diagnostics }
    }
}

/// Compiles an input of any accepted form.
///
/// # Errors
/// When the input is malformed, of no accepted form, or needs something that is missing.
pub fn compile_input(
    bytes: &[u8],
    options: &CompileOptions,
) -> Result<CompiledInput, CompileError> {
    read_input(bytes)?.compile_with(options)
}

/// Reads an input of any accepted form: the first half of [`compile`].
///
/// # Errors
/// When the input is malformed or of no accepted form.
pub fn read_input(bytes: &[u8]) -> Result<CompileInput, CompileError> {
    let kind = detect_input_kind(bytes).map_err(CompileError::from_read_fault)?;
    match kind {
        InputKind::SpirvBinary => {
            let module = SpirvModule::from_bytes(bytes).map_err(CompileError::from_read_fault)?;
            Ok(CompileInput::Spirv(kind, Box::new(module)))
        }
        InputKind::SpirvText => {
            let words = text::parse_assembly(decode_utf8(bytes)?, &text::ParseOptions::default());
            let words =
                words.map_err(|all| CompileError::from_diagnostics(CompileStage::Read, all))?;
            let module = SpirvModule::from_words(words).map_err(CompileError::from_read_fault)?;
            Ok(CompileInput::Spirv(kind, Box::new(module)))
        }
        InputKind::LlvmBitcode | InputKind::LlvmText => {
            let module = spirula_llvm::read_module(bytes).map_err(CompileError::from_read_fault)?;
            Ok(CompileInput::Llvm(kind, Box::new(module)))
        }
        InputKind::MlirText | InputKind::MlirBytecode => {
            let module =
                spirula_stablehlo::read_module(bytes).map_err(CompileError::from_read_fault)?;
            let faults = spirula_stablehlo::verify_module(&module);
            if !faults.is_empty() {
                return Err(CompileError::from_diagnostics(CompileStage::Read, faults));
            }
            Ok(CompileInput::StableHlo(kind, Box::new(module)))
        }
        InputKind::Kernels => {
            verify_kernel_input(kind, spirula_kernel::parse_program(decode_utf8(bytes)?))
        }
        InputKind::Futhark => {
            verify_kernel_input(kind, spirula_futhark::read_futhark(decode_utf8(bytes)?))
        }
        InputKind::Archive => {
            let program = archive::read_archive(bytes).map_err(|error| {
                CompileError::from_read_fault(SourceDiagnostic::error(
                    SourceLocation::Unknown,
                    error.to_string(),
                ))
            })?;
            verify_kernels(&program)?;
            Ok(CompileInput::Program(kind, Box::new(program)))
        }
    }
}

fn verify_kernel_input(
    kind: InputKind,
    read: Result<ir::KernelProgram, SourceDiagnostic>,
) -> Result<CompileInput, CompileError> {
    let program = read.map_err(CompileError::from_read_fault)?;
    spirula_kernel::verify_program(&program).map_err(CompileError::from_read_fault)?;
    Ok(CompileInput::Kernels(kind, Box::new(program)))
}

/// A driver may do anything with a module that breaks the rules.
fn verify_kernels(program: &CompiledProgram) -> Result<(), CompileError> {
    let options = verify::VerifyOptions {
        scalar_block_layout: true,
        ..verify::VerifyOptions::default()
    };
    for (number, kernel) in program.kernels.iter().enumerate() {
        for words in kernel.modules() {
            if let Err(faults) = verify::verify_words(words.clone(), &options) {
                let first = faults.first().map(SourceDiagnostic::to_string);
                let text = format!("kernel {number}: {}", first.unwrap_or_default());
                return Err(CompileError::from_read_fault(SourceDiagnostic::error(
                    SourceLocation::Unknown,
                    text,
                )));
            }
        }
    }
    Ok(())
}

impl CompileInput {
    /// What it is.
    pub fn kind(&self) -> InputKind {
        match self {
            CompileInput::Spirv(kind, _) | CompileInput::Llvm(kind, _) => *kind,
            CompileInput::StableHlo(kind, _) | CompileInput::Kernels(kind, _) => *kind,
            CompileInput::Program(kind, _) => *kind,
        }
    }

    /// The imperative IR that programs pass through. `watch` is given the name of each stage on the
    /// way there (see [`list_stages`]) and a function for the text of what it left.
    ///
    /// # Errors
    /// When the input becomes a module without it, or needs something that is missing.
    pub fn into_kernels(
        self,
        options: &CompileOptions,
        watch: &mut StageObserver<'_>,
    ) -> Result<IntermediateProgram, CompileError> {
        match self {
            CompileInput::Kernels(_, program) => Ok(IntermediateProgram {
                program: *program,
                tensors: None,
            }),
            CompileInput::StableHlo(_, module) => {
                let (function, tensors) = translate_function(&module, options)?;
                watch(TRANSLATE.0, &|| spirula_tensor::print_function(&function));
                let (profile, tuning) = (options.profile, &options.tuning);
                let program = spirula_tensor::compile_function(function, profile, tuning, watch);
                Ok(IntermediateProgram {
                    program: program.map_err(CompileError::from_translate_fault)?,
                    tensors: Some(tensors),
                })
            }
            CompileInput::Spirv(kind, _)
            | CompileInput::Llvm(kind, _)
            | CompileInput::Program(kind, _) => {
                let message = format!("{} has no form as kernel text", kind.name());
                let error = SourceDiagnostic::error(SourceLocation::Unknown, message);
                Err(CompileError::from_translate_fault(error.with_hint(
                    "it is SPIR-V already, or becomes SPIR-V without it: emit SPIR-V",
                )))
            }
        }
    }

    /// The schedules of a tensor program: what is launched, in the order of the kernels' numbers.
    ///
    /// # Errors
    /// When the input is none, or needs something that is missing.
    pub fn schedule_dispatches(
        &self,
        options: &CompileOptions,
    ) -> Result<ScheduledProgram, CompileError> {
        let CompileInput::StableHlo(_, module) = self else {
            let message = format!("{} has no dispatches", self.kind().name());
            return Err(CompileError::from_translate_fault(SourceDiagnostic::error(
                SourceLocation::Unknown,
                message,
            )));
        };
        let (function, _) = translate_function(module, options)?;
        let (profile, tuning) = (options.profile, &options.tuning);
        let scheduled =
            spirula_tensor::schedule_function(function, profile, tuning, &mut |_, _| {});
        let (function, dispatches) = scheduled.map_err(CompileError::from_translate_fault)?;
        Ok(ScheduledProgram {
            function,
            dispatches,
        })
    }

    /// Compiles an input that was read: the second half of [`compile`].
    ///
    /// # Errors
    /// When it needs something that SPIR-V, the target or Spirula lacks.
    pub fn compile_with(self, options: &CompileOptions) -> Result<CompiledInput, CompileError> {
        self.compile_watched(options, &mut |_, _| {})
    }

    /// The same, watched as [`CompileInput::into_kernels`] is.
    ///
    /// # Errors
    /// As there.
    pub fn compile_watched(
        self,
        options: &CompileOptions,
        watch: &mut StageObserver<'_>,
    ) -> Result<CompiledInput, CompileError> {
        let input = self.kind();
        let mut tensors = None;
        let mut diagnostics = Vec::new();
        let output = match self {
            CompileInput::Spirv(_, module) => {
                CompileOutput::Module(Box::new(of_spirv(*module, options, &mut diagnostics)?))
            }
            CompileInput::Llvm(_, module) => {
                CompileOutput::Module(Box::new(of_llvm(&module, options, &mut diagnostics)?))
            }
            input @ (CompileInput::Kernels(..) | CompileInput::StableHlo(..)) => {
                let kernels = input.into_kernels(options, watch)?;
                tensors = kernels.tensors;
                let program = spirula_kernel::compile_program(&kernels.program);
                let mut program = program.map_err(CompileError::from_translate_fault)?;
                let optimised = optimise_kernels(&mut program, tensors.is_some());
                optimised.map_err(CompileError::from_translate_fault)?;
                if let Some(tensors) = &tensors {
                    tensors.store_in_program(&mut program);
                }
                CompileOutput::Program(Box::new(program))
            }
            CompileInput::Program(_, program) => {
                tensors = TensorSignature::read_from_program(&program)
                    .map_err(CompileError::from_read_fault)?;
                CompileOutput::Program(program)
            }
        };
        if let (CompileOutput::Program(program), Some(target)) = (&output, options.target) {
            check_versions(program, target)?;
        }
        Ok(CompiledInput {
            output,
            input,
            tensors,
            diagnostics,
        })
    }
}

fn is_vulkan(target: &SpirvTarget) -> bool {
    matches!(target.environment, TargetEnvironment::Vulkan(..))
}

/// The extensions that the module of an input's kernels may use: not those that no device has of Vulkan.
fn allowed_extensions(options: &CompileOptions) -> AllowedExtensions {
    match &options.llvm.extensions {
        AllowedExtensions::All if options.target.as_ref().is_some_and(is_vulkan) => {
            AllowedExtensions::of_devices()
        }
        given => given.clone(),
    }
}

/// SPIR-V as it is, or as a shader where the target is Vulkan.
fn of_spirv(
    module: SpirvModule,
    options: &CompileOptions,
    diagnostics: &mut Vec<SourceDiagnostic>,
) -> Result<SpirvModule, CompileError> {
    if options.target.as_ref().is_some_and(is_vulkan) && spirula_legalize::is_for_kernels(&module) {
        let module = for_devices(module)?;
        return for_vulkan(&module, options.target, diagnostics).unwrap_or(Ok(module));
    }
    if let Some(target) = options.target {
        check_version(&module, target)?;
    }
    Ok(module)
}

/// A module with integers and vectors of sizes that hardly any device has taken apart, by way of LLVM IR, whose
/// translation does so; any other as it is.
///
/// # Errors
/// When such a module has something that LLVM IR has no form for.
pub fn for_devices(module: SpirvModule) -> Result<SpirvModule, CompileError> {
    let extensions = AllowedExtensions::of_devices();
    let mut declared = module
        .section_insts(ModuleSection::Extensions)
        .map(|e| e.string_operand(0));
    if declared.all(|name| extensions.is_allowed(&name)) {
        return Ok(module);
    }
    let refused = |all| CompileError::from_diagnostics(CompileStage::Translate, all);
    let lifted = spirula_llvm::lift_module(&module).map_err(refused)?;
    let options = spirula_llvm::TranslationOptions {
        extensions,
        ..spirula_llvm::TranslationOptions::default()
    };
    spirula_llvm::translate_module(&lifted, &options).map_err(refused)
}

/// LLVM IR as SPIR-V for what its triple says, or as a shader where the target is Vulkan.
fn of_llvm(
    module: &spirula_llvm::ir::LlvmModule,
    options: &CompileOptions,
    diagnostics: &mut Vec<SourceDiagnostic>,
) -> Result<SpirvModule, CompileError> {
    let is_shader = spirula_llvm::is_shader(module, &options.llvm);
    let translation = spirula_llvm::TranslationOptions {
        target: options.target.filter(|t| is_shader || !is_vulkan(t)),
        extensions: allowed_extensions(options),
        ..options.llvm.clone()
    };
    let translated = spirula_llvm::translate_module(module, &translation);
    let mut translated =
        translated.map_err(|all| CompileError::from_diagnostics(CompileStage::Translate, all))?;
    if is_shader {
        // LLVM knows nothing of constructs.
        spirula_legalize::structurise_module(&mut translated)
            .map_err(CompileError::from_translate_fault)?;
        let needs = recompute_capabilities(&mut translated, &RequirementCeiling::default());
        needs.map_err(|error| CompileError::from_translate_fault(*error))?;
        return Ok(translated);
    }
    for_vulkan(&translated, options.target, diagnostics).unwrap_or(Ok(translated))
}

/// Kernels as compute shaders, where the target is Vulkan.
fn for_vulkan(
    module: &SpirvModule,
    target: Option<SpirvTarget>,
    diagnostics: &mut Vec<SourceDiagnostic>,
) -> Option<Result<SpirvModule, CompileError>> {
    let target = target.filter(is_vulkan)?;
    if !spirula_legalize::is_for_kernels(module) {
        return None;
    }
    diagnostics.extend(warn_of_initialisers(module));
    let options = spirula_legalize::VulkanCompileOptions {
        target,
        ..spirula_legalize::VulkanCompileOptions::default()
    };
    let compiled = spirula_legalize::compile_kernels(module, &options);
    Some(compiled.map_err(|all| CompileError::from_diagnostics(CompileStage::Translate, all)))
}

/// Names of the stages that StableHLO passes through, in their order, with what they do.
pub fn stablehlo_stages() -> impl Iterator<Item = (&'static str, &'static str)> {
    [TRANSLATE].into_iter().chain(spirula_tensor::list_stages())
}

/// The function that an entry point becomes, and what it takes and gives.
fn translate_function(
    module: &mlir::MlirModule,
    options: &CompileOptions,
) -> Result<(TensorFunction, TensorSignature), CompileError> {
    let entry = options.function.as_deref().unwrap_or(MAIN);
    let translated =
        translate_for(module, entry, &options.known).map_err(translate_error_to_compile)?;
    let tensors = TensorSignature {
        parameters: translated.parameters,
        results: translated.results,
        checks: translated.checks,
    };
    Ok((translated.function, tensors))
}

fn translate_error_to_compile(error: translate::TranslateError) -> CompileError {
    match error {
        translate::TranslateError::Unsupported { what, place } => {
            CompileError::from_translate_fault(SourceDiagnostic::error(
                place,
                format!("{what} is not supported"),
            ))
        }
        translate::TranslateError::Invalid(diagnostic) => CompileError::from_read_fault(diagnostic),
    }
}

impl CompiledInput {
    /// The module, where whole programs are not meant.
    ///
    /// # Errors
    /// When it is a program.
    pub fn into_module(self) -> Result<SpirvModule, CompileError> {
        match self.output {
            CompileOutput::Module(module) => Ok(*module),
            CompileOutput::Program(_) => {
                let message = format!("the input is {}, a whole program", self.input.name());
                let error = SourceDiagnostic::error(SourceLocation::Unknown, message);
                let hint = "spirula compile --emit spv writes the modules of its kernels";
                Err(CompileError::from_translate_fault(error.with_hint(hint)))
            }
        }
    }
}

/// SPIR-V that comes in goes out as it is, so it must not be newer than what is asked for.
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

/// Kernels of programs are modules of one version, which must not be newer than what is asked for.
fn check_versions(program: &CompiledProgram, target: SpirvTarget) -> Result<(), CompileError> {
    for kernel in program.kernels.iter().filter(|k| k.refusal.is_none()) {
        let module = SpirvModule::from_words(kernel.words.clone())
            .map_err(CompileError::from_translate_fault)?;
        check_version(&module, target)?;
    }
    Ok(())
}

/// A text as UTF-8, byte order mark left out.
fn decode_utf8(bytes: &[u8]) -> Result<&str, CompileError> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Ok(text),
        Err(e) => {
            let place = SourceLocation::Byte(e.valid_up_to() as u64);
            let error = SourceDiagnostic::error(place, "the text is not UTF-8 here");
            Err(CompileError::from_read_fault(error))
        }
    }
}
