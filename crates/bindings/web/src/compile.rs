//! Compilation of an input, with all that lies between it and the modules.

use crate::found_problem::{FoundProblem, locate_problems};
use crate::module_report::{LARGEST_DRAWING, ModuleReport, OptimisedModule};
use crate::pass_record::{PassRecorder, print_module};
use crate::request::RequestFailure;
use crate::run;
use serde::{Deserialize, Serialize};
use spirula::{CompileError, CompileOptions, CompileOutput, read_input};
use spirula_kernel::ir::KernelProgram;
use spirula_opt::{PassPipeline, PipelineOptions, optimise_module};
use spirula_spirv::ir::SpirvModule;
use spirula_spirv::target::SpirvTarget;
use spirula_spirv::verify::{self, VerifyOptions};

/// Options of a compilation, as the page sends them.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct PageCompilation {
    /// Passes and presets, separated by commas; none by default.
    passes: String,
    /// Name of the target environment; by default the one that suits the input.
    target: String,
    /// Function of a tensor program that becomes the entry point; by default `main`.
    function: String,
}

/// A compilation that succeeded.
#[derive(Serialize)]
pub(crate) struct CompileReply {
    /// Format of the input.
    format: &'static str,
    /// Warnings of the input, and faults of a module that is one.
    problems: Vec<FoundProblem>,
    stages: Vec<StageText>,
    modules: Vec<ModuleReport>,
    /// Kernels that could not be compiled, with the reasons.
    refusals: Vec<String>,
    /// A script that runs the first entry point.
    template: Option<String>,
    /// The dispatch graph of a program as SVG.
    dispatches: Option<String>,
}

/// The program at a stage between the input and the modules.
#[derive(Serialize)]
struct StageText {
    name: String,
    text: String,
}

impl PageCompilation {
    /// A compilation with passes.
    #[cfg(test)]
    pub(crate) fn with_passes(passes: &str) -> PageCompilation {
        PageCompilation {
            passes: passes.to_owned(),
            ..PageCompilation::default()
        }
    }

    fn compile_options(&self) -> Result<CompileOptions, RequestFailure> {
        Ok(CompileOptions {
            target: self.parse_target()?,
            function: Some(self.function.clone()).filter(|name| !name.is_empty()),
            ..CompileOptions::default()
        })
    }

    fn parse_target(&self) -> Result<Option<SpirvTarget>, RequestFailure> {
        let name = Some(self.target.as_str()).filter(|name| !name.is_empty());
        let target = name.map(str::parse).transpose();
        target.map_err(|error: <SpirvTarget as std::str::FromStr>::Err| {
            RequestFailure::from_message(error.to_string())
        })
    }

    fn parse_passes(&self) -> Result<PassPipeline, RequestFailure> {
        let names = self.passes.split([',', ' ', '\n']);
        let names = names.map(|name| name.trim_start_matches('-'));
        PassPipeline::from_names(names.filter(|name| !name.is_empty()))
            .map_err(|error| RequestFailure::from_message(error.to_string()))
    }
}

/// Compiles an input, and reports each stage.
///
/// # Errors
/// When an option is unknown, or the input is refused.
pub(crate) fn compile_source(
    request: &PageCompilation,
    input: &[u8],
) -> Result<CompileReply, RequestFailure> {
    let mut pipeline = request.parse_passes()?;
    let options = request.compile_options()?;
    let verifier = options
        .target
        .map_or_else(VerifyOptions::default, |target| VerifyOptions {
            target,
            ..VerifyOptions::default()
        });
    let mut stages = Vec::new();
    let mut watch = |name: &str, print: &dyn Fn() -> String| {
        stages.push(StageText {
            name: name.to_owned(),
            text: print(),
        });
    };
    let refuse = |error: CompileError| refuse_input(&error, input);
    let read = read_input(input).map_err(refuse)?;
    let verified = read
        .as_spirv()
        .map(|module| verify::as_read(module, &verifier));
    let mut problems = match verified {
        Some(Err(faults)) => locate_problems(&faults, input),
        _ => Vec::new(),
    };
    if !problems.is_empty() {
        // Passes may rely on every rule.
        pipeline = PassPipeline::default();
    }
    let compiled = read.compile_watched(&options, &mut watch).map_err(refuse)?;
    problems.extend(locate_problems(&compiled.diagnostics, input));
    let (template, kernels) = match &compiled.output {
        CompileOutput::Module(module) => (run::describe_kernels(module), None),
        CompileOutput::Program(program) => (
            run::describe_program(program),
            find_kernels(input, &options),
        ),
    };
    stages.extend(kernels.as_ref().map(print_kernels));
    let listed = OutputModules::from_output(compiled.output)?;
    let mut recorder = PassRecorder::new();
    let reports = listed.modules.into_iter().map(|(name, module)| {
        let optimised = run_passes(name, module, &pipeline, &mut recorder)?;
        Ok(ModuleReport::new(optimised, &verifier))
    });
    Ok(CompileReply {
        format: compiled.format.name,
        problems,
        modules: reports.collect::<Result<_, RequestFailure>>()?,
        stages,
        refusals: listed.refusals,
        template,
        dispatches: kernels.as_ref().and_then(draw_kernels),
    })
}

/// Compiles an input without reports. Passes run over a module, not over the kernels of a program.
///
/// # Errors
/// Those of [`compile_source`].
pub(crate) fn compile_output(
    request: &PageCompilation,
    input: &[u8],
) -> Result<CompileOutput, RequestFailure> {
    let pipeline = request.parse_passes()?;
    let options = request.compile_options()?;
    let refuse = |error: CompileError| refuse_input(&error, input);
    let read = read_input(input).map_err(refuse)?;
    let verified = read
        .as_spirv()
        .map(|module| verify::as_read(module, &VerifyOptions::default()));
    if let Some(Err(faults)) = verified {
        let problems = locate_problems(&faults, input);
        return Err(RequestFailure::from_problems(
            "the module is invalid",
            problems,
        ));
    }
    let mut output = read.compile_with(&options).map_err(refuse)?.output;
    if let CompileOutput::Module(module) = &mut output {
        optimise_module(module, &pipeline, &mut PipelineOptions::default())
            .map_err(|error| RequestFailure::from_message(error.to_string()))?;
    }
    Ok(output)
}

/// The kernel IR of an input that passes through it.
fn find_kernels(input: &[u8], options: &CompileOptions) -> Option<KernelProgram> {
    let read = read_input(input).ok()?;
    let kernels = read.into_kernels(options, &mut |_, _| {}).ok()?;
    Some(kernels.program)
}

fn print_kernels(kernels: &KernelProgram) -> StageText {
    StageText {
        name: "kernel IR".to_owned(),
        text: spirula_kernel::print_program(kernels),
    }
}

/// The dispatch graph, unless it is too large for the page.
fn draw_kernels(kernels: &KernelProgram) -> Option<String> {
    let drawing = spirula_kernel::draw_dispatches(kernels);
    Some(drawing).filter(|drawing| drawing.len() <= LARGEST_DRAWING)
}

/// The modules of an output.
#[derive(Default)]
struct OutputModules {
    /// Each with its name.
    modules: Vec<(String, SpirvModule)>,
    /// The reasons why kernels have none.
    refusals: Vec<String>,
}

impl OutputModules {
    fn from_output(output: CompileOutput) -> Result<OutputModules, RequestFailure> {
        let program = match output {
            CompileOutput::Module(module) => {
                return Ok(OutputModules {
                    modules: vec![("module".to_owned(), *module)],
                    refusals: Vec::new(),
                });
            }
            CompileOutput::Program(program) => program,
        };
        let mut listed = OutputModules::default();
        for (number, kernel) in program.kernels.into_iter().enumerate() {
            let name = format!("kernel {number}");
            match kernel.module {
                Ok(module) => listed.modules.push((name, module)),
                Err(reason) => listed.refusals.push(format!("{name}: {reason}")),
            }
        }
        Ok(listed)
    }
}

/// Runs passes over a module, and records them.
fn run_passes(
    name: String,
    mut module: SpirvModule,
    pipeline: &PassPipeline,
    recorder: &mut PassRecorder,
) -> Result<OptimisedModule, RequestFailure> {
    let before = print_module(&module);
    let mut options = PipelineOptions {
        observer: Some(recorder),
        ..PipelineOptions::default()
    };
    optimise_module(&mut module, pipeline, &mut options)
        .map_err(|error| RequestFailure::from_message(error.to_string()))?;
    Ok(OptimisedModule {
        name,
        before,
        passes: recorder.take_records(),
        module,
    })
}

/// The failure of an input that was refused.
fn refuse_input(error: &CompileError, input: &[u8]) -> RequestFailure {
    let problems = locate_problems(&error.diagnostics, input);
    let first = problems
        .first()
        .map_or("the input was refused", FoundProblem::message);
    RequestFailure::from_problems(first.to_owned(), problems)
}
